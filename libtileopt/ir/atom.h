/// One instruction (or one straight-line register tile) described as data.
#pragma once

#include <string>
#include <vector>

#include "support/document.h"

namespace tileopt {

/// What one operand of an atom may look like along the digits of the atom's box.
/// `uses[d]`: '1' the operand moves by exactly one element of its last dimension per step of box digit d,
/// '0' it does not move, '*' it moves by any constant number of elements of any dimensions.
struct AtomOperand {
  std::string role;   ///< "result", "left", "right", or "any" (every other read)
  std::string space;  ///< "register", "memory", "any"
  std::string uses;   ///< one character per box digit, lanes last
  std::string element = "";  ///< type of the elements that the instruction takes (docs/language.md); "" = any
  int bytes = 0;             ///< in memory, neighbours move together: most bytes of one access, which is aligned to its size; 0: as the compiler likes
  int swizzle = 0;           ///< matrices that agents read together: rows of so many bytes, in which the 16-byte pieces of row r stand at piece xor r; 0: no matrix
};

/// body: "multiply_add" (result += left * right), "dot" (the same with some digit along which only the factors move: result += the sum of
/// products along it, in one instruction), "elementwise" (+ - * / min max, functions, casts, literals),
/// "reduce" (the same arithmetic, the lanes combined into one element by sum, prod, min or max), "atomic_update" (no box: reads, combines and writes an element at once),
/// "copy" (result = the other operand)
/// How far one step of a digit moves along the rows, the lanes and the sum of a product that agents compute together: one number for each
/// box digit, then for each of `Atom::agents`. Of mma.sync, wgmma and mfma this is the fragment that one thread holds.
struct AtomSteps {
  std::vector<long> rows, lanes, depth;
  std::vector<long> registers;  ///< per box digit: registers of one agent from one element of its result to the next
};

struct Atom {
  std::string name;
  std::string body;
  int rank = 2;                         ///< box digits: rows..., lanes
  std::vector<AtomOperand> operands;
  double throughput = 0;                ///< vector operations per cycle
  int latency = 0;                      ///< cycles
  std::string pipe = "";                ///< Machine::pipes: where it runs asynchronously; "" = done when the statement is
  std::vector<long> extents = {};       ///< of the box digits, 0: any; empty: any
  std::vector<long> agents = {};        ///< agents that run it together, as radices of their digits, outermost first; empty: each runs it alone
  AtomSteps steps = {};                 ///< of atoms that agents run together

  const AtomOperand* find_operand(const std::string& role) const;  ///< the first of that role; null: none
  long widest_access(bool written) const;                          ///< most AtomOperand::bytes of its result, or of what it reads
  bool is_collective() const { return !agents.empty(); }
};

Document write_atom(const Atom& atom);
Atom read_atom(const Document& document, const std::string& file, const std::string& path);

}  // namespace tileopt
