/// How a line of the user's text is shown: by display column, safe for any terminal.
#pragma once

#include <string>
#include <vector>

namespace tileopt {

/// One character of a line with the display columns that it fills.
struct DisplayedCharacter {
  std::string text;  ///< what is printed: blanks for a tab, U+FFFD for a control character or a byte that is not UTF-8
  int column = 0;    ///< first display column, from 0
  int width = 1;     ///< 0 for combining characters, 2 for wide ones
};

/// `line` without its end-of-line characters. Tabs reach to multiples of four.
std::vector<DisplayedCharacter> displayed_characters(const std::string& line);

/// Columns that `text` fills.
int display_width(const std::string& text);

}  // namespace tileopt
