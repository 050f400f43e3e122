#include "random_program.h"

#include <algorithm>

#include "random_expression.h"
#include "support/text.h"

namespace tileopt::testing {

namespace {

/// Source lines of one nest, and what they cost at the largest sizes.
struct Lines {
  std::vector<std::string> text;
  std::int64_t instances = 0;
};

class ProgramMaker {
 public:
  explicit ProgramMaker(std::uint64_t seed) : seed_(seed), random_(seed * 2 + 1), make_(random_, plan_) {}

  std::string make(ProgramFeatures* features) {
    choose_type();
    const int nests = random_.between(1, 4);
    for (int n = 0; n < nests; ++n) add_nest();
    while (body_.empty()) add_nest();
    std::string text = source();
    if (features != nullptr) *features = plan_.features;
    return text;
  }

 private:
  static constexpr std::int64_t most_instances = 60000;

  void choose_type() {
    const int kind = random_.below(20);
    plan_.main_type = kind < 10   ? ElementType::i32
                      : kind < 13 ? ElementType::i64
                      : kind < 16 ? ElementType::f32
                      : kind < 18 ? ElementType::f64
                      : kind < 19 ? ElementType::bf16
                                  : ElementType::f16;
  }

  ElementType tensor_type() {
    if (random_.chance(85)) return plan_.main_type;
    return is_float(plan_.main_type) ? ElementType::f32 : random_.chance(50) ? ElementType::i32 : ElementType::i64;
  }

  /// A nest that would exceed the instance budget is dropped, with the tensors it brought.
  void add_nest() {
    const ProgramPlan before = plan_;
    Lines lines;
    switch (random_.below(13)) {
      case 10: scatter_nest(lines); break;
      case 11: row_nest(lines); break;
      case 12: monoid_nest(lines); break;
      case 0: case 1: new_tensor_nest(lines); break;
      case 2: case 3: update_nest(lines); break;
      case 4: triangular_nest(lines); break;
      case 5: time_nest(lines); break;
      case 6: local_nest(lines); break;
      case 7: conditional_nest(lines); break;
      case 8: recurrence_nest(lines); break;
      default: contraction_nest(lines); break;
    }
    if (instances_ + lines.instances > most_instances) {
      plan_ = before;
      return;
    }
    instances_ += lines.instances;
    body_.insert(body_.end(), lines.text.begin(), lines.text.end());
  }

  // Loops.

  Loop make_loop(const std::string& name, int size) {
    if (random_.chance(10)) return {name, SizeExpression::fixed(0), SizeExpression::fixed(random_.between(1, 6)), make_.step()};
    const int low = random_.chance(20) ? random_.between(1, 2) : 0;
    return {name, SizeExpression::fixed(low), SizeExpression::of(size, random_.chance(20) ? random_.between(-2, 1) : -1), make_.step()};
  }
  /// One to three loops, of which at most two are long.
  Loops make_loops(int count) {
    Loops loops;
    static const std::vector<std::string> names = {"i", "j", "l"};
    std::vector<int> sizes = random_.chance(50) ? std::vector<int>{size_n, size_m, size_k} : std::vector<int>{size_m, size_n, size_k};
    if (random_.chance(20)) sizes[1] = sizes[0];
    if (count == 3 && random_.chance(40)) std::swap(sizes[static_cast<std::size_t>(random_.below(2))], sizes[2]);
    for (int l = 0; l < count; ++l) loops.loops.push_back(make_loop(names[static_cast<std::size_t>(l)], sizes[static_cast<std::size_t>(l)]));
    return loops;
  }

  std::string loop_text(const Loop& loop) const { return "for " + loop.name + " in " + loop.range() + ":"; }
  static std::string indent(std::size_t depth) { return std::string(4 * depth, ' '); }

  /// Opens `loops` from number `first` on; returns the depth of what comes inside.
  std::size_t open(Lines& lines, const Loops& loops, std::size_t first, std::size_t depth) {
    bool grid = loops.loops.size() - first > 1 && random_.chance(50);
    for (std::size_t l = first; l < loops.loops.size(); ++l)
      grid = grid && loops.loops[l].low.is_fixed() && loops.loops[l].low.constant == 0 && loops.loops[l].step == 1;
    if (grid) {
      std::vector<std::string> names, extents;
      for (std::size_t l = first; l < loops.loops.size(); ++l) {
        names.push_back(loops.loops[l].name);
        extents.push_back(loops.loops[l].high.plus(1).text());
      }
      lines.text.push_back(indent(depth) + "for " + join(names, ", ") + " in grid(" + join(extents, ", ") + "):");
      return depth + 1;
    }
    for (std::size_t l = first; l < loops.loops.size(); ++l) lines.text.push_back(indent(depth++) + loop_text(loops.loops[l]));
    return depth;
  }

  /// Adds a statement; inline reductions are charged by their widest range.
  void add(Lines& lines, const Loops& loops, std::size_t depth, const std::string& text) {
    std::int64_t instances = 1;
    for (const Loop& loop : loops.loops) instances *= std::max<std::int64_t>(0, loop.high.plus(loop.low, -1).at_largest() + 1);
    std::int64_t reductions = 0;
    for (std::size_t at = text.find(" for "); at != std::string::npos; at = text.find(" for ", at + 1)) {
      const std::string range = text.substr(at, text.find(')', at) - at);
      const bool wide = range.find('i') != range.rfind("in ") || range.find('M') != std::string::npos || range.find('N') != std::string::npos;
      reductions += wide ? 42 : 11;
    }
    lines.instances += instances * (1 + reductions + (reductions ? 1 : 0));
    lines.text.push_back(indent(depth) + text);
  }

  // Targets.

  /// An element of a tensor that may be written in part: an inout argument, or one already full.
  std::string partial_target(const Loops& loops, ElementType* type) {
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i)
      if (plan_.tensors[i].readable && plan_.tensors[i].use != TensorUse::in) fitting.push_back(i);
    for (int attempt = 0; attempt < 4 && !fitting.empty() && random_.chance(70); ++attempt) {
      const TensorPlan& tensor = plan_.tensors[random_.pick(fitting)];
      const auto at = make_.subscripts(loops, tensor.extents);
      if (!at) continue;
      *type = tensor.type;
      return tensor.name + *at;
    }
    const ElementType chosen = tensor_type();
    const std::string name = make_.add_input(loops, chosen, TensorUse::inout).name;
    *type = chosen;
    const auto at = make_.subscripts(loops, plan_.tensors.back().extents);
    return at ? name + *at : fallback_target(name);
  }
  /// The tensor just added fits the loops one by one.
  std::string fallback_target(const std::string& name) {
    plan_.tensors.back().extents = {SizeExpression::fixed(1)};
    return name + "[0]";
  }

  std::string assignment(const Loops& loops, const std::string& target, ElementType type, bool reductions) {
    const std::string tensor = target.substr(0, target.find('['));
    const int kind = random_.below(10);
    std::string text;
    if (kind < 3) {
      plan_.features.in_place = true;
      text = target + " += " + make_.value(loops, type, random_.between(0, 2), false);
    } else if (kind == 3) {
      plan_.features.in_place = true;
      text = target + " = " + (random_.chance(50) ? "max(" : "min(") + target + ", " + make_.value(loops, type, 1, false) + ")";
    } else if (kind < 6 && reductions) {
      text = target + " = " + make_.reduction(loops, type, 1);
    } else {
      text = target + " = " + make_.value(loops, type, random_.between(1, 2), reductions);
    }
    if (text.find(tensor + "[", target.size()) != std::string::npos) plan_.features.in_place = true;
    return text;
  }

  std::string new_name(const char* prefix) { return prefix + std::to_string(next_output_++); }

  // Nests.

  /// Writes all of a new output or local array.
  void new_tensor_nest(Lines& lines) {
    Loops loops = make_loops(random_.between(1, 3));
    TensorPlan tensor{"", tensor_type(), {}, random_.chance(65) ? TensorUse::out : TensorUse::local, false};
    tensor.name = new_name(tensor.use == TensorUse::out ? "X" : "w");
    for (Loop& loop : loops.loops) {
      loop.low = SizeExpression::fixed(0);
      loop.high.constant = std::max(loop.high.constant, -1);
      loop.step = loop.step < 0 ? -1 : 1;
      tensor.extents.push_back(loop.high.plus(1));
    }
    plan_.features.local = plan_.features.local || tensor.use == TensorUse::local;
    std::vector<std::string> subscripts;
    for (const Loop& loop : loops.loops) subscripts.push_back(loop.name);
    const bool transposed = subscripts.size() > 1 && random_.chance(25);
    if (transposed) {
      std::swap(subscripts.front(), subscripts.back());
      std::swap(tensor.extents.front(), tensor.extents.back());
    }
    if (tensor.use == TensorUse::local) lines.text.push_back(indent(1) + tensor.name + ": " + tensor_text(tensor));
    const std::string target = tensor.name + "[" + join(subscripts, ", ") + "]";
    const std::size_t depth = open(lines, loops, 0, 1);
    if (random_.chance(20)) {
      lines.text.push_back(indent(depth) + "if " + make_.affine_condition(loops) + ":");
      add(lines, loops, depth + 1, target + " = " + make_.value(loops, tensor.type, 1, true));
      lines.text.push_back(indent(depth) + "else:");
      add(lines, loops, depth + 1, target + " = " + make_.value(loops, tensor.type, 1, false));
    } else if (random_.chance(40)) {
      add(lines, loops, depth, target + " = " + make_.reduction(loops, tensor.type, 1));
    } else {
      add(lines, loops, depth, target + " = " + make_.value(loops, tensor.type, 2, true));
    }
    if (random_.chance(25)) {
      plan_.features.multi_statement = plan_.features.in_place = true;
      add(lines, loops, depth, target + " += " + make_.value(loops, tensor.type, 1, false));
    }
    tensor.readable = true;
    plan_.tensors.push_back(tensor);
  }

  /// Writes parts of arrays that already hold values.
  void update_nest(Lines& lines) {
    const Loops loops = make_loops(random_.between(1, 3));
    const std::size_t depth = open(lines, loops, 0, 1);
    const int statements = loops.loops.size() < 3 ? random_.between(1, 3) : 1;
    plan_.features.multi_statement = plan_.features.multi_statement || statements > 1;
    for (int s = 0; s < statements; ++s) add_update(lines, loops, depth);
  }
  void add_update(Lines& lines, const Loops& loops, std::size_t depth) {
    ElementType type;
    const std::string target = partial_target(loops, &type);
    add(lines, loops, depth, assignment(loops, target, type, loops.loops.size() < 3));
  }

  void triangular_nest(Lines& lines) {
    plan_.features.triangular = true;
    Loops loops;
    const int size = random_.below(2);
    const int low = random_.chance(25) ? 1 : 0;
    const Loop outer{"i", SizeExpression::fixed(low), SizeExpression::of(size, -1)};
    loops.loops.push_back(outer);
    const bool lower = random_.chance(50);
    lines.text.push_back(indent(1) + loop_text(outer));
    if (random_.chance(25)) {
      plan_.features.multi_statement = true;
      add_update(lines, loops, 2);
    }
    if (lower) {
      const bool strict = random_.chance(30);
      const bool down = !strict && random_.chance(25);
      plan_.features.descending = plan_.features.descending || down;
      lines.text.push_back(indent(2) + "for j in range(i" + (down ? ", -1, -1" : strict ? "" : " + 1") + "):");
      loops.loops.push_back({"j", SizeExpression::fixed(0), strict ? outer.high.plus(-1) : outer.high});
      loops.ordered.emplace_back(1, 0);
    } else {
      lines.text.push_back(indent(2) + "for j in range(i, " + outer.high.plus(1).text() + "):");
      loops.loops.push_back({"j", outer.low, outer.high});
      loops.ordered.emplace_back(0, 1);
    }
    const int statements = random_.between(1, 2);
    for (int s = 0; s < statements; ++s) {
      ElementType type;
      const std::string target = partial_target(loops, &type);
      add(lines, loops, 3, assignment(loops, target, type, random_.chance(30)));
    }
  }

  /// Seidel-like in place, or Jacobi-like through a local.
  void time_nest(Lines& lines) {
    plan_.features.time_loop = true;
    const bool plane = random_.chance(50);
    TensorPlan tensor{"A" + std::to_string(plan_.next_input++), plan_.main_type, {SizeExpression::of(size_n)}, TensorUse::inout, true};
    if (plane) tensor.extents.push_back(SizeExpression::of(random_.chance(50) ? size_n : size_m));
    plan_.tensors.push_back(tensor);
    Loops loops;
    loops.loops.push_back({"t", SizeExpression::fixed(0), SizeExpression::of(size_t_steps, -1)});
    static const std::vector<std::string> names = {"i", "j"};
    for (std::size_t d = 0; d < tensor.extents.size(); ++d)
      loops.loops.push_back({names[d], SizeExpression::fixed(1), tensor.extents[d].plus(-2)});
    const bool through_local = random_.chance(45);
    const std::string local = new_name("w");
    if (through_local) {
      plan_.features.local = true;
      lines.text.push_back(indent(1) + local + ": " + tensor_text(tensor));
    }
    lines.text.push_back(indent(1) + loop_text(loops.loops.front()));
    std::size_t depth = open(lines, loops, 1, 2);
    const std::string at = plane ? "[i, j]" : "[i]";
    const std::string update = stencil(tensor, plane);
    if (!through_local) {
      plan_.features.in_place = true;
      add(lines, loops, depth, tensor.name + at + " = " + update);
      if (!random_.chance(25)) return;
      plan_.features.multi_statement = true;
      return add_update(lines, loops, depth);
    }
    plan_.features.multi_statement = true;
    add(lines, loops, depth, local + at + " = " + update);
    depth = open(lines, loops, 1, 2);
    add(lines, loops, depth, tensor.name + at + " = " + local + at);
  }
  std::string stencil(const TensorPlan& tensor, bool plane) {
    static const std::vector<std::string> line = {"[i - 1]", "[i]", "[i + 1]"};
    static const std::vector<std::string> cross = {"[i - 1, j]", "[i, j - 1]", "[i, j]", "[i, j + 1]", "[i + 1, j]", "[i - 1, j + 1]"};
    const bool narrow = tensor.type == ElementType::bf16 || tensor.type == ElementType::f16;
    std::string sum;
    for (const std::string& at : plane ? cross : line) {
      if (!sum.empty() && random_.chance(25)) continue;
      const std::string term = narrow ? "f32(" + tensor.name + at + ")" : tensor.name + at;
      sum += (sum.empty() ? "" : random_.chance(75) ? " + " : " - ") + term;
    }
    if (narrow) return type_name(tensor.type) + "((" + sum + ") / 4.0)";
    return "(" + sum + (is_float(tensor.type) ? ") / 4.0" : random_.chance(50) ? ") // 3" : ") % 1000");
  }

  /// Local scalars and arrays inside a loop.
  void local_nest(Lines& lines) {
    plan_.features.local = plan_.features.multi_statement = true;
    const ElementType type = plan_.main_type == ElementType::bf16 || plan_.main_type == ElementType::f16 ? ElementType::f32 : plan_.main_type;
    Loops outer;
    outer.loops.push_back({"i", SizeExpression::fixed(0), SizeExpression::of(size_n, -1)});
    Loops inner = outer;
    inner.loops.push_back({"j", SizeExpression::fixed(0), SizeExpression::of(size_m, -1)});
    const std::string scalar = new_name("c");
    lines.text.push_back(indent(1) + loop_text(outer.loops.front()));
    add(lines, outer, 2, scalar + ": " + type_name(type) + " = " + (random_.chance(75) ? make_.reduction(outer, type, 1) : make_.value(outer, type, 1, false)));
    std::string use = scalar;
    if (random_.chance(50)) {
      const std::string array = new_name("w");
      lines.text.push_back(indent(2) + array + ": " + type_name(type) + "[M]");
      lines.text.push_back(indent(2) + loop_text(inner.loops.back()));
      add(lines, inner, 3, array + "[j] = " + make_.value(inner, type, 1, false) + " - " + scalar);
      use = array + random_.pick(std::vector<std::string>{"[j]", "[M - 1 - j]", "[j // 2]"});
      if (random_.chance(40)) use = "(" + use + " + " + scalar + ")";
    }
    if (random_.chance(20)) add(lines, outer, 2, scalar + " += " + make_.value(outer, type, 0, false));
    lines.text.push_back(indent(2) + loop_text(inner.loops.back()));
    ElementType target_type;
    const std::string target = partial_target(inner, &target_type);
    const std::string value = use + " + " + make_.value(inner, type, 1, false);
    add(lines, inner, 3, target + (random_.chance(30) ? " += " : " = ") + (target_type == type ? value : type_name(target_type) + "(" + value + ")"));
  }

  void conditional_nest(Lines& lines) {
    Loops loops = make_loops(random_.between(1, 2));
    // Every condition holds somewhere in a range that starts at 0 and grows: a program must have a statement that can run.
    for (Loop& loop : loops.loops) {
      loop.low = SizeExpression::fixed(0);
      loop.step = loop.step < 0 ? -1 : 1;
      if (loop.high.is_fixed()) loop.high = SizeExpression::of(size_n, -1);
    }
    std::size_t depth = open(lines, loops, 0, 1);
    const auto condition = [&] { return random_.chance(50) ? make_.data_condition(loops) : make_.affine_condition(loops); };
    lines.text.push_back(indent(depth) + "if " + condition() + ":");
    add_update(lines, loops, depth + 1);
    if (random_.chance(30)) {
      lines.text.push_back(indent(depth) + "elif " + condition() + ":");
      add_update(lines, loops, depth + 1);
    }
    if (random_.chance(60)) {
      lines.text.push_back(indent(depth) + "else:");
      add_update(lines, loops, depth + 1);
    }
    if (random_.chance(30)) add_update(lines, loops, depth);
    plan_.features.multi_statement = true;
  }

  /// Loop-carried recurrences: prefix sums, reversals, shortest paths.
  void recurrence_nest(Lines& lines) {
    plan_.features.in_place = true;
    const ElementType type = plan_.main_type;
    const std::string name = "A" + std::to_string(plan_.next_input++);
    TensorPlan tensor{name, type, {SizeExpression::of(size_n)}, TensorUse::inout, true};
    Loops loops;
    switch (random_.below(4)) {
      case 0:
        loops.loops = {{"i", SizeExpression::fixed(1), SizeExpression::of(size_n, -1)}};
        plan_.tensors.push_back(tensor);
        lines.text.push_back(indent(1) + loop_text(loops.loops.front()));
        return add(lines, loops, 2, name + "[i] = " + name + "[i - 1] + " + make_.read(loops, type));
      case 1:
        loops.loops = {{"i", SizeExpression::fixed(0), SizeExpression::of(size_n, -1)}};
        plan_.tensors.push_back(tensor);
        lines.text.push_back(indent(1) + loop_text(loops.loops.front()));
        return add(lines, loops, 2, name + "[i] = " + name + "[N - 1 - i] + " + (is_float(type) ? "1.0" : "1"));
      case 2: {
        tensor.extents = {SizeExpression::of(size_k), SizeExpression::of(size_k)};
        plan_.tensors.push_back(tensor);
        for (const char* iterator : {"k", "i", "j"})
          loops.loops.push_back({iterator, SizeExpression::fixed(0), SizeExpression::of(size_k, -1)});
        const std::size_t depth = open(lines, loops, 0, 1);
        return add(lines, loops, depth, name + "[i, j] = min(" + name + "[i, j], " + name + "[i, k] + " + name + "[k, j])");
      }
      default: {
        tensor.extents.push_back(SizeExpression::of(size_m));
        plan_.tensors.push_back(tensor);
        loops.loops = {{"i", SizeExpression::fixed(0), SizeExpression::of(size_n, -1)}, {"j", SizeExpression::fixed(1), SizeExpression::of(size_m, -1)}};
        const std::size_t depth = open(lines, loops, 0, 1);
        return add(lines, loops, depth, name + "[i, j] += " + name + "[i, j - 1]");
      }
    }
  }

  void contraction_nest(Lines& lines) {
    Loops loops;
    loops.loops.push_back({"i", SizeExpression::fixed(0), SizeExpression::of(size_n, -1)});
    if (random_.chance(75)) loops.loops.push_back({"j", SizeExpression::fixed(0), SizeExpression::of(size_m, -1)});
    TensorPlan tensor{new_name("X"), tensor_type(), {}, TensorUse::out, false};
    std::vector<std::string> subscripts;
    for (const Loop& loop : loops.loops) {
      tensor.extents.push_back(loop.high.plus(1));
      subscripts.push_back(loop.name);
    }
    const std::string target = tensor.name + "[" + join(subscripts, ", ") + "]";
    const std::size_t depth = open(lines, loops, 0, 1);
    const bool narrow = tensor.type == ElementType::bf16 || tensor.type == ElementType::f16;
    const ElementType accumulator = narrow ? ElementType::f32 : tensor.type;
    std::string sum = make_.contraction(loops, accumulator);
    if (random_.chance(30)) sum = make_.value(loops, accumulator, 0, false) + " + " + sum;
    if (narrow) sum = type_name(tensor.type) + "(" + sum + ")";
    add(lines, loops, depth, target + " = " + sum);
    tensor.readable = true;
    plan_.tensors.push_back(tensor);
  }

  /// Updates at indices from memory: histograms, scattered sums and writes.
  void scatter_nest(Lines& lines) {
    const Loops loops = make_loops(random_.between(1, 2));
    const ElementType type = tensor_type();
    const std::optional<std::string> target = make_.indexed(loops, type, TensorUse::inout);
    if (!target) return update_nest(lines);
    plan_.features.in_place = true;
    const std::size_t depth = open(lines, loops, 0, 1);
    const std::string op = random_.pick(std::vector<std::string>{" += ", " += ", " = "});
    add(lines, loops, depth, *target + op + make_.value(loops, type, random_.between(0, 1), false));
    if (!random_.chance(30)) return;
    plan_.features.multi_statement = true;
    add_update(lines, loops, depth);
  }

  /// Rows whose bounds are read from memory.
  void row_nest(Lines& lines) {
    if (plan_.next_input >= 5) return update_nest(lines);
    Loops loops;
    loops.loops.push_back({"i", SizeExpression::fixed(0), SizeExpression::of(size_m, -1), random_.chance(15) ? -1 : 1});
    const ElementType type = plan_.main_type == ElementType::bf16 || plan_.main_type == ElementType::f16 ? ElementType::f32 : plan_.main_type;
    const bool offsets = random_.chance(60);
    const std::string bounds = make_.add_index_tensor({SizeExpression::of(size_m, offsets ? 1 : 0)}, SizeExpression::of(size_k, 1), offsets);
    std::string range = offsets ? bounds + "[i], " + bounds + "[i + 1]" : bounds + "[i]";
    if (random_.chance(20)) {
      range = offsets ? range + ", 2" : "0, " + range + ", 2";
      plan_.features.strided = true;
    } else if (random_.chance(20)) {
      range = offsets ? bounds + "[i + 1] - 1, " + bounds + "[i] - 1, -1" : bounds + "[i] - 1, -1, -1";
      plan_.features.descending = true;
    }
    Loops inner = loops;
    inner.loops.push_back({"l", SizeExpression::fixed(0), SizeExpression::of(size_k, -1)});
    lines.text.push_back(indent(1) + loop_text(loops.loops.front()));
    if (random_.chance(50)) {
      plan_.features.reduction = true;
      TensorPlan tensor{new_name("X"), type, {SizeExpression::of(size_m)}, TensorUse::out, true};
      add(lines, inner, 2, tensor.name + "[i] = sum(" + make_.value(inner, type, 1, false) + " for l in range(" + range + "))");
      plan_.tensors.push_back(tensor);
      return;
    }
    lines.text.push_back(indent(2) + "for l in range(" + range + "):");
    add_update(lines, inner, 3);
  }

  /// Pairs under a monoid of their own, and searches.
  void monoid_nest(Lines& lines) {
    plan_.features.monoid = plan_.features.reduction = true;
    Loops loops;
    loops.loops.push_back({"i", SizeExpression::fixed(0), SizeExpression::of(size_n, -1)});
    Loops inner = loops;
    inner.loops.push_back({"k", SizeExpression::fixed(0), SizeExpression::of(size_k, -1), make_.step()});
    const bool search = random_.chance(50);
    TensorPlan tensor{new_name("X"), search ? ElementType::i32 : ElementType::i64, {SizeExpression::of(size_n)}, TensorUse::out, true};
    lines.text.push_back(indent(1) + loop_text(loops.loops.front()));
    const std::string over = " for k in " + inner.loops.back().range() + ")";
    if (search) {
      const ElementType type = plan_.main_type == ElementType::bf16 || plan_.main_type == ElementType::f16 ? ElementType::f32 : plan_.main_type;
      add(lines, inner, 2, tensor.name + "[i] = " + (random_.chance(50) ? "argmax(" : "argmin(") + make_.read(inner, type) + over);
    } else {
      const std::string monoid = random_.chance(50) ? "compose" : "tally", pair = new_name("p");
      plan_.functions.insert(monoid);
      plan_.features.local = true;
      add(lines, inner, 2, pair + ": tuple[i64, i64] = " + monoid + "((" + make_.value(inner, ElementType::i64, 0, false) + ", " +
                               make_.value(inner, ElementType::i64, 1, false) + ")" + over);
      add(lines, loops, 2, tensor.name + "[i] = " + pair + "[0] - " + pair + "[1]");
    }
    plan_.tensors.push_back(tensor);
  }

  // Text.

  static std::string function_text(const std::string& name) {
    const bool composes = name == "compose";  // x -> f[0] + f[1] * x, of two such functions the one after the other
    return std::string("@monoid(identity=") + (composes ? "(0, 1)" : "(0, 0), commutative=True") + ")\ndef " + name +
           "(f: tuple[i64, i64], g: tuple[i64, i64]) -> tuple[i64, i64]:\n    return " +
           (composes ? "(g[0] + g[1] * f[0], g[1] * f[1])" : "(f[0] + g[0], f[1] + g[1])") + "\n\n\n";
  }

  static std::string tensor_text(const TensorPlan& tensor) {
    std::vector<std::string> extents;
    for (const SizeExpression& extent : tensor.extents) extents.push_back(extent.text());
    return type_name(tensor.type) + "[" + join(extents, ", ") + "]";
  }

  /// A third of the parameters lie otherwise: permuted, or with gaps. Decided apart from all else, so that programs stay what they are.
  std::string laid_out(const TensorPlan& tensor, Random& random) {
    const std::string type = tensor_text(tensor);
    const std::size_t rank = tensor.extents.size();
    if (rank == 0 || !random.chance(33)) return type;
    plan_.features.layout = true;
    if (rank >= 3 || (rank == 2 && random.chance(50))) {
      std::vector<std::string> order;
      const int first = random.below(static_cast<int>(rank) - 1) + 1;
      for (std::size_t d = 0; d < rank; ++d) order.push_back(std::to_string((d + static_cast<std::size_t>(first)) % rank));
      return "permuted[" + type + ", " + join(order, ", ") + "]";
    }
    const std::string step = std::to_string(random.between(1, 3)), gap = std::to_string(random.between(1, 4));
    if (rank == 1) return "strided[" + type + ", " + step + "]";
    const bool by_rows = random.chance(50);
    const std::string row = step + " * (" + tensor.extents[by_rows ? 1 : 0].text() + ") + " + gap;
    return by_rows ? "strided[" + type + ", " + row + ", " + step + "]" : "strided[permuted[" + type + ", 1, 0], " + step + ", " + row + "]";
  }

  std::string source() {
    std::vector<std::string> parameters;
    std::string text;
    for (const std::string& line : plan_.assumptions) text += indent(1) + line + "\n";
    for (const std::string& line : body_) text += line + "\n";
    std::array<bool, 4> declared{};
    Random layouts(seed_ * 2 + 5);
    for (const TensorPlan& tensor : plan_.tensors) {
      if (tensor.use == TensorUse::local) continue;
      const std::string type = laid_out(tensor, layouts);
      parameters.push_back(tensor.name + ": " + (tensor.use == TensorUse::in ? type : (tensor.use == TensorUse::out ? "out[" : "inout[") + type + "]"));
      for (const SizeExpression& extent : tensor.extents)
        for (std::size_t s = 0; s < declared.size(); ++s) declared[s] = declared[s] || extent.coefficients[s] != 0;
    }
    for (std::size_t s = 0; s < declared.size(); ++s)
      if (!declared[s] && names_size(text, size_names[s])) parameters.push_back(std::string(size_names[s]) + ": size");
    std::string functions;
    for (const std::string& name : plan_.functions) functions += function_text(name);
    return functions + "def random_" + std::to_string(seed_) + "(" + join(parameters, ", ") + "):\n" + text;
  }
  /// Sizes are the only capital letters that stand alone.
  static bool names_size(const std::string& text, const std::string& name) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const bool alone = (at == 0 || !is_word(text[at - 1])) && (at + 1 >= text.size() || !is_word(text[at + 1]));
      if (alone) return true;
    }
    return false;
  }

  std::uint64_t seed_;
  Random random_;
  ProgramPlan plan_;
  ExpressionMaker make_;
  std::vector<std::string> body_;
  std::int64_t instances_ = 0;
  int next_output_ = 0;
};

}  // namespace

std::string random_program(std::uint64_t seed, ProgramFeatures* features) { return ProgramMaker(seed).make(features); }

std::vector<Sizes> random_sizes(std::uint64_t seed, const std::vector<std::string>& parameters, std::int64_t largest) {
  static const std::array<std::vector<std::int64_t>, 4> choices = {{
      {0, 1, 2, 3, 5, 7, 8, 13, 15, 16, 17, 24, 31, 33, 40},
      {0, 1, 2, 3, 4, 6, 8, 9, 15, 16, 17, 25, 32, 33, 40},
      {0, 1, 2, 3, 4, 5, 7, 8, 9, 10},
      {0, 1, 2, 3},
  }};
  Random random(seed * 2);
  std::vector<Sizes> vectors;
  for (int v = 0; v < 4; ++v) {
    Sizes sizes;
    for (const std::string& parameter : parameters) {
      std::size_t s = 0;
      while (s < size_names.size() && parameter != size_names[s]) ++s;
      std::vector<std::int64_t> values = choices[std::min(s, choices.size() - 1)];
      std::erase_if(values, [&](std::int64_t value) { return value > largest; });
      // The first vector is large, the second small, the others anything.
      const int count = static_cast<int>(values.size());
      const int at = v == 0 ? count - 1 - random.below(count / 3) : v == 1 ? random.below(count / 2) : random.below(count);
      sizes[parameter] = values[static_cast<std::size_t>(at)];
    }
    vectors.push_back(std::move(sizes));
  }
  return vectors;
}

}  // namespace tileopt::testing
