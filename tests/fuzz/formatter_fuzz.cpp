// Any bytes: formatted text that stays as it is, or errors that can be shown. That the program stays the same is checked by
// format_tile_text itself, whose InternalError ends the run.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontends/tile_text/formatter.h"
#include "support/error.h"
#include "support/render_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const std::string once = tileopt::format_tile_text(text, "fuzz.tile");
    if (tileopt::format_tile_text(once, "fuzz.tile") != once) std::abort();
  } catch (const tileopt::Errors& errors) {
    tileopt::SourceTexts texts;
    texts.add("fuzz.tile", text);
    if (tileopt::render_errors(errors, texts).empty()) std::abort();
  }
  return 0;
}
