#include "search/bank_rounds.h"

#include <algorithm>

namespace tileopt {

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
