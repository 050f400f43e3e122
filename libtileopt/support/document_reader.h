/// Strict reading of Documents: every entry typed, unknown keys refused with the nearest known one as a hint,
/// every message with the path of the entry ("kernels[0].digits.i[2].radix").
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/document.h"
#include "support/error.h"

namespace tileopt {

/// The name among `known` closest to `name` by edit distance, or "" where none is near.
std::string nearest_name(const std::string& name, const std::vector<std::string>& known);

/// One node of a document with its path. References the document: keep that alive.
class DocumentReader {
 public:
  DocumentReader(const Document& node, std::string file, ErrorCode code, std::string path = "")
      : node_(&node), file_(std::move(file)), path_(std::move(path)), code_(code) {}

  /// Throws Errors about this node.
  [[noreturn]] void fail(const std::string& message, const std::string& hint) const;

  const Document& node() const { return *node_; }
  const std::string& path() const { return path_; }

  /// Requires an object that has only the keys `known`.
  void expect_object(const std::vector<std::string>& known) const;
  /// Requires an object; any keys. Entries in document order.
  std::vector<std::pair<std::string, DocumentReader>> entries() const;
  /// Requires an array.
  std::vector<DocumentReader> items() const;

  bool has(const std::string& key) const;
  DocumentReader at(const std::string& key) const;  ///< the entry must exist

  std::string text() const;
  bool flag() const;
  double number() const;
  long integer(long least, long most) const;
  std::vector<std::string> texts() const;  ///< array of strings

  std::string text(const std::string& key) const { return at(key).text(); }
  std::string text(const std::string& key, const std::string& otherwise) const { return has(key) ? at(key).text() : otherwise; }
  long integer(const std::string& key, long least, long most) const { return at(key).integer(least, most); }

 private:
  const Document* node_;
  std::string file_;
  std::string path_;
  ErrorCode code_;
};

}  // namespace tileopt
