#include "frontends/tile_text/lexer.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "frontends/tile_text/advice.h"

namespace tileopt::tile_text {

namespace {

using syntax::Position;

constexpr std::size_t largest_file = std::size_t(4) << 20;
constexpr std::size_t longest_name = 200;
constexpr std::array<std::string_view, 27> long_punctuation = {"**=", "//=", "<<=", ">>=", "...", "+=", "-=", "*=", "/=",
                                                               "%=",  "&=",  "|=",  "^=",  "@=",  "**", "//", "<<", ">>",
                                                               "<=",  ">=",  "==",  "!=",  "->",  ":=", "<>", "&&", "||"};
constexpr std::string_view short_punctuation = "+-*/%@&|^~<>()[]{}=,:;.!";

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
bool is_continuation_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

class Lexer {
 public:
  Lexer(const std::string& text, Diagnostics& diagnostics) : text_(text), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    if (text_.size() > largest_file) {
      report({1, 1}, "the file is larger than 4 MiB", "split it into several files");
      emit(TokenKind::end, "", {1, 1});
      return std::move(tokens_);
    }
    if (text_.compare(0, 3, "\xEF\xBB\xBF") == 0) at_ = 3;
    while (at_ < text_.size()) {
      if (line_start_ && brackets_.empty())
        read_indentation();
      else
        read_token();
    }
    finish();
    return std::move(tokens_);
  }

 private:
  struct Bracket {
    char open;
    Position where;
    std::size_t token;  ///< its place in the token list
  };

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Position here() const { return {line_, column_}; }

  void advance() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if (!is_continuation_byte(c)) {
      ++column_;
    }
  }
  void advance(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) advance();
  }

  /// From `where` to here; nothing that is on no line has an end.
  Position piece(Position where) const {
    const bool inside = where.line < line_ || where.column < column_;
    return inside ? Position{where.line, where.column, line_, column_} : where;
  }
  void emit(TokenKind kind, std::string text, Position where) {
    const bool visible = kind != TokenKind::newline && kind != TokenKind::indent && kind != TokenKind::dedent && kind != TokenKind::end;
    tokens_.push_back({kind, std::move(text), visible ? piece(where) : where});
  }

  void report(Position where, const std::string& message, const std::string& hint) {
    diagnostics_.add(ErrorCode::syntax, piece(where), message, hint);
    emit(TokenKind::error, "", where);
  }

  bool at_line_end() const { return peek() == '\n' || (peek() == '\r' && (peek(1) == '\n' || at_ + 1 == text_.size())); }
  void skip_comment() {
    while (at_ < text_.size() && !at_line_end()) advance();
  }

  void read_indentation() {
    std::size_t width = 0;
    bool tab = false;
    while (peek() == ' ' || peek() == '\t' || peek() == '\f') {
      tab = tab || peek() == '\t';
      ++width;
      advance();
    }
    if (peek() == '#') skip_comment();
    if (at_ >= text_.size()) return;
    if (at_line_end()) {
      while (peek() != '\n' && at_ < text_.size()) advance();
      if (at_ < text_.size()) advance();
      return;
    }
    line_start_ = false;
    if (tab)
      report({line_, 1}, "a tab in the indentation", "indent with spaces, four a level");
    else
      change_indentation(width);
  }

  void change_indentation(std::size_t width) {
    if (width > indents_.back()) {
      indents_.push_back(width);
      emit(TokenKind::indent, "", here());
      return;
    }
    while (width < indents_.back()) {
      const bool between = width > indents_[indents_.size() - 2];
      if (between) {
        indents_.back() = width;
        return report(here(), "this indentation matches no open block",
                      "align the line with a line of the block it belongs to");
      }
      indents_.pop_back();
      emit(TokenKind::dedent, "", here());
    }
  }

  void read_token() {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\f') return advance();
    if (c == '#') return skip_comment();
    if (at_line_end()) return end_line();
    if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) return advance(peek(1) == '\n' ? 2 : 3);
    if (!brackets_.empty() && column_ == 1 && starts_definition()) return close_lost_brackets();
    if (is_name_start(c)) return read_name();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number();
    if (c == '"' || c == '\'') return read_string();
    read_punctuation();
  }

  void end_line() {
    const Position where = here();
    while (at_ < text_.size() && peek() != '\n') advance();
    if (at_ < text_.size()) advance();
    if (!brackets_.empty()) return;
    emit(TokenKind::newline, "", where);
    line_start_ = true;
  }

  bool starts_definition() const { return peek() == '@' || text_.compare(at_, 4, "def ") == 0; }

  /// A definition in column 1 inside brackets: the bracket was forgotten. Without this, one bracket would swallow the file.
  void close_lost_brackets() {
    report_open_bracket();
    brackets_.clear();
    emit(TokenKind::newline, "", here());
    line_start_ = true;
  }
  void report_open_bracket() {
    const Bracket& bracket = brackets_.front();
    diagnostics_.add(ErrorCode::syntax, bracket.where, std::string("`") + bracket.open + "` is never closed",
                     std::string("write `") + (bracket.open == '(' ? ')' : bracket.open == '[' ? ']' : '}') + "` where it ends");
    tokens_[bracket.token].kind = TokenKind::error;
  }

  void read_name() {
    const Position where = here();
    const std::size_t start = at_;
    while (is_name_part(peek())) advance();
    const std::string name = text_.substr(start, at_ - start);
    if (name.size() > longest_name) return report(where, "a name of more than 200 characters", "choose a shorter name");
    if (peek() == '"' || peek() == '\'') {
      report(where, "string prefixes are not part of the tile language", "write a plain string");
      return;
    }
    emit(TokenKind::name, name, where);
  }

  std::string read_digits(bool (*accept)(char)) {
    std::string digits;
    while (accept(peek()) || (peek() == '_' && accept(peek(1)) && !digits.empty())) {
      if (peek() != '_') digits += peek();
      advance();
    }
    return digits;
  }

  void read_number() {
    const Position where = here();
    if (peek() == '0' && std::string_view("xXoObB").find(peek(1)) != std::string_view::npos && peek(1) != '\0')
      return read_based_integer(where);
    std::string digits = read_digits(is_digit);
    bool real = false;
    if (peek() == '.') {
      real = true;
      digits += '.';
      advance();
      digits += read_digits(is_digit);
    }
    if ((peek() == 'e' || peek() == 'E') && (is_digit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && is_digit(peek(2))))) {
      real = true;
      digits += 'e';
      advance();
      if (peek() == '+' || peek() == '-') {
        if (peek() == '-') digits += '-';
        advance();
      }
      digits += read_digits(is_digit);
    }
    if (is_name_start(peek()))
      return reject_number(where, "a letter right after a number", "put an operator or a space between them");
    if (real) return emit_real(digits, where);
    if (digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of('0') != std::string::npos)
      return report(where, "a decimal number with a leading zero", "drop the zero, or write 0o... for an octal number");
    emit_integer(digits, 10, where);
  }

  void reject_number(Position where, const std::string& message, const std::string& hint) {
    while (is_name_part(peek())) advance();
    report(where, message, hint);
  }

  void read_based_integer(Position where) {
    const char letter = static_cast<char>(peek(1) | 0x20);
    const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : 2;
    advance(2);
    if (peek() == '_') advance();
    const std::string digits =
        read_digits([](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); });
    std::uint64_t value = 0;
    const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error == std::errc::result_out_of_range)
      return reject_number(where, "this integer needs more than 64 bits", "use a smaller number");
    if (digits.empty() || last != digits.data() + digits.size() || is_name_part(peek()))
      return reject_number(where, "a malformed number",
                           "write digits of base " + std::to_string(base) + " after `0" + letter + "`, e.g. 0" + letter + (base == 16 ? "1f" : base == 8 ? "17" : "101"));
    push_integer(value, where);
  }

  void emit_integer(const std::string& digits, int base, Position where) {
    std::uint64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (result.ec == std::errc::result_out_of_range)
      return report(where, "this integer needs more than 64 bits", "use a smaller number, or a float literal such as 1e30");
    push_integer(value, where);
  }
  void push_integer(std::uint64_t value, Position where) {
    Token token{TokenKind::integer, std::to_string(value), piece(where)};
    token.integer = value;
    tokens_.push_back(std::move(token));
  }

  void emit_real(const std::string& digits, Position where) {
    double value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec == std::errc::result_out_of_range)
      return report(where, "this number is outside the range of f64", "use a number between 4.9e-324 and 1.8e308");
    Token token{TokenKind::real, digits, piece(where)};
    token.real = value;
    tokens_.push_back(std::move(token));
  }

  /// Triple-quoted strings may hold anything (docstrings); one-line strings printable ASCII without escapes.
  void read_string() {
    const Position where = here();
    const char quote = peek();
    if (peek(1) == quote && peek(2) == quote) return read_long_string(where, quote);
    advance();
    std::string value;
    while (at_ < text_.size() && peek() != quote && !at_line_end()) {
      const char c = peek();
      if (c == '\\' || c < 0x20 || c > 0x7E) {
        reject_string(quote);
        return report(where, "escapes and characters beyond ASCII are not allowed in strings",
                      "use plain letters, digits and signs");
      }
      value += c;
      advance();
    }
    if (peek() != quote || at_ >= text_.size())
      return report(where, "the string is never closed", std::string("end it with ") + quote);
    advance();
    emit(TokenKind::string, value, where);
  }
  void reject_string(char quote) {
    while (at_ < text_.size() && peek() != quote && !at_line_end()) advance();
    if (peek() == quote) advance();
  }
  void read_long_string(Position where, char quote) {
    const std::string mark(3, quote);
    const std::size_t close = text_.find(mark, at_ + 3);
    if (close == std::string::npos) {
      advance(text_.size() - at_);
      return report(where, "the string is never closed", "end it with " + mark);
    }
    advance(close + 3 - at_);
    emit(TokenKind::string, "", where);
  }

  void read_punctuation() {
    const Position where = here();
    for (const std::string_view spelling : long_punctuation) {
      if (text_.compare(at_, spelling.size(), spelling) != 0) continue;
      advance(spelling.size());
      return emit(TokenKind::punctuation, std::string(spelling), where);
    }
    const char c = peek();
    if (c == '\0' || short_punctuation.find(c) == std::string_view::npos) return reject_character(where);
    if (c == '(' || c == '[' || c == '{') brackets_.push_back({c, where, tokens_.size()});
    if ((c == ')' || c == ']' || c == '}') && !close_bracket(c, where)) return;
    advance();
    emit(TokenKind::punctuation, std::string(1, c), where);
  }

  bool close_bracket(char c, Position where) {
    const char open = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (!brackets_.empty() && brackets_.back().open == open) {
      brackets_.pop_back();
      return true;
    }
    advance();
    if (brackets_.empty()) {
      report(where, std::string("`") + c + "` closes nothing", "remove it, or open a bracket before it");
      return false;
    }
    const Bracket bracket = brackets_.back();
    brackets_.pop_back();
    report(where,
           std::string("`") + c + "` does not close the `" + bracket.open + "` of line " + std::to_string(bracket.where.line),
           "brackets close in the reverse order of their opening");
    return false;
  }

  void reject_character(Position where) {
    const auto byte = static_cast<unsigned char>(peek());
    const std::size_t start = at_;
    advance();
    while (at_ < text_.size() && is_continuation_byte(peek())) advance();
    const std::string character = text_.substr(start, at_ - start);
    const std::string meant = ascii_lookalike(character);
    std::string shown = "`" + character + "`";
    if (byte <= 0x20 || byte == 0x7F || (byte >= 0x80 && meant.empty())) {
      char buffer[16];
      std::snprintf(buffer, sizeof buffer, "0x%02X", byte);
      shown = std::string("the byte ") + buffer;
    }
    const std::string hint = byte == '?'     ? "write `value if condition else other`"
                             : meant.empty() ? "remove it"
                                             : "write " + (meant == "a blank" ? meant : "`" + meant + "`") + " instead";
    report(where, shown + " is not part of the tile language", hint);
  }

  void finish() {
    const Position where = here();
    if (!brackets_.empty()) report_open_bracket();
    if (!tokens_.empty() && !line_start_) emit(TokenKind::newline, "", where);
    for (std::size_t i = 1; i < indents_.size(); ++i) emit(TokenKind::dedent, "", where);
    emit(TokenKind::end, "", where);
  }

  const std::string& text_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> indents_ = {0};
  std::vector<Bracket> brackets_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  bool line_start_ = true;
};

}  // namespace

std::vector<Token> tokenize(const std::string& text, Diagnostics& diagnostics) { return Lexer(text, diagnostics).run(); }

}  // namespace tileopt::tile_text
