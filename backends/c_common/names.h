/// C identifiers for the names of a program: valid, free of collisions, and the name itself wherever possible.
#pragma once

#include <map>
#include <set>
#include <string>

namespace tileopt {

/// True for keywords of C and C++, macros and types of the headers that generated code includes, and names kept for helpers.
bool is_reserved_in_c(const std::string& name);

/// Values (loop variables, sizes) and arrays are separate sets of names in an Ast but share one scope in C.
class CNames {
 public:
  /// Chooses an identifier on first use of a name; later calls give the same one.
  std::string declare_value(const std::string& name) { return declare(values_, name); }
  std::string declare_array(const std::string& name) { return declare(arrays_, name); }
  /// The identifier of value `key`, chosen from `base` on first use: for variables that the Ast does not name.
  std::string declare_value_as(const std::string& key, const std::string& base);
  /// A new identifier that starts with `base`, usable in expressions under the key that is returned.
  std::string fresh_value(const std::string& base);
  /// A new identifier that starts with `base`.
  std::string fresh(const std::string& base);

  bool has_value(const std::string& name) const { return values_.count(name) != 0; }
  bool has_array(const std::string& name) const { return arrays_.count(name) != 0; }
  /// @throws InternalError where the name was not declared.
  const std::string& value(const std::string& name) const;
  const std::string& array(const std::string& name) const;

 private:
  std::string declare(std::map<std::string, std::string>& table, const std::string& name);
  std::map<std::string, std::string> values_, arrays_;
  std::set<std::string> used_;
};

}  // namespace tileopt
