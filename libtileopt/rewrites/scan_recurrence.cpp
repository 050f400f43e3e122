#include "rewrites/scan_recurrence.h"

#include <algorithm>

#include "rewrites/order_edit.h"
#include "rewrites/program_edit.h"
#include "support/text.h"

namespace tileopt {

namespace {

class RecurrenceFinder {
 public:
  RecurrenceFinder(const Program& program, const Rewriting& rewriting, const Statement& statement) : program_(program), rewriting_(rewriting), statement_(statement) {}

  Candidate<ScanRecurrence> run() {
    if (auto problem = find_group()) return std::move(*problem);
    if (auto problem = check_nest()) return std::move(*problem);
    return ScanRecurrence{carry_, along_, group_};
  }

 private:
  /// The carry, the loop that it goes along, and everything else that writes the result.
  std::optional<Infeasible> find_group() {
    const std::string& tensor = statement_.write.tensor;
    if (statement_.combine == Combine::assign || statement_.conditional())
      return fails(statement_.name + " adds no term to a recurrence", statement_.where, "name the statement that `scan` leaves");
    for (const Statement& s : program_.statements()) {
      if (s.write.tensor != tensor) continue;
      group_.push_back(s.name);
      const bool reads_result = std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& read) { return read.tensor == tensor; });
      if (!reads_result) continue;
      if (carry_ != nullptr || !is_carry(s)) return fails(s.name + " reads `" + tensor + "` another way than a recurrence does", s.where, "keep the scan whole");
      carry_ = &s;
    }
    if (carry_ == nullptr) return fails("no statement carries `" + tensor + "` from one step to the next", statement_.where, "take `scan` first");
    if (statement_.iterators != carry_->iterators)
      return fails(statement_.name + " has loops of its own at every step", statement_.where, "only one term a step can be scanned in blocks");
    for (const Statement& s : program_.statements()) {
      if (!contains(group_, s.name) || s.name == carry_->name || s.name == statement_.name) continue;
      if (s.conditional()) return fails("data decides whether " + s.name + " has an effect", s.where, "keep the scan whole");
      if (!access_map(program_, s, s.write).intersect_range(access_map(program_, *carry_, carry_->write).range()).is_empty())
        return fails(s.name + " writes elements that the recurrence reaches", s.where, "keep the scan whole");
    }
    return check_regrouping(program_, rewriting_, statement_, "blocks of " + statement_.name + " are combined afterwards");
  }

  /// y[.., i, ..] = y[.., i - 1, ..]
  bool is_carry(const Statement& s) {
    if (s.combine != Combine::assign || s.conditional() || s.reads.size() != 1 || !std::holds_alternative<Read>(s.body->node)) return false;
    const isl::map write = access_map(program_, s, s.write), read = access_map(program_, s, s.reads.front());
    if (!write.is_injective()) return false;
    for (std::size_t p = 0; p < s.iterators.size(); ++p) {
      std::vector<std::string> before = coordinates(s.iterators.size());
      before[p] += " - 1";
      const isl::map back = tuple_function(program_.ctx(), s.name, s.iterators.size(), s.name, before).as_map();
      const isl::map all = isl::manage(isl_map_from_pw_multi_aff(isl_pw_multi_aff_gist(s.write.index.copy(), s.domain.copy())));
      if (!read.is_equal(back.intersect_domain(domain_of(program_, s)).apply_range(all))) continue;
      along_ = p;
      return true;
    }
    return false;
  }

  static std::vector<std::string> coordinates(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t d = 0; d < count; ++d) names.push_back("d" + std::to_string(d));
    return names;
  }

  std::optional<Infeasible> check_nest() const {
    const std::string& loop = carry_->iterators[along_];
    std::vector<std::string> all;
    for (const Statement& s : program_.statements()) all.push_back(s.name);
    std::vector<std::string> together = sharers(program_.order(), carry_->name, loop, all), group = group_;
    std::sort(together.begin(), together.end());
    std::sort(group.begin(), group.end());
    if (together != group) return fails("the loop " + loop + " holds other statements than those that write `" + carry_->write.tensor + "`", carry_->where,
                                        "scan in a loop of its own");
    for (const std::string& name : group_) {
      const Statement& s = program_.statement(name);
      const bool prefix = s.iterators.size() > along_ && std::equal(s.iterators.begin(), s.iterators.begin() + static_cast<std::ptrdiff_t>(along_) + 1, carry_->iterators.begin()) &&
                          loops_around(program_, name) == s.iterators;
      if (!prefix) return fails("the loops of " + name + " are not those of the recurrence", s.where, "scan in a loop of its own");
      for (std::size_t d = 0; d < (name == carry_->name ? s.iterators.size() : along_ + 1); ++d) {
        const isl::set values = isl::manage(isl_set_lower_bound_si(domain_of(program_, s).release(), isl_dim_set, static_cast<unsigned>(d), 0));
        if (!domain_of(program_, s).is_subset(values)) return fails("loop " + s.iterators[d] + " has values below 0", s.where, "let the loop start at 0");
      }
    }
    return std::nullopt;
  }

  Infeasible fails(const std::string& condition, const SourceLocation& where, const std::string& hint) const {
    return condition_fails(rewriting_, condition, where, hint);
  }

  const Program& program_;
  const Rewriting& rewriting_;
  const Statement& statement_;
  const Statement* carry_ = nullptr;
  std::size_t along_ = 0;
  std::vector<std::string> group_;
};

class StepFinder {
 public:
  StepFinder(const Program& program, const Rewriting& rewriting, const Statement& statement, const ScanRecurrence& recurrence)
      : program_(program), rewriting_(rewriting), statement_(statement), carry_(recurrence.carry), outer_(recurrence.along), group_(recurrence.group) {}

  Candidate<ScanSteps> run() {
    if (auto problem = find_start()) return std::move(*problem);
    if (auto problem = add_first_terms()) return std::move(*problem);
    return ScanSteps{start_, terms_, elements_};
  }

 private:
  /// { [outer, i] }: where a statement of the recurrence runs.
  isl::set steps(const Statement& s) const {
    isl_set* set = isl_set_reset_tuple_id(domain_of(program_, s).release());
    const auto count = static_cast<unsigned>(s.iterators.size() - outer_ - 1);
    return isl::manage(isl_set_project_out(set, isl_dim_set, static_cast<unsigned>(outer_) + 1, count));
  }
  /// The value that y starts from.
  std::optional<Infeasible> find_start() {
    for (const std::string& name : group_) {
      const Statement& s = program_.statement(name);
      if (name == carry_->name || name == statement_.name) continue;
      if (s.combine == Combine::assign) {
        if (start_ != nullptr || !s.indices.empty() || s.iterators != carry_->iterators)
          return fails(s.name + " does not start `" + s.write.tensor + "` from one value", s.where, "keep the scan whole");
        start_ = &s;
      } else {
        if (first_ != nullptr || update_class(s) != update_class(statement_)) return fails(s.name + " is not of the recurrence", s.where, "keep the scan whole");
        first_ = &s;
      }
    }
    if (start_ == nullptr) return fails("nothing starts `" + carry_->write.tensor + "`", carry_->where, "keep the scan whole");
    for (const Access& read : start_->reads) {
      isl::map values = isl::manage(isl_map_reset_tuple_id(access_map(program_, *start_, read).release(), isl_dim_in));
      values = isl::manage(isl_map_project_out(values.release(), isl_dim_in, static_cast<unsigned>(outer_), 1));
      if (!values.is_single_valued()) return fails(start_->name + " does not start `" + start_->write.tensor + "` from one value", read.where, "keep the scan whole");
    }
    const isl::map starts = scan_access(program_, *carry_, carry_->write).as_map().intersect_domain(steps(*start_));
    if (!starts.is_equal(isl::manage(isl_map_reset_tuple_id(access_map(program_, *start_, start_->write).release(), isl_dim_in))))
      return fails(start_->name + " writes elements in another order than the recurrence", start_->where, "keep the scan whole");
    return std::nullopt;
  }

  /// Every step's term is that of `statement_`, the first step's too.
  std::optional<Infeasible> add_first_terms() {
    terms_ = steps(statement_);
    elements_ = steps(*carry_).unite(steps(*start_)).coalesce();
    if (first_ != nullptr) {
      if (auto problem = check_first()) return problem;
      terms_ = terms_.unite(steps(*first_)).coalesce();
    }
    if (!terms_.is_subset(elements_)) return fails(statement_.name + " adds terms where nothing is carried", statement_.where, "keep the scan whole");
    // { [outer, i] -> [outer, i'] : i < i' }
    isl_map* later = isl_map_lex_lt(elements_.space().release());
    for (std::size_t d = 0; d < outer_; ++d) later = isl_map_equate(later, isl_dim_in, static_cast<int>(d), isl_dim_out, static_cast<int>(d));
    const isl::map restarted = isl::manage(later).intersect_domain(terms_).intersect_range(steps(*start_));
    if (restarted.is_empty()) return std::nullopt;
    Infeasible refused = fails(start_->name + " starts again after terms were added", start_->where, "keep the scan whole");
    refused.witness = poly::sample_text(restarted);
    return refused;
  }

  std::optional<Infeasible> check_first() const {
    const auto other = [&] { return fails("the first step adds other terms than the next ones", first_->where, "take block_scan"); };
    const isl::set domain = domain_of(program_, *first_);
    std::vector<std::string> values;
    for (std::size_t d = 0; d <= outer_; ++d) values.push_back("d" + std::to_string(d));
    const isl::map to_step = tuple_function(program_.ctx(), first_->name, first_->iterators.size(), "", values).as_map().intersect_domain(domain);
    const bool alike = first_->reads.size() == statement_.reads.size() && first_->indices.size() == statement_.indices.size() &&
                       first_->body->type == statement_.body->type && expr_text(first_->body) == expr_text(statement_.body);
    if (!alike || !to_step.is_injective()) return other();
    const auto same = [&](const isl::map& here, const isl::pw_multi_aff& there) {
      return to_step.reverse().apply_range(here).is_equal(there.as_map().intersect_domain(to_step.range()));
    };
    for (std::size_t r = 0; r < first_->reads.size(); ++r) {
      const bool tensor = first_->reads[r].tensor == statement_.reads[r].tensor;
      if (!tensor || !same(access_map(program_, *first_, first_->reads[r]), scan_access(program_, statement_, statement_.reads[r]))) return other();
    }
    for (std::size_t x = 0; x < first_->indices.size(); ++x) {
      const isl::pw_multi_aff here(first_->indices[x]), there(statement_.indices[x]);
      if (!same(here.as_map().intersect_domain(domain), scan_access(program_, statement_, Access{"", there, {}}))) return other();
    }
    return same(access_map(program_, *first_, first_->write), scan_access(program_, statement_, statement_.write)) ? std::nullopt : std::optional(other());
  }

  Infeasible fails(const std::string& condition, const SourceLocation& where, const std::string& hint) const {
    return condition_fails(rewriting_, condition, where, hint);
  }

  const Program& program_;
  const Rewriting& rewriting_;
  const Statement& statement_;
  const Statement *carry_, *start_ = nullptr, *first_ = nullptr;
  std::size_t outer_;
  std::vector<std::string> group_;
  isl::set terms_, elements_;
};

}  // namespace

isl::pw_multi_aff scan_access(const Program& program, const Statement& statement, const Access& access) {
  const isl::pw_multi_aff function = isl::manage(isl_pw_multi_aff_gist(access.index.copy(), domain_of(program, statement).release()));
  return isl::manage(isl_pw_multi_aff_reset_tuple_id(function.copy(), isl_dim_in));
}

isl::pw_aff scan_extent(const isl::set& set, std::size_t dimension) {
  const isl::pw_aff last = isl::manage(isl_set_dim_max(set.copy(), static_cast<int>(dimension)));
  const isl::pw_aff one(set.ctx(), "{ [(1)] }"), none(set.ctx(), "{ [(0)] }");
  return isl::manage(isl_pw_aff_union_max(last.add(one).release(), none.copy())).coalesce();
}

Candidate<ScanSteps> find_scan_steps(const Program& program, const Rewriting& rewriting, const Statement& statement, const ScanRecurrence& recurrence) {
  return StepFinder(program, rewriting, statement, recurrence).run();
}

Candidate<ScanRecurrence> find_scan_recurrence(const Program& program, const Rewriting& rewriting, const Statement& statement) {
  return RecurrenceFinder(program, rewriting, statement).run();
}

}  // namespace tileopt
