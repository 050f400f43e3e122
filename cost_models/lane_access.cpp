#include "cost_models/lane_access.h"

#include <algorithm>
#include <map>
#include <set>

namespace tileopt {
namespace {
long floor_of(long address, long piece) { return address >= 0 ? address / piece : -((-address + piece - 1) / piece); }
}  // namespace

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

long count_bank_turns(const std::vector<long>& addresses, const Multiprocessor& multiprocessor) {
  std::map<long, long> lanes;  // by bank
  long most = 0;
  for (const long address : addresses) most = std::max(most, ++lanes[address / multiprocessor.bank_bytes % multiprocessor.banks]);
  return most;
}

long count_pieces(const std::vector<long>& addresses, long bytes, long piece) {
  std::set<long> pieces;
  for (const long address : addresses)
    for (long at = floor_of(address, piece); at <= floor_of(address + bytes - 1, piece); ++at) pieces.insert(at);
  return static_cast<long>(pieces.size());
}

}  // namespace tileopt
