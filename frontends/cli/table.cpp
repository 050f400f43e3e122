#include "frontends/cli/table.h"

#include <algorithm>

namespace tileopt::cli {

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const std::string blanks(widths[c] - row[c].size(), ' ');
      line += (c == 0 ? "" : "  ") + (c < left_ ? row[c] + blanks : blanks + row[c]);
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace tileopt::cli
