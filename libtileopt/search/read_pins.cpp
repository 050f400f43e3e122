#include <algorithm>
#include <charconv>

#include "search/pins.h"
#include "support/document_reader.h"
#include "support/text.h"

namespace tileopt {
namespace {

std::string unquoted(const std::string& text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

LoopName loop_name(const std::string& text) {
  const std::string name = unquoted(text);
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::string listed(const std::vector<std::string>& names) { return names.empty() ? "there is none to name" : "choose among " + join(names, ", "); }

class PinReader {
 public:
  PinReader(const Program& program, const Machine& machine) : program_(program), machine_(machine) {
    for (const Statement& s : program.statements()) statements_.push_back(s.name);
    for (const Tensor& t : program.tensors()) tensors_.push_back(t.name);
    for (const Level& l : machine.levels) levels_.push_back(l.name);
  }

  PinTable read(const Pins& pins) {
    for (const Pin& pin : pins.pins) read_pin(pin);
    if (!diagnostics_.empty()) throw Errors(std::move(diagnostics_));
    return std::move(table_);
  }

 private:
  void read_pin(const Pin& pin) {
    if (pin.primitive == "tile") return read_tile(pin);
    if (pin.primitive == "order") return read_order(pin);
    if (pin.primitive == "promote") return read_promote(pin);
    if (pin.primitive == "parallel") return read_loops(pin, table_.parallels, false);
    if (pin.primitive == "vectorize") return read_loops(pin, table_.vectorizes, false);
    if (pin.primitive == "unroll") return read_loops(pin, table_.unrolls, true);
    if (pin.primitive == "atom") return read_atom(pin);
    if (pin.primitive == "schedule") return read_schedule(pin);
    if (pin.primitive == "fuse") return read_fuse(pin);
    if (pin.primitive == "rewrite") return;  // taken before the loops that other pins name exist: choose_rewrites
    if (pin.primitive == "pipeline") return read_pipeline(pin);
    if (pin.primitive == "versions") return read_versions(pin);
    fail(pin, "unknown primitive `" + pin.primitive + "`",
         "the primitives are tile, order, promote, parallel, vectorize, unroll, atom, schedule, fuse, pipeline, rewrite, versions");
  }

  void read_tile(const Pin& pin) {
    if (pin.arguments.empty() || (pin.keywords.empty() && pin.arguments.size() < 3)) {
      return fail(pin, "tile wants a level and extents", "write tile(\"thread\", i=64)");
    }
    const std::string level = unquoted(pin.arguments[0]);
    if (!contains(levels_, level)) {
      return fail(pin, "machine " + machine_.name + " has no level `" + level + "`", listed(levels_));
    }
    std::vector<std::pair<std::string, std::string>> extents = pin.keywords;
    if (pin.arguments.size() % 2 == 0) return fail(pin, "an extent is missing", "write tile(\"thread\", \"S.i\", 64) or i=64");
    for (std::size_t a = 1; a + 1 < pin.arguments.size(); a += 2) extents.emplace_back(pin.arguments[a], pin.arguments[a + 1]);
    for (const auto& [name, value] : extents) {
      const bool may_be_whole = machine_.find_level(level)->kind == LevelKind::sequential;
      const auto extent = may_be_whole && value == "0" ? std::optional<long>(0) : read_number(pin, value);
      const LoopName loop = loop_name(name);
      if (!extent || !check_loop(pin, loop, true)) continue;
      table_.tiles.push_back({level, loop, *extent, &pin});
      // Tiles for threads exist only where threads share the loop.
      if (machine_.find_level(level)->kind == LevelKind::independent) table_.parallels.push_back({loop, std::nullopt, &pin});
    }
  }

  void read_order(const Pin& pin) {
    if (pin.arguments.size() < 2 || !pin.keywords.empty()) return fail(pin, "order wants at least two loops", "write order(\"i\", \"j\")");
    OrderPin order;
    order.pin = &pin;
    for (const std::string& argument : pin.arguments) {
      order.loops.push_back(loop_name(argument));
      if (!order.loops.back().statement.empty() && !check_loop(pin, order.loops.back(), true)) return;
    }
    table_.orders.push_back(std::move(order));
  }

  void read_promote(const Pin& pin) {
    if (pin.arguments.size() != 2) return fail(pin, "promote wants a tensor and a space", "write promote(A, \"stack\", after=\"i\")");
    PromotePin promote;
    promote.pin = &pin;
    promote.tensor = unquoted(pin.arguments[0]);
    promote.space = unquoted(pin.arguments[1]);
    if (!check_name(pin, promote.tensor, tensors_, "tensor")) return;
    std::vector<std::string> spaces = {"none"};
    for (const Space& space : machine_.spaces) spaces.push_back(space.name);
    if (!contains(spaces, promote.space)) {
      return fail(pin, "machine " + machine_.name + " has no space `" + promote.space + "`", listed(spaces));
    }
    for (const auto& [key, value] : pin.keywords) {
      if (key == "after") promote.after = loop_name(value);
      else return fail(pin, "promote has no option `" + key + "` on this machine", "the option is after=");
    }
    if (table_.promote(promote.tensor)) return fail(pin, "tensor " + promote.tensor + " has two promote pins", "remove one");
    table_.promotes.push_back(std::move(promote));
  }

  void read_loops(const Pin& pin, std::vector<LoopPin>& into, bool factors) {
    const bool any = !pin.arguments.empty() || (factors && !pin.keywords.empty());
    if (!any || (!factors && !pin.keywords.empty())) {
      return fail(pin, pin.primitive + " wants loops", "write " + pin.primitive + "(\"i\")" + (factors ? " or unroll(\"i\", 4)" : ""));
    }
    for (std::size_t a = 0; a < pin.arguments.size(); ++a) {
      const LoopName loop = loop_name(pin.arguments[a]);
      if (!check_loop(pin, loop, true)) continue;
      std::optional<long> factor;
      const bool number_follows = a + 1 < pin.arguments.size() && pin.arguments[a + 1].find_first_not_of("0123456789") == std::string::npos;
      if (factors && number_follows) factor = read_number(pin, pin.arguments[++a]);
      into.push_back({loop, factor, &pin});
    }
    for (const auto& [name, value] : pin.keywords) {
      const auto factor = read_number(pin, value);
      const LoopName loop = loop_name(name);
      if (factor && check_loop(pin, loop, true)) into.push_back({loop, factor, &pin});
    }
  }

  void read_atom(const Pin& pin) {
    if (pin.arguments.size() != 2 || !pin.keywords.empty()) {
      return fail(pin, "atom wants a statement and an atom", "write atom(C, \"scalar\")");
    }
    AtomPin atom{unquoted(pin.arguments[0]), unquoted(pin.arguments[1]), &pin};
    if (!check_name(pin, atom.statement, statements_, "statement")) return;
    std::vector<std::string> atoms = {"scalar"};
    for (const Atom& a : machine_.atoms) atoms.push_back(a.name);
    if (!atom.atom.empty() && !contains(atoms, atom.atom)) {
      return fail(pin, "machine " + machine_.name + " has no atom `" + atom.atom + "`", listed(atoms));
    }
    if (atom.atom == "scalar") atom.atom = "";
    if (table_.atom(atom.statement)) return fail(pin, "statement " + atom.statement + " has two atom pins", "remove one");
    table_.atoms.push_back(std::move(atom));
  }

  void read_schedule(const Pin& pin) {
    const std::string method = pin.arguments.size() == 1 ? unquoted(pin.arguments[0]) : "";
    if (!contains({"original", "isl", "wavefront"}, method) || !pin.keywords.empty()) {
      return fail(pin, "schedule wants \"original\", \"isl\" or \"wavefront\"", "write schedule(\"original\")");
    }
    if (table_.schedule && *table_.schedule != method) return fail(pin, "two schedule pins contradict each other", "remove one");
    table_.schedule = method;
    table_.schedule_pin = &pin;
  }

  void read_fuse(const Pin& pin) {
    if (pin.arguments.size() < 2 || !pin.keywords.empty()) return fail(pin, "fuse wants at least two statements", "write fuse(B, C)");
    FusePin fuse;
    fuse.pin = &pin;
    for (const std::string& argument : pin.arguments) {
      fuse.statements.push_back(unquoted(argument));
      if (!check_name(pin, fuse.statements.back(), statements_, "statement")) return;
    }
    table_.fuses.push_back(std::move(fuse));
  }

  void read_pipeline(const Pin& pin) {
    const std::string hint = "write pipeline(\"k\", slots=3); slots=1 lets nothing run ahead";
    if (pin.arguments.size() != 1) return fail(pin, "pipeline wants a loop", hint);
    PipelinePin pipeline{loop_name(pin.arguments[0]), {}, {}, &pin};
    if (!pipeline.loop.statement.empty() && !check_loop(pin, pipeline.loop, true)) return;
    for (const auto& [key, value] : pin.keywords) {
      if (key != "slots" && key != "distance") return fail(pin, "pipeline has no option `" + key + "`", "the options are slots= and distance=");
      const auto number = read_number(pin, value);
      if (!number) return;
      if (*number > kMostSlots) return fail(pin, "`" + key + "` of " + value, "a ring has at most " + std::to_string(kMostSlots) + " slots");
      (key == "slots" ? pipeline.slots : pipeline.distance) = number;
    }
    if (pipeline.distance && pipeline.slots && *pipeline.distance >= *pipeline.slots)
      return fail(pin, "copies run " + std::to_string(*pipeline.distance) + " iterations ahead with " + std::to_string(*pipeline.slots) + " slots", "the iteration that computes has a slot too: distance is less than slots");
    table_.pipelines.push_back(std::move(pipeline));
  }

  void read_versions(const Pin& pin) {
    if (pin.arguments.size() != 1 || unquoted(pin.arguments[0]) != "off" || !pin.keywords.empty())
      return fail(pin, "versions wants \"off\"", "write versions(\"off\"): one version of every kernel, for all sizes; without it the planner makes several where that pays");
    table_.versions = false;
  }

  std::optional<long> read_number(const Pin& pin, const std::string& text) {
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= (1L << 30)) return value;
    fail(pin, "`" + text + "` is no extent", "extents are whole numbers from 1 to 2^30; 0, on a sequential level, leaves a loop whole");
    return std::nullopt;
  }

  bool check_name(const Pin& pin, const std::string& name, const std::vector<std::string>& known, const std::string& what) {
    if (contains(known, name)) return true;
    const std::string near = name.size() < 3 ? "" : nearest_name(name, known);
    fail(pin, "the program has no " + what + " `" + name + "`", near.empty() ? listed(known) : "did you mean `" + near + "`?");
    return false;
  }

  /// Digit names are known only once a plan is made; a name after a statement must be an iterator of it.
  bool check_loop(const Pin& pin, const LoopName& loop, bool iterators_only) {
    std::vector<std::string> known;
    if (!loop.statement.empty() && !check_name(pin, loop.statement, statements_, "statement")) return false;
    for (const Statement& s : program_.statements()) {
      if (!loop.statement.empty() && s.name != loop.statement) continue;
      for (const std::string& iterator : s.iterators) {
        if (!contains(known, iterator)) known.push_back(iterator);
      }
    }
    return !iterators_only || check_name(pin, loop.name, known, "loop");
  }

  void fail(const Pin& pin, const std::string& message, const std::string& hint) {
    Diagnostic diagnostic;
    diagnostic.code = ErrorCode::invalid_pin;
    diagnostic.where = pin.where;
    diagnostic.message = message;
    diagnostic.hint = hint;
    diagnostics_.push_back(std::move(diagnostic));
  }

  const Program& program_;
  const Machine& machine_;
  std::vector<std::string> statements_, tensors_, levels_;
  PinTable table_;
  std::vector<Diagnostic> diagnostics_;
};

bool names(const LoopName& loop, const std::string& statement, const std::string& iterator) {
  return loop.name == iterator && (loop.statement.empty() || loop.statement == statement);
}

}  // namespace

bool PinTable::empty() const {
  return tiles.empty() && orders.empty() && promotes.empty() && parallels.empty() && vectorizes.empty() && unrolls.empty() &&
         atoms.empty() && fuses.empty() && !schedule && pipelines.empty();
}

std::optional<long> PinTable::tile(const std::string& level, const std::string& statement, const std::string& iterator) const {
  for (const TilePin& tile : tiles) {
    if (tile.level == level && names(tile.loop, statement, iterator)) return tile.extent;
  }
  return std::nullopt;
}

bool PinTable::parallel(const std::string& statement, const std::string& iterator) const {
  return std::any_of(parallels.begin(), parallels.end(), [&](const LoopPin& p) { return names(p.loop, statement, iterator); });
}

bool PinTable::vectorized(const std::string& statement, const std::string& iterator) const {
  return std::any_of(vectorizes.begin(), vectorizes.end(), [&](const LoopPin& p) { return names(p.loop, statement, iterator); });
}

const AtomPin* PinTable::atom(const std::string& statement) const {
  const auto found = std::find_if(atoms.begin(), atoms.end(), [&](const AtomPin& a) { return a.statement == statement; });
  return found == atoms.end() ? nullptr : &*found;
}

const PromotePin* PinTable::promote(const std::string& tensor) const {
  const auto found = std::find_if(promotes.begin(), promotes.end(), [&](const PromotePin& p) { return p.tensor == tensor; });
  return found == promotes.end() ? nullptr : &*found;
}

PinTable read_pins(const Program& program, const Pins& pins, const Machine& machine) {
  return PinReader(program, machine).read(pins);
}

std::string pin_call(const Pin& pin) {
  const bool names_statements = pin.primitive == "fuse";
  const bool names_first = pin.primitive == "promote" || pin.primitive == "atom";
  const auto number = [](const std::string& text) { return text.find_first_not_of("0123456789") == std::string::npos; };
  std::vector<std::string> arguments;
  for (const std::string& argument : pin.arguments) {
    const bool bare = number(argument) || names_statements || (names_first && arguments.empty());
    arguments.push_back(bare ? argument : "\"" + unquoted(argument) + "\"");
  }
  for (const auto& [key, value] : pin.keywords)
    arguments.push_back(key + "=" + (number(value) || value == "True" || value == "False" ? value : "\"" + unquoted(value) + "\""));
  return pin.primitive + "(" + join(arguments, ", ") + ")";
}

std::string pin_text(const Pin& pin) { return "pin `" + pin_call(pin) + "`"; }

}  // namespace tileopt
