/// Which handles are alive. What a host holds is no address but a number: place in a table, generation, kind. So a handle that was freed,
/// that belongs to another type or that never was one is told apart without touching memory (docs/decisions/025).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tileopt::capi {

enum class Kind : std::uint8_t { session = 1, machine, builder, expr, program, options, module, kernel, error, space };
/// "tileopt_session", ...
const char* kind_name(Kind kind);

/// What stands behind the handles of one type; specialised in handles.h.
template <class Handle>
struct Behind;

class Registry {
 public:
  /// Never destroyed: hosts may free handles while they exit.
  static Registry& instance();

  /// A new handle; it keeps `object` alive until it is erased. @throws std::bad_alloc.
  void* insert(Kind kind, std::shared_ptr<void> object);
  /// Null where `handle` is not alive, or of another kind.
  std::shared_ptr<void> find(Kind kind, const void* handle) const;
  /// Takes the handle out; null as above. The object dies with its last user.
  std::shared_ptr<void> erase(Kind kind, const void* handle);
  std::size_t live() const;

 private:
  Registry();
  struct State;
  State* state_;
};

/// The object behind a handle, or null.
template <class Handle>
std::shared_ptr<typename Behind<Handle>::Object> find(const Handle* handle) {
  return std::static_pointer_cast<typename Behind<Handle>::Object>(Registry::instance().find(Behind<Handle>::kind, handle));
}

template <class Handle>
Handle* insert(std::shared_ptr<typename Behind<Handle>::Object> object) {
  return static_cast<Handle*>(Registry::instance().insert(Behind<Handle>::kind, std::move(object)));
}

/// For `_free`: nothing happens where the handle is not alive. noexcept, so that nothing leaves.
template <class Handle>
void erase(Handle* handle) noexcept {
  try {
    Registry::instance().erase(Behind<Handle>::kind, handle);
  } catch (...) {
  }
}

}  // namespace tileopt::capi
