#include "capi/builder.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "frontends/tile_text/monoid_laws.h"
#include "frontends/tile_text/names.h"
#include "support/text.h"

namespace tileopt::capi {

namespace {

constexpr const char* builder_file = "<builder>";
constexpr std::size_t longest_name = 200;

bool is_identifier(const std::string& text) {
  if (text.empty() || text.size() > longest_name || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

std::string isl_message(isl::ctx ctx) {
  const char* text = isl_ctx_last_error_msg(ctx.get());
  return text == nullptr ? "" : std::string(": ") + text;
}

}  // namespace

BuilderObject::BuilderObject(std::shared_ptr<Session> owner) : session(std::move(owner)), context(session->context.get(), "{ : }") {}

const Tensor* BuilderObject::find_tensor(const std::string& tensor) const {
  for (const Tensor& t : tensors)
    if (t.name == tensor) return &t;
  return nullptr;
}
Statement* BuilderObject::find_statement(const std::string& statement) {
  for (Statement& s : statements)
    if (s.name == statement) return &s;
  return nullptr;
}
const Monoid* BuilderObject::find_monoid(const std::string& monoid) const {
  for (const Monoid& m : monoids)
    if (m.name == monoid) return &m;
  return nullptr;
}

SourceLocation BuilderObject::here() const { return {builder_file, static_cast<int>(log.size()) + 1, 1}; }
void BuilderObject::record(const std::string& call) { log.push_back(call); }
std::string BuilderObject::text() const {
  std::string all = "builder " + name + "\n";
  for (const std::string& line : log) all += line + "\n";
  return all;
}
SourceTexts BuilderObject::texts(const std::string& call) const {
  SourceTexts all;
  all.add(builder_file, join(log, "\n") + (log.empty() ? "" : "\n") + call);
  return all;
}

void BuilderObject::fail(ErrorCode code, const std::string& message, const std::string& hint, const std::string& witness) const {
  throw Errors(Diagnostic{code, here(), message, hint, witness});
}

bool BuilderObject::is_iterator(const std::string& given) const {
  return contains(open, given) || std::any_of(statements.begin(), statements.end(), [&](const Statement& s) { return contains(s.iterators, given); });
}

void BuilderObject::check_iterator(const std::string& given) const {
  check_name(given, "iterator");
  if (contains(parameters, given) || find_tensor(given) != nullptr)
    fail(ErrorCode::duplicate_name, "iterator `" + given + "` has the name of a parameter or of a tensor", "choose another name");
}

void BuilderObject::check_name(const std::string& given, const char* what) const {
  const std::string quoted = std::string(what) + " `" + given + "`";
  if (!is_identifier(given)) fail(ErrorCode::syntax, quoted + " is no name", "names are letters, digits and `_`, not starting with a digit");
  const std::string reserved = tile_text::reserved_reason(given);
  if (!reserved.empty()) fail(ErrorCode::duplicate_name, quoted + " " + reserved, "choose another name");
}

ElementType BuilderObject::read_type(const std::string& given, bool tuples) const {
  if (const auto type = parse_type(given)) return *type;
  const std::string front = "tuple[";
  if (tuples && given.starts_with(front) && given.ends_with("]")) {
    std::vector<ElementType> components;
    std::string inside = given.substr(front.size(), given.size() - front.size() - 1);
    for (std::size_t start = 0; start <= inside.size();) {
      const std::size_t end = std::min(inside.find(',', start), inside.size());
      std::string part = inside.substr(start, end - start);
      part.erase(0, std::min(part.find_first_not_of(' '), part.size()));
      part.erase(part.find_last_not_of(' ') + 1);
      const auto component = parse_type(part);
      if (!component || is_tuple(*component)) break;
      components.push_back(*component);
      start = end + 1;
      if (end == inside.size() && components.size() >= 2 && components.size() <= most_tuple_components) return tuple_type(components);
    }
  }
  fail(ErrorCode::unknown_name, "there is no type `" + given + "`" + (tuples ? "" : " here"), tuples ? "types are f32, bf16, i64, ..., and tuple[f32, i64]" : "types are f64, f32, f16, bf16, i64, i32, ..., bool");
}

std::string BuilderObject::with_parameters(const std::string& given) const {
  const std::size_t first = given.find_first_not_of(" \t\n\r");
  if (first != std::string::npos && given[first] == '[') return given;
  return "[" + join(parameters, ", ") + "] -> " + given;
}

void BuilderObject::check_parameters(const isl::set& set, const char* what) const {
  for (const std::string& parameter : poly::parameters(set))
    if (!contains(parameters, parameter))
      fail(ErrorCode::unknown_name, std::string(what) + " names `" + parameter + "`, which is no parameter", "add it with tileopt_builder_add_parameter before");
}

isl::set BuilderObject::read_set(const std::string& given, const char* what) const {
  isl_set* const read = isl_set_read_from_str(ctx().get(), with_parameters(given).c_str());
  if (read == nullptr) fail(ErrorCode::syntax, std::string(what) + " is no isl set" + isl_message(ctx()), "write e.g. \"{ S[i,j] : 0 <= i < N and 0 <= j <= i }\"");
  const isl::set set = isl::manage(read);
  check_parameters(set, what);
  return set;
}

isl::map BuilderObject::read_map(const std::string& given, const char* what) const {
  isl_map* const read = isl_map_read_from_str(ctx().get(), with_parameters(given).c_str());
  if (read == nullptr) fail(ErrorCode::syntax, std::string(what) + " is no isl map" + isl_message(ctx()), "write e.g. \"{ S[i,j] -> A[i, j + 1] }\"");
  const isl::map map = isl::manage(read);
  check_parameters(map.domain(), what);
  return map;
}

isl::pw_aff BuilderObject::read_affine(const std::string& given, const char* what) const {
  const std::string whole = with_parameters("{ [(" + given + ")] }");
  isl_pw_aff* const read = given.find_first_of("{}[]:;") == std::string::npos ? isl_pw_aff_read_from_str(ctx().get(), whole.c_str()) : nullptr;
  if (read == nullptr)
    fail(ErrorCode::not_affine, std::string(what) + " `" + given + "` is no affine expression of the parameters" + isl_message(ctx()), "write e.g. \"2*N + 1\"");
  const isl::pw_aff value = isl::manage(read);
  check_parameters(value.domain(), what);
  return value;
}

namespace {

std::string quoted(const char* text) { return text == nullptr ? "NULL" : "\"" + std::string(text) + "\""; }

std::string tensor_call(const char* name, const char* type, tileopt_role role, size_t rank, const char* const* extents, const size_t* order,
                        const char* const* strides) {
  std::vector<std::string> parts;
  for (size_t d = 0; d < rank; ++d) parts.push_back(extents[d] == nullptr ? "NULL" : extents[d]);
  std::string call = "add_tensor(" + quoted(name) + ", " + quoted(type) + ", " + std::to_string(role) + ", [" + join(parts, ", ") + "]";
  if (order != nullptr) {
    parts.clear();
    for (size_t d = 0; d < rank; ++d) parts.push_back(std::to_string(order[d]));
    call += ", order [" + join(parts, ", ") + "]";
  }
  if (strides != nullptr) {
    parts.clear();
    for (size_t d = 0; d < rank; ++d) parts.push_back(strides[d] == nullptr ? "NULL" : strides[d]);
    call += ", strides [" + join(parts, ", ") + "]";
  }
  return call + ")";
}

constexpr size_t highest_rank = 16;

Layout read_layout(const BuilderObject& builder, const Tensor& tensor, const size_t* order, const char* const* strides) {
  Layout layout;
  const std::size_t rank = tensor.shape.size();
  if (tensor.role == TensorRole::local && (order != nullptr || strides != nullptr))
    builder.fail(ErrorCode::unsupported, "local `" + tensor.name + "` has a layout", "locals lie where the plan says: give NULL for order and strides");
  if (order != nullptr) {
    std::vector<std::size_t> sorted(order, order + rank);
    layout.order = sorted;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t d = 0; d < rank; ++d)
      if (sorted[d] != d) builder.fail(ErrorCode::shape_mismatch, "the order of `" + tensor.name + "` is no permutation of its dimensions", "list 0 to rank - 1, each once, the slowest first");
    if (std::is_sorted(layout.order.begin(), layout.order.end())) layout.order.clear();
  }
  for (std::size_t d = 0; strides != nullptr && d < rank; ++d) {
    need_pointer(strides[d], "strides[d]");
    layout.strides.push_back(builder.read_affine(strides[d], "a stride"));
  }
  const bool four_bits = tensor.type == ElementType::i4 || tensor.type == ElementType::u4;
  if (four_bits && tensor.role != TensorRole::local) {
    if (tensor.role != TensorRole::in || rank == 0 || order != nullptr || strides != nullptr)
      builder.fail(ErrorCode::unsupported, "`" + tensor.name + "` of 4-bit elements is written, scalar, or has a layout", "arrays of i4 and u4 are packed inputs, row by row");
    layout.packed = true;
  }
  return layout;
}

void add_tensor(BuilderObject& builder, const std::string& name, const std::string& type, tileopt_role role, size_t rank,
                const char* const* extents, const size_t* order, const char* const* strides) {
  builder.check_name(name, "tensor");
  if (builder.find_tensor(name) != nullptr || contains(builder.parameters, name) || builder.is_iterator(name) || name == builder.name)
    builder.fail(ErrorCode::duplicate_name, "`" + name + "` is taken", "choose another name for the tensor");
  if (role < TILEOPT_IN || role > TILEOPT_LOCAL) builder.fail(ErrorCode::invalid_option, "role " + std::to_string(role) + " of `" + name + "` is unknown", "give TILEOPT_IN, _OUT, _INOUT or _LOCAL");
  Tensor tensor;
  tensor.name = name;
  tensor.role = static_cast<TensorRole>(role);
  tensor.type = builder.read_type(type, tensor.role == TensorRole::local);
  tensor.where = builder.here();
  isl::set context = builder.context;
  for (size_t d = 0; d < rank; ++d) {
    need_pointer(extents[d], "extents[d]");
    tensor.shape.push_back(builder.read_affine(extents[d], "an extent"));
    const isl::pw_aff zero = tensor.shape.back().sub(tensor.shape.back());
    context = context.intersect(isl::manage(isl_pw_aff_ge_set(tensor.shape.back().copy(), zero.copy())).params());
  }
  if (context.is_empty()) builder.fail(ErrorCode::contradictory_assume, "no sizes give `" + name + "` extents of at least 0", "check the extents and the context");
  tensor.layout = read_layout(builder, tensor, order, strides);
  builder.context = context.coalesce();
  builder.tensors.push_back(std::move(tensor));
}

/// `text` of an isl object in one line, so that one call is one line.
std::string line_of(const char* text) {
  std::string line = quoted(text);
  for (char& c : line)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return line;
}

Nest& innermost(BuilderObject& builder) {
  Nest* nest = &builder.nest;
  for (std::size_t depth = 0; depth < builder.open.size(); ++depth) nest = &nest->children.back();
  return *nest;
}

bool yes_or_no(const BuilderObject& builder, const std::string& key, const std::string& value) {
  return parse_yes_or_no(value, "numerics `" + key + "`", builder.here());
}

void set_numerics(BuilderObject& builder, const std::string& key, const std::string& value) {
  Numerics& numerics = builder.numerics;
  if (key == "reassociate") numerics.reassociate = yes_or_no(builder, key, value);
  else if (key == "contract") numerics.contract = yes_or_no(builder, key, value);
  else if (key == "flush_subnormals") numerics.flush_subnormals = yes_or_no(builder, key, value);
  else if (key == "operand_rounding") {
    if (value == "none") {
      numerics.operand_rounding.reset();
      return;
    }
    const ElementType type = builder.read_type(value, false);
    if (!is_float(type)) builder.fail(ErrorCode::type_mismatch, "operands are rounded to a float type, not to `" + value + "`", "give bf16, f16, ..., or none");
    numerics.operand_rounding = type;
  } else if (key == "approx_ulp") {
    int ulp = -1;
    const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), ulp);
    if (failure != std::errc() || end != value.data() + value.size() || ulp < 0 || ulp > 1'000'000)
      builder.fail(ErrorCode::invalid_option, "numerics `approx_ulp`: `" + value + "` is no number from 0 to 1000000", "give units in the last place");
    numerics.approx_ulp = ulp;
  } else {
    builder.fail(ErrorCode::invalid_option, "unknown numerics `" + key + "`", "keys: reassociate, contract, flush_subnormals, operand_rounding, approx_ulp");
  }
}

}  // namespace
}  // namespace tileopt::capi

using namespace tileopt::capi;
using tileopt::ErrorCode;

extern "C" {

tileopt_error* tileopt_builder_create(tileopt_session* session, const char* name, tileopt_builder** out_builder) {
  return guard([&] {
    const auto object = need(session, "session");
    need_pointer(name, "name");
    need_pointer(out_builder, "out_builder");
    in_session(*object, [&] {
      auto builder = std::make_unique<BuilderObject>(object);
      const std::string given = name;
      if (!is_identifier(given)) reject(ErrorCode::syntax, "program `" + given + "` is no name", "names are letters, digits and `_`, not starting with a digit");
      const std::string reserved = tileopt::tile_text::reserved_function_reason(given);
      if (!reserved.empty()) reject(ErrorCode::duplicate_name, "program `" + given + "` " + reserved, "choose another name");
      builder->name = given;
      *out_builder = insert<tileopt_builder>(owned(object, std::move(builder)));
    });
  });
}
void tileopt_builder_free(tileopt_builder* builder) { erase(builder); }

tileopt_error* tileopt_builder_add_parameter(tileopt_builder* builder, const char* name) {
  const std::string call = "add_parameter(" + quoted(name) + ")";
  return building(builder, call, [&](const std::shared_ptr<BuilderObject>& b) {
    need_pointer(name, "name");
    b->check_name(name, "parameter");
    if (tileopt::contains(b->parameters, name) || b->find_tensor(name) != nullptr || b->is_iterator(name) || b->name == name)
      b->fail(ErrorCode::duplicate_name, std::string("`") + name + "` is taken", "choose another name for the parameter");
    b->parameters.push_back(name);
    b->record(call);
  });
}

tileopt_error* tileopt_builder_add_context(tileopt_builder* builder, const char* context) {
  const std::string call = "add_context(" + line_of(context) + ")";
  return building(builder, call, [&](const std::shared_ptr<BuilderObject>& b) {
    need_pointer(context, "context");
    const isl::set set = b->read_set(context, "the context");
    if (isl_set_is_params(set.get()) != isl_bool_true) b->fail(ErrorCode::syntax, "the context has a tuple", "write conditions on parameters alone: \"{ : N >= 1 }\"");
    const isl::set both = b->context.intersect(set).coalesce();
    if (both.is_empty()) b->fail(ErrorCode::contradictory_assume, "no sizes satisfy the context", "take out the condition that contradicts the others");
    b->context = both;
    b->record(call);
  });
}

tileopt_error* tileopt_builder_add_tensor(tileopt_builder* builder, const char* name, const char* type, tileopt_role role, size_t rank,
                                          const char* const* extents, const size_t* order, const char* const* strides) {
  const bool readable = rank <= highest_rank && (rank == 0 || extents != nullptr);
  const std::string call = readable ? tensor_call(name, type, role, rank, extents, order, strides) : "add_tensor(" + quoted(name) + ", ...)";
  return building(builder, call, [&](const std::shared_ptr<BuilderObject>& b) {
    need_pointer(name, "name");
    need_pointer(type, "type");
    if (rank > highest_rank) b->fail(ErrorCode::unsupported, std::string("`") + name + "` has rank " + std::to_string(rank), "ranks go up to 16");
    if (rank > 0) need_pointer(extents, "extents");
    add_tensor(*b, name, type, role, rank, extents, rank == 0 ? nullptr : order, rank == 0 ? nullptr : strides);
    b->record(call);
  });
}

tileopt_error* tileopt_builder_open_loop(tileopt_builder* builder, const char* iterator) {
  const std::string call = "open_loop(" + quoted(iterator) + ")";
  return building(builder, call, [&](const std::shared_ptr<BuilderObject>& b) {
    need_pointer(iterator, "iterator");
    b->check_iterator(iterator);
    if (tileopt::contains(b->open, iterator)) b->fail(ErrorCode::duplicate_name, std::string("a loop over `") + iterator + "` is open already", "loops inside each other have different iterators");
    if (b->open.size() >= 64) b->fail(ErrorCode::unsupported, "more than 64 loops inside each other", "close some");
    innermost(*b).children.push_back({iterator, "", {}});
    b->open.push_back(iterator);
    b->record(call);
  });
}
tileopt_error* tileopt_builder_close_loop(tileopt_builder* builder) {
  return building(builder, "close_loop()", [&](const std::shared_ptr<BuilderObject>& b) {
    if (b->open.empty()) b->fail(ErrorCode::invalid_option, "no loop is open", "every close belongs to an open");
    b->open.pop_back();
    b->record("close_loop()");
  });
}

tileopt_error* tileopt_builder_set_schedule(tileopt_builder* builder, const char* schedule) {
  const std::string call = "set_schedule(" + line_of(schedule) + ")";
  return building(builder, call, [&](const std::shared_ptr<BuilderObject>& b) {
    need_pointer(schedule, "schedule");
    read_schedule(*b, schedule);
    b->schedule = schedule;
    b->schedule_where = b->here();
    b->record(call);
  });
}

tileopt_error* tileopt_builder_set_numerics(tileopt_builder* builder, const char* key, const char* value) {
  const std::string call = "set_numerics(" + quoted(key) + ", " + quoted(value) + ")";
  return building(builder, call, [&](const std::shared_ptr<BuilderObject>& b) {
    need_pointer(key, "key");
    need_pointer(value, "value");
    set_numerics(*b, key, value);
    b->record(call);
  });
}

}  // extern "C"
