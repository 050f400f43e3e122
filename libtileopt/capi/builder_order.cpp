/// The original order of programs that are built: from loops, or from an isl schedule.
#include <algorithm>
#include <map>
#include <set>

#include "capi/builder.h"
#include "support/text.h"

namespace tileopt::capi {

namespace {

/// Statements below a nest, in order.
void collect(const Nest& nest, std::vector<std::string>& statements) {
  if (!nest.statement.empty()) statements.push_back(nest.statement);
  for (const Nest& child : nest.children) collect(child, statements);
}

class LoopOrder {
 public:
  explicit LoopOrder(const BuilderObject& builder) : builder_(builder) {}

  Tree read() { return sequence(builder_.nest); }

 private:
  Tree sequence(const Nest& nest) {
    std::vector<Tree::Branch> branches;
    for (const Nest& child : nest.children) {
      std::vector<std::string> statements;
      collect(child, statements);
      if (statements.empty()) continue;  // a loop without a statement runs nothing
      branches.push_back({statements, child.statement.empty() ? loop(child) : own_loops(child.statement)});
    }
    return branches.size() == 1 ? branches.front().tree : Tree::sequence(std::move(branches));
  }
  Tree loop(const Nest& nest) {
    around_.push_back(nest.iterator);
    Tree tree = Tree::band(nest.iterator, sequence(nest));
    around_.pop_back();
    return tree;
  }
  /// The iterators that no loop around is over.
  Tree own_loops(const std::string& statement) {
    std::vector<std::string> inner;
    for (const Statement& s : builder_.statements)
      if (s.name == statement)
        for (const std::string& iterator : s.iterators)
          if (!contains(around_, iterator)) inner.push_back(iterator);
    return Tree::bands(inner, Tree::leaf());
  }

  const BuilderObject& builder_;
  std::vector<std::string> around_;
};

/// One statement on its way into the order of a schedule.
struct Timed {
  Statement* statement = nullptr;
  isl::map time;                       ///< { S[i] -> [t] } on the domain
  std::vector<std::string> dims;       ///< names of the dimensions of time that became loops, outermost first
  std::vector<unsigned> positions;     ///< and which they are
};

class ScheduleOrder {
 public:
  ScheduleOrder(const BuilderObject& builder, std::vector<Statement>& statements, const isl::union_map& schedule) : builder_(builder) {
    for (Statement& statement : statements) timed_.push_back({&statement, time_of(statement, schedule), {}, {}});
    for (const Timed& timed : timed_) depth_ = std::max(depth_, static_cast<unsigned>(isl_map_dim(timed.time.get(), isl_dim_out)));
    for (Timed& timed : timed_) timed.time = pad(timed.time);
  }

  Tree read() {
    std::vector<Timed*> all;
    for (Timed& timed : timed_) all.push_back(&timed);
    Tree tree = order(all, 0);
    for (Timed& timed : timed_) rename(timed);
    return tree;
  }

 private:
  [[noreturn]] void fail(ErrorCode code, const std::string& message, const std::string& hint, const std::string& witness = "") const {
    throw Errors(Diagnostic{code, builder_.schedule_where, message, hint, witness});
  }

  isl::map time_of(const Statement& statement, const isl::union_map& schedule) const {
    std::optional<isl::map> found;
    for (const isl::map& map : poly::sorted_maps(schedule)) {
      if (poly::input_name(map) != statement.name) continue;
      if (found) fail(ErrorCode::duplicate_name, "the schedule gives `" + statement.name + "` two times", "one map for each statement");
      found = map;
    }
    if (!found) fail(ErrorCode::unknown_name, "the schedule does not name `" + statement.name + "`", "give every statement its time");
    if (static_cast<std::size_t>(isl_map_dim(found->get(), isl_dim_in)) != statement.iterators.size())
      fail(ErrorCode::shape_mismatch, "the schedule knows other iterators of `" + statement.name + "`", "use the tuple of its domain");
    const isl::set domain = statement.domain.intersect_params(builder_.context);
    const isl::set missing = domain.subtract(found->domain());
    if (!missing.is_empty()) fail(ErrorCode::unsupported, "the schedule leaves out instances of `" + statement.name + "`", "give every instance a time", poly::sample_text(missing));
    const isl::map time = found->intersect_domain(domain);
    if (!time.is_single_valued()) fail(ErrorCode::unsupported, "the schedule gives an instance of `" + statement.name + "` several times", "give one");
    if (!time.is_injective()) fail(ErrorCode::unsupported, "the schedule gives two instances of `" + statement.name + "` the same time", "let every iterator show in the time");
    return isl::manage(isl_map_reset_tuple_id(time.copy(), isl_dim_out));
  }

  isl::map pad(isl::map time) const {
    isl_map* map = time.release();
    for (auto d = static_cast<unsigned>(isl_map_dim(map, isl_dim_out)); d < depth_; ++d) {
      map = isl_map_add_dims(map, isl_dim_out, 1);
      map = isl_map_fix_si(map, isl_dim_out, d, 0);
    }
    return isl::manage(map);
  }

  /// The constant that dimension `d` of time is for a statement.
  static std::optional<long> constant(const Timed& timed, unsigned d) {
    isl_set* range = isl_map_range(timed.time.copy());
    isl_val* value = isl_set_plain_get_val_if_fixed(range, isl_dim_set, d);
    isl_set_free(range);
    std::optional<long> result;
    if (value != nullptr && isl_val_is_int(value) == isl_bool_true) result = isl_val_get_num_si(value);
    isl_val_free(value);
    return result;
  }

  Tree order(const std::vector<Timed*>& group, unsigned d) {
    if (d == depth_) {
      if (group.size() > 1) return by_addition(group);
      return Tree::leaf();
    }
    std::map<long, std::vector<Timed*>> parts;
    bool constants = true;
    for (Timed* timed : group) {
      const std::optional<long> value = timed->statement->domain.is_empty() ? 0 : constant(*timed, d);
      constants = constants && value;
      if (value) parts[*value].push_back(timed);
    }
    if (!constants) {
      const std::string name = name_of(group, d);
      for (Timed* timed : group) {
        timed->dims.push_back(name);
        timed->positions.push_back(d);
      }
      return Tree::band(name, order(group, d + 1));
    }
    if (parts.size() == 1) return order(group, d + 1);
    std::vector<Tree::Branch> branches;
    for (const auto& [value, part] : parts) {
      Tree tree = order(part, d + 1);
      branches.push_back({names_of(part), std::move(tree)});
    }
    return Tree::sequence(std::move(branches));
  }

  /// Instances of equal time: statements in the order in which they were added.
  static Tree by_addition(const std::vector<Timed*>& group) {
    std::vector<Tree::Branch> branches;
    for (const Timed* timed : group) branches.push_back({{timed->statement->name}, Tree::leaf()});
    return Tree::sequence(std::move(branches));
  }
  static std::vector<std::string> names_of(const std::vector<Timed*>& group) {
    std::vector<std::string> names;
    for (const Timed* timed : group) names.push_back(timed->statement->name);
    return names;
  }

  /// The iterator that the dimension is for all statements of the group, or a made-up name.
  std::string name_of(const std::vector<Timed*>& group, unsigned d) const {
    std::string common;
    for (const Timed* timed : group) {
      const std::string own = iterator_at(*timed, d);
      if (own.empty() || (!common.empty() && own != common)) {
        common.clear();
        break;
      }
      common = own;
    }
    const auto taken = [&](const std::string& name) {
      return std::any_of(group.begin(), group.end(), [&](const Timed* timed) { return contains(timed->dims, name); }) || contains(builder_.parameters, name) || builder_.find_tensor(name) != nullptr;
    };
    if (!common.empty() && !taken(common)) return common;
    std::string name = "t" + std::to_string(d);
    while (taken(name) || is_iterator(group, name)) name += "_";
    return name;
  }
  static bool is_iterator(const std::vector<Timed*>& group, const std::string& name) {
    return std::any_of(group.begin(), group.end(), [&](const Timed* timed) { return contains(timed->statement->iterators, name); });
  }
  /// "i" where dimension `d` of time is iterator i itself.
  static std::string iterator_at(const Timed& timed, unsigned d) {
    for (std::size_t i = 0; i < timed.statement->iterators.size(); ++i) {
      const isl::map equal = isl::manage(isl_map_equate(timed.time.copy(), isl_dim_in, static_cast<int>(i), isl_dim_out, static_cast<int>(d)));
      if (timed.time.is_subset(equal)) return timed.statement->iterators[i];
    }
    return "";
  }

  /// The statement over its dimensions of time. Where it is moved, everything is composed with the way back.
  void rename(Timed& timed) const {
    Statement& statement = *timed.statement;
    isl_map* map = timed.time.copy();
    unsigned kept = 0;
    for (unsigned d = 0; d < depth_; ++d) {
      if (kept < timed.positions.size() && timed.positions[kept] == d) ++kept;
      else map = isl_map_project_out(map, isl_dim_out, kept, 1);
    }
    map = isl_map_set_tuple_name(map, isl_dim_out, statement.name.c_str());
    for (unsigned d = 0; d < kept; ++d) map = isl_map_set_dim_name(map, isl_dim_out, d, timed.dims[d].c_str());
    const isl::map move = isl::manage(map);  // { S[i] -> S[t] }
    const isl::pw_multi_aff back = poly::as_function(isl::manage(isl_map_reverse(move.copy())));
    std::vector<Guard> guards = statement.guards;
    for (Guard& guard : guards) {
      const std::string& iterator = statement.iterators[guard.iterator];
      const auto found = std::find(timed.dims.begin(), timed.dims.end(), iterator);
      if (found == timed.dims.end()) fail(ErrorCode::unsupported, "guarded iterator `" + iterator + "` of `" + statement.name + "` is no dimension of its time", "give it one of its own");
      guard.iterator = static_cast<std::size_t>(found - timed.dims.begin());
    }
    statement.guards = std::move(guards);
    statement.domain = isl::manage(isl_set_set_tuple_name(isl_map_range(move.copy()), statement.name.c_str()));
    const auto moved = [&](const isl::pw_multi_aff& access) {
      return poly::as_function(isl::manage(isl_map_apply_domain(access.as_map().release(), move.copy())));
    };
    statement.write.index = moved(statement.write.index);
    for (Access& read : statement.reads) read.index = moved(read.index);
    for (isl::pw_aff& index : statement.indices) index = isl::manage(isl_pw_aff_pullback_pw_multi_aff(index.copy(), back.copy()));
    statement.iterators = timed.dims;
  }

  const BuilderObject& builder_;
  std::vector<Timed> timed_;
  unsigned depth_ = 1;
};

}  // namespace

isl::union_map read_schedule(const BuilderObject& builder, const std::string& text) {
  isl_union_map* map = isl_union_map_read_from_str(builder.ctx().get(), builder.with_parameters(text).c_str());
  if (map == nullptr) {
    isl_ctx_reset_error(builder.ctx().get());
    isl_schedule* schedule = isl_schedule_read_from_str(builder.ctx().get(), text.c_str());
    if (schedule != nullptr) map = isl_schedule_get_map(schedule);
    isl_schedule_free(schedule);
  }
  if (map == nullptr) builder.fail(ErrorCode::syntax, "the schedule is neither a union map nor a schedule tree", "write e.g. \"{ S[i,j] -> [i, 0, j]; T[i] -> [i, 1, 0] }\"");
  const isl::union_map schedule = isl::manage(map);
  builder.check_parameters(isl::manage(isl_union_map_params(schedule.copy())), "the schedule");
  return schedule;
}

Tree order_by_loops(const BuilderObject& builder) { return LoopOrder(builder).read(); }

Tree order_by_schedule(const BuilderObject& builder, std::vector<Statement>& statements) {
  return ScheduleOrder(builder, statements, read_schedule(builder, builder.schedule)).read();
}

}  // namespace tileopt::capi
