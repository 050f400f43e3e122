/// What names mean inside one function: sizes, tensors, iterators; and the loops around a place.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontends/tile_text/diagnostics.h"
#include "frontends/tile_text/names.h"
#include "ir/program.h"

namespace tileopt::tile_text {

/// A tensor of the program. A local declared inside loops has one leading dimension for each of them.
struct TensorSymbol {
  std::string source_name;
  Tensor tensor;                         ///< the name is unique in the program
  std::vector<std::string> extent_text;  ///< declared extents as written (without leading dimensions)
  std::vector<isl::pw_aff> shifts;       ///< [params] -> [(least value of the enclosing iterator)], one per leading dimension
  std::vector<int> leading_loops = {};   ///< Iterator::loop of the enclosing iterators, one per leading dimension
  syntax::Position where;
  bool known = true;  ///< false: its declaration was in error, so accesses are not checked

  std::size_t rank() const { return extent_text.size(); }  ///< of the declaration
};

/// A name that stands for an expression: a parameter or a local of a pure function.
struct ValueSymbol {
  ExprPtr value;  ///< over Read{i}, the parameters; null where an error was reported
  ElementType type;
  syntax::Position where;
};

class PureFunctions;

struct Iterator {
  std::string source_name;
  std::string name;                  ///< unique among the iterators around a statement
  int loop = 0;                      ///< identity of the loop, shared by all statements inside it
  std::optional<isl::pw_aff> upper;  ///< { [outer iterators, this] -> [(exclusive bound)] }; unknown for stepped ranges
  std::optional<isl::pw_aff> value;  ///< { [outer iterators, this] -> [(value)] } of a stepped range, whose dimension counts
                                     ///< iterations from 0: strides and descents leave no trace in domains and orders
  syntax::Position where;
  syntax::ExpressionPtr symbol;      ///< an index that only a run knows (symbols.h): the expression it stands for; no source name
};

/// A condition on data around a place: statements there have no effect where it fails.
struct DataCondition {
  syntax::ExpressionPtr condition;
  bool negated = false;
  const TensorSymbol* frozen = nullptr;  ///< the local that keeps it, where the code under it changes what it reads
};

/// The loops around a place, and the instances that reach it.
struct Nest {
  std::vector<Iterator> iterators;
  isl::set domain;    ///< [params] -> { [iterators] }
  isl::set ranges;    ///< the same without the conditions of `if`s: what locals are expanded over
  bool known = true;  ///< false: a bound or condition was in error, so nothing is proved about accesses
  std::vector<DataCondition> conditions = {};
};

/// Symbols of one function. Locals live in blocks; a name keeps one meaning (size, tensor or iterator) throughout.
class Scope {
 public:
  Scope(isl::ctx ctx, const syntax::Function& function, Diagnostics& diagnostics);

  isl::ctx ctx() const { return ctx_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  NameAllocator& names() { return names_; }

  const std::vector<std::string>& sizes() const { return sizes_; }
  bool is_size(const std::string& name) const;
  /// Sizes are all added before the first space is made.
  void add_size(const std::string& name, syntax::Position where);
  /// A `const` parameter: its name is taken, its uses are literals.
  void add_constant(const std::string& name, syntax::Position where) { claim(name, Meaning::size, where); }

  isl::space params_space() const;                     ///< [params] -> { : }
  isl::space set_space(std::size_t dimensions) const;  ///< [params] -> { [..] }
  const isl::set& context() const { return context_; }
  void set_context(isl::set context) { context_ = std::move(context); }

  /// What `assume` says of the values of `name`, a parameter or a local that is declared later.
  ValueFacts& facts_of(const std::string& name) { return facts_[name]; }
  /// Gives what is assumed to the tensor of that name, where one is declared already.
  void apply_facts(const std::string& name);

  void open_block() { blocks_.emplace_back(); }
  void close_block() { blocks_.pop_back(); }
  std::size_t open_blocks() const { return blocks_.size(); }  ///< parameters count as one
  /// Reports duplicates. The symbol is valid until the scope dies.
  TensorSymbol& declare(TensorSymbol symbol);
  /// A tensor without a name in the source (an inline reduction).
  TensorSymbol& add_unnamed(TensorSymbol symbol);
  const TensorSymbol* find_tensor(const std::string& name) const;
  const std::deque<TensorSymbol>& tensors() const { return tensors_; }

  /// Helper functions and monoids of the file; null where there are none.
  PureFunctions* functions() const { return functions_; }
  void set_functions(PureFunctions* functions) { functions_ = functions; }
  /// Inside a pure function: reports duplicates.
  void bind_value(const std::string& name, ValueSymbol symbol);
  const ValueSymbol* find_value(const std::string& name) const;
  /// The body of a pure function: no tensors, no loops.
  bool is_pure() const { return pure_; }
  void set_pure() { pure_ = true; }

  /// Reports names that are reserved or have another meaning; false when they do.
  bool claim_iterator(const syntax::Target& target);
  int new_loop() { return loops_++; }

  /// Reports that `name` means nothing here, with the nearest name as a hint.
  void report_unknown(const std::string& name, syntax::Position where, const std::vector<Iterator>& iterators);

 private:
  enum class Meaning { size, tensor, iterator, value };
  bool claim(const std::string& name, Meaning meaning, syntax::Position where);

  isl::ctx ctx_;
  Diagnostics& diagnostics_;
  NameAllocator names_;
  std::vector<std::string> sizes_;
  isl::set context_;
  std::deque<TensorSymbol> tensors_;
  std::vector<std::map<std::string, TensorSymbol*>> blocks_;
  std::map<std::string, std::pair<Meaning, syntax::Position>> meanings_;
  int loops_ = 0;
  std::map<std::string, ValueFacts> facts_;
  PureFunctions* functions_ = nullptr;
  std::map<std::string, ValueSymbol> values_;
  bool pure_ = false;
};

/// Position in `iterators` of the innermost one called `name`, or nullopt.
std::optional<std::size_t> find_iterator(const std::vector<Iterator>& iterators, const std::string& name);

}  // namespace tileopt::tile_text
