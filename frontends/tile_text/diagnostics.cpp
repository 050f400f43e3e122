#include "frontends/tile_text/diagnostics.h"

#include <algorithm>
#include <tuple>

namespace tileopt::tile_text {

void Diagnostics::add(ErrorCode code, syntax::Position where, std::string message, std::string hint, std::string witness) {
  ++added_;
  if (diagnostics_.size() >= limit) return;
  const SourceLocation location = locate(where);
  for (const Diagnostic& known : diagnostics_)
    if (known.code == code && known.where == location) return;
  diagnostics_.push_back({code, location, std::move(message), std::move(hint), std::move(witness)});
}

void Diagnostics::throw_if_any() const {
  if (diagnostics_.empty()) return;
  std::vector<Diagnostic> sorted = diagnostics_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.where.line, a.where.column) < std::tie(b.where.line, b.where.column);
  });
  throw Errors(std::move(sorted));
}

namespace {
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}
}  // namespace

std::string nearest_name(const std::string& name, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest = 64;
  if (name.size() < 3 || name.size() > longest) return "";
  std::string best;
  std::size_t best_distance = 3;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance && distance < name.size() / 2 + 1) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace tileopt::tile_text
