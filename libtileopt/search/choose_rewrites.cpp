#include "search/choose_rewrites.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "interpreter/interpreter.h"
#include "search/pins.h"
#include "search/rewrite_proposals.h"
#include "support/text.h"

namespace tileopt {

namespace {

constexpr std::int64_t most_instances = std::int64_t(1) << 20;

[[noreturn]] void reject(const Pin& pin, const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{ErrorCode::invalid_pin, pin.where, message, hint, ""});
}

std::string unquoted(const std::string& text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

Rewriting read_rewriting(const Pin& pin, const Program& program) {
  if (pin.arguments.empty()) reject(pin, "rewrite wants the name of a rewrite", "write rewrite(\"inline\", t)");
  Rewriting rewriting{unquoted(pin.arguments.front()), {}, {}};
  for (std::size_t a = 1; a < pin.arguments.size(); ++a) rewriting.arguments.push_back(unquoted(pin.arguments[a]));
  for (const auto& [name, text] : pin.keywords) {
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > (1L << 30))
      reject(pin, "`" + text + "` is no " + name, "sizes are whole numbers from 1 to 2^30");
    rewriting.sizes[name] = value;
  }
  const std::string wrong = misshapen(program, rewriting);
  if (!wrong.empty()) reject(pin, wrong, "the rewrites are listed in docs/rewrites.md; names are those of the program as rewritten by the pins before");
  return rewriting;
}

/// What `rewrite("none", ...)` switches off; "" for all.
std::set<std::string> switched_off(const Pin& pin) {
  std::set<std::string> off;
  for (std::size_t a = 1; a < pin.arguments.size(); ++a) {
    const std::string name = unquoted(pin.arguments[a]);
    if (find_rewrite(name) == nullptr) reject(pin, "there is no rewrite `" + name + "`", "the rewrites are listed in docs/rewrites.md");
    off.insert(name);
  }
  if (off.empty()) off.insert("");
  return off;
}

/// All names that pins other than `rewrite` use: statements, tensors and loops.
std::set<std::string> names_in(const Pins& pins) {
  std::set<std::string> names;
  const auto add = [&](const std::string& text) {
    const std::string name = unquoted(text);
    const std::size_t dot = name.find('.');
    names.insert(name.substr(0, dot));
    if (dot != std::string::npos) names.insert(name.substr(dot + 1));
  };
  for (const Pin& pin : pins.pins) {
    if (pin.primitive == "rewrite" || pin.primitive == "versions") continue;
    for (const std::string& argument : pin.arguments) add(argument);
    for (const auto& [name, value] : pin.keywords) {
      add(name);
      add(value);
    }
  }
  return names;
}

bool few_elements(const Program& program, const Sizes& sizes) {
  double elements = 0;
  for (const Tensor& tensor : program.tensors()) {
    double of_tensor = 1;
    for (const std::int64_t extent : evaluate_shape(tensor, sizes)) of_tensor *= double(extent);
    elements += of_tensor;
  }
  return elements <= double(most_instances);
}

/// Whether there are sizes at which the program can be interpreted soon: what cannot be tried is not taken without being asked.
bool can_be_tried(const Program& program) {
  for (const std::int64_t size : {5, 3, 2, 1, 8, 17, 32, 64, 100, 128, 256, 512, 1000, 1024}) {
    Sizes sizes;
    for (const std::string& parameter : program.parameters()) sizes[parameter] = size;
    try {
      check_sizes(program, sizes);
    } catch (const Errors&) {
      continue;
    }
    if (count_instances(program, sizes) <= most_instances && few_elements(program, sizes)) return true;
  }
  return false;
}

}  // namespace

Candidate<RewrittenProgram> choose_rewrites(std::shared_ptr<const Program> source, const Pins& pins, const Machine& machine,
                                            const ResolveOptions& options, std::vector<std::string>& reasons) {
  RewrittenProgram program{std::move(source), {}, true, {}};
  std::set<std::string> off;
  for (const Pin& pin : pins.pins) {
    if (pin.primitive != "rewrite") continue;
    if (!pin.arguments.empty() && unquoted(pin.arguments.front()) == "none") {
      off.merge(switched_off(pin));
      continue;
    }
    Candidate<RewrittenProgram> next = apply_rewrite(program, read_rewriting(pin, *program.program));
    if (Infeasible* refused = std::get_if<Infeasible>(&next)) {
      if (refused->where.line != 0) refused->reason += " (" + to_string(refused->where) + ")";
      refused->where = pin.where;
      return std::move(*refused);
    }
    program = std::get<RewrittenProgram>(std::move(next));
  }
  if (off.contains("") || !options.rewrites || !can_be_tried(*program.program)) return program;
  const std::set<std::string> named = names_in(pins);
  // Every rewrite taken may make room for another; none of them makes work for an earlier kind.
  for (std::size_t kind = 0; kind < proposal_kinds().size(); ++kind) {
    const ProposalKind& each = proposal_kinds()[kind];
    if (off.contains(each.name)) continue;
    std::set<std::string> tried;
    for (bool again = true; again;) {
      again = false;
      for (const Proposal& proposal : each.propose(*program.program, machine, options)) {
        const bool pinned = std::any_of(proposal.touches.begin(), proposal.touches.end(), [&](const std::string& name) { return named.contains(name); });
        if (pinned || !tried.insert(to_string(proposal.rewriting)).second) continue;
        Candidate<RewrittenProgram> next = apply_rewrite(program, proposal.rewriting);
        if (!feasible(next)) continue;
        program = std::get<RewrittenProgram>(std::move(next));
        reasons.push_back("rewrite " + to_string(proposal.rewriting) + ": " + proposal.reason + "; to change: rewrite(\"none\", \"" + each.name + "\")");
        again = true;
        break;
      }
    }
  }
  return program;
}

}  // namespace tileopt
