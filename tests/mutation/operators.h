// Mutation operators: each puts one kind of fault into right kernels. What must refute it is fixed here, before any run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "corpus.h"

namespace tileopt::mutation {

// One possible change of a subject.
struct Change {
  std::string text;
  std::function<void(std::vector<Ast>& asts, std::vector<PrintFacts>& facts)> apply;
};

struct Operator {
  std::string name;
  std::string what;                   // one line
  std::vector<std::string> expected;  // obligations, any of which may refute a mutant
  bool printed = false;               // changes what the printer reports; otherwise the changed loops are printed anew
  std::function<std::vector<Change>(const Subject&)> changes;
};

// One file a family.
void add_loop_operators(std::vector<Operator>& operators);
void add_order_operators(std::vector<Operator>& operators);
void add_access_operators(std::vector<Operator>& operators);
void add_array_operators(std::vector<Operator>& operators);
void add_index_operators(std::vector<Operator>& operators);
void add_print_operators(std::vector<Operator>& operators);

inline std::vector<Operator> all_operators() {
  std::vector<Operator> operators;
  add_loop_operators(operators);
  add_order_operators(operators);
  add_access_operators(operators);
  add_array_operators(operators);
  add_index_operators(operators);
  add_print_operators(operators);
  return operators;
}

}  // namespace tileopt::mutation
