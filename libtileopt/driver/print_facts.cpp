#include "driver/print_facts.h"

#include <algorithm>

namespace tileopt {

namespace {

std::vector<std::string> texts(const Field& field) {
  std::vector<std::string> result;
  for (const Field& item : field.items()) result.push_back(item.text());
  return result;
}

Document write_loop(const PrintFacts::Loop& loop) {
  Document document = {{"variable", loop.variable}, {"header", loop.header}, {"pragma", loop.pragma}, {"lower", loop.lower},
                       {"upper", loop.upper},       {"step", loop.step},     {"level", loop.level},   {"subscripts", loop.subscripts}};
  if (loop.persistent) document["persistent"] = true;
  if (loop.fenced) document["fenced"] = true;
  if (!loop.whole.empty()) document["whole"] = loop.whole;
  const PrintFacts::Accumulator& held = loop.accumulator;
  if (!held.array.empty())
    document["accumulator"] = {{"array", held.array}, {"subscripts", held.subscripts}, {"type", held.type}, {"tested", held.tested}};
  if (loop.agents == 0) return document;
  document["agents"] = loop.agents;
  document["weight"] = loop.weight;
  document["threads"] = loop.threads;
  document["guarded"] = loop.guarded;
  return document;
}

PrintFacts::Accumulator read_accumulator(const Field& field) {
  field.allow_only({"array", "subscripts", "type", "tested"});
  return {field["array"].text(), texts(field["subscripts"]), field["type"].text(), field["tested"].boolean()};
}

PrintFacts::Loop read_loop(const Field& field) {
  field.allow_only({"variable", "header", "pragma", "lower", "upper", "step", "level", "subscripts", "persistent", "agents", "weight", "threads", "guarded", "fenced", "whole",
                    "accumulator"});
  PrintFacts::Loop loop{field["variable"].text(), field["header"].text(),  field["pragma"].text(), field["lower"].text(),
                        field["upper"].text(),    field["step"].integer(), field["level"].text(),  texts(field["subscripts"]),
                        field.has("persistent") && field["persistent"].boolean()};
  loop.fenced = field.has("fenced") && field["fenced"].boolean();
  if (field.has("whole")) loop.whole = field["whole"].text();
  if (field.has("accumulator")) loop.accumulator = read_accumulator(field["accumulator"]);
  if (!field.has("agents")) return loop;
  loop.agents = field["agents"].integer();
  loop.weight = field["weight"].integer();
  loop.threads = field["threads"].integer();
  loop.guarded = field["guarded"].boolean();
  return loop;
}

Document write_leaf(const PrintFacts::Leaf& leaf) {
  Document document = {
      {"statement", leaf.statement}, {"subscripts", leaf.subscripts}, {"extents", leaf.extents}, {"points", leaf.points}, {"tested", leaf.tested}};
  if (leaf.streamed) document["streamed"] = true;
  if (!leaf.pipe.empty()) document["pipe"] = leaf.pipe;
  if (!leaf.wrapper.empty()) {
    document["wrapper"] = leaf.wrapper;
    document["together"] = leaf.together;
    for (const PrintFacts::Matrix& matrix : leaf.matrices)
      document["matrices"].push_back({{"read", matrix.read}, {"turned", matrix.turned}, {"leading", matrix.leading}, {"stride", matrix.stride}});
  }
  if (!leaf.signal_slot.empty()) document["signal_slot"] = leaf.signal_slot;
  if (leaf.box_copy) {
    const PrintFacts::BoxCopy& copy = *leaf.box_copy;
    document["box_copy"] = {{"tensor", copy.tensor}, {"element_bytes", copy.element_bytes}, {"extents", copy.extents}, {"box", copy.box}, {"coordinates", copy.coordinates}, {"swizzle", copy.swizzle}};
    if (std::any_of(copy.apart.begin(), copy.apart.end(), [](long apart) { return apart != 1; })) document["box_copy"]["apart"] = copy.apart;
  }
  for (const PrintFacts::Wide& wide : leaf.wide)
    document["wide"].push_back({{"operand", wide.operand}, {"digit", wide.digit}, {"bytes", wide.bytes}, {"tested", wide.tested}, {"run", wide.run}});
  return document;
}

PrintFacts::Wide read_wide(const Field& field) {
  field.allow_only({"operand", "digit", "bytes", "tested", "run"});
  return {static_cast<std::size_t>(field["operand"].integer()), static_cast<std::size_t>(field["digit"].integer()), field["bytes"].integer(),
          field["tested"].boolean(), field["run"].text()};
}

PrintFacts::Matrix read_matrix(const Field& field) {
  field.allow_only({"read", "turned", "leading", "stride"});
  return {static_cast<std::size_t>(field["read"].integer()), field["turned"].boolean(), field["leading"].integer(), field["stride"].integer()};
}

PrintFacts::BoxCopy read_box_copy(const Field& field) {
  field.allow_only({"tensor", "element_bytes", "extents", "box", "coordinates", "swizzle", "apart"});
  return {field["tensor"].text(), field["element_bytes"].integer(), texts(field["extents"]), field["box"].integers(), texts(field["coordinates"]), static_cast<int>(field["swizzle"].integer()),
          field.has("apart") ? field["apart"].integers() : std::vector<long>(field["box"].integers().size(), 1)};
}

PrintFacts::Leaf read_leaf(const Field& field) {
  field.allow_only({"statement", "subscripts", "extents", "points", "tested", "signal_slot", "streamed", "wide", "pipe", "wrapper", "together", "matrices", "box_copy"});
  PrintFacts::Leaf leaf = {field["statement"].text(), texts(field["subscripts"]), texts(field["extents"]), field["points"].integer(), texts(field["tested"]),
          field.has("signal_slot") ? field["signal_slot"].text() : "", field.has("streamed") && field["streamed"].boolean()};
  if (field.has("pipe")) leaf.pipe = field["pipe"].text();
  if (field.has("wrapper")) {
    leaf.wrapper = field["wrapper"].text();
    leaf.together = texts(field["together"]);
    for (const Field& matrix : field["matrices"].items()) leaf.matrices.push_back(read_matrix(matrix));
  }
  if (field.has("box_copy")) leaf.box_copy = read_box_copy(field["box_copy"]);
  if (field.has("wide"))
    for (const Field& wide : field["wide"].items()) leaf.wide.push_back(read_wide(wide));
  return leaf;
}

Document write_buffer(const PrintFacts::Buffer& buffer) {
  Document document = {{"array", buffer.array}, {"space", buffer.space}, {"bytes", buffer.bytes}};
  if (buffer.slots != 1) document["slots"] = buffer.slots;
  if (buffer.alignment != 0) document["alignment"] = buffer.alignment;
  if (!buffer.strides.empty()) document["strides"] = buffer.strides;
  if (!buffer.swizzle.empty()) document["swizzle"] = {{"along", buffer.swizzle.along}, {"by", buffer.swizzle.by}};
  if (buffer.region.empty()) return document;
  document["region"] = buffer.region;
  document["offset"] = buffer.offset;
  return document;
}

PrintFacts::Buffer read_buffer(const Field& field) {
  field.allow_only({"array", "space", "bytes", "slots", "region", "offset", "alignment", "strides", "swizzle"});
  PrintFacts::Buffer buffer{field["array"].text(), field["space"].text(), field["bytes"].integer()};
  if (field.has("slots")) buffer.slots = field["slots"].integer();
  if (field.has("alignment")) buffer.alignment = field["alignment"].integer();
  if (field.has("strides")) buffer.strides = field["strides"].integers();
  if (field.has("swizzle")) {
    field["swizzle"].allow_only({"along", "by"});
    buffer.swizzle = {static_cast<int>(field["swizzle"]["along"].integer()), static_cast<int>(field["swizzle"]["by"].integer())};
  }
  if (!field.has("region")) return buffer;
  buffer.region = field["region"].text();
  buffer.offset = field["offset"].integer();
  return buffer;
}

Document write_layout(const PrintFacts::Layout& layout) {
  return {{"tensor", layout.tensor}, {"order", layout.order}, {"strides", layout.strides}, {"packed", layout.packed}};
}

PrintFacts::Layout read_layout(const Field& field) {
  field.allow_only({"tensor", "order", "strides", "packed"});
  PrintFacts::Layout layout{field["tensor"].text(), {}, texts(field["strides"]), field["packed"].boolean()};
  for (const Field& dimension : field["order"].items()) layout.order.push_back(static_cast<std::size_t>(dimension.integer()));
  return layout;
}

Document write_launch(const PrintFacts::Launch& launch) { return {{"kernel", launch.kernel}, {"threads", launch.threads}, {"shared_bytes", launch.shared_bytes}}; }

PrintFacts::Launch read_launch(const Field& field) {
  field.allow_only({"kernel", "threads", "shared_bytes"});
  return {field["kernel"].text(), field["threads"].integer(), field["shared_bytes"].integer()};
}

Document write_phases(const PrintFacts::Phases& phases) { return {{"barrier", phases.barrier}, {"slots", phases.slots}, {"arrivals", phases.arrivals}}; }

PrintFacts::Phases read_phases(const Field& field) {
  field.allow_only({"barrier", "slots", "arrivals"});
  return {field["barrier"].text(), field["slots"].integer(), field["arrivals"].integer()};
}

Document write_sync(const PrintFacts::Sync& sync) {
  return {{"statement", sync.statement}, {"slot", sync.slot},       {"phase", sync.phase},    {"amount", sync.amount},
          {"bytes", sync.bytes},         {"pending", sync.pending}, {"elected", sync.elected}};
}

PrintFacts::Sync read_sync(const Field& field) {
  field.allow_only({"statement", "slot", "phase", "amount", "bytes", "pending", "elected"});
  return {field["statement"].text(), field["slot"].text(),       field["phase"].text(),    field["amount"].text(),
          field["bytes"].integer(),  field["pending"].integer(), field["elected"].boolean()};
}

}  // namespace

Document write_print_facts(const PrintFacts& facts) {
  Document document;
  document["loops"] = document["leaves"] = document["buffers"] = Document::array();
  for (const PrintFacts::Loop& loop : facts.loops) document["loops"].push_back(write_loop(loop));
  for (const PrintFacts::Leaf& leaf : facts.leaves) document["leaves"].push_back(write_leaf(leaf));
  for (const PrintFacts::Buffer& buffer : facts.buffers) document["buffers"].push_back(write_buffer(buffer));
  if (!facts.layouts.empty()) document["layouts"] = Document::array();
  for (const PrintFacts::Layout& layout : facts.layouts) document["layouts"].push_back(write_layout(layout));
  if (!facts.syncs.empty()) document["syncs"] = Document::array();
  for (const PrintFacts::Sync& sync : facts.syncs) document["syncs"].push_back(write_sync(sync));
  for (const PrintFacts::Phases& phases : facts.phases) document["phases"].push_back(write_phases(phases));
  if (!facts.launches.empty()) document["launches"] = Document::array();
  for (const PrintFacts::Launch& launch : facts.launches) document["launches"].push_back(write_launch(launch));
  document["conditions"] = facts.conditions;
  document["registers"] = facts.registers;
  if (facts.fenced) document["fenced"] = true;
  return document;
}

PrintFacts read_print_facts(const Field& field) {
  field.allow_only({"loops", "leaves", "buffers", "layouts", "syncs", "phases", "launches", "conditions", "registers", "fenced"});
  PrintFacts facts;
  if (field.has("layouts"))
    for (const Field& layout : field["layouts"].items()) facts.layouts.push_back(read_layout(layout));
  if (field.has("syncs"))
    for (const Field& sync : field["syncs"].items()) facts.syncs.push_back(read_sync(sync));
  if (field.has("phases"))
    for (const Field& phases : field["phases"].items()) facts.phases.push_back(read_phases(phases));
  if (field.has("launches"))
    for (const Field& launch : field["launches"].items()) facts.launches.push_back(read_launch(launch));
  for (const Field& loop : field["loops"].items()) facts.loops.push_back(read_loop(loop));
  for (const Field& leaf : field["leaves"].items()) facts.leaves.push_back(read_leaf(leaf));
  for (const Field& buffer : field["buffers"].items()) facts.buffers.push_back(read_buffer(buffer));
  facts.conditions = texts(field["conditions"]);
  facts.registers = field["registers"].integer();
  facts.fenced = field.has("fenced") && field["fenced"].boolean();
  return facts;
}

}  // namespace tileopt
