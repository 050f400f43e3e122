/// Members: affine functions of the iterators, found by isl's scheduler or taken from the original order.
///   domain{ S[i,j,k] }  ->  band[m0,m1,m2] permutable > sequence
#include <algorithm>
#include <optional>
#include <set>

#include "passes/pass_limit.h"
#include "passes/passes.h"
#include "support/text.h"

namespace tileopt {

Candidate<Schedule> Schedule::create(Kernel kernel, std::map<std::string, StatementMembers> members) {
  const auto refuse = [&](const std::string& statement, const std::string& reason) {
    return Infeasible{"legality", "compute_schedule", kernel.name(), "kernels[" + kernel.name() + "].members[" + statement + "]", reason};
  };
  Schedule schedule(kernel);
  for (const std::string& name : kernel.statements()) {
    const auto found = members.find(name);
    if (found == members.end()) return refuse(name, "the Plan gives the statement no members");
    const Statement& statement = kernel.program().statement(name);
    isl::map map;
    try {
      map = isl::map(kernel.program().ctx(), found->second.map);
    } catch (const isl::exception&) {
      return refuse(name, "`" + found->second.map + "` is no isl map");
    }
    if (static_cast<std::size_t>(isl_map_dim(map.get(), isl_dim_out)) != found->second.members.size())
      return refuse(name, "the map has not one output for each member");
    if (poly::input_name(map) != name || static_cast<std::size_t>(isl_map_dim(map.get(), isl_dim_in)) != statement.iterators.size())
      return refuse(name, "the map does not start at " + poly::to_text(statement.domain.space()));
    const isl::set domain = statement.domain.intersect_params(kernel.program().context());
    if (!map.is_single_valued()) return refuse(name, "the map gives an instance several member values");
    const isl::map inside = map.intersect_domain(domain);
    if (!inside.is_injective()) return refuse(name, "two instances have the same member values");
    if (!domain.is_subset(map.domain())) return refuse(name, "the map leaves out an instance: " + poly::sample_text(domain.subtract(map.domain())));
    schedule.maps_.emplace(name, map);
  }
  schedule.members_ = std::move(members);
  return schedule;
}

isl::map Schedule::member_map(const std::string& statement) const { return maps_.at(statement); }

Document Schedule::write() const {
  Document d;
  d["kernel"] = kernel_.name();
  for (const auto& [statement, m] : members_) d["members"][statement] = {{"members", m.members}, {"map", m.map}};
  return d;
}

Candidate<Schedule> compute_schedule(const Kernel& kernel) {
  return within_limit(kernel.program().ctx(), "compute_schedule", kernel.name(), [&] { return Schedule::create(kernel, kernel.plan().members); });
}

namespace {
constexpr unsigned long scheduler_quota = 3'000'000;  // isl operations; a gemm takes 20 thousand

/// One band member with its value on each statement below it.
struct Member {
  std::string name;
  std::vector<std::pair<std::string, isl::aff>> values;  ///< statement -> { S[i,j] -> [(value)] }
};

/// Reads an isl schedule tree into members, a Tree and flags.
class ProposalReader {
 public:
  explicit ProposalReader(const Kernel& kernel) : kernel_(kernel) {}
  ScheduleProposal read(const isl::schedule& schedule) {
    ScheduleProposal proposal;
    proposal.method = "isl";
    proposal.tree = walk(schedule.root().child(0), kernel_.statements());
    for (const std::string& name : kernel_.statements()) proposal.members[name] = statement_members(name);
    proposal.coincident = coincident_;
    proposal.permutable = permutable_;
    return proposal;
  }

 private:
  Tree walk(const isl::schedule_node& node, const std::vector<std::string>& active) {
    switch (isl_schedule_node_get_type(node.get())) {
      case isl_schedule_node_band: return walk_band(node, active);
      case isl_schedule_node_sequence:
      case isl_schedule_node_set: return walk_sequence(node);
      case isl_schedule_node_leaf: return Tree();
      default: return walk(node.child(0), active);
    }
  }
  Tree walk_sequence(const isl::schedule_node& node) {
    std::vector<Tree::Branch> branches;
    const int count = isl_schedule_node_n_children(node.get());
    for (int i = 0; i < count; ++i) {
      const isl::schedule_node filter = node.child(i);
      const isl::union_set instances = isl::manage(isl_schedule_node_filter_get_filter(filter.get()));
      std::vector<std::string> names;
      for (const isl::set& s : poly::sorted_sets(instances)) names.push_back(poly::tuple_name(s));
      std::vector<std::string> in_source_order;
      for (const std::string& name : kernel_.statements())
        if (contains(names, name)) in_source_order.push_back(name);
      Tree tree = walk(filter.child(0), in_source_order);
      // A sequence of sequences is one sequence: planning looks for chains of bands that end in statements.
      if (tree.kind() == Tree::Kind::sequence) branches.insert(branches.end(), tree.branches().begin(), tree.branches().end());
      else branches.push_back({in_source_order, std::move(tree)});
    }
    return Tree::sequence(std::move(branches));
  }
  Tree walk_band(const isl::schedule_node& node, const std::vector<std::string>& active) {
    const isl::multi_union_pw_aff partial = isl::manage(isl_schedule_node_band_get_partial_schedule(node.get()));
    const int count = isl_schedule_node_band_n_member(node.get());
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) {
      const isl::union_pw_aff value = isl::manage(isl_multi_union_pw_aff_get_union_pw_aff(partial.get(), i));
      Member member;
      for (const std::string& statement : active) member.values.emplace_back(statement, value_on(value, statement));
      member.name = unique_name(member);
      names.push_back(member.name);
      coincident_[member.name] = isl_schedule_node_band_member_get_coincident(node.get(), i) == isl_bool_true;
      members_.push_back(std::move(member));
    }
    if (isl_schedule_node_band_get_permutable(node.get()) == isl_bool_true || count == 1) permutable_.push_back(names);
    else
      for (const std::string& name : names) permutable_.push_back({name});
    return Tree::bands(names, walk(node.child(0), active));
  }
  isl::aff value_on(const isl::union_pw_aff& value, const std::string& statement) const {
    const isl::set domain = kernel_.program().statement(statement).domain;
    isl_space* space = isl_space_from_domain(isl_set_get_space(domain.get()));
    space = isl_space_add_dims(space, isl_dim_out, 1);
    const isl::pw_aff piece = isl::manage(isl_union_pw_aff_extract_pw_aff(value.get(), space));
    TILEOPT_CHECK(isl_pw_aff_n_piece(piece.get()) == 1, "a scheduler member is piecewise: " + poly::to_text(piece));
    isl_aff* value_here = nullptr;
    isl_pw_aff_foreach_piece(
        piece.get(),
        [](isl_set* set, isl_aff* aff, void* user) {
          isl_set_free(set);
          *static_cast<isl_aff**>(user) = aff;
          return isl_stat_ok;
        },
        &value_here);
    return isl::manage(value_here);
  }
  /// The iterator that the member is in every statement that has it (up to sign and shift), else m, m_2, ...
  std::string unique_name(const Member& member) {
    std::string name;
    bool one_iterator = true;
    for (const auto& [statement, value] : member.values) {
      const std::optional<std::string> iterator = only_iterator(statement, value);
      if (!iterator) one_iterator = false;
      else if (!iterator->empty() && name.empty()) name = *iterator;
    }
    if (!one_iterator || name.empty()) name = "m";
    std::string unique = name;
    for (int n = 2; !used_.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
    return unique;
  }
  /// "" for a constant, the iterator for +-iterator + constant, nullopt otherwise.
  std::optional<std::string> only_iterator(const std::string& statement, const isl::aff& value) const {
    const Statement& s = kernel_.program().statement(statement);
    std::string found;
    for (std::size_t i = 0; i < s.iterators.size(); ++i) {
      const isl::val c = isl::manage(isl_aff_get_coefficient_val(value.get(), isl_dim_in, static_cast<int>(i)));
      if (c.is_zero()) continue;
      if (!found.empty() || !(c.is_one() || c.is_negone())) return std::nullopt;
      found = s.iterators[i];
    }
    if (isl_aff_dim(value.get(), isl_dim_div) > 0) return std::nullopt;
    return found;
  }
  StatementMembers statement_members(const std::string& statement) const {
    StatementMembers result;
    const isl::set domain = kernel_.program().statement(statement).domain;
    isl_aff_list* values = isl_aff_list_alloc(domain.ctx().get(), 4);
    for (const Member& member : members_)
      for (const auto& [name, value] : member.values)
        if (name == statement) {
          result.members.push_back(member.name);
          values = isl_aff_list_add(values, value.copy());
        }
    isl_space* space = isl_space_from_domain(isl_set_get_space(domain.get()));
    space = isl_space_add_dims(space, isl_dim_out, static_cast<unsigned>(result.members.size()));
    result.map = poly::to_text(isl::manage(isl_multi_aff_from_aff_list(space, values)));
    return result;
  }

  const Kernel& kernel_;
  std::vector<Member> members_;
  std::set<std::string> used_;
  std::map<std::string, bool> coincident_;
  std::vector<std::vector<std::string>> permutable_;
};

/// Members = iterators, one member for every band of the original order; equal names in different nests are told apart.
class OriginalReader {
 public:
  explicit OriginalReader(const Kernel& kernel) : kernel_(kernel) {}
  ScheduleProposal read() {
    ScheduleProposal proposal;
    proposal.method = "original";
    proposal.tree = rename(restrict_tree(kernel_.program().order(), kernel_.statements()), kernel_.statements());
    for (const std::string& name : kernel_.statements()) {
      const Statement& s = kernel_.program().statement(name);
      StatementMembers m;
      isl_aff_list* values = isl_aff_list_alloc(s.domain.ctx().get(), 4);
      for (const auto& [member, iterator] : members_[name]) {
        m.members.push_back(member);
        const auto position = static_cast<unsigned>(std::find(s.iterators.begin(), s.iterators.end(), iterator) - s.iterators.begin());
        values = isl_aff_list_add(values, isl_aff_var_on_domain(isl_local_space_from_space(isl_set_get_space(s.domain.get())), isl_dim_set, position));
      }
      isl_space* space = isl_space_from_domain(isl_set_get_space(s.domain.get()));
      space = isl_space_add_dims(space, isl_dim_out, static_cast<unsigned>(m.members.size()));
      m.map = poly::to_text(isl::manage(isl_multi_aff_from_aff_list(space, values)));
      proposal.members[name] = std::move(m);
    }
    for (const std::string& member : order_) {
      proposal.coincident[member] = false;
      proposal.permutable.push_back({member});
    }
    return proposal;
  }

 private:
  Tree rename(const Tree& tree, const std::vector<std::string>& active) {
    switch (tree.kind()) {
      case Tree::Kind::leaf: return tree;
      case Tree::Kind::allocate:
      case Tree::Kind::nested: return rename(tree.child(), active);
      case Tree::Kind::band: {
        std::string unique = tree.dim();
        for (int n = 2; !used_.insert(unique).second; ++n) unique = tree.dim() + "_" + std::to_string(n);
        for (const std::string& name : active) members_[name].emplace_back(unique, tree.dim());
        order_.push_back(unique);
        return Tree::band(unique, rename(tree.child(), active));
      }
      case Tree::Kind::sequence: {
        std::vector<Tree::Branch> branches;
        for (const Tree::Branch& b : tree.branches()) branches.push_back({b.statements, rename(b.tree, b.statements)});
        return Tree::sequence(std::move(branches));
      }
    }
    return tree;
  }
  const Kernel& kernel_;
  std::set<std::string> used_;
  std::vector<std::string> order_;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> members_;  ///< statement -> (member, iterator)
};
}  // namespace

ScheduleProposal propose_schedule(const Kernel& kernel, const std::string& method) {
  if (method == "original") return OriginalReader(kernel).read();
  const Program& program = kernel.program();
  isl_ctx* ctx = program.ctx().get();
  isl_options_set_schedule_serialize_sccs(ctx, 0);
  isl_options_set_schedule_whole_component(ctx, 0);
  isl_options_set_schedule_outer_coincidence(ctx, 0);
  isl::union_set domain = poly::empty_union_set(program.ctx());
  for (const std::string& name : kernel.statements()) domain = domain.unite(isl::union_set(program.statement(name).domain));
  domain = isl::manage(isl_union_set_intersect_params(domain.release(), program.context().copy()));
  try {
    const poly::QuotaGuard quota(program.ctx(), scheduler_quota);
    const isl::schedule schedule = isl::schedule_constraints::on_domain(domain)
                                       .set_validity(kernel.validity())
                                       .set_coincidence(kernel.racing())
                                       .set_proximity(kernel.racing())
                                       .compute_schedule();
    return ProposalReader(kernel).read(schedule);
  } catch (const isl::exception&) {
    return OriginalReader(kernel).read();
  }
}

}  // namespace tileopt
