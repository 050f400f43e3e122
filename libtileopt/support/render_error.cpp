#include "support/render_error.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "support/display_text.h"

namespace tileopt {

namespace {

constexpr int widest_excerpt = 110;  // display columns of source
constexpr int lead = 30;             // of them, how many are kept before a piece that is far to the right
constexpr const char* ellipsis = "...";
constexpr int ellipsis_width = 3;

std::string without_mark(const std::string& text) { return text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? text.substr(3) : text; }

/// The piece in display columns, [first, last).
struct Underline {
  int first = 0, last = 1;
};

int column_of(const std::vector<DisplayedCharacter>& characters, int column) {
  const auto at = static_cast<std::size_t>(std::max(column, 1)) - 1;
  if (at < characters.size()) return characters[at].column;
  return characters.empty() ? 0 : characters.back().column + characters.back().width;
}

Underline underline_of(const std::vector<DisplayedCharacter>& characters, const SourceLocation& where) {
  Underline line;
  line.first = column_of(characters, where.column);
  line.last = line.first + 1;
  if (where.end_line > where.line) line.last = characters.empty() ? line.last : characters.back().column + characters.back().width;
  else if (where.end_line == where.line && where.end_column > where.column) line.last = column_of(characters, where.end_column);
  line.last = std::max(line.last, line.first + 1);
  return line;
}

struct Window {
  int first = 0, last = widest_excerpt;  ///< display columns, [first, last)
};

/// As much of a long line as fits: the start of the piece always, its end where possible.
Window window_of(int width, const Underline& piece) {
  if (width <= widest_excerpt) return {0, std::max(width, piece.last)};
  if (piece.last + ellipsis_width <= widest_excerpt) return {0, widest_excerpt - ellipsis_width};
  const int first = std::max(0, std::min(piece.first - lead, width - widest_excerpt + ellipsis_width));
  const int room = widest_excerpt - 2 * ellipsis_width;
  return {first, first + room + (first + room + ellipsis_width >= width ? ellipsis_width : 0)};
}

/// Of a line that is longer than any screen, the part around the piece: a file may be one line.
void shorten(std::string& line, SourceLocation& where) {
  constexpr int around = 400;  // characters before and after
  if (line.size() <= 8 * around) return;
  const auto is_lead = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  const int first = std::max(1, where.column - around), last = std::max(where.column, 1) + around;
  std::size_t begin = line.size(), end = line.size();
  int column = 0;
  for (std::size_t at = 0; at < line.size() && column < last; ++at) {
    if (!is_lead(line[at])) continue;
    ++column;
    if (column == first) begin = at;
    if (column == last) end = at;
  }
  line = (first > 1 ? ellipsis : "") + line.substr(begin, end - begin) + (end < line.size() ? ellipsis : "");
  const int shift = first > 1 ? first - 1 - ellipsis_width : 0;
  where.column -= shift;
  if (where.end_line == where.line && where.end_column > 0) where.end_column -= shift;
}

std::string with_details(std::string text, const std::string& witness, const std::string& hint) {
  if (!witness.empty()) text += "  witness: " + witness + "\n";
  if (!hint.empty()) text += "  hint: " + hint + "\n";
  text.pop_back();
  return text;
}

std::string headline(const SourceLocation& where, const std::string& message, const std::string& code) {
  const std::string place = to_string(where);
  return (place.empty() ? "" : place + ": ") + "error: " + message + " [" + code + "]\n";
}

}  // namespace

std::string SourceTexts::text(const std::string& file) const {
  if (const auto known = texts_.find(file); known != texts_.end()) return known->second;
  if (!reads_) return "";
  std::ifstream in(file, std::ios::binary);
  std::ostringstream whole;
  if (in) whole << in.rdbuf();
  return whole.str();
}

std::string SourceTexts::line(const std::string& file, int number) const {
  const auto known = texts_.find(file);
  const std::string read = known == texts_.end() ? text(file) : "";
  const std::string& whole = known == texts_.end() ? read : known->second;
  std::size_t start = 0;
  for (int i = 1; i < number; ++i) {
    start = whole.find('\n', start);
    if (start == std::string::npos) return "";
    ++start;
  }
  std::string line = whole.substr(start, whole.find('\n', start) - start);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return number == 1 ? without_mark(line) : line;
}

std::string render_excerpt(const SourceLocation& place, const SourceTexts& texts) {
  if (place.line == 0) return "";
  SourceLocation where = place;
  std::string line = texts.line(where.file, where.line);
  shorten(line, where);
  if (line.find_first_not_of(" \t\f") == std::string::npos) return "";
  const std::vector<DisplayedCharacter> characters = displayed_characters(line);
  const int width = characters.back().column + characters.back().width;
  const Underline piece = underline_of(characters, where);
  const Window window = window_of(width, piece);

  const bool cut_before = window.first > 0, cut_after = window.last < width;
  std::string shown = cut_before ? ellipsis : "";
  int start = window.first;  // a wide character at the cut may start later
  bool started = false;
  for (const DisplayedCharacter& character : characters) {
    if (character.column < window.first || character.column + character.width > window.last) continue;
    if (!started) start = character.column;
    started = true;
    shown += character.text;
  }
  if (cut_after) shown += ellipsis;
  const int last = std::min(piece.last, window.last);
  const int indent = (cut_before ? ellipsis_width : 0) + piece.first - start;
  const std::string mark(static_cast<std::size_t>(std::max(last - piece.first - 1, 0)), '~');

  while (!shown.empty() && shown.back() == ' ') shown.pop_back();
  const std::string number = std::to_string(where.line);
  return "  " + number + " | " + shown + "\n  " + std::string(number.size(), ' ') + " | " +
         std::string(static_cast<std::size_t>(std::max(indent, 0)), ' ') + "^" + mark + "\n";
}

std::string render_message(const SourceLocation& where, const std::string& message, const std::string& code, const std::string& witness,
                           const std::string& hint, const SourceTexts& texts) {
  return with_details(headline(where, message, code) + render_excerpt(where, texts), witness, hint);
}

std::string render_error(const Diagnostic& d, const SourceTexts& texts) {
  return render_message(d.where, d.message, error_code_name(d.code), d.witness, d.hint, texts);
}

std::string render_errors(const Errors& errors, const SourceTexts& texts) {
  std::string text;
  for (const Diagnostic& diagnostic : errors.diagnostics()) text += (text.empty() ? "" : "\n\n") + render_error(diagnostic, texts);
  return text;
}

std::string render_refusal(const Infeasible& i, const SourceTexts& texts) {
  std::string text = headline(i.where, i.reason, i.code) + render_excerpt(i.where, texts);
  std::string place = i.stage;
  if (!i.kernel.empty()) place += (place.empty() ? "" : ", ") + ("kernel `" + i.kernel + "`");
  if (!i.plan_entry.empty()) place += (place.empty() ? "" : ", ") + ("plan entry `" + i.plan_entry + "`");
  if (!place.empty()) text += "  refused in: " + place + "\n";
  return with_details(text, i.witness, i.hint);
}

}  // namespace tileopt
