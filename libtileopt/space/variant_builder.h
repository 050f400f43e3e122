/// Makes the choices of one variant from the planner's Plan of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/machine.h"
#include "ir/program.h"
#include "ir/stages.h"
#include "search/pins.h"
#include "search/statement_view.h"
#include "space/space.h"

namespace tileopt {

/// What all choices of a variant are made from. Referenced objects outlive the building.
struct VariantContext {
  const Program& program;  ///< as the variant's rewrites leave it
  const Machine& machine;
  const TypicalSizes& sizes;  ///< complete
  const PinTable& given;      ///< pins that the space has to keep
  int threads = 1;

  std::string level(LevelKind kind) const;  ///< name of the machine's first level of this kind
};

/// A tile pin: `tile("serial", "C.i", 64)`; extent 0: not cut.
Pin tile_pin(const std::string& level, const std::string& loop, long extent);
/// Any other pin of loop names, tensors or statements, e.g. ("parallel", {"C.i"}).
Pin simple_pin(const std::string& primitive, std::vector<std::string> arguments);
Pin promote_pin(const std::string& tensor, const std::string& space, const std::string& after);

/// Numbers as text; 0 is "whole".
std::vector<ChoiceValue> tile_values(std::vector<long> numbers);
/// All permutations of 0 .. names.size() - 1 that `allowed` admits, named by `names`, the identity first.
std::vector<ChoiceValue> order_values(const std::vector<std::string>& names,
                                      const std::function<bool(const std::vector<int>&)>& allowed);
std::size_t index_of_number(const std::vector<ChoiceValue>& values, long number);

/// One kernel of a variant: `planned` is the planner's own plan, `shaped` the same with every loop that may be cut cut (its
/// shape is variant.shapes[kernel]). Both add what they find to `variant`.
struct KernelPart {
  const VariantContext& context;
  const KernelPlan& planned;
  const KernelPlan& shaped;
  std::size_t kernel = 0;
  Variant& variant;

  const KernelShape& shape() const { return variant.shapes[kernel]; }
  /// Adds a choice and gives its number.
  std::size_t add(Choice choice, std::vector<std::vector<ShapeEdit>> edits) const;
  void exclude(ConstraintKind kind, const std::string& what, const std::string& reason) const {
    variant.excluded.push_back({kind, what, reason});
  }
  int digit(const std::string& name) const;  ///< number in the shape; -1: none
  std::size_t statement(const std::string& name) const;
  ShapeEdit radix_edit(const std::string& digit, long radix) const;
  /// The choice of a tile: values become radices of `digit`, or the planner's `own` alone where a given pin decides it.
  std::size_t add_tile(const std::string& name, const std::string& digit, std::vector<long> numbers, long own,
                       bool frozen) const;
};

/// Pins that cut every loop that may be cut, so that a Plan made with them shows where the tile loops stand.
std::vector<Pin> contraction_shape_pins(const VariantContext& context, const KernelPlan& planned);
std::vector<Pin> loop_shape_pins(const VariantContext& context, const KernelPlan& planned, const Kernel& kernel);

void add_contraction_choices(const KernelPart& part);
void add_loop_choices(const KernelPart& part, const Kernel& kernel);
void add_promotion_choices(const KernelPart& part);
void add_window_choices(const KernelPart& part);

/// Reductions of a kernel whose results stay in registers as a box of vectors.
std::vector<std::string> windows(const VariantContext& context, const KernelPlan& plan);

/// Statements of a kernel that run as register tiles of outer products.
std::vector<std::string> register_tiles(const Machine& machine, const KernelPlan& plan);

}  // namespace tileopt
