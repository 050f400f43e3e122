/// to_yaml: block style, deterministic. Arrays that fit on a line are written in flow style, so tables of digits read as tables;
/// text with newlines becomes a literal block.
#include <algorithm>

#include "support/document.h"
#include "support/error.h"
#include "support/yaml_scalar.h"

namespace tileopt {
namespace {

constexpr std::size_t kLineWidth = 120;
constexpr int kFlowDepth = 3;

/// Length of the UTF-8 sequence at `i`, its code point in `point`; 0 where it is malformed (overlong, surrogate, cut off).
std::size_t decode_utf8(const std::string& text, std::size_t i, unsigned& point) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
  const unsigned lead = byte(i);
  if (lead < 0x80) {
    point = lead;
    return 1;
  }
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  point = lead & (0xFFu >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
    point = point << 6 | (byte(i + k) & 0x3F);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return overlong || surrogate || point > 0x10FFFF ? 0 : length;
}

/// True for characters that YAML carries unescaped and that no reader takes for a line break or a byte-order mark.
bool is_printable(unsigned point) {
  if (point < 0x20) return false;
  if (point >= 0x7F && point < 0xA0) return false;
  return point != 0x2028 && point != 0x2029 && point != 0xFEFF && (point & 0xFFFE) != 0xFFFE;
}

std::string hex(unsigned value, int digits) {
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += "0123456789ABCDEF"[value >> shift & 15];
  return text;
}

std::string escape(unsigned point) {
  switch (point) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    case '"': return "\\\"";
    case '\\': return "\\\\";
  }
  if (point < 0x100) return "\\x" + hex(point, 2);
  return point < 0x10000 ? "\\u" + hex(point, 4) : "\\U" + hex(point, 8);
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (std::size_t i = 0; i < text.size();) {
    unsigned point = 0;
    const std::size_t length = decode_utf8(text, i, point);
    if (length == 0) {
      throw Errors(Diagnostic{ErrorCode::unsupported, SourceLocation(), "the text holds bytes that are not UTF-8",
                              "save the source file as UTF-8", ""});
    }
    if (is_printable(point) && point != '"' && point != '\\') result.append(text, i, length);
    else result += escape(point);
    i += length;
  }
  return result + "\"";
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Words that other YAML readers take for booleans or null.
bool is_reserved_word(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  for (const char* word : {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}) {
    if (text == word) return true;
  }
  return false;
}

/// Plain where no reader could see anything but this string, in block and in flow context.
bool may_be_plain(const std::string& text) {
  if (text.empty() || !(is_letter(text[0]) || text[0] == '_') || text.back() == ' ') return false;
  for (const char c : text) {
    const bool safe = is_letter(c) || (c >= '0' && c <= '9') || std::string(" _-./()+*=<>;|").find(c) != std::string::npos;
    if (!safe) return false;
  }
  return !is_reserved_word(text);
}

std::string string_text(const std::string& text) { return may_be_plain(text) ? text : quoted(text); }

/// Literal blocks keep every byte except what chomping and indentation detection would touch.
bool may_be_literal(const std::string& text) {
  if (text.find('\n') == std::string::npos || text.front() == '\n' || text.front() == ' ') return false;
  if (text.size() > 1 && text.back() == '\n' && text[text.size() - 2] == '\n') return false;
  for (std::size_t i = 0; i < text.size();) {
    unsigned point = 0;
    const std::size_t length = decode_utf8(text, i, point);
    if (length == 0 || !(is_printable(point) || point == '\n')) return false;
    if (point == '\n' && i > 0 && text[i - 1] == ' ') return false;
    i += length;
  }
  return text.back() != ' ';
}

bool is_literal(const Document& node) { return node.is_string() && may_be_literal(node.get_ref<const std::string&>()); }

std::string scalar_text(const Document& node) {
  if (node.is_string()) return string_text(node.get_ref<const std::string&>());
  if (node.is_number_float()) return yaml_float(node.get<double>());
  TILEOPT_CHECK(!node.is_binary() && !node.is_discarded(), "not a value of a document");
  return node.dump();
}

/// One-line text of `node`, or "" where it has none within `width` characters.
std::string flow_text(const Document& node, std::size_t width, int depth) {
  if (!node.is_structured()) {
    if (is_literal(node)) return "";
    std::string text = scalar_text(node);
    return text.size() <= width ? text : "";
  }
  if (node.size() > width / 2) return "";
  if (node.empty()) return node.is_array() ? "[]" : "{}";
  if (depth == 0) return "";
  std::string text(1, node.is_array() ? '[' : '{');
  for (auto item = node.begin(); item != node.end(); ++item) {
    const std::string value = flow_text(*item, width, depth - 1);
    if (value.empty()) return "";
    if (text.size() > 1) text += ", ";
    if (node.is_object()) text += string_text(item.key()) + ": ";
    text += value;
    if (text.size() >= width) return "";
  }
  return text + (node.is_array() ? ']' : '}');
}

class Writer {
 public:
  std::string run(const Document& document) {
    if (document.is_structured() && !document.empty()) {
      write_block(document, 0);
    } else if (document.is_structured()) {
      text_ += document.is_array() ? "[]\n" : "{}\n";
    } else {
      text_ += scalar_text(document) + "\n";
    }
    return std::move(text_);
  }

 private:
  void write_block(const Document& node, std::size_t indent) {
    bool first = true;
    for (auto item = node.begin(); item != node.end(); ++item) {
      if (!(first && continues_line_)) text_.append(indent, ' ');
      continues_line_ = false;
      first = false;
      if (node.is_array()) {
        text_ += "-";
        write_item(*item, indent);
      } else {
        text_ += string_text(item.key()) + ":";
        write_value(*item, indent);
      }
    }
  }

  /// After "-": objects start on the same line, two columns in.
  void write_item(const Document& node, std::size_t indent) {
    const std::string flow = flow_text(node, kLineWidth - std::min(indent + 2, kLineWidth - 20), kFlowDepth);
    if (!flow.empty()) {
      append_line(flow);
    } else if (node.is_structured()) {
      text_ += " ";
      continues_line_ = true;
      write_block(node, indent + 2);
    } else {
      write_long_scalar(node, indent);
    }
  }

  /// After "key:".
  void write_value(const Document& node, std::size_t indent) {
    const bool flow_wanted = !node.is_object() || node.empty();
    const std::size_t used = std::min(text_.size() - (text_.rfind('\n') + 1), kLineWidth - 20);
    const std::string flow = flow_wanted ? flow_text(node, kLineWidth - used, kFlowDepth) : "";
    if (!flow.empty()) {
      append_line(flow);
    } else if (node.is_structured()) {
      text_ += "\n";
      write_block(node, indent + 2);
    } else {
      write_long_scalar(node, indent);
    }
  }

  void append_line(const std::string& value) {
    text_ += ' ';
    text_ += value;
    text_ += '\n';
  }

  void write_long_scalar(const Document& node, std::size_t indent) {
    if (!is_literal(node)) {
      append_line(scalar_text(node));
      return;
    }
    const std::string& value = node.get_ref<const std::string&>();
    text_ += value.back() == '\n' ? " |\n" : " |-\n";
    for (std::size_t start = 0; start < value.size();) {
      const std::size_t end = std::min(value.find('\n', start), value.size());
      if (end > start) text_.append(indent + 2, ' ').append(value, start, end - start);
      text_ += '\n';
      start = end + 1;
    }
  }

  std::string text_;
  bool continues_line_ = false;
};

}  // namespace

std::string to_yaml(const Document& document) { return Writer().run(document); }

}  // namespace tileopt
