#include "backends/openmp/kernel_printer.h"

#include <algorithm>

#include "backends/c_common/check_ast.h"
#include "backends/c_common/refusal.h"
#include "support/text.h"

namespace tileopt {

namespace {
/// Without a limit of the machine's: what a thread may put on its stack.
constexpr double default_stack_bytes = 1 << 20;
}  // namespace

KernelPrinter::KernelPrinter(const Program& program, const Signature& signature, const Ast& ast, const Machine& machine, Helpers& helpers)
    : BodyPrinter(program, signature, ast, machine, helpers, Language::c_openmp) {}

PrintedKernel KernelPrinter::print(int position) {
  check_ast(ast_, program_, signature_);
  registers_ = classify_register_arrays(ast_, machine_);
  const std::vector<const TensorArgument*> tensors = add_tensors();
  print_node(ast_.root);
  if (streams_below(ast_.root)) {
    print_fence();
    facts_.fenced = true;
  }

  PrintedKernel result;
  std::vector<std::string> parameters;
  for (const TensorArgument* tensor : tensors) {
    const TensorArgument& argument = *tensor;
    if (!mentions(out_.text(), argument.name)) continue;
    result.call.tensors.push_back(argument.tensor);
    const bool constant = argument.role == TensorRole::in;
    const std::string type = (constant ? "const " : "") + memory_type_c(argument);
    parameters.push_back(argument.by_value ? type + " " + argument.name : type + "* restrict " + argument.name);
  }
  std::string strides;
  for (const std::string& line : storage_.stride_definitions()) strides += "  " + line + "\n";
  std::vector<std::string> sizes;
  for (const std::string& size : signature_.sizes) {
    if (!mentions(out_.text() + strides, names_.value(size))) continue;
    result.call.sizes.push_back(size);
    sizes.push_back("const int64_t " + names_.value(size));
  }
  sizes.insert(sizes.end(), parameters.begin(), parameters.end());
  if (workspace_bytes_ > 0) sizes.push_back("unsigned char* restrict workspace");
  result.call.function = "tileopt_kernel_" + std::to_string(position) + "_" + ast_.kernel;
  result.call.workspace_bytes = workspace_bytes_;
  result.text = "static __attribute__((noinline)) void " + result.call.function + "(" + (sizes.empty() ? "void" : join(sizes, ", ")) + ") {\n";
  result.text += strides + out_.text() + "}\n";
  result.facts = std::move(facts_);
  return result;
}

std::string KernelPrinter::thread_pragma(const AstFor& loop) const {
  std::string pragma = std::string("#pragma omp parallel for schedule(") + (uneven_work(loop) ? "dynamic, 1" : work_from_memory(loop) ? "guided" : "static") + ")";
  const std::vector<AstNodePtr> children = flat_children(loop.body);
  const auto* inner = children.size() == 1 ? std::get_if<AstFor>(&children[0]->node) : nullptr;
  if (inner == nullptr || inner->level != "thread") return pragma;
  std::set<std::string> names;
  collect_names(inner->lower, names);
  collect_names(inner->upper, names);
  return names.count(loop.variable) != 0 ? pragma : pragma + " collapse(2)";
}

std::string KernelPrinter::unroll_pragma(const AstFor& loop) const {
  const std::string count = unroll_count(loop);
  return count.empty() ? "" : "#pragma GCC unroll " + count;
}

std::string KernelPrinter::reduction_clause(const Accumulation& accumulation, const std::string& variable) {
  const ElementType type = program_.statement(accumulation.statement->statement).body->type;
  const auto extremum = [&](const std::string& name) {
    return is_float(type) ? helpers_.reduction("tileopt_" + name + "_" + type_name(type)) : name;
  };
  switch (accumulation.combine) {
    case Combine::sum: return " reduction(+ : " + variable + ")";
    case Combine::prod: return " reduction(* : " + variable + ")";
    case Combine::min: return " reduction(" + extremum("min") + " : " + variable + ")";
    case Combine::max: return " reduction(" + extremum("max") + " : " + variable + ")";
    case Combine::any: return " reduction(|| : " + variable + ")";
    case Combine::all: return " reduction(&& : " + variable + ")";
    case Combine::bit_and: return " reduction(& : " + variable + ")";
    case Combine::bit_or: return " reduction(| : " + variable + ")";
    case Combine::bit_xor: return " reduction(^ : " + variable + ")";
    case Combine::assign:
    case Combine::monoid: break;
  }
  return "";
}

std::string KernelPrinter::simd_pragma(const AstFor& loop, const SimdLoop& simd, bool* replace) {
  (void)loop;
  *replace = false;
  if (!simd.allowed) return "";
  std::string pragma = "#pragma omp simd";
  for (const Accumulation& accumulation : simd.accumulations) {
    if (!program_.numerics().reassociate || accumulation.combine == Combine::monoid) return "";
    const Storage& storage = storage_.find(accumulation.statement->write_array);
    const ElementType type = program_.statement(accumulation.statement->statement).body->type;
    if (storage.kind == Storage::Kind::scalar && storage.element == type && accumulates_in(type)) {
      pragma += reduction_clause(accumulation, storage.name);
    } else if (simd.single_leaf && replaceable(accumulation)) {
      *replace = true;
    } else {
      return "";
    }
  }
  return pragma;
}

void KernelPrinter::print_loop(const AstFor& loop) {
  if (loop.level == "thread") {
    const bool inside = threads_ > 0;
    const std::string pragma = inside ? "" : thread_pragma(loop);
    ++threads_;
    print_loop_lines(loop, pragma, !inside && streams_below(loop.body));
    --threads_;
    return;
  }
  if (loop.level != "simd") return print_counting(loop, loop.level == "unroll" ? unroll_pragma(loop) : "");
  const SimdLoop simd = analyze_simd_loop(loop, ast_, program_);
  bool replace = false;
  const std::string pragma = simd_pragma(loop, simd, &replace);
  if (!replace) return print_loop_lines(loop, pragma);
  const Accumulation& accumulation = simd.accumulations.at(0);
  print_replaced(loop, accumulation, pragma, [&](const std::string& variable) { return reduction_clause(accumulation, variable); });
}

void KernelPrinter::print_sync(const AstSync&) { TILEOPT_CHECK(false, "check_ast refuses synchronisation"); }

void KernelPrinter::declare_array(const Array& array) {
  Storage storage;
  storage.array = array.name;
  storage.name = names_.declare_array(array.name);
  storage.element = array.element;
  storage.extents = array.extents;
  storage.strides = constant_strides(array.extents);
  const long bytes = array.elements() * size_bytes(array.element);
  PrintFacts::Buffer printed{array.name, array.space, bytes};
  const std::string type = storage_type_c(array.element);
  if (array.space == "workspace") {
    if (threads_ > 0)
      refuse("capacity", "promotions[" + array.name + "]", "workspace array " + array.name + " inside a thread loop would be shared by the threads: put it on the stack");
    const auto [slot, fresh] = workspace_offsets_.emplace(array.name, workspace_bytes_);
    if (fresh) workspace_bytes_ += in_workspace(bytes);
    printed.region = "workspace";
    printed.offset = slot->second;
    if (muted_ == 0) facts_.buffers.push_back(printed);
    out_.line(type + "* restrict const " + storage.name + " = (" + type + "*)(void*)(workspace + " + std::to_string(slot->second) + ");");
    return storage_.add(storage);
  }
  if (muted_ == 0) facts_.buffers.push_back(printed);
  if (array.space == "register") storage.kind = registers_.kinds.at(array.name);
  switch (storage.kind) {
    case Storage::Kind::scalar:
      out_.line(compute_type_c(array.element) + " " + storage.name + (is_tuple(array.element) ? " = {0};" : " = 0;"));
      break;
    case Storage::Kind::vectors:
      storage.lanes = registers_.lanes.at(array.name);
      declare_vectors(storage);
      break;
    case Storage::Kind::memory:
    case Storage::Kind::value: {
      const Space* space = machine_.find_space("stack");
      const double limit = space != nullptr && space->capacity > 0 ? space->capacity : default_stack_bytes;
      stack_bytes_.back() += static_cast<double>(bytes);
      if (stack_bytes_.back() > limit)
        refuse("capacity", "promotions[" + array.name + "]", "stack arrays need " + std::to_string(static_cast<long>(stack_bytes_.back())) + " bytes, " +
                                                                 std::to_string(static_cast<long>(limit)) + " are allowed");
      out_.line("_Alignas(" + std::to_string(std::max(array.alignment, alignment_bytes(array.element))) + ") " + type + " " + storage.name + "[" +
                std::to_string(array.elements()) + "];");
      break;
    }
  }
  storage_.add(storage);
}

}  // namespace tileopt
