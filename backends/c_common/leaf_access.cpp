#include "backends/c_common/leaf_access.h"

#include <map>
#include <unordered_set>

#include "support/error.h"

namespace tileopt {

namespace {
/// Reads whose every use is a widening to the type in which their array keeps them: they are read as kept, and nothing is converted.
class KeptReads {
 public:
  explicit KeptReads(const LeafView& view) {
    for (std::size_t r = 0; r < view.reads.size(); ++r) {
      const ElementType kept = view.reads[r].storage->element, type = view.reads[r].type;
      if (kept != type && widens_exactly(type, kept)) kept_.emplace(r, kept);
    }
    if (kept_.empty()) return;
    leave_out_bare(view.body);
    for (const LeafView::Guarded& guard : view.guards) leave_out_read(guard.value);
    if (view.predicate != nullptr) leave_out_read(view.predicate);
  }

  void apply(LeafView& view) {
    if (kept_.empty()) return;
    view.body = rebuild(view.body, [&](const ExprPtr& expr) {
      const Read* read = widened(*expr);
      return read != nullptr ? make_expr(expr->type, *read) : expr;
    });
    for (const auto& [access, type] : kept_) view.reads[access].type = type;
  }

 private:
  void leave_out_read(const ExprPtr& expr) {
    walk_expr(expr, [&](const Expr& e) {
      if (const auto* read = std::get_if<Read>(&e.node)) kept_.erase(read->access);
    });
  }
  /// The access of `expr` where it is a widening that goes, or nothing.
  const Read* widened(const Expr& expr) const {
    const auto* cast = std::get_if<Cast>(&expr.node);
    const auto* read = cast == nullptr ? nullptr : std::get_if<Read>(&cast->operand->node);
    const auto found = read == nullptr ? kept_.end() : kept_.find(read->access);
    return found != kept_.end() && found->second == expr.type ? read : nullptr;
  }
  /// Drops accesses that are read otherwise. Shared subexpressions are visited once.
  void leave_out_bare(const ExprPtr& expr) {
    if (!seen_.insert(expr.get()).second || widened(*expr) != nullptr) return;
    if (const auto* read = std::get_if<Read>(&expr->node)) kept_.erase(read->access);
    for (const ExprPtr& operand : operands(*expr)) leave_out_bare(operand);
  }

  std::map<std::size_t, ElementType> kept_;  ///< by access
  std::unordered_set<const Expr*> seen_;
};
}  // namespace

bool in_memory(const LeafOperand& operand) { return operand.storage->kind == Storage::Kind::memory && !operand.storage->packed && !operand.storage->in_registers; }

bool is_atomic_update(const AstStatement& statement) { return statement.kind == "compute" && !statement.atom.empty() && statement.box.empty(); }

Subscripts LeafOperand::at(const std::vector<long>& point) const {
  const std::vector<long> offset = delta(point);
  Subscripts subscripts;
  for (std::size_t d = 0; d < corner.size(); ++d) subscripts.push_back(plus(corner[d], offset[d]));
  return subscripts;
}

Subscripts LeafOperand::at(const std::vector<AstExprPtr>& point) const {
  Subscripts subscripts = corner;
  for (std::size_t d = 0; d < corner.size(); ++d)
    for (std::size_t b = 0; b < point.size(); ++b)
      if (steps[d][b] != 0) subscripts[d] = sum_of(subscripts[d], product_of(ast_integer(steps[d][b]), point[b]));
  return subscripts;
}

std::vector<long> LeafOperand::delta(const std::vector<long>& point) const {
  std::vector<long> offset(corner.size(), 0);
  for (std::size_t d = 0; d < corner.size(); ++d)
    for (std::size_t b = 0; b < point.size(); ++b) offset[d] += steps[d][b] * point[b];
  return offset;
}

bool LeafOperand::still(std::size_t digit) const {
  for (const std::vector<long>& row : steps)
    if (row[digit] != 0) return false;
  return true;
}

bool LeafOperand::contiguous(std::size_t digit) const {
  if (steps.empty() || storage->scattered) return false;
  const std::size_t unit = storage->unit_dim.value_or(steps.size() - 1);
  for (std::size_t d = 0; d < steps.size(); ++d)
    if (steps[d][digit] != (d == unit ? 1 : 0)) return false;
  return true;
}

std::optional<long> LeafOperand::memory_step(std::size_t digit) const {
  long sum = 0;
  for (std::size_t d = 0; d < steps.size(); ++d) {
    if (steps[d][digit] == 0) continue;
    if (storage->swizzles(d)) return std::nullopt;
    const auto stride = constant_value(fold(storage->strides[d]));
    if (!stride) return std::nullopt;
    sum += steps[d][digit] * static_cast<long>(*stride);
  }
  return sum;
}

bool LeafOperand::same_elements(const LeafOperand& other) const {
  if (storage != other.storage || steps != other.steps) return false;
  for (std::size_t d = 0; d < corner.size(); ++d)
    if (ast_expr_text(fold(corner[d])) != ast_expr_text(fold(other.corner[d]))) return false;
  return true;
}

long LeafView::points() const {
  long product = 1;
  for (const long radix : radices)
    if (__builtin_mul_overflow(product, radix, &product)) return LONG_MAX;
  return product;
}

AstExprPtr LeafView::index_at(std::size_t index, const std::vector<AstExprPtr>& point) const {
  AstExprPtr value = indices[index];
  for (std::size_t b = 0; b < point.size(); ++b)
    if (statement->index_steps[index][b] != 0)
      value = sum_of(value, product_of(ast_integer(statement->index_steps[index][b]), point[b]));
  return value;
}

bool LeafView::order_matters() const {
  for (const LeafOperand& read : reads)
    if (read.storage == write.storage && !read.same_elements(write)) return true;
  return false;
}

LeafView make_leaf_view(const AstLeaf& leaf, const Ast& ast, const Program& program, const StorageTable& storage,
                        const std::set<std::string>& settled) {
  LeafView view;
  const AstStatement& statement = ast.statements.at(leaf.statement);
  view.statement = &statement;
  view.copy = statement.kind != "compute";
  view.atomic = is_atomic_update(statement);
  for (const AstStatement::BoxDigit& digit : statement.box) view.radices.push_back(digit.radix);
  view.indices = leaf.indices;
  view.extents = leaf.extents;
  const Storage& target = storage.find(statement.write_array);
  view.write = {&target, target.element, leaf.write, statement.write_steps};
  for (std::size_t r = 0; r < statement.read_arrays.size(); ++r) {
    const Storage& source = storage.find(statement.read_arrays[r]);
    view.reads.push_back({&source, source.element, leaf.reads[r], statement.read_steps[r]});
  }
  if (view.copy) {
    // A copy moves values of the narrower of both types, whichever side keeps them wider.
    const bool widens = widens_exactly(view.reads[0].type, target.element);
    view.type = widens ? view.reads[0].type : target.element;
    view.reads[0].type = view.write.type = view.type;
    view.body = make_expr(view.type, Read{0});
    return view;
  }
  const Statement& source = program.statement(statement.statement);
  TILEOPT_CHECK(source.reads.size() == view.reads.size(), "reads of leaf " + leaf.statement);
  TILEOPT_CHECK(source.indices.size() <= view.indices.size(), "index values of leaf " + leaf.statement);
  view.combine = source.combine;
  view.reassociate = program.numerics().reassociate;
  if (source.combine == Combine::monoid) view.monoid = &program.monoid(source.monoid);
  view.body = source.body;
  view.type = source.body->type;
  view.write.type = view.type;
  for (std::size_t r = 0; r < view.reads.size(); ++r) view.reads[r].type = program.tensor(source.reads[r].tensor).type;
  for (std::size_t g = 0; g < source.guards.size(); ++g) {
    const Guard& guard = source.guards[g];
    const AstExprPtr& iterator = leaf.instance[guard.iterator];
    if (iterator->kind != AstExpr::Kind::name || settled.count(iterator->name) == 0) view.guards.push_back({g, guard.value, iterator});
  }
  view.predicate = source.predicate;
  KeptReads(view).apply(view);
  return view;
}

}  // namespace tileopt
