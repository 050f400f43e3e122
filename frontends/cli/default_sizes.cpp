#include "driver/size_vectors.h"
#include "frontends/cli/items.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

/// Sizes for timing that nobody gave: all equal, halved until a run takes about a second and the arguments fit in memory.
Sizes default_sizes(const Item& item) {
  const SizeSpread limits{{}, 1, std::int64_t(1) << 30, std::int64_t(1) << 29};
  for (std::int64_t value = 1024; value >= 1; value /= 2) {
    Sizes sizes;
    for (const std::string& parameter : item.program->parameters()) sizes[parameter] = value;
    for (const auto& [name, given] : item.sizes) sizes[name] = given;
    if (sizes_fit(*item.program, sizes, limits)) return sizes;
  }
  throw Errors(Diagnostic{ErrorCode::invalid_size,
                          {item.file, 0, 0},
                          "no sizes to time program `" + item.program->name() + "` at",
                          "give all of them: --size " + join(item.program->parameters(), "=...,") + "=...",
                          ""});
}

}  // namespace

Sizes sizes_to_time(const Item& item) {
  if (item.sizes.size() < item.program->parameters().size()) return default_sizes(item);
  const Sizes sizes(item.sizes.begin(), item.sizes.end());
  check_sizes(*item.program, sizes);
  return sizes;
}

}  // namespace tileopt::cli
