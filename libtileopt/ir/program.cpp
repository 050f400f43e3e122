#include "ir/program.h"

#include <algorithm>
#include <numeric>

#include "support/document.h"
#include "support/text.h"

namespace tileopt {

std::vector<std::size_t> Tensor::storage_order() const {
  if (!layout.order.empty()) return layout.order;
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::optional<std::size_t> Tensor::contiguous_dim() const {
  if (shape.empty()) return std::nullopt;
  const std::size_t fastest = storage_order().back();
  if (!layout.strides.empty() && poly::constant_of(layout.strides[fastest]) != 1) return std::nullopt;
  return fastest;
}

isl::set Tensor::elements(isl::ctx context) const {
  isl_space* space = isl_space_set_alloc(context.get(), 0, static_cast<unsigned>(shape.size()));
  space = isl_space_set_tuple_name(space, isl_dim_set, name.c_str());
  isl::set box = isl::manage(isl_set_universe(space));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto position = static_cast<unsigned>(d);
    isl_local_space* local = isl_local_space_from_space(isl_set_get_space(box.get()));
    isl::pw_aff coordinate = isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(local, isl_dim_set, position)));
    isl::pw_aff zero = isl::manage(isl_pw_aff_zero_on_domain(isl_local_space_from_space(isl_set_get_space(box.get()))));
    // The extent lives over the parameters only: move it onto the element space.
    isl::pw_aff extent = isl::manage(isl_pw_aff_insert_domain(shape[d].copy(), isl_set_get_space(box.get())));
    box = box.intersect(coordinate.ge_set(zero)).intersect(coordinate.lt_set(extent));
  }
  return box;
}

std::string combine_name(Combine combine) {
  switch (combine) {
    case Combine::assign: return "assign";
    case Combine::sum: return "sum";
    case Combine::prod: return "prod";
    case Combine::min: return "min";
    case Combine::max: return "max";
    case Combine::any: return "any";
    case Combine::all: return "all";
    case Combine::bit_and: return "bit_and";
    case Combine::bit_or: return "bit_or";
    case Combine::bit_xor: return "bit_xor";
    case Combine::monoid: return "monoid";
  }
  return "?";
}

const Guard* Statement::guard_of(std::size_t iterator) const {
  for (const Guard& guard : guards)
    if (guard.iterator == iterator) return &guard;
  return nullptr;
}

Literal combine_identity(Combine combine, ElementType type) {
  if (is_tuple(type)) return {};
  switch (combine) {
    case Combine::assign:
    case Combine::sum:
    case Combine::any:
    case Combine::bit_or:
    case Combine::bit_xor:
    case Combine::monoid: return {0, 0};
    case Combine::prod:
    case Combine::all: return {1, 1};
    case Combine::bit_and: return {0, is_integer(type) && !is_signed(type) ? static_cast<std::int64_t>(largest_integer(type)) : -1};
    case Combine::min: return largest_value(type);
    case Combine::max: return least_value(type);
  }
  return {0, 0};
}

std::optional<BinaryOp> combine_operator(Combine combine) {
  switch (combine) {
    case Combine::sum: return BinaryOp::add;
    case Combine::prod: return BinaryOp::mul;
    case Combine::min: return BinaryOp::min;
    case Combine::max: return BinaryOp::max;
    case Combine::any: return BinaryOp::logical_or;
    case Combine::all: return BinaryOp::logical_and;
    case Combine::bit_and: return BinaryOp::bit_and;
    case Combine::bit_or: return BinaryOp::bit_or;
    case Combine::bit_xor: return BinaryOp::bit_xor;
    case Combine::assign:
    case Combine::monoid: break;
  }
  return std::nullopt;
}

std::string update_class(const Statement& statement) {
  return statement.combine == Combine::monoid ? "monoid " + statement.monoid : combine_name(statement.combine);
}

std::string Program::hash() const { return hash_text(text_); }

const Tensor& Program::tensor(const std::string& name) const {
  for (const Tensor& t : tensors_)
    if (t.name == name) return t;
  TILEOPT_CHECK(false, "program " + name_ + " has no tensor " + name);
  return tensors_.front();
}
const Statement& Program::statement(const std::string& name) const {
  for (const Statement& s : statements_)
    if (s.name == name) return s;
  TILEOPT_CHECK(false, "program " + name_ + " has no statement " + name);
  return statements_.front();
}
const Monoid& Program::monoid(const std::string& name) const {
  for (const Monoid& m : monoids_)
    if (m.name == name) return m;
  TILEOPT_CHECK(false, "program " + name_ + " has no monoid " + name);
  return monoids_.front();
}
bool Program::has_tensor(const std::string& name) const {
  for (const Tensor& t : tensors_)
    if (t.name == name) return true;
  return false;
}
bool Program::has_statement(const std::string& name) const {
  for (const Statement& s : statements_)
    if (s.name == name) return true;
  return false;
}

Program Program::restricted_to(const isl::set& sizes) const {
  Program restricted = *this;
  restricted.context_ = context_.intersect(sizes).coalesce();
  return restricted;
}

isl::set read_when(const Program& program, const std::string& when, const std::string& kernel) {
  const auto reject = [&](const std::string& message) {
    throw Errors(Diagnostic{ErrorCode::invalid_plan, {}, "kernel `" + kernel + "`: `when` " + message, "write a set of sizes, e.g. [K] -> { : K mod 8 = 0 }", ""});
  };
  if (when.empty()) return isl::set(program.ctx(), "{ : }");
  isl::set sizes;
  try {
    sizes = isl::set(program.ctx(), when);
  } catch (const isl::exception&) {
    reject("is no set that isl can read: `" + when + "`");
  }
  if (!isl_set_is_params(sizes.get())) reject("has dimensions: `" + when + "`");
  for (const std::string& name : poly::parameters(sizes))
    if (!contains(program.parameters(), name)) reject("names `" + name + "`, which is no size of program " + program.name());
  return sizes;
}

std::vector<StatementSpace> Program::spaces() const {
  std::vector<StatementSpace> spaces;
  for (const Statement& s : statements_)
    spaces.push_back({s.name, s.iterators, s.domain.intersect_params(context_),
                      isl::manage(isl_set_identity(s.domain.intersect_params(context_).release()))});
  return spaces;
}

isl::union_set Program::domain() const {
  isl::union_set all = poly::empty_union_set(ctx());
  for (const Statement& s : statements_) all = all.unite(isl::union_set(s.domain.intersect_params(context_)));
  return all;
}

isl::union_map Program::original_order() const { return order_map(order_, spaces()); }

ProgramBuilder::ProgramBuilder(isl::ctx ctx, std::string name) {
  program_.name_ = std::move(name);
  program_.context_ = isl::set(ctx, "{ : }");
}
ProgramBuilder& ProgramBuilder::file(std::string file) {
  program_.file_ = std::move(file);
  return *this;
}
ProgramBuilder& ProgramBuilder::text(std::string canonical_text) {
  program_.text_ = std::move(canonical_text);
  return *this;
}
ProgramBuilder& ProgramBuilder::parameter(std::string name) {
  program_.parameters_.push_back(std::move(name));
  return *this;
}
ProgramBuilder& ProgramBuilder::context(isl::set context) {
  program_.context_ = program_.context_.intersect(context);
  return *this;
}
ProgramBuilder& ProgramBuilder::tensor(Tensor tensor) {
  program_.tensors_.push_back(std::move(tensor));
  return *this;
}
ProgramBuilder& ProgramBuilder::statement(Statement statement) {
  program_.statements_.push_back(std::move(statement));
  return *this;
}
ProgramBuilder& ProgramBuilder::monoid(Monoid monoid) {
  program_.monoids_.push_back(std::move(monoid));
  return *this;
}
ProgramBuilder& ProgramBuilder::order(Tree order) {
  program_.order_ = std::move(order);
  return *this;
}
ProgramBuilder& ProgramBuilder::numerics(Numerics numerics) {
  program_.numerics_ = numerics;
  return *this;
}

namespace {
void check_access(const Program& program, const Statement& statement, const Access& access) {
  TILEOPT_CHECK(program.has_tensor(access.tensor), statement.name + " accesses unknown tensor " + access.tensor);
  const isl::map relation = access.index.as_map();
  TILEOPT_CHECK(relation.is_empty() || poly::output_name(relation) == access.tensor,
                "access of " + statement.name + " leads to " + poly::to_text(relation));
  const int arity = isl_pw_multi_aff_dim(access.index.get(), isl_dim_out);
  TILEOPT_CHECK(static_cast<std::size_t>(arity) == program.tensor(access.tensor).shape.size(),
                "access of " + statement.name + " to " + access.tensor + " has the wrong number of subscripts");
}
/// What layouts promise to everybody who prints or calls kernels.
void check_storage(const Tensor& tensor) {
  const Layout& layout = tensor.layout;
  const std::size_t rank = tensor.shape.size();
  const bool local = tensor.role == TensorRole::local, plain = layout.order.empty() && layout.strides.empty();
  TILEOPT_CHECK(local || !is_tuple(tensor.type), "argument " + tensor.name + " is an array of tuples");
  TILEOPT_CHECK(!local || (plain && !layout.packed), "local " + tensor.name + " has a layout");
  TILEOPT_CHECK(layout.strides.empty() || layout.strides.size() == rank, "argument " + tensor.name + " has " + std::to_string(layout.strides.size()) + " strides");
  std::vector<std::size_t> order = tensor.storage_order();
  std::sort(order.begin(), order.end());
  for (std::size_t d = 0; d < rank; ++d) TILEOPT_CHECK(order.size() == rank && order[d] == d, "the order of argument " + tensor.name + " is no permutation");
  const bool four_bits = tensor.type == ElementType::i4 || tensor.type == ElementType::u4;
  // Two threads may own the halves of one byte, so nobody may write them.
  TILEOPT_CHECK(!layout.packed || (four_bits && plain && rank > 0 && tensor.role == TensorRole::in), "argument " + tensor.name + " cannot be packed");
  TILEOPT_CHECK(local || !four_bits || layout.packed, "argument " + tensor.name + " of 4-bit elements is not packed");
}
}  // namespace

Program ProgramBuilder::build() {
  Program& p = program_;
  TILEOPT_CHECK(!p.statements_.empty(), "program " + p.name_ + " has no statement");
  for (const Tensor& t : p.tensors_) check_storage(t);
  for (const Statement& s : p.statements_) {
    TILEOPT_CHECK(poly::tuple_name(s.domain) == s.name || s.domain.is_empty(), "domain of " + s.name + " has another name");
    TILEOPT_CHECK(static_cast<std::size_t>(isl_set_dim(s.domain.get(), isl_dim_set)) == s.iterators.size(),
                  "domain of " + s.name + " and its iterators disagree");
    check_access(p, s, s.write);
    for (const Access& read : s.reads) check_access(p, s, read);
    TILEOPT_CHECK(s.body != nullptr, "statement " + s.name + " has no body");
    TILEOPT_CHECK(s.predicate == nullptr || s.predicate->type == ElementType::boolean, "the predicate of " + s.name + " is no bool");
    for (const Guard& guard : s.guards)
      TILEOPT_CHECK(guard.iterator < s.iterators.size() && guard.value != nullptr && guard.value->type == ElementType::i64,
                    "a guard of " + s.name + " does not hold together");
    TILEOPT_CHECK(s.combine != Combine::monoid || p.monoid(s.monoid).type == s.body->type,
                  "the body of " + s.name + " has another type than its monoid");
    for (const std::string& dim : path_dims(p.order_, s.name))
      TILEOPT_CHECK(contains(s.iterators, dim), "the order of " + s.name + " names an unknown iterator " + dim);
  }
  return std::move(program_);
}

}  // namespace tileopt
