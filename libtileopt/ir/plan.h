/// Every decision of a compile, as a value. A resolved Plan leaves nothing open; a partial one (Pins) fixes some fields.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/tree.h"
#include "support/document.h"
#include "support/error.h"

namespace tileopt {

/// One mixed-radix digit of a band member. radix 0: unbounded (only the most significant digit of a member).
/// level: a level name of the machine file ("thread", "simd", "serial", "unroll", "atom").
struct Digit {
  std::string name;
  long radix = 0;
  std::string level = "serial";
};

/// Affine members of one statement: `map` is isl text { S[i,j,k] -> [(i), (j), (k)] }, one output per member name.
struct StatementMembers {
  std::vector<std::string> members;
  std::string map;
};

/// One dimension of a promoted array, outermost first in memory.
/// The coordinate of `tensor_dim` (relative to the tile's corner) is written in mixed radix by the dims that name it:
/// most significant first; radix 0 = what remains of the box.
struct BufferDim {
  int tensor_dim = 0;
  std::string name;  ///< the copy's own digit
  long radix = 0;
  std::string level = "";  ///< of the copy's digit: an agent level spreads the copy over agents; "" = sequential, or lanes where it is the last.
                           ///< In a space that agents own, the dimension is the agents' coordinate
  long weight = 0;         ///< elements of the tensor's dimension that a step moves; 0: as the order says, most significant first
};

/// Keep `tensor` in `array` below the band `after` (empty: for the whole kernel).
struct Promotion {
  std::string tensor, array;
  std::string after;                     ///< digit; the scope is the subtree below its band
  std::vector<std::string> statements;   ///< which occurrence of `after`; empty: the only one
  std::string space;                     ///< "workspace", "stack", "register", "shared"
  std::string element;                   ///< element type kept; differs from the tensor's only by an exact widening
  std::vector<BufferDim> layout;         ///< memory order
  bool zero_fill = false;                ///< elements outside the footprint are set to zero on copy-in
  bool stream = false;                   ///< copy-out goes past the caches
  long pad = 0;                          ///< elements left free behind every row, which the last dimensions hold that are cut from one of the tensor
  std::vector<std::string> copy_order = {};  ///< digits of the copy, outermost loop first; empty: as they lie
  std::string swizzle_along = "", swizzle_by = "";  ///< dimensions of the layout: the place along the first is its digit xor the second's; "" = none
};

inline constexpr long kMostSlots = 64;  ///< of a ring

/// Copies that run ahead of their use: while an iteration of the loop `after` computes, those of a later one are on their way.
struct Pipelining {
  struct Copy {
    std::string array;      ///< promoted below the band `after`; it is only copied in
    std::string atom = "";  ///< that copies asynchronously; "": ordinary loads before the computation, held in registers until after it
  };
  std::string after;        ///< digit
  std::vector<Copy> copies;
  long slots = 2;           ///< copies of each array, which are used in turn
  long distance = 0;        ///< iterations that a copy runs ahead, less than there are slots; 0: as far as they allow
  long ahead() const { return distance > 0 ? distance : slots - 1; }
};

/// How the leaf of a statement runs: "" = scalar; else an atom of the machine with its box of digits, lanes last.
struct AtomChoice {
  std::string atom;
  std::vector<std::string> box;  ///< digits dropped from the tree, most significant role first
  std::string edge = "extents";  ///< "padded": runs its whole box; "extents": runs what remains of it
  bool stream = false;           ///< what it writes goes past the caches: lines that are written whole and not read soon
  std::string prefetch = "";     ///< digit of a loop around: while one value of it runs, what the next one reads is fetched
  std::vector<std::string> whole = {};  ///< padded leaves: digits of loops around that run all their values too, beyond the data: agents that must not part;
                                        ///< leaves with extents: digits of the box along which registers may be written beyond the data
};

/// One rewrite of the program (docs/rewrites.md), taken before everything else.
struct Rewriting {
  std::string name;                          ///< "inline", "split", ...
  std::vector<std::string> arguments = {};   ///< what it is done to: statements, tensors, iterators
  std::map<std::string, long> sizes = {};    ///< e.g. {"chunk", 64}
  friend bool operator==(const Rewriting&, const Rewriting&) = default;
};
/// `split("C", "k", chunk=64)`
std::string to_string(const Rewriting& rewriting);

struct KernelPlan {
  std::string name;
  std::vector<std::string> statements;
  std::string schedule = "isl";                           ///< where the members came from: "isl", "wavefront", "original", "pinned"
  std::map<std::string, StatementMembers> members;        ///< statement -> members
  std::vector<std::pair<std::string, std::vector<Digit>>> digits;  ///< member -> digits, most significant first
  Tree tree;                                              ///< over digits; copies are inserted by promotion
  std::map<std::string, AtomChoice> atoms;                ///< statement -> atom
  std::vector<Promotion> promotions;                      ///< applied in this order: an outer scope before an inner one
  std::vector<Pipelining> pipelines = {};                 ///< at most one a loop
  std::string when = "";  ///< isl text [K] -> { : K mod 8 = 0 }: a version, run for these sizes alone; "": for all. Kernels that hold one statement
                          ///< share no sizes, and have all between them (docs/decisions/031)

  const Digit* find_digit(const std::string& digit) const;
  /// Member that owns `digit`, or "".
  std::string owner(const std::string& digit) const;
};

class Plan {
 public:
  static constexpr const char* format = "tileopt-plan/2";
  std::string program;       ///< program name
  std::string program_hash;
  std::string machine;
  std::string version;       ///< of tileopt
  std::vector<Rewriting> rewrites;  ///< in the order in which they are taken
  std::vector<KernelPlan> kernels;  ///< in launch order; they name the statements of the rewritten program

  Document write() const;
  /// @throws Errors(invalid_plan): wrong format, missing or mistyped entries, with the path of the entry.
  static Plan read(const Document& document, const std::string& file);
};
Document write_kernel_plan(const KernelPlan& kernel);
Document write_rewrites(const std::vector<Rewriting>& rewrites);
KernelPlan read_kernel_plan(const Document& document, const std::string& file, const std::string& path);

/// One pinned decision, from a line of a @schedule function or the command line.
struct Pin {
  std::string primitive;  ///< "tile", "order", "promote", "parallel", "vectorize", "unroll", "atom", "schedule", "fuse", "pipeline",
                          ///< "rewrite", "versions"
  std::vector<std::string> arguments;                          ///< positional, as written
  std::vector<std::pair<std::string, std::string>> keywords;   ///< e.g. {"i", "128"}
  SourceLocation where;
};
struct Pins {
  std::string name;       ///< of the schedule function
  std::string program;    ///< the program it schedules
  std::string machine;    ///< "" = any
  std::vector<Pin> pins;
};

}  // namespace tileopt
