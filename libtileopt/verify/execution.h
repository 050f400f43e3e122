/// What the printed kernels do, reconstructed from their Asts and nothing else: every leaf occurrence with the points it
/// runs, the elements it touches and its place in time. All obligations are stated over this.
///
/// A *point* of a leaf is one box point of one run of the leaf: { L[v0..vn, b0..bm] }, v the enclosing loop variables
/// outermost first, b the box digits.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/machine.h"
#include "ir/program.h"
#include "poly/isl.h"

namespace tileopt::proof {

/// The Ast cannot be expressed in isl (or does not hang together), so nothing can be proved about it.
class Unreadable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A program tensor, or one allocation of a promoted array. Elements of an allocation carry the values of the loops
/// around it, so that two lifetimes of one array never share an element: { X[outer loops.., subscripts..] }.
struct ArrayUse {
  std::string key;                  ///< tuple name of its elements, unique in the module
  std::string name;                 ///< as printed
  const Array* promoted = nullptr;  ///< null: a program tensor
  const Tensor* tensor = nullptr;   ///< the program tensor, or the one a promoted array says it keeps (may be null there)
  std::size_t kernel = 0;           ///< promoted arrays
  std::size_t outer_loops = 0;      ///< loops around the allocation
  std::vector<std::size_t> live_with;  ///< allocations (indices into Execution::arrays) open around this one, or in another role
  std::optional<std::size_t> ring;     ///< index into Execution::rings: the position is a subscript behind the outer loops
  isl::set elements;                ///< { X[..] } inside its bounds (outer loops unconstrained)
  std::size_t rank = 0;             ///< subscripts, the position of a ring included
};

/// One array access of a leaf, for every point that performs it.
struct PointAccess {
  std::size_t array = 0;   ///< index into Execution::arrays
  isl::map element;        ///< { L[v, b] -> X[o, x] }, single-valued
  std::vector<isl::pw_aff> corner;  ///< { L[v, b] -> [(x at the corner of the box)] } per subscript
};

/// A sequence position, or the value of loop `loop` (its index among the leaf's loops).
struct TimeEntry {
  bool is_loop = false;
  long position = 0;
  std::size_t loop = 0;
};

/// A statement where it stands in the loops: a leaf, or a synchronisation.
struct Occurrence {
  std::string key;    ///< tuple name of its points, unique in the module
  std::string label;  ///< for people: "B_copy", "C#2" for a second occurrence
  std::string name;   ///< of the statement: occurrences of one statement are peeled or split copies of each other
  std::size_t kernel = 0;
  std::optional<std::size_t> role;     ///< index into Execution::roles; empty: all agents of the kernel, or the only one
  std::vector<std::string> loops;      ///< variables, outermost first
  std::vector<std::size_t> loop_ids;   ///< indices into Execution::loops
  std::vector<std::string> box;        ///< leaves
  std::vector<TimeEntry> time;
  isl::set points;     ///< { L[v, b] } all that run, including zero fill
};

enum class LeafKind { compute, copy_in, copy_out };

struct Leaf : Occurrence {
  LeafKind kind = LeafKind::compute;
  const AstStatement* statement = nullptr;
  const AstLeaf* node = nullptr;
  const Statement* program = nullptr;  ///< compute
  const Pipe* pipe = nullptr;          ///< runs asynchronously: what is issued here is done later; null: done at once
  std::optional<isl::pw_aff> signal;   ///< { L[v, b] -> [(position)] } of AstStatement::signal that the run is counted in
  isl::set moved;      ///< inside the extents; compute: beyond them are `points` that read nothing, along digits that run whole
  isl::set zeroed;     ///< zero-fill copies: beyond the extents
  isl::set inside;     ///< compute: the instance is in the statement's domain
  isl::set padding;    ///< compute: it is not
  isl::map instance;   ///< compute: { L[v, b] -> S[i] }, on `points`
  PointAccess write;
  std::vector<PointAccess> reads;           ///< on `moved`; compute: on the points that perform the access
  std::vector<isl::pw_aff> indices;         ///< { L[v, b] -> [(value)] }

  bool is_copy() const { return kind != LeafKind::compute; }
  SourceLocation where() const;
};

/// A synchronisation statement where it stands.
struct Sync : Occurrence {
  const Synchronization* declared = nullptr;
  const AstSync* node = nullptr;
  const Barrier* barrier = nullptr;      ///< of those kinds that have one
  std::optional<std::size_t> ring;       ///< that the position is on: index into Execution::rings
  std::optional<isl::pw_aff> position;   ///< { E[v] -> [(position)] } relative to the base
};

struct RoleUse {
  std::string name;
  std::size_t kernel = 0;
  long threads = 1;
};

/// One scope of a ring: every run of it uses positions from 0 on.
struct RingUse {
  const Ring* declared = nullptr;
  std::size_t kernel = 0;
  std::vector<std::size_t> loop_ids;     ///< loops around the scope, outermost first
  bool goes_on = false;                  ///< one agent runs the scope several times: slots and phases go on from run to run
};

struct LoopUse {
  const AstFor* node = nullptr;
  std::size_t kernel = 0;
  std::size_t depth = 0;                 ///< index of its variable among the loops of the leaves below
  std::optional<LevelKind> kind;         ///< of its level on this machine; empty: unknown level
  std::vector<std::size_t> leaves;       ///< below it
  std::vector<std::size_t> enclosing;    ///< loops around it
  isl::set reached;                      ///< { [outer loops] } where it starts
  isl::set iterations;                   ///< { [outer loops, its variable] } that run

  /// Its iterations are run by agents that go on by themselves, until a barrier: there is no join at its end.
  bool is_agent() const { return kind == LevelKind::barrier; }
};

struct Execution {
  const Program* program = nullptr;
  const std::vector<Ast>* kernels = nullptr;
  isl::set context;                 ///< [params] -> { : .. }
  std::vector<isl::set> sizes;      ///< by kernel: those of the context for which a version runs, as its outermost test says; the context for others
  std::vector<ArrayUse> arrays;     ///< program tensors first, in the program's order
  std::vector<Leaf> leaves;         ///< in print order
  std::vector<LoopUse> loops;       ///< in print order
  std::vector<Sync> syncs;          ///< in print order
  std::vector<RoleUse> roles;
  std::vector<RingUse> rings;

  /// No sizes run both kernels: they are versions. Pairs of their points are empty relations, which need not be computed.
  bool apart(std::size_t kernel, std::size_t other) const { return apart_[kernel][other]; }
  std::vector<std::vector<bool>> apart_ = {};  ///< by two kernels
  /// Some agents of this kernel meet, run side by side, or issue what is done later.
  bool is_asynchronous(std::size_t kernel) const;
  const ArrayUse& array_of(const PointAccess& access) const { return arrays[access.array]; }
  std::string kernel_name(std::size_t kernel) const { return (*kernels)[kernel].kernel; }
};

/// Walks the Asts. @throws Unreadable.
Execution read_execution(const Program& program, const std::vector<Ast>& kernels, const Machine& machine);

/// { L[..] -> R[..] : time(L) < time(R) } (or its complement), from the loops the two share and where they part; with the first `shared` loop
/// values equal, which leaves out the parts that those would decide.
isl::map before(const Occurrence& first, const Occurrence& second, std::size_t shared = 0);
/// A part of `before`. Of two points (of any leaves) before one point of `second`, that of the higher level is the later one.
struct BeforePart {
  std::size_t level = 0;
  isl::map pairs;
};
/// `before` in parts, highest level first.
std::vector<BeforePart> before_by_level(const Occurrence& first, const Occurrence& second);
isl::map not_before(const Occurrence& first, const Occurrence& second, std::size_t shared = 0);

/// { L[v, b] -> L[v, b'] : b != b' }: two points of one run of the leaf.
isl::map other_box_points(const Leaf& leaf);

/// { first[..] -> second[..] } with the first `count` dimensions pairwise equal.
isl::map equal_prefix(const isl::space& first, const isl::space& second, std::size_t count);

}  // namespace tileopt::proof
