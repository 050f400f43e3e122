#include "search/lane_box.h"

#include <algorithm>

#include "ir/body.h"
#include "search/loop_choice.h"
#include "support/text.h"

namespace tileopt {
namespace {

/// Vectors of one box: so many that combining the lanes at the end of a reduction, or testing for the end of a row, costs little beside them.
constexpr long kReducedVectors = 16;
constexpr long kPlainVectors = 8;
constexpr long kHeavyVectors = 8;
constexpr double kHeavyOperations = 16;  ///< from here on a few vectors hide the latencies
constexpr long kShortestVector = 16;     ///< bytes

bool has_lanes(ElementType type) {
  if (is_tuple(type)) return false;
  switch (type) {
    case ElementType::f64: case ElementType::f32: case ElementType::f16: case ElementType::bf16:
    case ElementType::i64: case ElementType::i32: case ElementType::u64: case ElementType::u32: return true;
    default: return false;
  }
}

bool function_has_lanes(Function function, ElementType type) {
  switch (function) {
    case Function::sqrt: case Function::rsqrt: case Function::abs: case Function::floor: case Function::ceil: case Function::round: return is_float(type);
    case Function::exp: case Function::exp2: case Function::log: case Function::tanh: case Function::erf: return is_float(type) && type != ElementType::f64;
  }
  return false;
}

/// Operators with a form on vectors, of types with one.
bool is_vector_arithmetic(const ExprPtr& body) {
  bool simple = true;
  walk_expr(body, [&](const Expr& e) {
    simple = simple && has_lanes(e.type) && !std::holds_alternative<Select>(e.node) && !std::holds_alternative<IndexValue>(e.node);
    if (const auto* call = std::get_if<Call>(&e.node)) simple = simple && function_has_lanes(call->function, e.type);
    if (const auto* unary = std::get_if<Unary>(&e.node)) simple = simple && unary->op == UnaryOp::negate;
    if (const auto* cast = std::get_if<Cast>(&e.node)) simple = simple && has_lanes(cast->operand->type) && (is_float(e.type) || !is_float(cast->operand->type));
    if (const auto* binary = std::get_if<Binary>(&e.node)) {
      static const BinaryOp vectors[] = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::min, BinaryOp::max};
      const bool divides = binary->op == BinaryOp::divide && is_float(e.type);
      simple = simple && (divides || std::find(std::begin(vectors), std::end(vectors), binary->op) != std::end(vectors));
    }
  });
  return simple;
}

int widest_bytes(const Program& program, const Statement& statement) {
  const auto bytes = [](ElementType type) { return is_narrow_float(type) ? 4 : size_bytes(type); };
  int widest = bytes(program.tensor(statement.write.tensor).type);
  walk_expr(statement.body, [&](const Expr& e) { widest = std::max(widest, bytes(e.type)); });
  return widest;
}

const Atom* find_body(const Machine& machine, const std::string& body) {
  const auto found = std::find_if(machine.atoms.begin(), machine.atoms.end(), [&](const Atom& atom) { return atom.body == body; });
  return found == machine.atoms.end() ? nullptr : &*found;
}

/// The atom of a thread with accesses of several elements along one digit.
const Atom* wide_atom(const Machine& machine, const std::string& body) {
  const auto found = std::find_if(machine.atoms.begin(), machine.atoms.end(), [&](const Atom& atom) {
    return atom.body == body && atom.rank == 1 && std::any_of(atom.operands.begin(), atom.operands.end(), [](const AtomOperand& o) { return o.bytes > 0; });
  });
  return found == machine.atoms.end() ? nullptr : &*found;
}

/// Of the element that the statement writes, it reads nothing but that element.
bool reads_own_element_only(const Statement& statement) {
  return std::all_of(statement.reads.begin(), statement.reads.end(), [&](const Access& read) {
    if (read.tensor != statement.write.tensor) return true;
    return statement.combine == Combine::assign && isl::manage(isl_map_from_pw_multi_aff(read.index.copy())).is_equal(isl::manage(isl_map_from_pw_multi_aff(statement.write.index.copy())));
  });
}

/// What data decides differs between neighbours along the member.
bool guards_differ(const Statement& statement, const StatementView& view, std::size_t member) {
  const auto is_member = [&](std::size_t iterator) { return statement.iterators[iterator] == view.iterators[member]; };
  return std::any_of(statement.guards.begin(), statement.guards.end(), [&](const Guard& guard) {
    bool differs = view.iterators[member].empty() || is_member(guard.iterator);
    walk_expr(guard.value, [&](const Expr& e) {
      if (const auto* read = std::get_if<Read>(&e.node)) differs = differs || !view.accesses[1 + read->access].affine || view.accesses[1 + read->access].moves_with(member);
      differs = differs || std::holds_alternative<IndexValue>(e.node);
    });
    return differs;
  });
}

/// The atom that runs lanes of the statement along the member, or nothing.
const Atom* lane_atom(const PlanRequest& request, const StatementView& view, const std::string& member) {
  const std::string body = lane_body(request.machine, request.program(), view, member);
  return body.empty() ? nullptr : find_body(request.machine, body);
}

/// Pins that say how lanes run, or that name another atom.
bool is_pinned_otherwise(const PlanRequest& request, const std::string& statement, const std::string& atom) {
  const AtomPin* pin = request.pins.atom(statement);
  return !request.pins.vectorizes.empty() || !request.pins.unrolls.empty() || (pin != nullptr && pin->atom != atom);
}

}  // namespace

std::string lane_body(const Machine& machine, const Program& program, const StatementView& view, const std::string& member) {
  const Statement& statement = program.statement(view.statement);
  const std::size_t m = view.member_index(member);
  if (m >= view.members.size() || !moves_as_lanes(program, view, member) || statement.predicate != nullptr || guards_differ(statement, view, m)) return "";
  const ElementType type = program.tensor(statement.write.tensor).type;
  if (!reads_own_element_only(statement)) return "";
  // One thread computes its neighbours one after the other: any body will do, where all of them read what they would read at once.
  const bool one_by_one = machine.vector_bytes == 0;
  if (one_by_one ? !reads_always(program, statement) : !has_lanes(type) || !is_vector_arithmetic(statement.body) || statement.combine == Combine::monoid) return "";
  const bool neighbours = std::all_of(view.accesses.begin() + 1, view.accesses.end(), [&](const AccessView& read) {
    return read.affine && (read.unit_stride(m) || !read.moves_with(m));
  });
  if (!neighbours) return "";
  if (view.accesses[0].unit_stride(m)) return "elementwise";
  if (statement.combine == Combine::monoid) return program.monoid(statement.monoid).commutative ? "reduce" : "";
  const bool combines = statement.combine == Combine::sum || statement.combine == Combine::prod || statement.combine == Combine::min || statement.combine == Combine::max;
  const bool allowed = combines && !is_narrow_float(type) && !(is_float(type) && !program.numerics().reassociate);
  return allowed ? "reduce" : "";
}

std::optional<SquareBox> choose_square_box(const PlanRequest& request, const StatementView& view, const std::string& rows, const std::string& lanes) {
  const Program& program = request.program();
  const Statement& statement = program.statement(view.statement);
  const std::size_t row = view.member_index(rows), lane = view.member_index(lanes);
  const Atom* atom = find_body(request.machine, "elementwise");
  if (atom == nullptr || row >= view.members.size() || lane >= view.members.size() || view.guarded[row] || view.guarded[lane]) return std::nullopt;
  if (request.machine.vector_bytes == 0 || statement.combine != Combine::assign || !statement.guards.empty() || statement.predicate != nullptr) return std::nullopt;
  if (is_pinned_otherwise(request, view.statement, atom->name) || !has_lanes(program.tensor(statement.write.tensor).type) || !is_vector_arithmetic(statement.body)) return std::nullopt;
  const AccessView& write = view.accesses[0];
  if (!write.affine || !write.unit_stride(lane) || !write.moves_with(row)) return std::nullopt;
  bool turns = false;
  for (std::size_t a = 1; a < view.accesses.size(); ++a) {
    const AccessView& read = view.accesses[a];
    const bool along = read.affine && (read.unit_stride(lane) || !read.moves_with(lane));
    const bool across = read.affine && read.unit_stride(row) && read.moves_with(lane) && !is_narrow_float(program.tensor(read.tensor).type);
    if (read.tensor == write.tensor || !(along || across)) return std::nullopt;
    turns = turns || across;
  }
  const long extent = request.machine.vector_bytes / widest_bytes(program, statement);
  if (!turns || extent < 2 || view.ranges[row].typical < double(extent) || view.ranges[lane].typical < double(extent)) return std::nullopt;
  return SquareBox{extent, atom->name};
}

std::optional<LaneBox> choose_lane_box(const PlanRequest& request, const std::map<std::string, StatementView>& views,
                                       const std::vector<std::string>& statements, const std::string& member, long tile) {
  if (request.machine.vector_bytes == 0) return std::nullopt;
  LaneBox box;
  long vectors = kReducedVectors;
  int bytes = 1;
  double trips = 0;
  std::optional<long> pinned;
  for (const std::string& name : statements) {
    const StatementView& view = views.at(name);
    const Statement& statement = request.program().statement(name);
    const Atom* atom = lane_atom(request, view, member);
    if (atom == nullptr || is_pinned_otherwise(request, name, atom->name)) return std::nullopt;
    box.atoms[name] = atom->name;
    const std::size_t m = view.member_index(member);
    trips = std::max(trips, view.ranges[m].typical);
    bytes = std::max(bytes, widest_bytes(request.program(), statement));
    const bool heavy = count_operations(statement) >= kHeavyOperations;
    vectors = std::min(vectors, heavy ? kHeavyVectors : atom->body == "reduce" ? kReducedVectors : kPlainVectors);
    if (!view.iterators[m].empty() && !pinned) pinned = request.pins.tile(level_of_kind(request.machine, LevelKind::atom), name, view.iterators[m]);
  }
  // Short rows take shorter vectors, down to 16 bytes.
  long lanes = request.machine.vector_bytes / bytes;
  while (lanes * bytes > kShortestVector && double(lanes / 2) >= trips) lanes /= 2;
  if (lanes < 2 || trips <= double(lanes) / 2) return std::nullopt;
  while (vectors > 1 && double(vectors / 2 * lanes) >= trips) vectors /= 2;
  box.extent = pinned.value_or(vectors * lanes);
  if (tile == 0) return box;
  while (!pinned && box.extent > lanes && (tile % box.extent != 0 || tile / box.extent < 2)) box.extent /= 2;
  if (box.extent <= 0 || tile % box.extent != 0 || tile / box.extent < 2) return std::nullopt;
  return box;
}

long widest_run(const Machine& machine, const Program& program, const StatementView& view, const std::string& member) {
  const std::string body = lane_body(machine, program, view, member);
  const Atom* atom = wide_atom(machine, body);
  if (body.empty() || atom == nullptr) return 0;
  const std::size_t m = view.member_index(member);
  int bytes = 0, smallest = 0;
  for (const AtomOperand& operand : atom->operands) bytes = std::max(bytes, operand.bytes);
  for (const AccessView& access : view.accesses)
    if (access.unit_stride(m)) smallest = smallest == 0 ? access.element_bytes : std::min(smallest, access.element_bytes);
  return smallest == 0 || bytes / smallest < 2 ? 0 : bytes / smallest;
}

std::optional<LaneBox> choose_wide_box(const PlanRequest& request, const std::map<std::string, StatementView>& views, const std::vector<std::string>& statements,
                                       const std::string& member) {
  LaneBox box;
  for (const std::string& name : statements) {
    const StatementView& view = views.at(name);
    const long run = widest_run(request.machine, request.program(), view, member);
    if (run == 0) return std::nullopt;
    const Atom* atom = wide_atom(request.machine, lane_body(request.machine, request.program(), view, member));
    if (is_pinned_otherwise(request, name, atom->name)) return std::nullopt;
    box.atoms[name] = atom->name;
    box.extent = std::max(box.extent, run);
  }
  return box.extent == 0 ? std::nullopt : std::optional(box);
}

}  // namespace tileopt
