/// Typed access to the entries of an Ast's document: every error names the path of the entry, "body[0].for.lower".
#pragma once

#include <string>
#include <vector>

#include "ir/ast.h"
#include "support/document.h"
#include "support/error.h"

namespace tileopt {

/// One node of a document together with the way to it. All readers throw Errors(invalid_dump).
class Field {
 public:
  Field(const Document& value, std::string path, const std::string& file) : value_(&value), path_(std::move(path)), file_(&file) {}

  const std::string& path() const { return path_; }
  const std::string& file() const { return *file_; }
  [[noreturn]] void fail(const std::string& message) const {
    throw Errors(Diagnostic{ErrorCode::invalid_dump, SourceLocation{*file_, 0, 0}, "entry `" + path_ + "`: " + message,
                            "compare the entry with a freshly written dump (docs/dumps.md)", ""});
  }

  bool has(const std::string& key) const { return value_->is_object() && value_->contains(key); }
  Field operator[](const std::string& key) const {
    const std::string below = path_.empty() ? key : path_ + "." + key;
    if (!value_->is_object()) fail("expected a mapping");
    if (!value_->contains(key)) Field(*value_, below, *file_).fail("missing");
    return Field((*value_)[key], below, *file_);
  }
  /// Refuses keys that no writer of ours gives: a misspelt optional entry would be dropped silently.
  void allow_only(const std::vector<std::string>& keys) const {
    if (!value_->is_object()) fail("expected a mapping");
    for (const auto& [key, unused] : value_->items()) {
      bool known = false;
      for (const std::string& allowed : keys) known = known || allowed == key;
      if (!known) fail("unknown key `" + key + "`");
    }
  }
  std::vector<Field> items() const {
    if (!value_->is_array()) fail("expected a list");
    std::vector<Field> fields;
    for (std::size_t i = 0; i < value_->size(); ++i)
      fields.emplace_back((*value_)[i], path_ + "[" + std::to_string(i) + "]", *file_);
    return fields;
  }
  std::string text() const {
    if (!value_->is_string()) fail("expected text");
    return value_->get<std::string>();
  }
  /// A C-like identifier.
  std::string name() const {
    const std::string word = text();
    bool good = !word.empty() && !(word[0] >= '0' && word[0] <= '9');
    for (const char c : word) good = good && (c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
    if (!good) fail("expected a name, got `" + word + "`");
    return word;
  }
  long integer() const {
    if (!value_->is_number_integer() || (value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX))
      fail("expected an integer");
    return value_->get<long>();
  }
  bool boolean() const {
    if (!value_->is_boolean()) fail("expected true or false");
    return value_->get<bool>();
  }
  AstExprPtr expr() const {
    if (value_->is_number_integer()) return ast_integer(integer());
    try {
      return parse_ast_expr(text(), *file_);
    } catch (const Errors& error) {
      fail(error.diagnostics().front().message);
    }
  }
  std::vector<AstExprPtr> exprs() const {
    std::vector<AstExprPtr> result;
    for (const Field& item : items()) result.push_back(item.expr());
    return result;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const Field& item : items()) result.push_back(item.name());
    return result;
  }
  std::vector<long> integers() const {
    std::vector<long> result;
    for (const Field& item : items()) result.push_back(item.integer());
    return result;
  }
  std::vector<std::vector<long>> matrix() const {
    std::vector<std::vector<long>> result;
    for (const Field& item : items()) result.push_back(item.integers());
    return result;
  }

 private:
  const Document* value_;
  std::string path_;
  const std::string* file_;
};

/// Array::read with the array's place in a larger document.
Array read_array(const Field& field);

}  // namespace tileopt
