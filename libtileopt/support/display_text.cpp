#include "support/display_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace tileopt {

namespace {

using Range = std::pair<std::uint32_t, std::uint32_t>;

constexpr int tab_width = 4;
constexpr const char* replacement = "\xEF\xBF\xBD";

/// Combining marks and joiners: drawn over the character before.
constexpr std::array<Range, 14> zero_width = {{{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
                                               {0x0E34, 0x0E3A}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x20D0, 0x20FF},
                                               {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}}};
/// East Asian wide and full-width characters, and emoji.
constexpr std::array<Range, 14> double_width = {{{0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0x33FF}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF},
                                                 {0xA000, 0xA4CF}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF}, {0xFE30, 0xFE6F}, {0xFF00, 0xFF60},
                                                 {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}}};

template <std::size_t Count>
bool holds(const std::array<Range, Count>& ranges, std::uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) { return range.first <= code && code <= range.second; });
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Bytes of the well-formed character at `at`, or 0; its code point in `code`.
std::size_t decode(const std::string& text, std::size_t at, std::uint32_t& code) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80 ? 1 : (lead & 0xE0) == 0xC0 ? 2 : (lead & 0xF0) == 0xE0 ? 3 : (lead & 0xF8) == 0xF0 ? 4 : 0;
  if (length == 0 || at + length > text.size()) return 0;
  code = length == 1 ? lead : lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[at + i])) return 0;
    code = (code << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3Fu);
  }
  constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < least[length] || surrogate || code > 0x10FFFF ? 0 : length;
}

int width_of(std::uint32_t code) { return holds(zero_width, code) ? 0 : holds(double_width, code) ? 2 : 1; }

}  // namespace

std::vector<DisplayedCharacter> displayed_characters(const std::string& line) {
  std::vector<DisplayedCharacter> characters;
  int column = 0;
  for (std::size_t at = 0; at < line.size();) {
    std::uint32_t code = 0;
    std::size_t length = decode(line, at, code);
    DisplayedCharacter character{"", column, 1};
    if (code == '\t' && length == 1) {
      character.width = tab_width - column % tab_width;
      character.text = std::string(static_cast<std::size_t>(character.width), ' ');
    } else if (length == 0 || code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069)) {
      // Positions count a broken sequence as one character, too: its continuation bytes are skipped.
      for (length = std::max<std::size_t>(length, 1); at + length < line.size() && is_continuation(line[at + length]); ++length) {}
      character.text = replacement;
    } else {
      character.text = line.substr(at, length);
      character.width = width_of(code);
    }
    column += character.width;
    at += length;
    characters.push_back(std::move(character));
  }
  return characters;
}

int display_width(const std::string& text) {
  const std::vector<DisplayedCharacter> characters = displayed_characters(text);
  return characters.empty() ? 0 : characters.back().column + characters.back().width;
}

}  // namespace tileopt
