#include "support/document_reader.h"

#include <algorithm>
#include <numeric>

#include "support/text.h"

namespace tileopt {
namespace {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

std::string kind_of(const Document& node) {
  if (node.is_null()) return "nothing";
  if (node.is_boolean()) return "a truth value";
  if (node.is_number_integer()) return "an integer";
  if (node.is_number()) return "a number";
  if (node.is_string()) return "text";
  return node.is_array() ? "a list" : "an object";
}

}  // namespace

std::string nearest_name(const std::string& name, const std::vector<std::string>& known) {
  if (name.size() > 100) return "";
  std::string best;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

void DocumentReader::fail(const std::string& message, const std::string& hint) const {
  Diagnostic diagnostic;
  diagnostic.code = code_;
  diagnostic.where.file = file_;
  diagnostic.message = (path_.empty() ? "" : "`" + path_ + "`: ") + message;
  diagnostic.hint = hint;
  throw Errors(std::move(diagnostic));
}

void DocumentReader::expect_object(const std::vector<std::string>& known) const {
  if (!node_->is_object()) fail("expected an object, found " + kind_of(*node_), "the keys are " + join(known, ", "));
  for (auto item = node_->begin(); item != node_->end(); ++item) {
    if (contains(known, item.key())) continue;
    const std::string near = nearest_name(item.key(), known);
    fail("unknown key `" + item.key() + "`", near.empty() ? "the keys are " + join(known, ", ") : "did you mean `" + near + "`?");
  }
}

std::vector<std::pair<std::string, DocumentReader>> DocumentReader::entries() const {
  if (!node_->is_object()) fail("expected an object, found " + kind_of(*node_), "write `{ name: value }`");
  std::vector<std::pair<std::string, DocumentReader>> result;
  for (auto item = node_->begin(); item != node_->end(); ++item) result.emplace_back(item.key(), at(item.key()));
  return result;
}

std::vector<DocumentReader> DocumentReader::items() const {
  if (!node_->is_array()) fail("expected a list, found " + kind_of(*node_), "write `[a, b]`");
  std::vector<DocumentReader> result;
  for (std::size_t i = 0; i < node_->size(); ++i) {
    result.emplace_back((*node_)[i], file_, code_, path_ + "[" + std::to_string(i) + "]");
  }
  return result;
}

bool DocumentReader::has(const std::string& key) const { return node_->is_object() && node_->contains(key); }

DocumentReader DocumentReader::at(const std::string& key) const {
  if (!has(key)) fail("the entry `" + key + "` is missing", "add `" + key + "`");
  return DocumentReader(node_->at(key), file_, code_, path_.empty() ? key : path_ + "." + key);
}

std::string DocumentReader::text() const {
  if (!node_->is_string()) fail("expected text, found " + kind_of(*node_), "quote the value");
  return node_->get<std::string>();
}

bool DocumentReader::flag() const {
  if (!node_->is_boolean()) fail("expected true or false, found " + kind_of(*node_), "write `true` or `false`");
  return node_->get<bool>();
}

double DocumentReader::number() const {
  if (!node_->is_number()) fail("expected a number, found " + kind_of(*node_), "write a number without quotes");
  return node_->get<double>();
}

long DocumentReader::integer(long least, long most) const {
  if (!node_->is_number_integer()) fail("expected an integer, found " + kind_of(*node_), "write an integer without quotes");
  const bool too_large = node_->is_number_unsigned() && node_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
  const long value = too_large ? INT64_MAX : node_->get<std::int64_t>();
  if (too_large || value < least || value > most) {
    fail("the value " + node_->dump() + " is out of range",
         "it must lie between " + std::to_string(least) + " and " + std::to_string(most));
  }
  return value;
}

std::vector<std::string> DocumentReader::texts() const {
  std::vector<std::string> result;
  for (const DocumentReader& item : items()) result.push_back(item.text());
  return result;
}

}  // namespace tileopt
