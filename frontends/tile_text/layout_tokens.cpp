#include "frontends/tile_text/layout_tokens.h"

#include <utility>

namespace tileopt::tile_text {

namespace {

/// Walks the text once, in the lexer's lines and columns.
class SourceWalk {
 public:
  explicit SourceWalk(const std::string& text) : text_(text), at_(text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0) {}

  /// The text from here to `line:column`.
  std::string take_until(int line, int column) {
    const std::size_t start = at_;
    while (at_ < text_.size() && (line_ < line || (line_ == line && column_ < column))) advance();
    // A character ends with its continuation bytes.
    while (at_ < text_.size() && is_continuation(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  std::string take_rest() { return text_.substr(std::exchange(at_, text_.size())); }
  int column() const { return column_; }

 private:
  static bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
  void advance() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if (!is_continuation(c)) {
      ++column_;
    }
  }

  const std::string& text_;
  std::size_t at_;
  int line_ = 1, column_ = 1;
};

std::string without_end_blanks(const std::string& text) {
  const std::size_t last = text.find_last_not_of(" \t\r\f");
  return last == std::string::npos ? "" : text.substr(0, last + 1);
}

/// `text` holds blanks, line ends, comments and joining backslashes only. `column` is where it starts.
Gap read_gap(const std::string& text, bool at_start, int column) {
  Gap gap;
  int empty_lines = 0;
  bool first = !at_start, line_is_empty = false;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    const std::size_t hash = line.find('#');
    const bool last = end == text.size();
    line_is_empty = line.find_first_not_of(" \t\r\f") == std::string::npos;
    if (hash != std::string::npos && first) {
      gap.trailing = without_end_blanks(line.substr(hash));
    } else if (hash != std::string::npos) {
      const int offset = start == 0 ? column - 1 : 0;
      gap.comments.push_back({without_end_blanks(line.substr(hash)), offset + static_cast<int>(hash) + 1, std::exchange(empty_lines, 0)});
    } else if (!first && !last && line_is_empty) {
      ++empty_lines;
    }
    gap.breaks = gap.breaks || !last;
    first = false;
    start = end + 1;
  }
  gap.empty_lines = empty_lines;
  return gap;
}

bool is_visible(TokenKind kind) {
  return kind == TokenKind::name || kind == TokenKind::integer || kind == TokenKind::real || kind == TokenKind::string ||
         kind == TokenKind::punctuation;
}

}  // namespace

std::vector<LayoutToken> layout_tokens(const std::string& text, const std::vector<Token>& tokens) {
  std::vector<LayoutToken> result;
  SourceWalk walk(text);
  int depth = 0;
  bool starts_line = true;
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::newline) starts_line = true;
    if (token.kind == TokenKind::indent) ++depth;
    if (token.kind == TokenKind::dedent) --depth;
    if (!is_visible(token.kind) && token.kind != TokenKind::end) continue;
    LayoutToken item;
    item.kind = token.kind;
    item.starts_line = starts_line;
    const int column = walk.column();
    const bool at_start = result.empty();
    if (token.kind == TokenKind::end) {
      item.gap = read_gap(walk.take_rest(), at_start, column);
    } else {
      item.gap = read_gap(walk.take_until(token.where.line, token.where.column), at_start, column);
      item.column = token.where.column;
      item.text = walk.take_until(token.where.end_line, token.where.end_column);
    }
    item.depth = depth;
    result.push_back(std::move(item));
    starts_line = false;
  }
  return result;
}

}  // namespace tileopt::tile_text
