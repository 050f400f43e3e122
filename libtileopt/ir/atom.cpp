#include "ir/atom.h"

#include <algorithm>

#include "ir/types.h"
#include "support/document_reader.h"
#include "support/text.h"

namespace tileopt {
namespace {

const std::vector<std::string> kBodies = {"multiply_add", "dot", "elementwise", "reduce", "atomic_update", "copy"};
const std::vector<std::string> kRoles = {"result", "left", "right", "any"};
const std::vector<std::string> kOperandSpaces = {"register", "memory", "any"};

std::string one_of(const DocumentReader& entry, const std::vector<std::string>& known) {
  const std::string name = entry.text();
  if (!contains(known, name)) entry.fail("unknown value `" + name + "`", "the values are " + join(known, ", "));
  return name;
}

AtomOperand read_operand(const DocumentReader& entry, int rank) {
  entry.expect_object({"role", "space", "uses", "element", "bytes", "swizzle"});
  AtomOperand operand;
  operand.role = one_of(entry.at("role"), kRoles);
  operand.space = one_of(entry.at("space"), kOperandSpaces);
  operand.uses = entry.text("uses");
  const bool spelled = operand.uses.find_first_not_of("01*") == std::string::npos;
  if (!spelled || operand.uses.size() != static_cast<std::size_t>(rank)) {
    entry.at("uses").fail("expected " + std::to_string(rank) + " characters of `0`, `1`, `*`, found `" + operand.uses + "`",
                          "one character for each digit of the box, lanes last");
  }
  operand.element = entry.text("element", "");
  if (!operand.element.empty() && !parse_type(operand.element))
    entry.at("element").fail("unknown element type `" + operand.element + "`", "the types are those of docs/language.md, e.g. `i16`");
  if (entry.has("bytes")) operand.bytes = static_cast<int>(entry.integer("bytes", 1, 128));
  if ((operand.bytes & (operand.bytes - 1)) != 0) entry.at("bytes").fail("an access of " + std::to_string(operand.bytes) + " bytes", "accesses have 2, 4, 8, 16, ... bytes");
  if (entry.has("swizzle")) operand.swizzle = static_cast<int>(entry.integer("swizzle", 32, 128));
  if ((operand.swizzle & (operand.swizzle - 1)) != 0) entry.at("swizzle").fail("rows of " + std::to_string(operand.swizzle) + " bytes", "rows have 32, 64 or 128 bytes");
  return operand;
}

std::vector<long> read_steps(const DocumentReader& entry, std::size_t count) {
  std::vector<long> steps;
  for (const DocumentReader& item : entry.items()) steps.push_back(item.integer(0, 4096));
  if (steps.size() != count) entry.fail("expected " + std::to_string(count) + " numbers", "one for each box digit, then one for each of `agents` (`registers`: box digits alone)");
  return steps;
}

/// What agents compute together is the product of a matrix by a matrix: which part of it each of them has.
void read_collective(const DocumentReader& entry, Atom& atom) {
  long together = 1;
  for (const DocumentReader& item : entry.at("agents").items()) {
    atom.agents.push_back(item.integer(1, 1024));
    together *= atom.agents.back();
  }
  if (atom.agents.empty() || together > 1024) entry.at("agents").fail("expected radices whose product is at most 1024", "e.g. [4, 8, 4]: four warps of 8 x 4 threads");
  if (atom.body != "dot") entry.at("agents").fail("agents compute products together, and this is `" + atom.body + "`", "write \"body\": \"dot\"");
  const DocumentReader steps = entry.at("steps");
  steps.expect_object({"rows", "lanes", "depth", "registers"});
  const auto box = static_cast<std::size_t>(atom.rank);
  atom.steps.rows = read_steps(steps.at("rows"), box + atom.agents.size());
  atom.steps.lanes = read_steps(steps.at("lanes"), box + atom.agents.size());
  atom.steps.depth = read_steps(steps.at("depth"), box + atom.agents.size());
  atom.steps.registers = read_steps(steps.at("registers"), box);
}

Atom read_atom_entry(const DocumentReader& entry) {
  entry.expect_object({"name", "body", "rank", "extents", "operands", "throughput", "latency", "pipe", "agents", "steps"});
  Atom atom;
  atom.name = entry.text("name");
  if (atom.name.empty()) entry.at("name").fail("an atom needs a name", "the empty name means a scalar leaf in a Plan");
  atom.body = one_of(entry.at("body"), kBodies);
  const bool has_box = atom.body != "atomic_update";
  atom.rank = static_cast<int>(entry.integer("rank", has_box ? 1 : 0, has_box ? 8 : 0));
  if (entry.has("extents")) {
    for (const DocumentReader& item : entry.at("extents").items()) atom.extents.push_back(item.integer(0, 4096));
    if (atom.extents.size() != static_cast<std::size_t>(atom.rank)) entry.at("extents").fail("expected an extent for each of the " + std::to_string(atom.rank) + " box digits", "0 means any extent");
  }
  std::vector<std::string> roles;
  for (const DocumentReader& item : entry.at("operands").items()) {
    atom.operands.push_back(read_operand(item, atom.rank));
    if (contains(roles, atom.operands.back().role)) item.fail("the role `" + atom.operands.back().role + "` occurs twice", "remove one");
    roles.push_back(atom.operands.back().role);
  }
  if (!contains(roles, "result")) entry.at("operands").fail("no operand has the role `result`", "every atom writes a result");
  const bool multiplies = atom.body == "multiply_add" || atom.body == "dot";
  if (multiplies && !(contains(roles, "left") && contains(roles, "right"))) {
    entry.at("operands").fail("a " + atom.body + " atom needs the roles `left` and `right`", "add the missing operand");
  }
  if (entry.has("agents")) read_collective(entry, atom);
  else if (atom.body == "dot" && (atom.rank != 3 || atom.extents.size() != 3 || atom.extents[1] < 2))
    entry.fail("a dot atom has three box digits, the second one of a fixed extent", "write e.g. \"rank\": 3, \"extents\": [0, 2, 0]: rows, products, lanes");
  atom.throughput = entry.at("throughput").number();
  if (!(atom.throughput > 0)) entry.at("throughput").fail("the throughput must be positive", "vector operations per cycle");
  atom.latency = static_cast<int>(entry.integer("latency", 0, 10000));
  atom.pipe = entry.text("pipe", "");
  return atom;
}

}  // namespace

const AtomOperand* Atom::find_operand(const std::string& role) const {
  for (const AtomOperand& operand : operands)
    if (operand.role == role) return &operand;
  return nullptr;
}

long Atom::widest_access(bool written) const {
  long bytes = 0;
  for (const AtomOperand& operand : operands)
    if ((operand.role == "result") == written) bytes = std::max<long>(bytes, operand.bytes);
  return bytes;
}

Document write_atom(const Atom& atom) {
  Document operands = Document::array();
  for (const AtomOperand& operand : atom.operands) {
    operands.push_back({{"role", operand.role}, {"space", operand.space}, {"uses", operand.uses}});
    if (!operand.element.empty()) operands.back()["element"] = operand.element;
    if (operand.bytes > 0) operands.back()["bytes"] = operand.bytes;
    if (operand.swizzle > 0) operands.back()["swizzle"] = operand.swizzle;
  }
  Document document = {{"name", atom.name},    {"body", atom.body},             {"rank", atom.rank},
                       {"operands", operands}, {"throughput", atom.throughput}, {"latency", atom.latency}};
  if (!atom.extents.empty()) document["extents"] = atom.extents;
  if (!atom.pipe.empty()) document["pipe"] = atom.pipe;
  if (!atom.is_collective()) return document;
  document["agents"] = atom.agents;
  document["steps"] = {{"rows", atom.steps.rows}, {"lanes", atom.steps.lanes}, {"depth", atom.steps.depth}, {"registers", atom.steps.registers}};
  return document;
}

Atom read_atom(const Document& document, const std::string& file, const std::string& path) {
  return read_atom_entry(DocumentReader(document, file, ErrorCode::invalid_machine, path));
}

}  // namespace tileopt
