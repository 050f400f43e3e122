#include "driver/print_facts.h"

namespace tileopt {

namespace {

std::vector<std::string> texts(const Field& field) {
  std::vector<std::string> result;
  for (const Field& item : field.items()) result.push_back(item.text());
  return result;
}

Document write_loop(const PrintFacts::Loop& loop) {
  return {{"variable", loop.variable}, {"header", loop.header}, {"pragma", loop.pragma}, {"lower", loop.lower},
          {"upper", loop.upper},       {"step", loop.step},     {"level", loop.level},   {"subscripts", loop.subscripts}};
}

PrintFacts::Loop read_loop(const Field& field) {
  field.allow_only({"variable", "header", "pragma", "lower", "upper", "step", "level", "subscripts"});
  return {field["variable"].text(), field["header"].text(),  field["pragma"].text(), field["lower"].text(),
          field["upper"].text(),    field["step"].integer(), field["level"].text(),  texts(field["subscripts"])};
}

Document write_leaf(const PrintFacts::Leaf& leaf) {
  return {{"statement", leaf.statement}, {"subscripts", leaf.subscripts}, {"extents", leaf.extents}, {"points", leaf.points}, {"tested", leaf.tested}};
}

PrintFacts::Leaf read_leaf(const Field& field) {
  field.allow_only({"statement", "subscripts", "extents", "points", "tested"});
  return {field["statement"].text(), texts(field["subscripts"]), texts(field["extents"]), field["points"].integer(), texts(field["tested"])};
}

Document write_buffer(const PrintFacts::Buffer& buffer) { return {{"array", buffer.array}, {"space", buffer.space}, {"bytes", buffer.bytes}}; }

PrintFacts::Buffer read_buffer(const Field& field) {
  field.allow_only({"array", "space", "bytes"});
  return {field["array"].text(), field["space"].text(), field["bytes"].integer()};
}

}  // namespace

Document write_print_facts(const PrintFacts& facts) {
  Document document;
  document["loops"] = document["leaves"] = document["buffers"] = Document::array();
  for (const PrintFacts::Loop& loop : facts.loops) document["loops"].push_back(write_loop(loop));
  for (const PrintFacts::Leaf& leaf : facts.leaves) document["leaves"].push_back(write_leaf(leaf));
  for (const PrintFacts::Buffer& buffer : facts.buffers) document["buffers"].push_back(write_buffer(buffer));
  document["conditions"] = facts.conditions;
  document["registers"] = facts.registers;
  return document;
}

PrintFacts read_print_facts(const Field& field) {
  field.allow_only({"loops", "leaves", "buffers", "conditions", "registers"});
  PrintFacts facts;
  for (const Field& loop : field["loops"].items()) facts.loops.push_back(read_loop(loop));
  for (const Field& leaf : field["leaves"].items()) facts.leaves.push_back(read_leaf(leaf));
  for (const Field& buffer : field["buffers"].items()) facts.buffers.push_back(read_buffer(buffer));
  facts.conditions = texts(field["conditions"]);
  facts.registers = field["registers"].integer();
  return facts;
}

}  // namespace tileopt
