/// What a ProvenanceReference keeps, for the run of the kernels.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpreter/flat_affine.h"
#include "interpreter/provenance.h"
#include "interpreter/provenance_store.h"

namespace tileopt {

/// A statement at the sizes of a run.
struct ProvenanceStatement {
  struct Instance {
    Digest contribution = 0;     ///< of the instance and all that it reads
    std::uint32_t failing = 0;   ///< guards that do not hold, one bit each
    bool predicate_holds = true;
    bool has_effect() const { return failing == 0 && predicate_holds; }
  };
  const Statement* source = nullptr;
  FlatSet domain;
  FlatFunction write;
  std::vector<FlatFunction> reads, indices;
  std::size_t slots = 0;         ///< behind the iterators, for floor terms
  std::uint32_t reduction = 0;   ///< class of its updates where they may run in any order; 0: they may not
  std::unordered_map<Digest, Instance> instances;  ///< by key
  bool guards_of_arguments = true;  ///< guards read only what the caller passed in, so each is known at every instance
};

struct ProvenanceReference::Data {
  const Program* program = nullptr;
  Sizes sizes;
  Arrays arguments;
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::map<std::string, std::vector<Content>> initial, last;
  std::vector<ProvenanceStatement> statements;
  std::map<std::string, std::size_t> numbers;  ///< of statements
  std::int64_t visited = 0;
};

/// One number for the iterators of an instance.
Digest instance_key(const std::int64_t* iterators, std::size_t count);
/// The start of a contribution; the digests of its reads and its index values are mixed in, in order.
Digest contribution_start(std::size_t statement, Digest key);
/// A read that the instance does not perform.
constexpr Digest not_performed = 0x5151;
/// What the element holds after the instance has had its effect.
Content after_effect(const Content& old, const ProvenanceStatement& statement, Digest contribution);
/// Row-major offset, -1 outside of the array.
std::int64_t row_major(const std::vector<std::int64_t>& shape, const std::int64_t* subscripts);

}  // namespace tileopt
