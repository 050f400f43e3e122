#include "support/yaml_scalar.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace tileopt {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

enum class NumberShape { none, integer, real };

/// JSON's number grammar, so that `007`, `0x10`, `1_000` and `+1` stay strings.
NumberShape number_shape(const std::string& text) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t start = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i - start;
  };
  if (i < text.size() && text[i] == '-') ++i;
  const bool leading_zero = i < text.size() && text[i] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (leading_zero && whole > 1)) return NumberShape::none;
  if (i == text.size()) return NumberShape::integer;
  if (text[i] == '.') {
    ++i;
    if (digits() == 0) return NumberShape::none;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (digits() == 0) return NumberShape::none;
  }
  return i == text.size() ? NumberShape::real : NumberShape::none;
}

template <class Number>
std::optional<Document> convert(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return Document(number);
}

}  // namespace

std::optional<Document> plain_scalar_value(const std::string& text, bool& too_large) {
  too_large = false;
  if (text.empty() || text == "~" || text == "null") return Document(nullptr);
  if (text == "true") return Document(true);
  if (text == "false") return Document(false);
  if (text == ".inf") return Document(std::numeric_limits<double>::infinity());
  if (text == "-.inf") return Document(-std::numeric_limits<double>::infinity());
  if (text == ".nan") return Document(std::numeric_limits<double>::quiet_NaN());
  std::optional<Document> value;
  switch (number_shape(text)) {
    case NumberShape::none: return std::nullopt;
    case NumberShape::integer:
      value = text[0] == '-' ? convert<std::int64_t>(text) : convert<std::uint64_t>(text);
      break;
    case NumberShape::real: value = convert<double>(text); break;
  }
  too_large = !value;
  return value;
}

std::string yaml_float(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, result.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace tileopt
