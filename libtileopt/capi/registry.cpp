#include "capi/registry.h"

#include <deque>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <utility>

namespace tileopt::capi {

namespace {

/// A handle's bits: 32 of generation, 24 of place, 4 of kind, then a mark in the low bits that no aligned address has.
constexpr std::uint64_t mark = 0b0101;
constexpr std::uint32_t most_places = 1u << 24;
/// Places are reused only when so many are free, so that a generation comes back late.
constexpr std::size_t resting = 1024;

static_assert(sizeof(void*) == 8, "handles need 64 bits");

struct Place {
  std::uint32_t generation = 1;
  Kind kind = Kind::session;
  std::shared_ptr<void> object;
};

void* encode(std::uint32_t generation, std::uint32_t place, Kind kind) {
  const std::uint64_t bits = std::uint64_t(generation) << 32 | std::uint64_t(place) << 8 | std::uint64_t(kind) << 4 | mark;
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(bits));
}

}  // namespace

struct Registry::State {
  mutable std::shared_mutex mutex;
  std::deque<Place> places;
  std::deque<std::uint32_t> free;
  std::size_t live = 0;

  static std::uint32_t number_of(const void* handle) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle)) >> 8) & (most_places - 1);
  }
  Place* place_of(Kind kind, const void* handle) {
    const auto bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
    const std::uint32_t at = number_of(handle);
    if ((bits & 0xf) != mark || ((bits >> 4) & 0xf) != std::uint64_t(kind) || at >= places.size()) return nullptr;
    Place& place = places[at];
    return place.object != nullptr && place.kind == kind && place.generation == bits >> 32 ? &place : nullptr;
  }
};

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::session: return "tileopt_session";
    case Kind::machine: return "tileopt_machine";
    case Kind::builder: return "tileopt_builder";
    case Kind::expr: return "tileopt_expr";
    case Kind::program: return "tileopt_program";
    case Kind::options: return "tileopt_options";
    case Kind::module: return "tileopt_module";
    case Kind::kernel: return "tileopt_kernel";
    case Kind::error: return "tileopt_error";
    case Kind::space: return "tileopt_space";
  }
  return "?";
}

Registry& Registry::instance() {
  static Registry* const registry = new Registry;
  return *registry;
}

Registry::Registry() : state_(new State) {}

void* Registry::insert(Kind kind, std::shared_ptr<void> object) {
  const std::unique_lock lock(state_->mutex);
  std::uint32_t at;
  if (state_->free.size() > resting || (state_->places.size() >= most_places && !state_->free.empty())) {
    at = state_->free.front();
    state_->free.pop_front();
  } else {
    if (state_->places.size() >= most_places) throw std::bad_alloc();
    at = static_cast<std::uint32_t>(state_->places.size());
    state_->places.emplace_back();
  }
  Place& place = state_->places[at];
  place.kind = kind;
  place.object = std::move(object);
  ++state_->live;
  return encode(place.generation, at, kind);
}

std::shared_ptr<void> Registry::find(Kind kind, const void* handle) const {
  const std::shared_lock lock(state_->mutex);
  const Place* place = state_->place_of(kind, handle);
  return place == nullptr ? nullptr : place->object;
}

std::shared_ptr<void> Registry::erase(Kind kind, const void* handle) {
  const std::unique_lock lock(state_->mutex);
  Place* place = state_->place_of(kind, handle);
  if (place == nullptr) return nullptr;
  state_->free.push_back(State::number_of(handle));
  std::shared_ptr<void> object = std::move(place->object);
  place->object = nullptr;
  if (++place->generation == 0) place->generation = 1;
  --state_->live;
  return object;
}

std::size_t Registry::live() const {
  const std::shared_lock lock(state_->mutex);
  return state_->live;
}

}  // namespace tileopt::capi
