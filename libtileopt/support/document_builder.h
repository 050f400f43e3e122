/// Builds a Document from parser events (YAML and JSON alike), with the limits that keep hostile input harmless.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/document.h"
#include "support/error.h"

namespace tileopt {

inline constexpr std::size_t kMaxDocumentBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxDocumentDepth = 200;

/// Throws Errors(invalid_dump).
[[noreturn]] void fail_document(SourceLocation where, std::string message, std::string hint);

/// @throws Errors(invalid_dump) where `text` is larger than any document of ours could be.
void check_document_size(const std::string& text, const std::string& file);

class DocumentBuilder {
 public:
  void begin_object(const SourceLocation& where) { begin(Document::object(), where); }
  void begin_array(const SourceLocation& where) { begin(Document::array(), where); }
  void end();
  void key(std::string name, const SourceLocation& where);
  void value(Document value);
  bool inside_object() const { return !stack_.empty() && stack_.back().node.is_object(); }
  bool expects_key() const { return inside_object() && !stack_.back().has_key; }
  Document take() { return std::move(root_); }

 private:
  struct Level {
    Document node;
    std::string key;
    bool has_key = false;
    std::set<std::string> seen;  ///< keys: ordered_json would find them only linearly
  };
  void begin(Document node, const SourceLocation& where);

  std::vector<Level> stack_;
  Document root_;
};

}  // namespace tileopt
