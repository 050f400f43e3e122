/// parse_yaml: yaml-cpp's events into a Document, scalars typed as the writer wrote them.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <sstream>

#include "support/document_builder.h"
#include "support/yaml_scalar.h"

namespace tileopt {
namespace {

SourceLocation location(const YAML::Mark& mark, const std::string& file) {
  return mark.is_null() ? SourceLocation{file, 0, 0} : SourceLocation{file, mark.line + 1, mark.column + 1};
}

class Handler : public YAML::EventHandler {
 public:
  explicit Handler(std::string file) : file_(std::move(file)) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail_document(location(mark, file_), "a second YAML document begins here", "keep one document in a file");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, "", anchor);
    put(mark, Document(nullptr), "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail_document(location(mark, file_), "YAML aliases are not read", "write the value out in place of the alias");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    check(mark, tag, anchor);
    bool too_large = false;
    std::optional<Document> typed;
    if (tag != "!") typed = plain_scalar_value(value, too_large);
    if (too_large) fail_document(location(mark, file_), "the number `" + value + "` does not fit 64 bits", "quote it if it is text");
    put(mark, typed ? std::move(*typed) : Document(value), value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    refuse_structured_key(mark);
    builder_.begin_array(location(mark, file_));
  }
  void OnSequenceEnd() override { builder_.end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    refuse_structured_key(mark);
    builder_.begin_object(location(mark, file_));
  }
  void OnMapEnd() override { builder_.end(); }

  Document take() { return builder_.take(); }

 private:
  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) fail_document(location(mark, file_), "YAML anchors are not read", "remove the anchor");
    if (!tag.empty() && tag != "?" && tag != "!") fail_document(location(mark, file_), "YAML tags are not read", "remove `" + tag + "`");
  }
  void refuse_structured_key(const YAML::Mark& mark) const {
    if (builder_.expects_key()) fail_document(location(mark, file_), "a key must be a plain name", "write `key: value`");
  }
  void put(const YAML::Mark& mark, Document value, const std::string& text) {
    if (builder_.expects_key()) builder_.key(value.is_string() ? value.get<std::string>() : text, location(mark, file_));
    else builder_.value(std::move(value));
  }

  std::string file_;
  DocumentBuilder builder_;
  int documents_ = 0;
};

}  // namespace

Document parse_yaml(const std::string& text, const std::string& file) {
  check_document_size(text, file);
  Handler handler(file);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const YAML::Exception& error) {
    fail_document(location(error.mark, file), "malformed YAML: " + error.msg, "compare the indentation and the quotes around this place");
  }
  return handler.take();
}

}  // namespace tileopt
