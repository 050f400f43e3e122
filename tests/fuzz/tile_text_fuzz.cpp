// Any bytes: a program, or errors with positions; never a crash, a hang or unbounded memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontends/tile_text/tile_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  tileopt::poly::Context context;
  try {
    const tileopt::TileFile file = tileopt::parse_tile_file(context.get(), text, "fuzz.tile");
    for (const tileopt::Program& program : file.programs) {
      const std::string canonical = program.text();
      if (tileopt::canonical_tile_text(canonical, "canonical.tile") != canonical) std::abort();
    }
  } catch (const tileopt::Errors& errors) {
    if (errors.diagnostics().empty()) std::abort();
  }
  return 0;
}
