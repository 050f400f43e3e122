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

}  // namespace

Candidate<ScanRecurrence> find_scan_recurrence(const Program& program, const Rewriting& rewriting, const Statement& statement) {
  return RecurrenceFinder(program, rewriting, statement).run();
}

}  // namespace tileopt
