/// Hand-built programs and Asts for the tests of the OpenMP backend.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "backends/openmp/openmp_backend.h"
#include "backends/openmp/runner.h"
#include "backends/openmp/toolchain.h"
#include "interpreter/host_array.h"
#include "ir/ast.h"
#include "ir/machine.h"
#include "ir/program.h"
#include "poly/isl.h"
#include "support/document.h"

namespace tileopt::test {

/// A program from isl text. Statement bodies refer to reads by number.
class ProgramText {
 public:
  explicit ProgramText(const std::string& name) : builder_(context_.get(), name) { builder_.file("test.tile").text(name); }

  ProgramText& sizes(const std::vector<std::string>& names) {
    for (const std::string& name : names) builder_.parameter(name);
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    parameters_ = "[" + list + "] -> ";
    return *this;
  }
  /// Constraints on the sizes, e.g. "M >= 1".
  ProgramText& assume(const std::string& constraints) {
    builder_.context(isl::set(context_.get(), parameters_ + "{ : " + constraints + " }"));
    return *this;
  }
  ProgramText& tensor(const std::string& name, ElementType type, const std::vector<std::string>& shape, TensorRole role) {
    Tensor tensor{name, type, {}, role, {}};
    for (const std::string& extent : shape) tensor.shape.emplace_back(context_.get(), parameters_ + "{ [(" + extent + ")] }");
    builder_.tensor(std::move(tensor));
    return *this;
  }
  /// `domain`: "S[i, j] : 0 <= i < M and 0 <= j < N"; accesses: "A[i, j]".
  ProgramText& statement(const std::string& name, const std::vector<std::string>& iterators, const std::string& constraints,
                         const std::string& write, Combine combine, ExprPtr body, const std::vector<std::string>& reads,
                         const std::vector<std::string>& indices = {}) {
    std::string list;
    for (const std::string& iterator : iterators) list += (list.empty() ? "" : ", ") + iterator;
    const std::string tuple = name + "[" + list + "]";
    const auto access = [&](const std::string& element) {
      return Access{element.substr(0, element.find('[')),
                    isl::pw_multi_aff(context_.get(), parameters_ + "{ " + tuple + " -> " + element + " }"), {}};
    };
    Statement statement;
    statement.name = name;
    statement.iterators = iterators;
    statement.domain = isl::set(context_.get(), parameters_ + "{ " + tuple + (constraints.empty() ? "" : " : " + constraints) + " }");
    statement.write = access(write);
    statement.combine = combine;
    statement.body = std::move(body);
    for (const std::string& read : reads) statement.reads.push_back(access(read));
    for (const std::string& index : indices)
      statement.indices.emplace_back(context_.get(), parameters_ + "{ " + tuple + " -> [(" + index + ")] }");
    branches_.push_back({{name}, Tree::bands(iterators, Tree::leaf())});
    builder_.statement(std::move(statement));
    return *this;
  }
  ProgramText& numerics(Numerics numerics) {
    builder_.numerics(numerics);
    return *this;
  }
  Program build() {
    builder_.order(branches_.size() == 1 ? branches_[0].tree : Tree::sequence(branches_));
    return builder_.build();
  }

 private:
  poly::Context& context_ = shared_context();
  static poly::Context& shared_context() {
    static poly::Context context;
    return context;
  }
  ProgramBuilder builder_;
  std::string parameters_ = "[] -> ";
  std::vector<Tree::Branch> branches_;
};

inline ExprPtr read(std::size_t access, ElementType type = ElementType::f32) { return make_expr(type, Read{access}); }
inline ExprPtr real(double value, ElementType type = ElementType::f32) { return make_expr(type, Literal{value, 0}); }
inline ExprPtr integer(std::int64_t value, ElementType type = ElementType::i32) { return make_expr(type, Literal{0, value}); }
inline ExprPtr binary(BinaryOp op, ExprPtr left, ExprPtr right) {
  const ElementType type = left->type;
  return make_expr(type, Binary{op, std::move(left), std::move(right)});
}
inline ExprPtr compare(BinaryOp op, ExprPtr left, ExprPtr right) {
  return make_expr(ElementType::boolean, Binary{op, std::move(left), std::move(right)});
}
inline ExprPtr cast(ElementType type, ExprPtr operand) { return make_expr(type, Cast{std::move(operand)}); }
inline ExprPtr call(Function function, ExprPtr argument) {
  const ElementType type = argument->type;
  return make_expr(type, Call{function, {std::move(argument)}});
}

/// A machine of 32-byte vectors where the processor has them, else plain C.
inline Machine test_machine() {
  Machine machine;
  machine.name = "test";
  machine.backend = "openmp";
  machine.flags = {"-march=x86-64-v3"};
  machine.features = {"avx2", "fma"};
  machine.vector_bytes = 32;
  machine.vector_registers = 16;
  machine.spaces = {{"workspace", 0}, {"stack", 1 << 20}, {"register", 0}};
  if (!missing_features(machine).empty()) {
    machine.flags.clear();
    machine.features.clear();
    machine.vector_bytes = 16;
  }
  return machine;
}
inline Machine plain_machine() {
  Machine machine = test_machine();
  machine.name = "plain";
  machine.vector_bytes = 0;
  machine.flags.clear();
  machine.features.clear();
  return machine;
}

inline Ast ast_of(const std::string& yaml) { return Ast::read(parse_yaml(yaml, "test.yaml"), "test.yaml"); }

inline SourceText print(const Program& program, const std::vector<Ast>& asts, const Machine& machine) {
  const auto text = make_openmp_backend()->print(program, asts, machine, "0");
  if (const auto* reason = std::get_if<Infeasible>(&text)) throw std::runtime_error(to_string(*reason));
  return std::get<SourceText>(text);
}

/// Compilers to test generated code with: gcc and clang where present.
inline std::vector<std::string> compilers() {
  std::vector<std::string> found;
  for (const char* path : {"/usr/bin/gcc", "/usr/bin/clang-19", "/usr/bin/clang-14"}) {
    if (access(path, X_OK) != 0) continue;
    // clang needs its OpenMP runtime, which is a package of its own.
    if (std::string(path).find("clang") != std::string::npos) {
      TemporaryDirectory folder;
      write_file(folder.path() + "/probe.c", "#include <omp.h>\nint probe(void) { return omp_get_max_threads(); }\n");
      const ProcessResult result = run_process({path, "-fopenmp", "-fPIC", "-shared", "-o", folder.path() + "/probe.so", folder.path() + "/probe.c"}, 60);
      if (result.code != 0) continue;
    }
    found.push_back(path);
  }
  return found;
}

inline HostArray f32_array(std::vector<std::int64_t> shape, const std::function<double(std::int64_t)>& value) {
  HostArray array(ElementType::f32, std::move(shape));
  for (std::int64_t i = 0; i < array.elements(); ++i) array.set(i, value(i));
  return array;
}
inline HostArray filled(ElementType type, std::vector<std::int64_t> shape, const std::function<double(std::int64_t)>& value) {
  HostArray array(type, std::move(shape));
  for (std::int64_t i = 0; i < array.elements(); ++i) array.set(i, value(i));
  return array;
}

}  // namespace tileopt::test
