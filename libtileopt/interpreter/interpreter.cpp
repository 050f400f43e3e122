#include "interpreter/interpreter.h"

#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "interpreter/flat_access.h"
#include "interpreter/number.h"
#include "interpreter/scalar_code.h"
#include "interpreter/traced_array.h"
#include "interpreter/tree_walk.h"
#include "support/text.h"

namespace tileopt {

namespace {
/// Beyond this the run is refused rather than left to exhaust memory.
constexpr std::int64_t memory_limit_bytes = std::int64_t(8) << 30;
constexpr std::int64_t bytes_per_element = 56;  ///< value, shadow, bound and an open sum, worst case

/// What leaves an element as it is when it is combined with it.
TracedValue neutral_value(Combine combine, ElementType type) {
  const Literal identity = combine_identity(combine, type);
  return is_float(type) ? TracedValue::exact_real(identity.real) : TracedValue::exact_integer(wrap_integer(identity.integer, type));
}

/// A statement ready to run.
struct FlatStatement {
  const Statement* source;
  std::size_t iterators;
  FlatAccess write;
  std::vector<FlatAccess> reads;
  std::vector<FlatFunction> indices;
  ScalarCode code;
  std::optional<ScalarCode> merge;  ///< of a monoid
  struct FlatGuard {
    std::size_t iterator;
    ScalarCode value;
    bool certain = true;  ///< of the current value: no rounding decided it
  };
  std::vector<FlatGuard> guards;
  std::optional<ScalarCode> predicate;
};

std::vector<WalkStatement> walk_statements(const Program& program, const Sizes& sizes) {
  std::vector<WalkStatement> statements;
  for (const Statement& s : program.statements()) {
    statements.push_back({s.name, s.iterators, fix_parameters(s.domain, sizes)});
    if (!s.guards.empty()) statements.back().guarded.resize(s.iterators.size());
    for (const Guard& guard : s.guards) statements.back().guarded[guard.iterator] = 1;
  }
  return statements;
}

class Run : public TreeVisitor, private OperandSource {
 public:
  Run(const Program& program, const Sizes& sizes, const Arrays& arguments, std::int64_t max_instances, InstanceObserver* observer)
      : program_(program), model_(ErrorModel::of(program.numerics())), any_order_(program.numerics().reassociate),
        walk_(program.order(), walk_statements(program, sizes)), max_instances_(max_instances), observer_(observer) {
    for (const Tensor& tensor : program.tensors()) add_array(tensor, sizes, arguments);
    for (std::size_t s = 0; s < program.statements().size(); ++s) add_statement(s, sizes);
  }

  InterpreterResult execute(const Arrays& arguments) {
    walk_.run(*this);
    InterpreterResult result;
    result.instances = instances_;
    for (const Tensor& tensor : program_.tensors())
      if (is_float(tensor.type) && accumulates(tensor.name))
        result.accumulators.push_back({tensor.name, tensor.type, arrays_.at(tensor.name)->largest_error()});
    for (const Tensor& tensor : program_.tensors()) {
      if (tensor.role != TensorRole::out && tensor.role != TensorRole::inout) continue;
      const TracedArray& array = *arrays_.at(tensor.name);
      HostArray values = arguments.at(tensor.name);
      array.copy_written(values);
      result.values.emplace(tensor.name, std::move(values));
      result.shadow.emplace(tensor.name, array.shadow());
      result.bound.emplace(tensor.name, array.bound());
      result.written.emplace(tensor.name, array.written());
    }
    return result;
  }

 private:
  bool accumulates(const std::string& tensor) const {
    for (const Statement& s : program_.statements())
      if (s.write.tensor == tensor && (s.combine == Combine::sum || s.combine == Combine::prod)) return true;
    return false;
  }

  void add_array(const Tensor& tensor, const Sizes& sizes, const Arrays& arguments) {
    const std::vector<std::int64_t> shape = evaluate_shape(tensor, sizes);
    const HostArray* initial = nullptr;
    if (tensor.role != TensorRole::local) {
      const auto found = arguments.find(tensor.name);
      TILEOPT_CHECK(found != arguments.end(), "argument " + tensor.name + " of " + program_.name() + " is missing");
      TILEOPT_CHECK(found->second.type == tensor.type && found->second.shape == shape,
                    "argument " + tensor.name + " has another type or shape than declared");
      initial = &found->second;
    }
    bool has_sums = false;
    if (any_order_)
      for (const Statement& s : program_.statements())
        has_sums = has_sums || (s.write.tensor == tensor.name && s.combine == Combine::sum);
    arrays_.emplace(tensor.name, std::make_unique<TracedArray>(tensor, shape, initial, has_sums));
  }

  void add_statement(std::size_t number, const Sizes& sizes) {
    const Statement& s = program_.statements()[number];
    const isl::set& domain = walk_.statement(number).domain;
    const std::vector<Interval> box = bounding_box(domain);
    FlatStatement flat{&s, s.iterators.size(), FlatAccess(s.write, *arrays_.at(s.write.tensor), domain, box, sizes), {}, {},
                       ScalarCode(s.body, model_, s.combine == Combine::sum), {}, {}, std::nullopt};
    if (s.combine == Combine::monoid) flat.merge.emplace(program_.monoid(s.monoid).combine, model_, false);
    for (const Guard& guard : s.guards) flat.guards.push_back({guard.iterator, ScalarCode(guard.value, model_, false)});
    if (s.predicate) flat.predicate.emplace(s.predicate, model_, false);
    TILEOPT_CHECK(s.body->type == program_.tensor(s.write.tensor).type, "the body of " + s.name + " has another type than its tensor");
    std::size_t slots = flat.write.slots();
    for (const Access& read : s.reads) {
      flat.reads.emplace_back(read, *arrays_.at(read.tensor), domain, box, sizes);
      slots = std::max(slots, flat.reads.back().slots());
    }
    for (const isl::pw_aff& index : s.indices) {
      flat.indices.push_back(flatten_function(index, domain, sizes));
      slots = std::max(slots, count_divs(flat.indices.back()));
    }
    walk_.reserve_slots(number, slots);
    statements_.push_back(std::move(flat));
  }

  void visit(std::size_t statement) override {
    if (++instances_ > max_instances_) [[unlikely]] fail_count();
    FlatStatement& s = statements_[statement];
    current_ = &s;
    values_ = walk_.point(statement);
    bool certain = true, effective = true;
    for (const FlatStatement::FlatGuard& guard : s.guards) certain = certain && guard.certain;
    if (s.predicate) {
      const TracedValue holds = *s.predicate->evaluate(*this);
      effective = holds.integer != 0;
      certain = certain && holds.bound == 0;
    }
    if (observer_ != nullptr) observer_->visit(statement, values_, effective);
    if (!effective && certain) return;
    const TracedValue* value = s.code.evaluate(*this);
    const std::optional<std::int64_t> offset = s.write.offset(values_, s.iterators);
    if (!offset) fail_undefined(s.write.source());
    TracedArray& target = s.write.array();
    if (!certain) value = uncertain(s, *offset, value, effective);
    if (s.source->combine == Combine::assign) return copies(s) ? copy(s, target, *offset) : assign_components(target, *offset, value);
    if (!target.initialised(*offset)) [[unlikely]] fail_uninitialised(s.write.source(), *offset);
    if (s.merge) return merge(s, *offset, value);
    target.combine(*offset, s.source->combine, *value, model_, any_order_);
  }

  std::int64_t guarded_value(std::size_t statement, std::size_t iterator) override {
    FlatStatement& s = statements_[statement];
    current_ = &s;
    values_ = walk_.point(statement);
    for (FlatStatement::FlatGuard& guard : s.guards) {
      if (guard.iterator != iterator) continue;
      const TracedValue value = *guard.value.evaluate(*this);
      guard.certain = value.bound == 0;
      return value.integer;
    }
    TILEOPT_CHECK(false, "statement " + s.source->name + " has no guard on iterator " + std::to_string(iterator));
    return 0;
  }

  /// Rounding decides whether the statement has an effect: the value covers both outcomes.
  const TracedValue* uncertain(const FlatStatement& s, std::int64_t offset, const TracedValue* value, bool effective) {
    TracedArray& target = s.write.array();
    either_.assign(value, value + target.components());
    for (std::size_t c = 0; c < target.components(); ++c) {
      const TracedArray& component = target.component(c);
      const ElementType type = component.type();
      const bool assigns = s.source->combine == Combine::assign;
      if (s.source->combine == Combine::monoid || (assigns && !component.initialised(offset))) {
        either_[c].bound = TracedValue::unknown(type).bound;
        continue;
      }
      const TracedValue without = assigns ? component.load(offset) : neutral_value(s.source->combine, type);
      either_[c] = effective ? traced_merge(value[c], without, type) : traced_merge(without, value[c], type);
    }
    return either_.data();
  }

  /// The statement moves a scalar as it is.
  static bool copies(const FlatStatement& s) {
    return std::holds_alternative<Read>(s.source->body->node) && !s.source->conditional() && s.write.array().components() == 1;
  }
  void copy(FlatStatement& s, TracedArray& target, std::int64_t offset) {
    const FlatAccess& read = s.reads[std::get<Read>(s.source->body->node).access];
    target.copy(offset, read.array(), *read.offset(values_, s.iterators));
  }

  static void assign_components(TracedArray& target, std::int64_t offset, const TracedValue* value) {
    for (std::size_t c = 0; c < target.components(); ++c) target.component(c).assign(offset, value[c]);
  }

  void merge(FlatStatement& s, std::int64_t offset, const TracedValue* value) {
    TracedArray& target = s.write.array();
    operands_.left.clear();
    for (std::size_t c = 0; c < target.components(); ++c) operands_.left.push_back(target.component(c).load(offset));
    operands_.right.assign(value, value + target.components());
    assign_components(target, offset, s.merge->evaluate(operands_));
  }

  TracedValue read(std::size_t access, std::size_t component, bool speculative) override {
    const FlatAccess& read = current_->reads[access];
    const std::optional<std::int64_t> offset = read.offset(values_, current_->iterators);
    if (!offset) {
      if (!speculative) fail_undefined(read.source());
      return TracedValue::unknown(read.array().component(component).type());
    }
    if (!read.array().initialised(*offset)) [[unlikely]] {
      if (!speculative) fail_uninitialised(read.source(), *offset);
      return TracedValue::unknown(read.array().component(component).type());
    }
    return read.array().component(component).load(*offset);
  }

  std::int64_t index_value(std::size_t index, bool speculative) override {
    const FlatFunction::Piece* piece = current_->indices[index].find(values_, current_->iterators);
    if (piece != nullptr) return piece->outputs.front().value(values_, current_->iterators);
    TILEOPT_CHECK(speculative, "statement " + current_->source->name + " evaluates an index outside its domain: " + instance_text());
    return 0;
  }

  std::string instance_text() const {
    std::vector<std::string> parts;
    for (std::size_t d = 0; d < current_->iterators; ++d)
      parts.push_back(current_->source->iterators[d] + " = " + std::to_string(values_[d]));
    return current_->source->name + "[" + join(parts, ", ") + "]";
  }
  [[noreturn]] void fail_undefined(const Access& access) const {
    TILEOPT_CHECK(false, instance_text() + " performs an access to " + access.tensor + " outside the access's domain");
    std::abort();
  }
  [[noreturn]] void fail_uninitialised(const Access& access, std::int64_t offset) const {
    throw Errors(Diagnostic{ErrorCode::uninitialised_read, access.where,
                            "`" + access.tensor + "` is read before it is written (element " + std::to_string(offset) + ", row-major)",
                            "write the element first, or declare the tensor `inout`", instance_text()});
  }
  [[noreturn]] void fail_count() const {
    throw Errors(Diagnostic{ErrorCode::invalid_size, {program_.file(), 0, 0},
                            "more than " + std::to_string(max_instances_) + " statement instances at these sizes",
                            "choose smaller sizes for the reference interpreter", ""});
  }

  const Program& program_;
  ErrorModel model_;
  bool any_order_;
  TreeWalk walk_;
  std::int64_t max_instances_;
  InstanceObserver* observer_;
  std::int64_t instances_ = 0;
  std::map<std::string, std::unique_ptr<TracedArray>> arrays_;
  std::vector<FlatStatement> statements_;
  StateOperands operands_;
  std::vector<TracedValue> either_;  ///< components of a value that covers two outcomes
  FlatStatement* current_ = nullptr;
  std::int64_t* values_ = nullptr;
};

void check_limits(const Program& program, const Sizes& sizes, std::int64_t max_instances) {
  const std::int64_t instances = count_instances(program, sizes);
  if (instances > max_instances)
    throw Errors(Diagnostic{ErrorCode::invalid_size, {program.file(), 0, 0},
                            std::to_string(instances) + " statement instances at these sizes, more than the limit of " +
                                std::to_string(max_instances),
                            "choose smaller sizes for the reference interpreter", ""});
  std::int64_t total = 0;
  for (const Tensor& tensor : program.tensors()) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : evaluate_shape(tensor, sizes))
      if (__builtin_mul_overflow(elements, extent, &elements)) elements = memory_limit_bytes;
    total += std::min(elements, memory_limit_bytes);
  }
  if (total > memory_limit_bytes / bytes_per_element)
    throw Errors(Diagnostic{ErrorCode::invalid_size, {program.file(), 0, 0},
                            "the tensors hold " + std::to_string(total) + " elements at these sizes, more than the reference interpreter takes",
                            "choose smaller sizes for the reference interpreter", ""});
}
}  // namespace

InterpreterResult interpret(const Program& program, const Sizes& sizes, const Arrays& arguments, std::int64_t max_instances,
                            InstanceObserver* observer) {
  check_sizes(program, sizes);
  check_limits(program, sizes, max_instances);
  return Run(program, sizes, arguments, max_instances, observer).execute(arguments);
}

}  // namespace tileopt
