#include "search/run_promotions.h"

#include <algorithm>

#include "support/text.h"

namespace tileopt {
namespace {

/// Bytes that a thread reads at once at most; 0: one element.
long widest_read(const Machine& machine) {
  long bytes = 0;
  for (const Atom& atom : machine.atoms)
    if (atom.body == "elementwise" && atom.rank == 1) bytes = std::max(bytes, static_cast<long>(atom.widest_access(false)));
  return bytes;
}

/// Position of the member that owns `digit` and has no other; the statement's number of members where there is none.
std::size_t member_of(const PlanPart& part, const StatementMembers& members, const std::string& digit) {
  for (const auto& [member, digits] : part.digits) {
    if (digits.size() != 1 || digits.front().name != digit) continue;
    return static_cast<std::size_t>(std::find(members.members.begin(), members.members.end(), member) - members.members.begin());
  }
  return members.members.size();
}

/// The read touches a whole run of `run` neighbours, which starts at a multiple of it in its row, while member `m` runs.
bool reads_run(const AccessView& read, const MemberRange& range, std::size_t m, long run) {
  if (!read.affine || !read.unit_stride(m) || range.constant != run || range.least != 0) return false;
  const std::vector<long>& steps = read.coefficients[*read.contiguous];
  for (std::size_t other = 0; other < steps.size(); ++other)
    if (other != m && steps[other] % run != 0) return false;
  return true;
}

}  // namespace

void add_run_promotions(const PlanRequest& request, const std::map<std::string, StatementView>& views, PlanPart& part, NameTable& names) {
  const Program& program = request.program();
  const long bytes = widest_read(request.machine);
  for (const std::string& name : part.statements) {
    const Statement& statement = program.statement(name);
    const std::vector<std::string> path = path_dims(part.tree, name);
    if (part.atoms.count(name) != 0 || statement.conditional() || path.size() < 2) continue;
    const StatementView& view = views.at(name);
    const std::size_t m = member_of(part, part.members.at(name), path.back());
    if (m >= view.members.size()) continue;
    for (std::size_t r = 0; r < statement.reads.size(); ++r) {
      const AccessView& read = view.accesses[1 + r];
      const Tensor& tensor = program.tensor(read.tensor);
      const auto reads_it = [&](const Access& other) { return other.tensor == tensor.name; };
      const bool placed = std::any_of(part.promotions.begin(), part.promotions.end(), [&](const Promotion& p) { return p.tensor == tensor.name; });
      const bool once = std::count_if(statement.reads.begin(), statement.reads.end(), reads_it) == 1;
      if (tensor.role != TensorRole::in || placed || !once || request.pins.promote(tensor.name)) continue;
      if (bytes / read.element_bytes < 2 || !reads_run(read, view.ranges[m], m, bytes / read.element_bytes)) continue;
      Promotion promotion;
      promotion.tensor = tensor.name;
      promotion.array = tensor.name + "_run";
      while (program.has_tensor(promotion.array)) promotion.array += "_";
      promotion.after = path[path.size() - 2];
      promotion.statements = {name};
      promotion.space = "stack";
      promotion.element = type_name(tensor.type);
      for (std::size_t d = 0; d < read.coefficients.size(); ++d) promotion.layout.push_back({static_cast<int>(d), names.unique(promotion.array + "_" + std::to_string(d)), 0});
      part.reasons.push_back("kernel " + request.kernel.name() + ": a thread reads " + std::to_string(bytes / read.element_bytes) + " neighbours of " + tensor.name + " at once; to change: promote(" +
                             tensor.name + ", \"none\")");
      part.promotions.push_back(std::move(promotion));
    }
  }
}

}  // namespace tileopt
