#include "interpreter/provenance_reference.h"

#include <set>

#include "interpreter/interpreter.h"
#include "interpreter/scalar_code.h"
#include "interpreter/tree_walk.h"
#include "support/error.h"

namespace tileopt {

namespace {

/// Notes on which instances the data has an effect.
class Effects : public InstanceObserver {
 public:
  explicit Effects(ProvenanceReference::Data& data) : data_(data) {}
  void visit(std::size_t statement, const std::int64_t* iterators, bool predicate_holds) override {
    ProvenanceStatement& s = data_.statements[statement];
    if (!s.source->conditional()) return;
    s.instances[instance_key(iterators, s.source->iterators.size())] = {0, 0, predicate_holds};
  }

 private:
  ProvenanceReference::Data& data_;
};

/// What a guard reads of the caller's arguments.
class Arguments : public OperandSource {
 public:
  Arguments(const ProvenanceReference::Data& data, const ProvenanceStatement& statement, std::int64_t* values, std::size_t rank)
      : data_(data), statement_(statement), values_(values), rank_(rank) {}

  TracedValue read(std::size_t access, std::size_t, bool) override {
    const std::string& tensor = statement_.source->reads[access].tensor;
    const HostArray& argument = data_.arguments.at(tensor);
    const FlatFunction::Piece* piece = statement_.reads[access].find(values_, rank_);
    if (piece == nullptr) return TracedValue::unknown(argument.type);
    std::vector<std::int64_t> subscripts;
    for (const FlatAffine& output : piece->outputs) subscripts.push_back(output.value(values_, rank_));
    const std::int64_t at = row_major(data_.shapes.at(tensor), subscripts.data());
    if (at < 0) return TracedValue::unknown(argument.type);
    return is_float(argument.type) ? TracedValue::exact_real(argument.get(at)) : TracedValue::exact_integer(argument.get_integer(at));
  }
  std::int64_t index_value(std::size_t index, bool) override {
    const FlatFunction::Piece* piece = statement_.indices[index].find(values_, rank_);
    return piece == nullptr ? 0 : piece->outputs.front().value(values_, rank_);
  }

 private:
  const ProvenanceReference::Data& data_;
  const ProvenanceStatement& statement_;
  std::int64_t* values_;
  std::size_t rank_;
};

/// An instance takes some hundred bytes.
constexpr std::int64_t most_instances = 4'000'000;

/// Every instance of the domains in the Program's order, those without effect too.
class Dense : public TreeVisitor {
 public:
  Dense(ProvenanceReference::Data& data, TreeWalk& walk) : data_(data), walk_(walk) {}
  void visit(std::size_t number) override {
    ProvenanceStatement& s = data_.statements[number];
    const std::size_t rank = s.source->iterators.size();
    std::int64_t* values = walk_.point(number);
    const Digest key = instance_key(values, rank);
    Digest contribution = contribution_start(number, key);
    for (std::size_t r = 0; r < s.reads.size(); ++r)
      contribution = mix(contribution, read(s.reads[r], s.source->reads[r].tensor, values, rank));
    for (const FlatFunction& index : s.indices) {
      const FlatFunction::Piece* piece = index.find(values, rank);
      contribution = mix(contribution, piece == nullptr ? not_performed : static_cast<Digest>(piece->outputs.front().value(values, rank)));
    }
    if (++data_.visited > most_instances) throw ProvenanceUnsupported("more than " + std::to_string(most_instances) + " instances are not enumerated");
    const bool known = s.instances.count(key) != 0;
    ProvenanceStatement::Instance& instance = s.instances[key];
    if (!known && !s.source->guards.empty()) instance.failing = failing_guards(s, values, rank);
    instance.contribution = contribution;
    if (!instance.has_effect()) return;
    Content& element = *locate(s.write, s.source->write.tensor, values, rank);
    element = after_effect(element, s, contribution);
  }

 private:
  /// All of them where the kernels compute what they read: then only together they are known.
  std::uint32_t failing_guards(const ProvenanceStatement& s, std::int64_t* values, std::size_t rank) {
    if (!s.guards_of_arguments) return ~std::uint32_t(0);
    Arguments operands(data_, s, values, rank);
    std::uint32_t failing = 0;
    for (std::size_t g = 0; g < s.source->guards.size(); ++g) {
      const Guard& guard = s.source->guards[g];
      const std::int64_t value = ScalarCode(guard.value, model_, false).evaluate(operands)->integer;
      if (value != values[guard.iterator]) failing |= std::uint32_t(1) << g;
    }
    // The guards let it through one by one, so some guard must fail where the run did not come.
    return failing == 0 ? ~std::uint32_t(0) : failing;
  }

  Content* locate(const FlatFunction& access, const std::string& tensor, std::int64_t* values, std::size_t rank) {
    const FlatFunction::Piece* piece = access.find(values, rank);
    if (piece == nullptr) return nullptr;
    std::vector<std::int64_t> subscripts;
    for (const FlatAffine& output : piece->outputs) subscripts.push_back(output.value(values, rank));
    const std::int64_t at = row_major(data_.shapes.at(tensor), subscripts.data());
    TILEOPT_CHECK(at >= 0, "an access of the Program leaves " + tensor);
    return &data_.last.at(tensor)[static_cast<std::size_t>(at)];
  }
  Digest read(const FlatFunction& access, const std::string& tensor, std::int64_t* values, std::size_t rank) {
    const Content* element = locate(access, tensor, values, rank);
    return element == nullptr ? not_performed : element->digest();
  }

  ProvenanceReference::Data& data_;
  TreeWalk& walk_;
  ErrorModel model_ = ErrorModel::of(data_.program->numerics());
};

/// Whether updates of the statement may run in any order.
bool any_order(const Program& program, const Statement& statement) {
  const bool granted = program.numerics().reassociate;
  if (statement.combine == Combine::assign) return false;
  if (statement.combine != Combine::monoid) return granted || !is_float(program.tensor(statement.write.tensor).type);
  const Monoid& monoid = program.monoid(statement.monoid);
  return monoid.commutative && (granted || monoid.exact);
}

ProvenanceStatement flat_statement(const Program& program, const Statement& source, const Sizes& sizes) {
  const isl::set domain = fix_parameters(source.domain, sizes);
  ProvenanceStatement result;
  result.source = &source;
  result.domain = flatten_set(domain);
  result.write = flatten_function(source.write.index, domain, sizes);
  for (const Access& read : source.reads) result.reads.push_back(flatten_function(read.index, domain, sizes));
  for (const isl::pw_aff& index : source.indices) result.indices.push_back(flatten_function(index, domain, sizes));
  result.slots = std::max(count_divs(result.domain), count_divs(result.write));
  for (const std::vector<FlatFunction>* list : {&result.reads, &result.indices})
    for (const FlatFunction& function : *list) result.slots = std::max(result.slots, count_divs(function));
  for (const Guard& guard : source.guards)
    walk_expr(guard.value, [&](const Expr& e) {
      const auto* read = std::get_if<Read>(&e.node);
      if (read != nullptr && program.tensor(source.reads[read->access].tensor).role != TensorRole::in) result.guards_of_arguments = false;
    });
  if (any_order(program, source)) {
    Digest name = 5;
    for (const char c : update_class(source)) name = mix(name, static_cast<Digest>(c));
    result.reduction = static_cast<std::uint32_t>(name | 1);
  }
  return result;
}

void set_initial(ProvenanceReference::Data& data, const Tensor& tensor, std::size_t number) {
  data.shapes[tensor.name] = evaluate_shape(tensor, data.sizes);
  std::size_t elements = 1;
  for (const std::int64_t extent : data.shapes[tensor.name]) elements *= static_cast<std::size_t>(extent);
  const bool readable = tensor.role == TensorRole::in || tensor.role == TensorRole::inout;
  std::vector<Content> contents(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    contents[i] = Content::term(mix(mix(1000, number), i));
    if (!readable) contents[i].state = Content::State::passed;
  }
  data.initial[tensor.name] = contents;
  data.last[tensor.name] = std::move(contents);
}

}  // namespace

Digest instance_key(const std::int64_t* iterators, std::size_t count) {
  Digest key = 17;
  for (std::size_t i = 0; i < count; ++i) key = mix(key, static_cast<Digest>(iterators[i]));
  return key;
}

Digest contribution_start(std::size_t statement, Digest key) { return mix(mix(3, statement), key); }

Content after_effect(const Content& old, const ProvenanceStatement& statement, Digest contribution) {
  if (statement.source->combine == Combine::assign) return Content::term(contribution);
  Content result = old;
  result.state = Content::State::value;
  if (statement.reduction == 0) return Content::term(mix(old.digest(), contribution));
  if (old.reduction == statement.reduction && old.state == Content::State::value) {
    result.sum += contribution;
  } else {
    result.base = old.digest();
    result.reduction = statement.reduction;
    result.sum = contribution;
  }
  return result;
}

std::int64_t row_major(const std::vector<std::int64_t>& shape, const std::int64_t* subscripts) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (subscripts[d] < 0 || subscripts[d] >= shape[d]) return -1;
    at = at * shape[d] + subscripts[d];
  }
  return at;
}

ProvenanceReference::ProvenanceReference(const Program& program, const Sizes& sizes, std::uint64_t seed) : data_(std::make_unique<Data>()) {
  data_->program = &program;
  data_->sizes = sizes;
  data_->arguments = make_arguments(program, sizes, seed, Fill::integers);
  for (std::size_t t = 0; t < program.tensors().size(); ++t) set_initial(*data_, program.tensors()[t], t);
  std::vector<WalkStatement> dense;
  bool conditional = false;
  for (const Statement& statement : program.statements()) {
    data_->numbers[statement.name] = data_->statements.size();
    data_->statements.push_back(flat_statement(program, statement, sizes));
    dense.push_back({statement.name, statement.iterators, fix_parameters(statement.domain, sizes)});
    conditional = conditional || statement.conditional();
  }
  if (conditional) {
    Effects effects(*data_);
    interpret(program, sizes, data_->arguments, std::int64_t(1) << 26, &effects);
  }
  TreeWalk walk(program.order(), std::move(dense));
  for (std::size_t s = 0; s < data_->statements.size(); ++s) walk.reserve_slots(s, data_->statements[s].slots);
  Dense visitor(*data_, walk);
  walk.run(visitor);
}

ProvenanceReference::~ProvenanceReference() = default;
ProvenanceReference::ProvenanceReference(ProvenanceReference&&) noexcept = default;
ProvenanceReference& ProvenanceReference::operator=(ProvenanceReference&&) noexcept = default;
std::int64_t ProvenanceReference::instances() const { return data_->visited; }

}  // namespace tileopt
