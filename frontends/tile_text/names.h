/// Which names a program may use, and how names that the frontend makes up stay clear of them.
#pragma once

#include <set>
#include <string>

#include "frontends/tile_text/syntax.h"

namespace tileopt::tile_text {

/// Why `name` cannot name a size, tensor, iterator or function ("is a keyword of C", ...), or "".
/// Programs become C and isl text, so words with a meaning there are refused rather than renamed.
std::string reserved_reason(const std::string& name);
/// The same for functions, which also must not collide with what a C program links.
std::string reserved_function_reason(const std::string& name);

/// Makes up names: statements (the written tensor, then _2, _3, ...), tensors (the declared name, then _2, ...).
/// A made-up name never equals a name that occurs in the source.
class NameAllocator {
 public:
  explicit NameAllocator(const syntax::Function& function);
  std::string statement(const std::string& tensor);
  /// `base` + "_init" of a reduction statement.
  std::string init_statement(const std::string& base);
  std::string tensor(const std::string& declared);
  /// "<target>_<op>1", then 2, ...
  std::string reduction_tensor(const std::string& target, const std::string& op);
  /// `iterator`, or with _2, _3, ... when `used` holds it.
  std::string iterator(const std::string& iterator, const std::set<std::string>& used) const;
  /// `base`, or with _2, _3, ... when `used` or the source holds it: an index that has no name in the source.
  std::string symbol(const std::string& base, const std::set<std::string>& used) const;

 private:
  std::string take_numbered(const std::string& base, int first, const std::string& separator);
  std::set<std::string> taken_;  ///< source names and everything handed out
  std::set<std::string> statements_;
  std::set<std::string> tensors_;
};

}  // namespace tileopt::tile_text
