/// A second opinion on what `verify` proves, by enumeration: runs the printed loops of all kernels at concrete sizes on symbolic
/// contents, and compares what every instance reads, who makes every contribution, and what every element holds at the end with
/// the Program's own order. Also finds accesses outside of arrays, values that nobody wrote, and iterations of parallel loops that meet.
///
/// Shares nothing with the passes or with `verify`: loops are walked with integers, without isl. What it finds wrong is wrong; what it
/// finds right is right at the sizes and on the data tried.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interpreter/host_array.h"
#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"

namespace tileopt {

/// The first thing that a run does wrong.
struct ProvenanceFault {
  std::string obligation;  ///< the one that should have said so: "values", "coverage", "bounds", "padding", "races", "text"
  std::string text;
};

/// The enumeration cannot tell: a bound loop whose value the kernels compute, or more instances than there is memory for.
class ProvenanceUnsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The Program's own run at one size. Which instances have an effect is decided by the data of `seed`.
class ProvenanceReference {
 public:
  /// @throws Errors(invalid_size) as interpret does; ProvenanceUnsupported.
  ProvenanceReference(const Program& program, const Sizes& sizes, std::uint64_t seed);
  ~ProvenanceReference();
  ProvenanceReference(ProvenanceReference&&) noexcept;
  ProvenanceReference& operator=(ProvenanceReference&&) noexcept;

  struct Data;
  const Data& data() const { return *data_; }
  std::int64_t instances() const;

 private:
  std::unique_ptr<Data> data_;
};

/// Runs `kernels` in launch order. Where there are `facts`, what was printed is run: their bounds, conditions, subscripts, extents,
/// tests, pragmas and storage in place of the Asts'.
/// @throws ProvenanceUnsupported.
std::optional<ProvenanceFault> enumerate_kernels(const ProvenanceReference& reference, const std::vector<Ast>& kernels,
                                                 const std::vector<PrintFacts>& facts, const Machine& machine);

}  // namespace tileopt
