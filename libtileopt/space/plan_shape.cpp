#include "space/plan_shape.h"

#include <algorithm>
#include <map>

#include "rewrites/apply_rewrites.h"
#include "search/versions.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr double kStraightCopyCycles = 0.25;  ///< an element that is moved along the direction in which it lies on both sides
constexpr double kCrossCopyCycles = 1;

class ShapeBuilder {
 public:
  ShapeBuilder(const Program& program, const KernelPlan& plan, const Machine& machine, const TypicalSizes& sizes)
      : program_(program), plan_(plan), machine_(machine), sizes_(sizes) {}

  KernelShape build() {
    shape_.name = plan_.name;
    for (const auto& [member, digits] : plan_.digits) add_member(member, digits);
    for (const std::string& name : plan_.statements)
      views_.push_back(view_statement(program_, name, plan_.members.at(name), sizes_));
    for (const StatementView& view : views_) {
      for (std::size_t m = 0; m < view.members.size(); ++m) {
        double& extent = shape_.extents[index_of(view.members[m])];
        extent = std::max(extent, view.ranges[m].typical);
      }
    }
    for (const StatementView& view : views_) add_statement(view);
    return std::move(shape_);
  }

 private:
  void add_member(const std::string& member, const std::vector<Digit>& digits) {
    const auto number = static_cast<int>(shape_.members.size());
    shape_.members.push_back(member);
    shape_.extents.push_back(1);
    shape_.digits_of.emplace_back();
    for (const Digit& digit : digits) {
      const Level* level = machine_.find_level(digit.level);
      shape_.digits_of.back().push_back(static_cast<int>(shape_.digits.size()));
      shape_.digits.push_back({digit.name, number, digit.radix, level ? level->kind : LevelKind::sequential});
    }
  }

  std::size_t index_of(const std::string& member) const {
    return static_cast<std::size_t>(std::find(shape_.members.begin(), shape_.members.end(), member) - shape_.members.begin());
  }
  int digit_number(const std::string& name) const {
    const auto found =
        std::find_if(shape_.digits.begin(), shape_.digits.end(), [&](const ShapeDigit& d) { return d.name == name; });
    return found == shape_.digits.end() ? -1 : static_cast<int>(found - shape_.digits.begin());
  }

  void add_statement(const StatementView& view) {
    ShapeStatement result;
    const Statement& statement = program_.statement(view.statement);
    result.name = view.statement;
    result.operations = count_operations(statement) + (statement.combine == Combine::assign ? 0 : 1);
    result.element_bytes = view.accesses[0].element_bytes;
    for (const std::string& dim : path_dims(plan_.tree, view.statement)) {
      if (const int digit = digit_number(dim); digit >= 0) result.path.push_back(digit);
    }
    const std::size_t loops = result.path.size();
    if (const auto choice = plan_.atoms.find(view.statement); choice != plan_.atoms.end()) add_atom(choice->second, result);
    for (const AccessView& access : view.accesses) add_access(view, access, loops, result);
    merge_streams(result.streams);
    shape_.statements.push_back(std::move(result));
  }

  void add_atom(const AtomChoice& choice, ShapeStatement& result) const {
    const Atom* atom = choice.atom.empty() ? nullptr : machine_.find_atom(choice.atom);
    if (atom && atom->body == "multiply_add") result.leaf = ShapeLeaf::multiply_add;
    if (atom && atom->is_collective()) {
      result.leaf = ShapeLeaf::multiply_add;
      result.products = std::max(1.0, atom->throughput / std::max(machine_.fma_per_cycle, 0.1));
    } else if (atom && atom->body == "dot") {
      result.leaf = ShapeLeaf::multiply_add;
      result.products = std::max(1.0, double(atom->extents.at(1)) * atom->throughput / std::max(machine_.fma_per_cycle, 0.1));
      result.summed_at_once = double(atom->extents.at(1));
    }
    if (atom && (atom->body == "elementwise" || atom->body == "reduce")) result.leaf = ShapeLeaf::elementwise;
    result.padded = choice.edge == "padded" && !choice.box.empty();
    for (const std::string& name : choice.box) {
      if (const int digit = digit_number(name); digit >= 0) result.path.push_back(digit);
    }
  }

  /// Promotions of the tensor that this statement reads or writes through, outer scopes first, with the depths of their scopes.
  std::vector<std::pair<std::size_t, const Promotion*>> promotions_of(const std::string& statement,
                                                                      const std::string& tensor) const {
    std::vector<std::pair<std::size_t, const Promotion*>> found;
    const std::vector<std::string> path = path_dims(plan_.tree, statement);
    for (const Promotion& promotion : plan_.promotions) {
      if (promotion.tensor != tensor) continue;
      if (!promotion.statements.empty() && !contains(promotion.statements, statement)) continue;
      if (promotion.after.empty()) {
        found.emplace_back(0, &promotion);
        continue;
      }
      const auto at = std::find(path.begin(), path.end(), promotion.after);
      if (at != path.end()) found.emplace_back(static_cast<std::size_t>(at - path.begin()) + 1, &promotion);
    }
    return found;
  }

  void add_access(const StatementView& view, const AccessView& access, std::size_t loops, ShapeStatement& result) const {
    ShapeStream stream;
    stream.tensor = stream.array = access.tensor;
    stream.element_bytes = access.element_bytes;
    stream.write = access.write;
    stream.below = result.path.size();
    for (const std::size_t d : access.order) {
      if (!access.affine) break;
      std::vector<long> row(shape_.members.size(), 0);
      for (std::size_t m = 0; m < view.members.size(); ++m) row[index_of(view.members[m])] = access.coefficients[d][m];
      stream.coefficients.push_back(std::move(row));
    }
    // Elements of a tensor whose rows have gaps lie on lines of their own.
    if (access.affine && !access.order.empty() && !access.contiguous)
      stream.coefficients.emplace_back(shape_.members.size(), 0);
    for (const auto& [depth, promotion] : promotions_of(view.statement, access.tensor)) {
      ShapeStream source = stream;
      source.copy = true;
      source.below = std::min(depth, loops);
      const bool in_register = promotion->space == "register";
      if (!in_register) {
        const bool straight = !promotion->layout.empty() && access.contiguous &&
                              promotion->layout.back().tensor_dim == static_cast<int>(*access.contiguous);
        source.copy_cycles = (straight ? kStraightCopyCycles : kCrossCopyCycles) * (access.write ? 2 : 1);
      }
      result.streams.push_back(source);
      if (in_register) {
        result.result_in_registers = result.result_in_registers || access.write;
        return;
      }
      stream.array = promotion->array;
      stream.packed = true;
      stream.renewed = source.below;
      ShapeStream target = stream;
      target.copy = target.created = true;
      target.write = false;
      target.below = source.below;
      result.streams.push_back(std::move(target));
    }
    result.streams.push_back(std::move(stream));
  }

  /// Accesses that differ by constants only share their lines.
  static void merge_streams(std::vector<ShapeStream>& streams) {
    std::vector<ShapeStream> merged;
    for (ShapeStream& stream : streams) {
      const auto same = std::find_if(merged.begin(), merged.end(), [&](const ShapeStream& m) {
        return m.array == stream.array && m.coefficients == stream.coefficients && m.copy == stream.copy &&
               m.created == stream.created && m.below == stream.below && m.renewed == stream.renewed;
      });
      if (same == merged.end())
        merged.push_back(std::move(stream));
      else
        same->write = same->write || stream.write;
    }
    streams = std::move(merged);
  }

  const Program& program_;
  const KernelPlan& plan_;
  const Machine& machine_;
  const TypicalSizes& sizes_;
  std::vector<StatementView> views_;
  KernelShape shape_;
};

}  // namespace

KernelShape shape_of_kernel(const Program& program, const KernelPlan& plan, const Machine& machine, const TypicalSizes& sizes) {
  return ShapeBuilder(program, plan, machine, sizes).build();
}

std::vector<KernelShape> shapes_of_plan(const Program& source, const Plan& plan, const Machine& machine,
                                        const TypicalSizes& sizes) {
  const std::shared_ptr<const Program> borrowed(std::shared_ptr<void>(), &source);
  const auto rewritten = apply_rewrites(borrowed, plan.rewrites);
  if (const auto* refused = std::get_if<Infeasible>(&rewritten))
    throw Errors(Diagnostic{ErrorCode::invalid_plan,
                            {},
                            "the plan's rewrites do not fit the program: " + refused->reason,
                            "use the program that the plan was made for",
                            ""});
  const std::shared_ptr<const Program> program = std::get<RewrittenProgram>(rewritten);
  std::vector<KernelShape> shapes;
  for (const KernelPlan& kernel : running_at(plan, *program, sizes).kernels) shapes.push_back(shape_of_kernel(*program, kernel, machine, sizes));
  return shapes;
}

}  // namespace tileopt
