#include "frontends/tile_text/formatter.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "frontends/tile_text/layout_tokens.h"
#include "frontends/tile_text/tile_text.h"
#include "frontends/tile_text/token_cursor.h"
#include "support/error.h"

namespace tileopt {

namespace tile_text {

namespace {

constexpr std::size_t level_width = 4;

bool is_opening(const LayoutToken& token) {
  return token.kind == TokenKind::punctuation && (token.text == "(" || token.text == "[" || token.text == "{");
}
bool is_closing(const LayoutToken& token) {
  return token.kind == TokenKind::punctuation && (token.text == ")" || token.text == "]" || token.text == "}");
}
bool is_mark(const LayoutToken& token, const char* text) { return token.kind == TokenKind::punctuation && token.text == text; }
bool is_word_operator(const LayoutToken& token) {
  return token.kind == TokenKind::name && is_keyword(token.text) && token.text != "True" && token.text != "False" && token.text != "None";
}
/// A token that ends a value: what follows it is a binary operator, a call or a subscript.
bool ends_value(const LayoutToken& token) {
  return token.kind == TokenKind::punctuation ? is_closing(token) : !is_word_operator(token);
}

/// `# text`; a bare run of `#` and `#!` stay as they are.
std::string comment_text(const std::string& comment) {
  const std::size_t text = comment.find_first_not_of('#');
  if (text == std::string::npos || text != 1 || comment[1] == ' ' || comment[1] == '!' || comment[1] == ':') return comment;
  return "# " + comment.substr(1);
}

std::string spelling(const LayoutToken& token) {
  std::string text;
  for (std::size_t i = 0; i < token.text.size(); ++i)
    if (token.text[i] != '\r' || i + 1 == token.text.size() || token.text[i + 1] != '\n') text += token.text[i];
  const bool plain = token.kind == TokenKind::string && text.size() >= 2 && text[0] == '\'' && !text.starts_with("'''");
  if (plain && text.find('"') == std::string::npos) text.front() = text.back() = '"';
  return text;
}

class Formatter {
 public:
  explicit Formatter(std::vector<LayoutToken> tokens) : tokens_(std::move(tokens)) {}

  std::string run() {
    while (tokens_[at_].kind != TokenKind::end) format_logical_line();
    write_comments(0);
    return std::move(out_);
  }

 private:
  struct Bracket {
    std::size_t inside;  ///< column of what follows it on its line
    std::size_t line;    ///< indentation of the line it is on
    bool hanging;        ///< nothing follows it on its line
    bool subscript;
  };

  const LayoutToken& token() const { return tokens_[at_]; }
  static bool is_header_word(const LayoutToken& token) {
    static const std::set<std::string> words = {"def", "for", "if", "elif", "else"};
    return token.kind == TokenKind::name && words.contains(token.text);
  }

  void format_logical_line() {
    depth_ = static_cast<std::size_t>(token().depth);
    remember_indentation();
    const bool starts_function = depth_ == 0 && (is_mark(token(), "@") || token().text == "def");
    const bool attached = std::exchange(after_decorator_, is_mark(token(), "@"));
    write_comments(starts_function && !attached ? functions_ : 0);
    if (starts_function && token().text == "def") ++functions_;
    if (attached) drop_empty_lines();
    begin_line(depth_);
    bool header = is_header_word(token());
    do {
      write_token();
      const bool colon = header && brackets_.empty() && is_mark(tokens_[at_ - 1], ":");
      if (colon) header = false;
      if (colon && !token().starts_line && token().kind != TokenKind::end) begin_statement(depth_ + 1);
      while (brackets_.empty() && is_mark(token(), ";") && !token().starts_line) {
        ++at_;
        if (!token().starts_line && token().kind != TokenKind::end && !is_mark(token(), ";")) begin_statement(depth_of_line_);
      }
    } while (token().kind != TokenKind::end && !token().starts_line);
    if (!token().gap.trailing.empty()) write("  " + comment_text(token().gap.trailing));
    write("\n");
  }

  /// Source columns of the open blocks, by depth: comments between blocks belong to the one they are aligned with.
  void remember_indentation() {
    columns_.resize(depth_ + 1);
    columns_[depth_] = token().column;
  }

  /// The block that a comment before a line of depth `next` belongs to: one that the lines above opened, if it is that deep.
  std::size_t comment_depth(const Comment& comment, std::size_t next) const {
    std::size_t depth = next;
    for (std::size_t d = next + 1; d < previous_columns_.size(); ++d)
      if (previous_columns_[d] <= comment.column) depth = d;
    return depth;
  }

  /// The comments and empty lines before the token. `functions` > 0: a function starts here and others are above it.
  void write_comments(std::size_t functions) {
    const Gap& gap = token().gap;
    const std::size_t next = token().kind == TokenKind::end ? 0 : depth_;
    // The comments right above a function belong to it; the empty lines go above them.
    std::size_t first_attached = gap.comments.size();
    if (functions > 0 && gap.empty_lines == 0)
      while (first_attached > 0 && comment_depth(gap.comments[first_attached - 1], next) == 0) {
        --first_attached;
        if (gap.comments[first_attached].empty_lines > 0) break;
      }
    for (std::size_t i = 0; i < gap.comments.size(); ++i) {
      const Comment& comment = gap.comments[i];
      const std::size_t depth = comment_depth(comment, next);
      write_empty_lines(functions > 0 && i == first_attached ? 2 : comment.empty_lines, depth);
      write(std::string(level_width * depth, ' ') + comment_text(comment.text) + "\n");
      at_block_start_ = false;
    }
    previous_columns_ = columns_;
    if (token().kind == TokenKind::end) return;
    write_empty_lines(functions > 0 && first_attached == gap.comments.size() ? 2 : gap.empty_lines, depth_);
  }

  void write_empty_lines(int count, std::size_t depth) {
    if (out_.empty() || at_block_start_) return;
    write(std::string(static_cast<std::size_t>(std::min(count, depth == 0 ? 2 : 1)), '\n'));
  }
  /// Nothing stands between a decorator and its function.
  void drop_empty_lines() {
    while (out_.ends_with("\n\n")) out_.pop_back();
    line_start_ = out_.size();
  }

  void begin_line(std::size_t depth) {
    depth_of_line_ = depth;
    indentation_ = level_width * depth;
    write(std::string(indentation_, ' '));
    fresh_ = true;
    at_block_start_ = false;
  }
  /// Another statement of a logical line: after `;`, or behind a header's `:`.
  void begin_statement(std::size_t depth) {
    write("\n");
    begin_line(depth);
  }

  void write_token() {
    const LayoutToken& next = token();
    if (!fresh_ && !brackets_.empty() && (next.gap.breaks || !next.gap.comments.empty())) break_line(next);
    else if (!fresh_ && needs_space(tokens_[at_ - 1], next)) write(" ");
    fresh_ = false;
    unary_ = is_unary(next);
    if (is_closing(next) && !brackets_.empty()) brackets_.pop_back();
    write(spelling(next));
    ++at_;
    if (is_opening(next)) {
      const bool hanging = token().gap.breaks || !token().gap.comments.empty();
      brackets_.push_back({column(), indentation_, hanging, next.text == "["});
    }
    at_block_start_ = is_mark(next, ":") && brackets_.empty();
  }

  void write(const std::string& text) {
    if (const std::size_t line = text.rfind('\n'); line != std::string::npos) line_start_ = out_.size() + line + 1;
    out_ += text;
  }
  std::size_t column() const { return out_.size() - line_start_; }

  void break_line(const LayoutToken& next) {
    const Bracket& bracket = brackets_.back();
    const std::size_t inside = bracket.hanging ? bracket.line + level_width : bracket.inside;
    if (!next.gap.trailing.empty()) write("  " + comment_text(next.gap.trailing));
    for (const Comment& comment : next.gap.comments) write("\n" + std::string(inside, ' ') + comment_text(comment.text));
    indentation_ = is_closing(next) ? bracket.line : inside;
    write("\n" + std::string(indentation_, ' '));
  }

  bool is_sign(const LayoutToken& token) const {
    return is_mark(token, "-") || is_mark(token, "+") || is_mark(token, "~") || is_mark(token, "*") || is_mark(token, "**");
  }
  /// True for a sign that has no value before it, and for the `@` of a decorator.
  bool is_unary(const LayoutToken& next) const {
    const bool first = at_ == 0 || next.starts_line;
    if (is_mark(next, "@")) return first;
    return is_sign(next) && (first || !ends_value(tokens_[at_ - 1]));
  }

  bool needs_space(const LayoutToken& before, const LayoutToken& next) const {
    if (is_opening(before) || is_closing(next) || is_mark(next, ",")) return false;
    if (is_mark(next, ".")) return before.kind == TokenKind::integer;
    if (is_mark(before, ".")) return false;
    if (unary_) return false;
    if (is_opening(next) && ends_value(before)) return false;
    if (is_mark(next, ":")) return is_mark(before, ",");
    if (is_mark(before, ":")) return brackets_.empty() || !brackets_.back().subscript;
    if (is_mark(next, "=")) return brackets_.empty() || sets_default(at_);
    if (is_mark(before, "=")) return brackets_.empty() || sets_default(at_ - 1);
    return true;
  }
  /// The `=` of `G: const = 64`, which has spaces though it stands in brackets.
  bool sets_default(std::size_t equals) const {
    return equals > 0 && tokens_[equals - 1].kind == TokenKind::name && tokens_[equals - 1].text == "const";
  }

  std::vector<LayoutToken> tokens_;
  std::size_t at_ = 0;
  std::string out_;
  std::size_t line_start_ = 0;  ///< of the last line in `out_`
  std::vector<Bracket> brackets_;
  std::vector<int> columns_, previous_columns_;
  std::size_t depth_ = 0, depth_of_line_ = 0, indentation_ = 0, functions_ = 0;
  bool fresh_ = true;            ///< nothing of the statement is written yet
  bool unary_ = false;           ///< the token before is a sign of what follows
  bool at_block_start_ = false;  ///< a header was the line above
  bool after_decorator_ = false;
};

}  // namespace

}  // namespace tile_text

std::string format_tile_text(const std::string& text, const std::string& file) {
  using namespace tile_text;
  const std::string canonical = canonical_tile_text(text, file);
  Diagnostics diagnostics(file);
  const std::vector<Token> tokens = tokenize(text, diagnostics);
  std::string formatted = Formatter(layout_tokens(text, tokens)).run();
  TILEOPT_CHECK(canonical_tile_text(formatted, file) == canonical, "formatting changed the program of " + file);
  return formatted;
}

}  // namespace tileopt
