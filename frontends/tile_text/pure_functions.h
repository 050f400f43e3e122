/// Functions with a return type: helper functions and monoids. A call is replaced by the body, which is an expression over the
/// parameters: they have no loops, no tensors, no effects.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontends/tile_text/diagnostics.h"
#include "ir/program.h"

namespace tileopt::tile_text {

struct PureFunction {
  std::string name;
  syntax::Position where;
  std::vector<ElementType> parameters;
  ElementType returns = ElementType::f32;
  ExprPtr body;                          ///< over Read{i}, the parameters; null where an error was reported
  bool is_monoid = false;
  std::shared_ptr<const Monoid> monoid;  ///< null where an error was reported
};

/// Operations that one expression may hold once calls are replaced by bodies and locals by their values.
constexpr std::size_t largest_inlined = 10'000;

/// True for functions that are neither programs nor schedules.
bool is_pure(const syntax::Function& function);

class PureFunctions {
 public:
  /// Reads and checks all of `module`, which must outlive this.
  PureFunctions(isl::ctx ctx, const syntax::Module& module, Diagnostics& diagnostics);

  /// Null where there is no such function.
  const PureFunction* find(const std::string& name);
  std::optional<ElementType> result_type(const std::string& name) const;
  std::vector<std::string> names() const;
  /// Those that `function` calls, also through others, in source order.
  std::vector<const syntax::Function*> used_by(const syntax::Function& function) const;

 private:
  enum class Progress { unread, reading, done };
  struct Entry {
    PureFunction function;
    const syntax::Function* source;
    Progress progress = Progress::unread;
    bool sound = true;  ///< its head was read without errors
  };
  void read_head(Entry& entry);
  void read_decorators(Entry& entry);
  void read_body(Entry& entry);
  void read_monoid(Entry& entry);

  isl::ctx ctx_;
  Diagnostics& diagnostics_;
  std::vector<const syntax::Function*> sources_;
  std::map<std::string, Entry> entries_;
};

}  // namespace tileopt::tile_text
