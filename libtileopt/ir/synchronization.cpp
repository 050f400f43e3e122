#include "ir/synchronization.h"

#include <utility>

#include "ir/ast_fields.h"
#include "support/text.h"

namespace tileopt {

namespace {

constexpr long max_slots = 1024, max_arrivals = 1 << 20, max_bytes = 1L << 30;

const std::vector<std::pair<SyncKind, std::string>>& kinds() {
  static const std::vector<std::pair<SyncKind, std::string>> table = {
      {SyncKind::wait, "wait"},       {SyncKind::expect, "expect"},  {SyncKind::arrive, "arrive"},
      {SyncKind::release, "release"}, {SyncKind::commit, "commit"},  {SyncKind::await, "await"},
      {SyncKind::barrier, "barrier"}, {SyncKind::advance, "advance"}, {SyncKind::fence, "fence"},   {SyncKind::open, "open"}};
  return table;
}

const std::vector<std::pair<BarrierScope, std::string>>& scopes() {
  static const std::vector<std::pair<BarrierScope, std::string>> table = {{BarrierScope::none, "none"},
                                                                          {BarrierScope::warp, "warp"},
                                                                          {BarrierScope::named, "named"},
                                                                          {BarrierScope::block, "block"},
                                                                          {BarrierScope::mbarrier, "mbarrier"}};
  return table;
}

template <class Value>
std::string name_in(const std::vector<std::pair<Value, std::string>>& table, Value value) {
  for (const auto& [known, name] : table)
    if (known == value) return name;
  TILEOPT_CHECK(false, "a value without a name");
  return "";
}

template <class Value>
std::optional<Value> value_in(const std::vector<std::pair<Value, std::string>>& table, const std::string& name) {
  for (const auto& [value, known] : table)
    if (known == name) return value;
  return {};
}

template <class Value>
Value one_of(const Field& field, const std::vector<std::pair<Value, std::string>>& table) {
  const std::optional<Value> value = value_in(table, field.text());
  if (value) return *value;
  std::vector<std::string> names;
  for (const auto& [known, name] : table) names.push_back(name);
  field.fail("unknown value `" + field.text() + "`, expected one of " + join(names, ", "));
}

long between(const Field& field, long least, long most) {
  const long value = field.integer();
  if (value < least || value > most)
    field.fail("expected an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

/// A name, or nothing.
std::string optional_name(const Field& field) { return field.text().empty() ? "" : field.name(); }

}  // namespace

std::string sync_kind_name(SyncKind kind) { return name_in(kinds(), kind); }
std::optional<SyncKind> parse_sync_kind(const std::string& name) { return value_in(kinds(), name); }
std::string barrier_scope_name(BarrierScope scope) { return name_in(scopes(), scope); }
std::optional<BarrierScope> parse_barrier_scope(const std::string& name) { return value_in(scopes(), name); }

bool targets_barrier(SyncKind kind) { return !targets_pipe(kind) && kind != SyncKind::advance; }
bool targets_pipe(SyncKind kind) { return kind == SyncKind::commit || kind == SyncKind::await || kind == SyncKind::fence || kind == SyncKind::open; }

Document write_ring(const Ring& ring) { return {{"name", ring.name}, {"slots", ring.slots}}; }

Document write_barrier(const Barrier& barrier) {
  return {{"name", barrier.name},
          {"scope", barrier_scope_name(barrier.scope)},
          {"ring", barrier.ring},
          {"arrivals", barrier.arrivals}};
}

Document write_synchronization(const Synchronization& s) {
  return {{"name", s.name}, {"kind", sync_kind_name(s.kind)}, {"target", s.target},
          {"ring", s.ring}, {"elected", s.elected},           {"bytes", s.bytes}};
}

Ring read_ring(const Field& field) {
  field.allow_only({"name", "slots"});
  return {field["name"].name(), between(field["slots"], 1, max_slots)};
}

Barrier read_barrier(const Field& field) {
  field.allow_only({"name", "scope", "ring", "arrivals"});
  Barrier barrier;
  barrier.name = field["name"].name();
  barrier.scope = one_of(field["scope"], scopes());
  barrier.ring = optional_name(field["ring"]);
  if ((barrier.scope == BarrierScope::mbarrier) == barrier.ring.empty())
    field["ring"].fail("an mbarrier names the ring of its phases, other barriers name none");
  barrier.arrivals = between(field["arrivals"], barrier.scope == BarrierScope::mbarrier ? 1 : 0, max_arrivals);
  return barrier;
}

Synchronization read_synchronization(const Field& field) {
  field.allow_only({"name", "kind", "target", "ring", "elected", "bytes"});
  Synchronization s;
  s.name = field["name"].name();
  s.kind = one_of(field["kind"], kinds());
  s.target = field["target"].name();
  s.ring = optional_name(field["ring"]);
  s.elected = field["elected"].boolean();
  s.bytes = between(field["bytes"], 0, max_bytes);
  if (s.kind != SyncKind::expect && s.bytes != 0) field["bytes"].fail("only `expect` announces bytes");
  return s;
}

}  // namespace tileopt
