/// Symbolic contents of arrays: not a number, but who made it. Every element holds a digest of the term that stands in it, so two
/// runs agree exactly where the same instances read the same terms, whatever the numbers would have been.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/types.h"

namespace tileopt {

using Digest = std::uint64_t;

inline Digest mix(Digest seed, Digest value) {
  Digest x = seed ^ (value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2));
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// What one element holds. Contributions of a reduction that may run in any order are added up: the digest of the set of them,
/// each counted as often as it was made.
struct Content {
  enum class State : std::uint8_t {
    none,     ///< nobody wrote it in the array's lifetime
    passed,   ///< an element that the caller may not have set: of an `out` tensor, or a local one
    padding,  ///< made outside of the program's domain
    value,
  };
  Digest base = 0, sum = 0;
  std::uint32_t reduction = 0;  ///< class of the open sum; 0: none
  State state = State::none;

  Digest digest() const {
    const Digest term = reduction == 0 ? base : mix(mix(base, reduction), sum);
    return state == State::value ? term : mix(term, 77 + static_cast<Digest>(state));
  }
  static Content term(Digest base) { return {base, 0, 0, State::value}; }
};

/// A loop whose iterations run at once, or the box of a leaf; with the iteration that runs.
struct ParallelIteration {
  std::uint64_t run = 0;        ///< number of this execution of the loop
  std::int64_t iteration = 0;
  bool lanes = false;
  bool single_leaf = false;
  std::string pragma = {};      ///< as printed
  std::string joins = {};       ///< body of an atom that combines the points of its box which share an element: "dot", "reduce"
};

/// Who touched an element in one execution of a parallel loop.
struct Touch {
  std::uint64_t run = 0;
  std::int64_t writer = -1;     ///< iteration of the latest write
  std::int64_t plain = -1;      ///< of the latest write that nothing merges
  std::uint32_t reduction = 0;  ///< of the latest write that is merged
  std::int64_t reader = -1;
  bool several_writers = false, several_readers = false;

  /// False where another iteration's access meets this one. `merged`: the reduction whose updates a clause merges over lanes, or that
  /// is updated atomically; 0: a plain write.
  bool write(std::int64_t iteration, std::uint32_t merged) {
    const bool read_elsewhere = several_readers || (reader != -1 && reader != iteration);
    const bool any_elsewhere = several_writers || (writer != -1 && writer != iteration);
    const bool plain_elsewhere = plain != -1 && plain != iteration;
    const bool written_elsewhere = merged == 0 || (reduction != 0 && reduction != merged) ? any_elsewhere : plain_elsewhere;
    several_writers = any_elsewhere;
    writer = iteration;
    if (merged == 0) plain = iteration;
    else reduction = merged;
    return !read_elsewhere && !written_elsewhere;
  }
  bool read(std::int64_t iteration) {
    several_readers = several_readers || (reader != -1 && reader != iteration);
    reader = iteration;
    return !several_writers && (writer == -1 || writer == iteration);
  }
};

/// One array during a run.
struct ContentArray {
  std::string name;
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape;
  bool tensor = true;
  bool one_register = false;          ///< a register of one element
  bool shared = true;                 ///< one storage for all iterations around its allocation
  bool open = true;
  std::int64_t most_elements = 0;     ///< that the printed storage holds
  std::size_t outermost = 0;          ///< the first parallel loop whose iterations share it
  std::optional<std::size_t> held;    ///< the element that a variable of the loops around stands for
  std::vector<Content> contents;
  std::vector<Touch> touches;         ///< [element][parallel loop]
};

}  // namespace tileopt
