#include "support/document_builder.h"

namespace tileopt {

void fail_document(SourceLocation where, std::string message, std::string hint) {
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::invalid_dump;
  diagnostic.where = std::move(where);
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  throw Errors(std::move(diagnostic));
}

void check_document_size(const std::string& text, const std::string& file) {
  if (text.size() <= kMaxDocumentBytes) return;
  fail_document({file, 0, 0},
                "the document has more than " + std::to_string(kMaxDocumentBytes) + " bytes", "split the file");
}

void DocumentBuilder::begin(Document node, const SourceLocation& where) {
  if (stack_.size() >= kMaxDocumentDepth) {
    fail_document(where, "nested deeper than " + std::to_string(kMaxDocumentDepth) + " levels",
                  "documents of tileopt are at most a dozen levels deep");
  }
  Level level;
  level.node = std::move(node);
  stack_.push_back(std::move(level));
}

void DocumentBuilder::end() {
  Document node = std::move(stack_.back().node);
  stack_.pop_back();
  value(std::move(node));
}

void DocumentBuilder::key(std::string name, const SourceLocation& where) {
  Level& level = stack_.back();
  if (!level.seen.insert(name).second) {
    fail_document(where, "the key `" + name + "` occurs twice", "remove one of the two entries");
  }
  level.key = std::move(name);
  level.has_key = true;
}

void DocumentBuilder::value(Document value) {
  if (stack_.empty()) {
    root_ = std::move(value);
    return;
  }
  Level& level = stack_.back();
  if (level.node.is_array()) {
    level.node.push_back(std::move(value));
    return;
  }
  // Appends without the linear search of operator[]; `key` has refused duplicates.
  level.node.get_ref<Document::object_t&>().Container::emplace_back(std::move(level.key), std::move(value));
  level.has_key = false;
}

}  // namespace tileopt
