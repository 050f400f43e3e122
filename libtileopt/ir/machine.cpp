#include "ir/machine.h"

#include <algorithm>
#include <optional>
#include <set>

#include "support/document_reader.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr const char* kFormat = "tileopt-machine/1";

const std::vector<std::pair<std::string, LevelKind>>& level_kinds() {
  static const std::vector<std::pair<std::string, LevelKind>> kinds = {
      {"independent", LevelKind::independent}, {"barrier", LevelKind::barrier},   {"lockstep", LevelKind::lockstep},
      {"sequential", LevelKind::sequential},   {"unrolled", LevelKind::unrolled}, {"atom", LevelKind::atom}};
  return kinds;
}

std::string level_kind_name(LevelKind kind) {
  for (const auto& [name, value] : level_kinds()) {
    if (value == kind) return name;
  }
  TILEOPT_CHECK(false, "level kind without a name");
  return "";
}

LevelKind read_level_kind(const DocumentReader& entry) {
  std::vector<std::string> names;
  for (const auto& [name, value] : level_kinds()) {
    if (name == entry.text()) return value;
    names.push_back(name);
  }
  entry.fail("unknown level kind `" + entry.text() + "`", "the kinds are " + join(names, ", "));
}

const std::vector<std::pair<std::string, Completion>>& completions() {
  static const std::vector<std::pair<std::string, Completion>> names = {
      {"group", Completion::group}, {"counted", Completion::counted}, {"tagged", Completion::tagged}};
  return names;
}

Pipe read_pipe(const DocumentReader& entry) {
  entry.expect_object({"name", "completion", "ordered", "fenced"});
  Pipe pipe;
  pipe.name = entry.text("name");
  std::vector<std::string> names;
  bool known = false;
  for (const auto& [name, completion] : completions()) {
    names.push_back(name);
    if (name != entry.text("completion")) continue;
    pipe.completion = completion;
    known = true;
  }
  if (!known) entry.at("completion").fail("unknown completion `" + entry.text("completion") + "`", "the values are " + join(names, ", "));
  pipe.ordered = entry.at("ordered").flag();
  if (entry.has("fenced")) pipe.fenced = entry.at("fenced").flag();
  return pipe;
}

Document write_pipe(const Pipe& pipe) {
  for (const auto& [name, completion] : completions())
    if (completion == pipe.completion) {
      Document document = {{"name", pipe.name}, {"completion", name}, {"ordered", pipe.ordered}};
      if (pipe.fenced) document["fenced"] = true;
      return document;
    }
  TILEOPT_CHECK(false, "a pipe whose atoms are done at once");
  return {};
}

double non_negative(const DocumentReader& entry) {
  const double value = entry.number();
  if (!(value >= 0) || value > 1e18) entry.fail("expected a number that is not negative", "0 means unknown or unlimited");
  return value;
}

template <class Item>
const Item* find_named(const std::vector<Item>& items, const std::string& name) {
  const auto found = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

/// Reads a list of named items and refuses a name that occurs twice.
template <class Read>
auto read_named(const DocumentReader& list, Read read) {
  std::vector<decltype(read(list))> items;
  std::set<std::string> names;
  for (const DocumentReader& entry : list.items()) {
    items.push_back(read(entry));
    if (items.back().name.empty()) entry.fail("the name is empty", "give it a name");
    if (!names.insert(items.back().name).second) entry.fail("the name `" + items.back().name + "` occurs twice", "rename one");
  }
  return items;
}

Level read_level(const DocumentReader& entry) {
  entry.expect_object({"name", "kind", "count"});
  return {entry.text("name"), read_level_kind(entry.at("kind")), entry.integer("count", 0, 1L << 40)};
}

Memory read_memory(const DocumentReader& entry) {
  entry.expect_object({"name", "capacity", "bandwidth", "line", "ways", "shared"});
  Memory memory;
  memory.name = entry.text("name");
  memory.capacity = non_negative(entry.at("capacity"));
  memory.bandwidth = non_negative(entry.at("bandwidth"));
  memory.line = static_cast<int>(entry.integer("line", 1, 1 << 20));
  memory.ways = static_cast<int>(entry.integer("ways", 1, 1 << 20));
  memory.shared = entry.at("shared").flag();
  return memory;
}

Space read_space(const DocumentReader& entry) {
  entry.expect_object({"name", "capacity", "level"});
  return {entry.text("name"), non_negative(entry.at("capacity")), entry.has("level") ? entry.text("level") : ""};
}

Document write_space(const Space& space) {
  Document document = {{"name", space.name}, {"capacity", space.capacity}};
  if (!space.level.empty()) document["level"] = space.level;
  return document;
}

struct RateEntry {
  const char* name;
  double Rates::*value;
};
constexpr RateEntry rate_entries[] = {{"issue", &Rates::issue}, {"integer", &Rates::integer}, {"convert", &Rates::convert}, {"special", &Rates::special},
                                      {"doubles", &Rates::doubles}, {"access", &Rates::access}, {"shared_latency", &Rates::shared_latency},
                                      {"cache_latency", &Rates::cache_latency}, {"memory_latency", &Rates::memory_latency},
                                      {"barrier_latency", &Rates::barrier_latency}, {"updates", &Rates::updates}, {"read_part", &Rates::read_part},
                                      {"write_part", &Rates::write_part}, {"matrix_part", &Rates::matrix_part}, {"launch_seconds", &Rates::launch_seconds}};

Rates read_rates(const DocumentReader& entry) {
  std::vector<std::string> names;
  for (const RateEntry& rate : rate_entries) names.push_back(rate.name);
  entry.expect_object(names);
  Rates result;
  for (const RateEntry& rate : rate_entries) {
    if (!entry.has(rate.name)) continue;
    result.*rate.value = non_negative(entry.at(rate.name));
    if (result.*rate.value <= 0) entry.at(rate.name).fail("a rate, a latency or a part is more than 0", "leave the entry out where it is not known");
  }
  return result;
}

Document write_rates(const Rates& rates) {
  Document document = Document::object();
  for (const RateEntry& rate : rate_entries) document[rate.name] = rates.*rate.value;
  return document;
}

Multiprocessor read_multiprocessor(const DocumentReader& entry) {
  entry.expect_object({"warp", "shared_bytes", "registers", "threads", "blocks", "banks", "bank_bytes", "rates"});
  Multiprocessor result;
  result.warp = static_cast<int>(entry.integer("warp", 1, 1 << 10));
  result.shared_bytes = entry.integer("shared_bytes", 0, 1L << 40);
  result.registers = entry.integer("registers", 1, 1L << 40);
  result.threads = entry.integer("threads", 1, 1L << 30);
  result.blocks = entry.integer("blocks", 1, 1L << 30);
  if (entry.has("banks")) result.banks = entry.integer("banks", 1, 1L << 12);
  if (entry.has("bank_bytes")) result.bank_bytes = entry.integer("bank_bytes", 1, 1L << 12);
  if (entry.has("rates")) result.rates = read_rates(entry.at("rates"));
  return result;
}

Document write_multiprocessor(const Multiprocessor& m) {
  Document document = {{"warp", m.warp}, {"shared_bytes", m.shared_bytes}, {"registers", m.registers}, {"threads", m.threads}, {"blocks", m.blocks},
                       {"banks", m.banks}, {"bank_bytes", m.bank_bytes}};
  if (m.rates) document["rates"] = write_rates(*m.rates);
  return document;
}

void require_space(const DocumentReader& top, const Machine& machine, const std::string& name) {
  if (!machine.find_space(name)) top.at("spaces").fail("the space `" + name + "` is missing", "promoted arrays live in it");
}

void require_level_of_kind(const DocumentReader& top, const Machine& machine, const std::string& name, LevelKind kind) {
  const Level* level = machine.find_level(name);
  if (!level) top.at("levels").fail("the level `" + name + "` is missing", "Plans name it");
  if (level->kind != kind) {
    top.at("levels").fail("the level `" + name + "` has the kind " + level_kind_name(level->kind),
                          "it must be " + level_kind_name(kind));
  }
}

/// Where threads go on by themselves until a barrier, kernels are launched: blocks are what they meet in.
void check_agents(const DocumentReader& top, const Machine& machine) {
  const auto of_kind = [&](LevelKind kind) {
    return std::count_if(machine.levels.begin(), machine.levels.end(), [&](const Level& level) { return level.kind == kind; });
  };
  if (of_kind(LevelKind::barrier) != 1 || of_kind(LevelKind::independent) != 1)
    top.at("levels").fail("a machine with a level of kind barrier has one such level and one of kind independent", "blocks are independent, their threads meet at barriers");
  if (of_kind(LevelKind::lockstep) != 0)
    top.at("levels").fail("a machine with a level of kind barrier has none of kind lockstep", "lanes of a warp are threads");
  if (!machine.multiprocessor) top.at("levels").fail("a machine with a level of kind barrier needs `multiprocessor`", "say what resident blocks share");
}

}  // namespace

bool Machine::has_agents() const {
  return std::any_of(levels.begin(), levels.end(), [](const Level& level) { return level.kind == LevelKind::barrier; });
}

bool Machine::is_of_block(const std::string& name) const {
  const Space* space = find_space(name);
  const Level* level = space == nullptr || space->level.empty() ? nullptr : find_level(space->level);
  return level != nullptr && level->kind == LevelKind::independent;
}

std::string Machine::level_name(LevelKind kind) const {
  const auto found = std::find_if(levels.begin(), levels.end(), [&](const Level& level) { return level.kind == kind; });
  return found == levels.end() ? "" : found->name;
}

const Level* Machine::find_level(const std::string& level) const { return find_named(levels, level); }
const Memory* Machine::find_memory(const std::string& memory) const { return find_named(memories, memory); }
const Space* Machine::find_space(const std::string& space) const { return find_named(spaces, space); }
const Atom* Machine::find_atom(const std::string& atom) const { return find_named(atoms, atom); }
const Pipe* Machine::find_pipe(const std::string& pipe) const { return find_named(pipes, pipe); }
const Pipe* Machine::pipe_of(const std::string& name) const {
  const Atom* atom = find_atom(name);
  return atom == nullptr || atom->pipe.empty() ? nullptr : find_pipe(atom->pipe);
}

Document Machine::write() const {
  Document document = {{"format", kFormat},
                       {"name", name},
                       {"backend", backend},
                       {"description", description},
                       {"flags", flags},
                       {"features", features},
                       {"cores", cores},
                       {"frequency", frequency},
                       {"vector_bytes", vector_bytes},
                       {"vector_registers", vector_registers},
                       {"fma_latency", fma_latency},
                       {"fma_per_cycle", fma_per_cycle}};
  document["levels"] = Document::array();
  for (const Level& level : levels) {
    document["levels"].push_back({{"name", level.name}, {"kind", level_kind_name(level.kind)}, {"count", level.count}});
  }
  document["memories"] = Document::array();
  for (const Memory& memory : memories) {
    document["memories"].push_back({{"name", memory.name},
                                    {"capacity", memory.capacity},
                                    {"bandwidth", memory.bandwidth},
                                    {"line", memory.line},
                                    {"ways", memory.ways},
                                    {"shared", memory.shared}});
  }
  document["spaces"] = Document::array();
  for (const Space& space : spaces) document["spaces"].push_back(write_space(space));
  document["atoms"] = Document::array();
  for (const Atom& atom : atoms) document["atoms"].push_back(write_atom(atom));
  if (multiprocessor) document["multiprocessor"] = write_multiprocessor(*multiprocessor);
  if (pipes.empty()) return document;
  document["pipes"] = Document::array();
  for (const Pipe& pipe : pipes) document["pipes"].push_back(write_pipe(pipe));
  return document;
}

Machine Machine::read(const Document& document, const std::string& file) {
  const DocumentReader top(document, file, ErrorCode::invalid_machine);
  top.expect_object({"format", "name", "backend", "description", "flags", "features", "cores", "frequency", "vector_bytes",
                     "vector_registers", "fma_latency", "fma_per_cycle", "levels", "memories", "spaces", "atoms", "pipes", "multiprocessor"});
  if (top.text("format") != kFormat) {
    top.at("format").fail("expected `" + std::string(kFormat) + "`, found `" + top.text("format") + "`",
                          "this file is no machine file, or is of another version");
  }
  Machine machine;
  machine.name = top.text("name");
  if (machine.name.empty()) top.at("name").fail("the name is empty", "give the machine a name");
  machine.backend = top.text("backend");
  machine.description = top.text("description", "");
  machine.flags = top.at("flags").texts();
  machine.features = top.at("features").texts();
  machine.cores = static_cast<int>(top.integer("cores", 1, 1 << 20));
  machine.frequency = non_negative(top.at("frequency"));
  machine.vector_bytes = static_cast<int>(top.integer("vector_bytes", 0, 1 << 12));
  if ((machine.vector_bytes & (machine.vector_bytes - 1)) != 0 || (machine.vector_bytes > 0 && machine.vector_bytes < 8)) {
    top.at("vector_bytes").fail("expected 0 or a power of two from 8 on", "0 means plain C without vectors");
  }
  machine.vector_registers = static_cast<int>(top.integer("vector_registers", 0, 1 << 12));
  if (machine.vector_bytes > 0 && machine.vector_registers < 4) {
    top.at("vector_registers").fail("at least 4 vector registers are needed", "set vector_bytes to 0 for plain C");
  }
  machine.fma_latency = static_cast<int>(top.integer("fma_latency", 1, 1000));
  machine.fma_per_cycle = top.at("fma_per_cycle").number();
  if (!(machine.fma_per_cycle > 0)) top.at("fma_per_cycle").fail("expected a positive number", "vector FMAs per cycle");
  machine.levels = read_named(top.at("levels"), read_level);
  machine.memories = read_named(top.at("memories"), read_memory);
  machine.spaces = read_named(top.at("spaces"), read_space);
  const DocumentReader atoms = top.at("atoms");
  machine.atoms = read_named(atoms, [&](const DocumentReader& entry) { return read_atom(entry.node(), file, entry.path()); });
  if (top.has("pipes")) machine.pipes = read_named(top.at("pipes"), read_pipe);
  for (const Atom& atom : machine.atoms)
    if (!atom.pipe.empty() && machine.find_pipe(atom.pipe) == nullptr)
      atoms.fail("the atom `" + atom.name + "` runs on the pipe `" + atom.pipe + "`, which is missing", "declare it in `pipes`");
  if (top.has("multiprocessor")) machine.multiprocessor = read_multiprocessor(top.at("multiprocessor"));
  for (const Space& space : machine.spaces)
    if (!space.level.empty() && machine.find_level(space.level) == nullptr)
      top.at("spaces").fail("the space `" + space.name + "` belongs to the level `" + space.level + "`, which is missing", "declare it in `levels`");
  if (machine.has_agents()) check_agents(top, machine);
  require_level_of_kind(top, machine, "serial", LevelKind::sequential);
  require_level_of_kind(top, machine, "atom", LevelKind::atom);
  for (const char* space : {"workspace", "stack", "register"}) require_space(top, machine, space);
  return machine;
}

}  // namespace tileopt
