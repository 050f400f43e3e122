#include "simulator.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace tileopt::test {

namespace {

std::vector<long> coordinates(const isl::point& point, int count) {
  std::vector<long> values;
  for (int i = 0; i < count; ++i) {
    isl_val* value = isl_point_get_coordinate_val(point.get(), isl_dim_set, i);
    values.push_back(isl_val_get_num_si(value));
    isl_val_free(value);
  }
  return values;
}

std::size_t linear(const std::string& array, const std::vector<long>& shape, const std::vector<long>& subscripts) {
  std::size_t offset = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (subscripts[d] < 0 || subscripts[d] >= shape[d]) throw Misbehaviour("access outside of " + array);
    offset = offset * static_cast<std::size_t>(shape[d]) + static_cast<std::size_t>(subscripts[d]);
  }
  return offset;
}

std::size_t elements(const std::vector<long>& shape) {
  return static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), 1L, std::multiplies<>()));
}

long floor_div(long a, long b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0); }

/// One run of the kernels.
class Machine {
 public:
  Machine(const ConcreteProgram& concrete, Memory& memory, std::mt19937_64& random, bool together)
      : concrete_(concrete), memory_(memory), random_(random), together_(together) {}

  void run(const Ast& ast) {
    ast_ = &ast;
    names_ = {concrete_.sizes().begin(), concrete_.sizes().end()};
    buffers_.clear();
    for (const Array& array : ast.arrays) open(array.name);
    walk(*ast.root);
  }

 private:
  const Array& declared(const std::string& name) const {
    for (const Array& array : ast_->arrays)
      if (array.name == name) return array;
    throw Misbehaviour("unknown array " + name);
  }
  void open(const std::string& name) {
    std::vector<Value>& buffer = buffers_[name];
    buffer.resize(elements(declared(name).extents));
    for (Value& value : buffer) value = random_();
  }

  long evaluate(const AstExprPtr& e) const {
    const auto a = [&](std::size_t i) { return evaluate(e->arguments[i]); };
    using Kind = AstExpr::Kind;
    switch (e->kind) {
      case Kind::integer: return static_cast<long>(e->value);
      case Kind::name: {
        const auto found = names_.find(e->name);
        if (found == names_.end()) throw Misbehaviour("unknown name " + e->name);
        return found->second;
      }
      case Kind::negate: return -a(0);
      case Kind::add: return a(0) + a(1);
      case Kind::sub: return a(0) - a(1);
      case Kind::mul: return a(0) * a(1);
      case Kind::floor_div: return floor_div(a(0), a(1));
      case Kind::exact_div: return a(0) / a(1);
      case Kind::modulo: return a(0) - a(1) * floor_div(a(0), a(1));
      case Kind::min: return std::min(a(0), a(1));
      case Kind::max: return std::max(a(0), a(1));
      case Kind::select: return a(0) != 0 ? a(1) : a(2);
      case Kind::eq: return a(0) == a(1);
      case Kind::ne: return a(0) != a(1);
      case Kind::lt: return a(0) < a(1);
      case Kind::le: return a(0) <= a(1);
      case Kind::gt: return a(0) > a(1);
      case Kind::ge: return a(0) >= a(1);
      case Kind::logical_and: return a(0) != 0 && a(1) != 0;
      case Kind::logical_or: return a(0) != 0 || a(1) != 0;
    }
    return 0;
  }

  void walk(const AstNode& node) {
    if (const auto* n = std::get_if<AstBlock>(&node.node))
      for (const AstNodePtr& child : n->children) walk(*child);
    if (const auto* n = std::get_if<AstFor>(&node.node)) loop(*n);
    if (const auto* n = std::get_if<AstIf>(&node.node)) {
      if (evaluate(n->condition) != 0) walk(*n->then_body);
      else if (n->else_body != nullptr) walk(*n->else_body);
    }
    if (const auto* n = std::get_if<AstAllocate>(&node.node)) {
      for (const std::string& array : n->arrays) open(array);
      walk(*n->body);
    }
    if (const auto* n = std::get_if<AstLeaf>(&node.node)) leaf(*n);
  }

  void loop(const AstFor& loop) {
    std::vector<long> values;
    const long last = evaluate(loop.upper);
    for (long v = evaluate(loop.lower); v <= last; v += loop.step) values.push_back(v);
    if (loop.level == "thread" || loop.level == "simd") std::shuffle(values.begin(), values.end(), random_);
    for (const long value : values) {
      names_[loop.variable] = value;
      walk(*loop.body);
    }
    names_.erase(loop.variable);
  }

  std::vector<std::vector<long>> box_points(const AstStatement& statement) {
    std::vector<std::vector<long>> points = {{}};
    for (const AstStatement::BoxDigit& digit : statement.box) {
      std::vector<std::vector<long>> next;
      for (const std::vector<long>& point : points)
        for (long v = 0; v < digit.radix; ++v) {
          next.push_back(point);
          next.back().push_back(v);
        }
      points = next;
    }
    std::shuffle(points.begin(), points.end(), random_);
    return points;
  }

  std::vector<long> at(const std::vector<AstExprPtr>& corner, const std::vector<std::vector<long>>& steps,
                       const std::vector<long>& point) const {
    std::vector<long> values;
    for (std::size_t d = 0; d < corner.size(); ++d) {
      values.push_back(evaluate(corner[d]));
      for (std::size_t b = 0; b < point.size(); ++b) values.back() += steps[d][b] * point[b];
    }
    return values;
  }

  Value& element(const std::string& array, const std::vector<long>& subscripts) {
    const auto buffer = buffers_.find(array);
    if (buffer != buffers_.end()) return buffer->second[linear(array, declared(array).extents, subscripts)];
    return memory_.at(array)[linear(array, concrete_.shape(array), subscripts)];
  }

  struct Store {
    Value* target;
    Value value;
  };

  void leaf(const AstLeaf& leaf) {
    const AstStatement& statement = ast_->statements.at(leaf.statement);
    std::vector<Store> pending;
    for (const std::vector<long>& point : box_points(statement)) {
      bool within = true;
      for (std::size_t d = 0; d < leaf.extents.size(); ++d) within = within && point[d] < evaluate(leaf.extents[d]);
      const bool copy = statement.kind != "compute";
      if (!within && !(copy && statement.zero_fill)) continue;
      Store store{&element(statement.write_array, at(leaf.write, statement.write_steps, point)), 0};
      if (!copy) store.value = compute(leaf, statement, point, *store.target);
      else if (within) store.value = element(statement.read_arrays[0], at(leaf.reads[0], statement.read_steps[0], point));
      if (together_) pending.push_back(store);
      else *store.target = store.value;
    }
    for (const Store& store : pending) *store.target = store.value;
  }

  Value compute(const AstLeaf& leaf, const AstStatement& statement, const std::vector<long>& point, Value own) {
    const Statement& source = concrete_.program().statement(statement.statement);
    const std::vector<long> instance = at(leaf.instance, statement.instance_steps, point);
    const bool scalar = statement.atom.empty();
    if (scalar && !concrete_.contains(source, instance)) throw Misbehaviour("an instance outside of the domain of " + source.name);
    std::vector<Value> reads;
    for (std::size_t r = 0; r < leaf.reads.size(); ++r)
      reads.push_back(scalar && concrete_.read_subscripts(source, r, instance) == nullptr
                          ? 0
                          : element(statement.read_arrays[r], at(leaf.reads[r], statement.read_steps[r], point)));
    return combined(source.combine, own, body_value(source, reads));
  }

  const ConcreteProgram& concrete_;
  Memory& memory_;
  std::mt19937_64& random_;
  bool together_;
  const Ast* ast_ = nullptr;
  std::map<std::string, long> names_;
  std::map<std::string, std::vector<Value>> buffers_;
};

}  // namespace

Value body_value(const Statement& statement, const std::vector<Value>& reads) {
  Value value = std::hash<std::string>{}(statement.name);
  Value factor = 3;
  for (const Value read : reads) value += (factor += 14) * (read ^ (read >> 7));
  return value;
}

Value combined(Combine combine, Value element, Value value) {
  switch (combine) {
    case Combine::assign: return value;
    case Combine::sum: return element + value;
    case Combine::prod: return element * (value | 1);
    case Combine::min: return std::min(element, value);
    case Combine::max: return std::max(element, value);
    case Combine::any: return element != 0 || value != 0;
    case Combine::all: return element != 0 && value != 0;
    case Combine::bit_and: return element & value;
    case Combine::bit_or: return element | value;
    case Combine::bit_xor: return element ^ value;
    case Combine::monoid: return element * 31 + value;  // does not commute
  }
  return value;
}

ConcreteProgram::Table ConcreteProgram::tabulate(const isl::map& relation) const {
  const isl::set pairs = relation.intersect_params(point_).wrap();
  const int in = isl_map_dim(relation.get(), isl_dim_in), out = isl_map_dim(relation.get(), isl_dim_out);
  Table table;
  if (pairs.is_empty()) return table;
  pairs.foreach_point([&](isl::point point) {
    const std::vector<long> values = coordinates(point, in + out);
    table.emplace(std::vector<long>(values.begin(), values.begin() + in), std::vector<long>(values.begin() + in, values.end()));
  });
  return table;
}

ConcreteProgram::ConcreteProgram(const Program& program, Sizes sizes) : program_(&program), sizes_(std::move(sizes)) {
  std::string names, values;
  for (const auto& [name, value] : sizes_) {
    names += (names.empty() ? "" : ", ") + name;
    values += (values.empty() ? "" : " and ") + name + " = " + std::to_string(value);
  }
  point_ = isl::set(program.ctx(), "[" + names + "] -> { : " + values + " }");
  for (const Tensor& tensor : program.tensors())
    for (const isl::pw_aff& extent : tensor.shape) {
      isl::set value = isl::manage(isl_set_from_pw_aff(extent.copy())).intersect_params(point_);
      shapes_[tensor.name].push_back(coordinates(value.sample_point(), 1)[0]);
    }
  for (const Statement& statement : program.statements()) {
    const isl::set domain = statement.domain.intersect_params(program.context());
    writes_[statement.name] = tabulate(statement.write.index.as_map().intersect_domain(domain));
    for (const Access& read : statement.reads)
      reads_[statement.name].push_back(tabulate(read.index.as_map().intersect_domain(domain)));
  }
  for (const isl::map& order : poly::sorted_maps(program.original_order()))
    for (const auto& [iterators, time] : tabulate(order))
      instances_.push_back({time, &program.statement(poly::input_name(order)), iterators});
  std::sort(instances_.begin(), instances_.end(), [](const Instance& a, const Instance& b) { return a.time < b.time; });
}

bool ConcreteProgram::contains(const Statement& statement, const std::vector<long>& instance) const {
  return writes_.at(statement.name).count(instance) != 0;
}

const std::vector<long>* ConcreteProgram::read_subscripts(const Statement& statement, std::size_t read,
                                                          const std::vector<long>& instance) const {
  const Table& table = reads_.at(statement.name)[read];
  const auto found = table.find(instance);
  return found == table.end() ? nullptr : &found->second;
}

Memory ConcreteProgram::initial(std::mt19937_64& random) const {
  Memory memory;
  for (const Tensor& tensor : program_->tensors()) {
    const auto shape = shapes_.find(tensor.name);
    memory[tensor.name].resize(shape == shapes_.end() ? 1 : elements(shape->second));
    for (Value& value : memory[tensor.name]) value = random();
  }
  return memory;
}

void ConcreteProgram::run(Memory& memory) const {
  for (const Instance& instance : instances_) {
    const Statement& statement = *instance.statement;
    std::vector<Value> reads;
    for (std::size_t r = 0; r < statement.reads.size(); ++r) {
      const std::vector<long>* subscripts = read_subscripts(statement, r, instance.iterators);
      const std::string& tensor = statement.reads[r].tensor;
      reads.push_back(subscripts == nullptr ? 0 : memory.at(tensor)[linear(tensor, shape(tensor), *subscripts)]);
    }
    const std::string& target = statement.write.tensor;
    Value& element = memory.at(target)[linear(target, shape(target), writes_.at(statement.name).at(instance.iterators))];
    element = combined(statement.combine, element, body_value(statement, reads));
  }
}

void ConcreteProgram::run(const std::vector<Ast>& kernels, Memory& memory, std::mt19937_64& random, bool together) const {
  for (const Ast& ast : kernels) Machine(*this, memory, random, together).run(ast);
}

bool ConcreteProgram::agree(const Memory& a, const Memory& b) const {
  for (const Tensor& tensor : program_->tensors())
    if (tensor.role != TensorRole::local && a.at(tensor.name) != b.at(tensor.name)) return false;
  return true;
}

}  // namespace tileopt::test
