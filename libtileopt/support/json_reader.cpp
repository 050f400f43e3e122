/// parse_json: nlohmann's SAX events into a Document, with positions, a depth limit, and duplicate keys refused.
#include <algorithm>
#include <cstddef>
#include <iterator>

#include "support/document_builder.h"

namespace tileopt {
namespace {

/// Where the last consumed character lies. Counted along, since looking back for every event would be quadratic.
struct Position {
  int line = 1;
  int column = 0;
};

/// Advances a Position with the parser, so that events have positions.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* place, Position* position) : place_(place), position_(position) {}
  reference operator*() const { return *place_; }
  CountingIterator& operator++() {
    if (*place_ == '\n') *position_ = {position_->line + 1, 0};
    else ++position_->column;
    ++place_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.place_ == b.place_; }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return !(a == b); }

 private:
  const char* place_;
  Position* position_;
};

class Handler : public nlohmann::json_sax<Document> {
 public:
  Handler(const std::string& text, const std::string& file, const Position& position)
      : text_(text), file_(file), position_(position) {}

  bool null() override { return put(Document(nullptr)); }
  bool boolean(bool value) override { return put(Document(value)); }
  bool number_integer(number_integer_t value) override { return put(Document(value)); }
  bool number_unsigned(number_unsigned_t value) override { return put(Document(value)); }
  bool number_float(number_float_t value, const string_t& text) override {
    if (text.find_first_of(".eE") == std::string::npos) {
      fail("the number `" + text + "` does not fit 64 bits", "write it as text if it is no number");
    }
    return put(Document(value));
  }
  bool string(string_t& value) override { return put(Document(std::move(value))); }
  bool binary(binary_t&) override { return fail("binary data", "use text"); }
  bool start_object(std::size_t) override {
    builder_.begin_object(here());
    return true;
  }
  bool key(string_t& name) override {
    builder_.key(std::move(name), here());
    return true;
  }
  bool end_object() override { return end(); }
  bool start_array(std::size_t) override {
    builder_.begin_array(here());
    return true;
  }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t offset, const std::string&, const nlohmann::json::exception& error) override {
    fail_document(locate(offset), "malformed JSON: " + short_message(error.what()),
                  "compare the commas and brackets around this place");
  }

  Document take() { return builder_.take(); }

 private:
  SourceLocation here() const { return {file_, position_.line, std::max(position_.column, 1)}; }
  /// Errors are found after a look ahead, so they come with the count of characters that were really taken.
  SourceLocation locate(std::size_t taken) const {
    const std::size_t end = std::min(taken, text_.size());
    const std::size_t start = end == 0 ? std::string::npos : text_.rfind('\n', end - 1);
    const std::size_t column = start == std::string::npos ? end : end - start - 1;
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    return {file_, static_cast<int>(line), std::max(static_cast<int>(column), 1)};
  }
  bool put(Document value) {
    builder_.value(std::move(value));
    return true;
  }
  bool end() {
    builder_.end();
    return true;
  }
  bool fail(std::string message, std::string hint) const {
    fail_document(here(), std::move(message), std::move(hint));
  }
  /// Without nlohmann's own prefix, which repeats the position.
  static std::string short_message(const std::string& message) {
    const std::size_t dash = message.find(" - ");
    const std::size_t colon = message.find(": ");
    return dash != std::string::npos ? message.substr(dash + 3) : colon != std::string::npos ? message.substr(colon + 2) : message;
  }

  const std::string& text_;
  const std::string& file_;
  const Position& position_;
  DocumentBuilder builder_;
};

}  // namespace

Document parse_json(const std::string& text, const std::string& file) {
  check_document_size(text, file);
  Position position;
  Handler handler(text, file, position);
  const char* begin = text.data();
  Document::sax_parse(CountingIterator(begin, &position), CountingIterator(begin + text.size(), &position), &handler);
  return handler.take();
}

}  // namespace tileopt
