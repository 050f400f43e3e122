/// The product of a compile: source text, header, certificate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ast.h"
#include "ir/certificate.h"
#include "ir/plan.h"

namespace tileopt {

/// What the printer put into the text, as data for verify's `text` obligation.
struct PrintFacts {
  /// The element that a loop's only leaf accumulates into is held in a variable: loaded before the loop, stored after it.
  struct Accumulator {
    std::string array = "";  ///< "" = none
    std::vector<std::string> subscripts = {};  ///< of what is loaded and stored, ast_expr_text
    std::string type = "";   ///< type_name of the variable
    bool tested = true;      ///< loaded and stored only where the loop has an iteration
  };
  struct Loop {
    std::string variable;
    std::string header;     ///< the printed "for (...)" line
    std::string pragma;     ///< "" or the printed pragma
    std::string lower, upper;  ///< ast_expr_text of the bounds it printed
    std::int64_t step = 1;
    std::string level;
    std::vector<std::string> subscripts = {};  ///< pragma "bound": those of what the value is read from, ast_expr_text
    bool persistent = false;                   ///< a block runs several iterations one after the other
    long agents = 0;                           ///< agent loops: radix of the digit of the agent's number that the variable is; 0 for other loops
    long weight = 1;                           ///< agent loops: weight of that digit; variable = number / weight % agents, the outermost one number / weight
    long threads = 0;                          ///< agent loops: agents that a block of the launch has
    bool guarded = true;                       ///< agent loops: agents outside of the bounds are kept out by a test
    std::string whole = "";                    ///< ast_expr_text: for values up to this one the box of the only leaf below was printed whole; "": nothing said
    bool fenced = false;                       ///< its body ends with a fence: what it stored past the caches is visible to others
    Accumulator accumulator = {};
  };
  struct Buffer {
    std::string array;      ///< promoted array; or a local tensor that is given the rest of a region from `offset` on
    std::string space;
    long bytes = 0;         ///< storage declared or reserved, all slots
    long slots = 1;         ///< copies that positions are reduced by
    std::string region = "";  ///< block of memory that it lies in; arrays of kernels that name one block may share its bytes. "" = its own
    long offset = 0;        ///< bytes from the start of the region
    long alignment = 0;     ///< bytes that the address of the first element is a multiple of; 0: of its type only
    std::vector<long> strides = {};  ///< as Array::strides
    Swizzle swizzle = {};            ///< as Array::swizzle
  };
  /// A matrix of which an instruction is told where its first element lies, and how the others follow. Units: bytes.
  struct Matrix {
    std::size_t read = 0;  ///< of the leaf
    bool turned = false;   ///< neighbours in memory lie across the sum, not along it
    long leading = 0;      ///< from one slab of the columns to the next, where there are several and it is turned
    long stride = 0;       ///< from one group of eight rows to the next
  };
  /// A tensor as an engine is told of it that copies boxes: dimensions from the fastest to the slowest, rows without gaps.
  struct BoxCopy {
    std::string tensor;
    long element_bytes = 0;
    std::vector<std::string> extents;      ///< of the tensor, ast_expr_text over the sizes; beyond them the box is zero
    std::vector<long> box;                 ///< elements, with those that are left out
    std::vector<std::string> coordinates;  ///< of the box's first element, ast_expr_text
    int swizzle = 0;                       ///< bytes of a row of the box in memory, whose 16-byte pieces are swapped by its number
    std::vector<long> apart = {};          ///< elements of the tensor, from one that is copied to the next; divides the box
  };
  /// An operand of a leaf that moves several neighbours at once, where the whole box runs.
  struct Wide {
    std::size_t operand = 0;  ///< 0: what is written, 1 + r: read r
    std::size_t digit = 0;    ///< of the box, along which neighbours lie side by side
    long bytes = 0;           ///< of one access; it is aligned to as much
    bool tested = false;      ///< only where a test has found the array's start aligned, and its rows (`run` elements long) whole numbers of accesses
    std::string run = "";     ///< ast_expr_text over the sizes; "": the array has one row
  };
  struct Leaf {
    std::string statement;
    std::vector<std::string> subscripts;  ///< every printed subscript, ast_expr_text, write first
    std::vector<std::string> extents;
    long points = 1;        ///< box points printed by the unrolled form
    std::vector<std::string> tested = {};  ///< what is tested before the leaf has an effect: "guard 0", ..., "predicate"
    std::string signal_slot = "";          ///< slot of the barrier that an asynchronous leaf signals, as Sync::slot
    bool streamed = false;                 ///< stores past the caches
    std::vector<Wide> wide = {};
    std::string pipe = "";                 ///< where it was printed to run asynchronously; "": done at once
    std::string wrapper = "";              ///< of an instruction that several agents run; "": none
    std::vector<Matrix> matrices = {};     ///< its operands
    std::optional<BoxCopy> box_copy = std::nullopt;
    std::vector<std::string> together = {};  ///< variables of the agent loops that run it together: printed places are those at 0
  };
  /// A synchronisation statement. Slots and phases are ast_expr_text over loops, sizes and `g0`, the ring's base.
  struct Sync {
    std::string statement;
    std::string slot = "";   ///< mbarrier: which one
    std::string phase = "";  ///< wait: 0 or 1, the parity of the phase waited for
    std::string amount = ""; ///< advance: by how much g0 grows
    long bytes = 0;          ///< expect
    long pending = 0;        ///< await
    bool elected = false;
  };
  /// A barrier in memory, one for each slot of its ring, made ready before anybody uses it.
  struct Phases {
    std::string barrier;
    long slots = 1, arrivals = 1;
  };
  std::vector<Phases> phases = {};
  /// A nest of blocks of a GPU's kernel. Arrays in shared memory lie in the region of its name.
  struct Launch {
    std::string kernel;     ///< name of the printed function
    long threads = 1;       ///< of a block
    long shared_bytes = 0;  ///< of a block, that the launcher asks for
  };
  std::vector<Launch> launches = {};  ///< in print order
  /// Of an argument that does not lie row by row without gaps.
  struct Layout {
    std::string tensor;
    std::vector<std::size_t> order;       ///< dimensions from the slowest to the fastest
    std::vector<std::string> strides;     ///< ast_expr_text over the sizes, one per dimension; empty: no gaps
    bool packed = false;
  };
  std::vector<Layout> layouts = {};
  std::vector<Loop> loops;      ///< in print order
  std::vector<std::string> conditions;  ///< ast_expr_text of every printed `if`
  std::vector<Buffer> buffers;
  std::vector<Leaf> leaves;     ///< in print order
  std::vector<Sync> syncs = {}; ///< in print order
  bool fenced = false;          ///< the kernel ends with a fence
  long registers = 0;           ///< vector registers live in the largest register tile
};

struct SourceText {
  std::string source;                  ///< self-contained file: C11, or C++17 for CUDA or HIP
  std::string header;                  ///< generated header
  std::vector<PrintFacts> facts;       ///< one per kernel
};

struct Module {
  std::string name;
  Plan plan;
  SourceText text;
  Certificate certificate;
  std::vector<Ast> asts;               ///< kernels in launch order
};

}  // namespace tileopt
