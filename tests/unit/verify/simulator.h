/// Runs Programs and Asts on small sizes, with integers for values: the checker's verdicts are compared with what happens.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/program.h"

namespace tileopt::test {

using Sizes = std::map<std::string, long>;
using Value = std::uint64_t;
/// Row-major content of every program tensor.
using Memory = std::map<std::string, std::vector<Value>>;

/// The Ast did what no proved kernel may do: left an array, or named an instance that is none.
class Misbehaviour : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A Program at fixed sizes, its instances in original order.
class ConcreteProgram {
 public:
  ConcreteProgram(const Program& program, Sizes sizes);

  Memory initial(std::mt19937_64& random) const;
  void run(Memory& memory) const;
  /// Runs kernels: iterations of parallel loops and box points in random order; `together`: a box reads all before it writes.
  void run(const std::vector<Ast>& kernels, Memory& memory, std::mt19937_64& random, bool together) const;
  /// The tensors that a caller sees are equal.
  bool agree(const Memory& a, const Memory& b) const;

  const Program& program() const { return *program_; }
  const Sizes& sizes() const { return sizes_; }
  const std::vector<long>& shape(const std::string& tensor) const { return shapes_.at(tensor); }
  bool contains(const Statement& statement, const std::vector<long>& instance) const;
  /// Subscripts of read `read`, or null where the instance does not perform it.
  const std::vector<long>* read_subscripts(const Statement& statement, std::size_t read, const std::vector<long>& instance) const;

 private:
  using Table = std::map<std::vector<long>, std::vector<long>>;  ///< iterators -> subscripts
  struct Instance {
    std::vector<long> time;
    const Statement* statement;
    std::vector<long> iterators;
  };
  Table tabulate(const isl::map& relation) const;

  const Program* program_;
  Sizes sizes_;
  isl::set point_;  ///< [params] -> { : sizes }
  std::map<std::string, std::vector<long>> shapes_;
  std::map<std::string, Table> writes_;
  std::map<std::string, std::vector<Table>> reads_;
  std::vector<Instance> instances_;
};

/// What statement `statement` makes of the values it reads.
Value body_value(const Statement& statement, const std::vector<Value>& reads);
Value combined(Combine combine, Value element, Value value);

}  // namespace tileopt::test
