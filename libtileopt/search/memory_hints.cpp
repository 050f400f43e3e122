#include "search/memory_hints.h"

#include <algorithm>

#include "search/generic_promotions.h"
#include "support/text.h"

namespace tileopt {
namespace {

/// Rows that are shorter start and end in the middle of lines too often.
constexpr double kLeastStreamedRow = 2048;
/// In a single pass with so much arithmetic an element, memory keeps up as it is.
constexpr double kHeavyOperations = 16;
/// A row is fetched ahead where it is some lines long, and where two of them leave the second cache to others.
constexpr double kLeastFetchedRow = 1024;
constexpr double kFetchedShare = 0.25;

double last_cache(const Machine& machine) {
  double capacity = 0;
  for (const Memory& memory : machine.memories)
    if (memory.capacity > 0) capacity = memory.capacity;
  return capacity;
}

double second_cache(const Machine& machine) {
  const Memory* memory = machine.memories.size() > 1 ? &machine.memories[1] : machine.memories.empty() ? nullptr : &machine.memories[0];
  return memory == nullptr ? 0 : memory->capacity;
}

bool is_promoted(const PlanPart& part, const std::string& tensor) {
  return std::any_of(part.promotions.begin(), part.promotions.end(), [&](const Promotion& p) { return p.tensor == tensor; });
}

bool is_written(const Program& program, const std::string& tensor) {
  return std::any_of(program.statements().begin(), program.statements().end(), [&](const Statement& s) { return s.write.tensor == tensor; });
}

class HintFinder {
 public:
  HintFinder(const PlanRequest& request, const std::map<std::string, StatementView>& views, PlanPart& part)
      : request_(request), views_(views), part_(part) {}

  void run() {
    for (const std::string& name : part_.statements) {
      const auto choice = part_.atoms.find(name);
      if (choice == part_.atoms.end() || choice->second.box.size() != 1) continue;
      const Atom* atom = request_.machine.find_atom(choice->second.atom);
      prefetch(name, choice->second);
      if (atom != nullptr && atom->body == "elementwise") stream(name, choice->second);
    }
  }

 private:
  void note(const std::string& text) { part_.reasons.push_back("kernel " + request_.kernel.name() + ": " + text); }

  /// Member number of the loop that the statement's box cuts.
  std::size_t lane_member(const std::string& statement, const AtomChoice& choice) const {
    const std::vector<std::string>& members = part_.members.at(statement).members;
    for (std::size_t m = 0; m < members.size(); ++m)
      if (owner(choice.box.front()) == members[m]) return m;
    return members.size();
  }
  std::string owner(const std::string& digit) const {
    for (const auto& [member, digits] : part_.digits)
      for (const Digit& candidate : digits)
        if (candidate.name == digit) return member;
    return "";
  }

  void stream(const std::string& name, AtomChoice& choice) {
    const StatementView& view = views_.at(name);
    const std::size_t lanes = lane_member(name, choice);
    if (lanes >= view.members.size() || !worth_streaming(request_, view) || is_promoted(part_, view.accesses[0].tensor)) return;
    if (view.ranges[lanes].typical * view.accesses[0].element_bytes < kLeastStreamedRow) return;
    if (choice.prefetch.empty() && count_operations(request_.program().statement(name)) >= kHeavyOperations) return;
    choice.stream = true;
    note(name + " stores past the caches: " + view.accesses[0].tensor + " is not read again, and takes more than half of the last cache");
  }

  /// Another statement before it, in the same iteration of the loops around both, has read the same elements.
  void prefetch(const std::string& name, AtomChoice& choice) {
    const StatementView& view = views_.at(name);
    const std::size_t lanes = lane_member(name, choice);
    if (lanes >= view.members.size()) return;
    const std::vector<std::string> mine = path_steps(part_.tree, name);
    for (std::size_t a = 1; a < view.accesses.size() && choice.prefetch.empty(); ++a) {
      const AccessView& access = view.accesses[a];
      const double row = view.ranges[lanes].typical * access.element_bytes;
      if (!access.unit_stride(lanes) || row < kLeastFetchedRow || row > kFetchedShare * second_cache(request_.machine)) continue;
      if (!beyond_caches(request_, view, access) || is_written(request_.program(), access.tensor) || is_promoted(part_, access.tensor)) continue;
      for (const std::string& other : part_.statements) {
        if (other == name) break;
        const std::string loop = shared_row(name, access, mine, other);
        if (loop.empty() || read_later(name, access.tensor, loop)) continue;
        choice.prefetch = loop;
        note(name + " fetches what the next iteration of " + loop + " reads of " + access.tensor + ", which " + other + " waits for first");
        break;
      }
    }
  }

  /// The innermost loop around both statements, where it moves the access and both read the same row; else "".
  std::string shared_row(const std::string& name, const AccessView& access, const std::vector<std::string>& mine, const std::string& other) const {
    const StatementView &view = views_.at(name), &theirs = views_.at(other);
    const bool same = std::any_of(theirs.accesses.begin() + 1, theirs.accesses.end(), [&](const AccessView& a) { return a.tensor == access.tensor; });
    if (!same) return "";
    const std::vector<std::string> steps = path_steps(part_.tree, other);
    std::string loop;
    for (std::size_t s = 0; s < mine.size() && s < steps.size() && mine[s] == steps[s]; ++s)
      if (mine[s][0] != '#') loop = mine[s];
    const std::vector<std::string>& members = part_.members.at(name).members;
    const auto m = static_cast<std::size_t>(std::find(members.begin(), members.end(), owner(loop)) - members.begin());
    return !loop.empty() && m < view.members.size() && access.moves_with(m) && !access.unit_stride(m) ? loop : "";
  }

  /// A statement after it reads the tensor below the same loop: that one is the last.
  bool read_later(const std::string& name, const std::string& tensor, const std::string& loop) const {
    bool after = false;
    for (const std::string& other : part_.statements) {
      const std::vector<std::string> steps = path_steps(part_.tree, other);
      const StatementView& view = views_.at(other);
      const bool reads = std::any_of(view.accesses.begin() + 1, view.accesses.end(), [&](const AccessView& a) { return a.tensor == tensor; });
      if (after && reads && contains(steps, loop)) return true;
      after = after || other == name;
    }
    return false;
  }

  const PlanRequest& request_;
  const std::map<std::string, StatementView>& views_;
  PlanPart& part_;
};

}  // namespace

double touched_bytes(const StatementView& view, const AccessView& access) {
  double elements = 1;
  for (std::size_t m = 0; m < view.members.size(); ++m)
    if (access.moves_with(m)) elements *= std::max(1.0, view.ranges[m].typical);
  return elements * access.element_bytes;
}

bool beyond_caches(const PlanRequest& request, const StatementView& view, const AccessView& access) {
  return touched_bytes(view, access) >= last_cache(request.machine);
}

bool worth_streaming(const PlanRequest& request, const StatementView& view) {
  const Program& program = request.program();
  const AccessView& write = view.accesses[0];
  if (!write.affine || program.tensor(write.tensor).role == TensorRole::local || program.statement(view.statement).combine != Combine::assign) return false;
  for (const Statement& statement : program.statements())
    for (const Access& read : statement.reads)
      if (read.tensor == write.tensor) return false;
  const double cache = last_cache(request.machine);
  return cache > 0 && touched_bytes(view, write) > cache / 2;
}

void add_memory_hints(const PlanRequest& request, const std::map<std::string, StatementView>& views, PlanPart& part) {
  HintFinder(request, views, part).run();
}

}  // namespace tileopt
