#include "search/bank_rounds.h"

#include <algorithm>
#include <map>
#include <set>

namespace tileopt {

long count_bank_rounds(const std::vector<long>& addresses, long bytes, const Multiprocessor& multiprocessor) {
  const long word = multiprocessor.bank_bytes, turn = std::max(1L, multiprocessor.banks * word / std::max(bytes, word));  // lanes of one turn
  long rounds = 0;
  for (std::size_t first = 0; first < addresses.size(); first += static_cast<std::size_t>(turn)) {
    std::map<long, std::set<long>> words;  // by bank
    for (std::size_t lane = first; lane < std::min(addresses.size(), first + static_cast<std::size_t>(turn)); ++lane)
      for (long at = addresses[lane] / word; at <= (addresses[lane] + bytes - 1) / word; ++at) words[at % multiprocessor.banks].insert(at);
    std::size_t most = 0;
    for (const auto& [bank, asked] : words) most = std::max(most, asked.size());
    rounds += static_cast<long>(most);
  }
  return rounds;
}

long choose_padding(const std::vector<SharedAccess>& accesses, long row, long element_bytes, const Multiprocessor& multiprocessor) {
  long best = 0, fewest = 0;
  const long most = std::max(1L, multiprocessor.banks * multiprocessor.bank_bytes / element_bytes / 2);
  for (long pad = 0; pad <= most; ++pad) {
    long rounds = 0;
    for (const SharedAccess& access : accesses) {
      const bool whole = (row + pad) % access.elements == 0;
      for (long part = 0; part < (whole ? 1 : access.elements); ++part) {
        std::vector<long> addresses;
        for (long lane = 0; lane < multiprocessor.warp; ++lane) addresses.push_back((access.element(lane, row + pad) + part) * element_bytes);
        rounds += access.times * (1 + count_bank_rounds(addresses, (whole ? access.elements : 1) * element_bytes, multiprocessor));
      }
    }
    if (pad > 0 && rounds >= fewest) continue;
    best = pad;
    fewest = rounds;
  }
  return best;
}

}  // namespace tileopt
