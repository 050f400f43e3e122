#include "ir/array.h"

#include <algorithm>

#include "ir/ast_fields.h"

namespace tileopt {

namespace {
/// Beyond this no array of generated code makes sense, and byte counts stay far from overflow.
constexpr long max_elements = 1L << 40;
constexpr long max_slots = 1024;
}  // namespace

long Array::elements() const {
  long product = 1;
  for (const long extent : extents) {
    TILEOPT_CHECK(extent >= 0, "extent of " + name);
    TILEOPT_CHECK(!__builtin_mul_overflow(product, extent, &product), "elements of " + name + " overflow");
  }
  return product;
}

long Array::agent_elements() const {
  long elements = this->elements();
  for (int d = 0; d < agent_dims; ++d) elements /= std::max(1L, extents[static_cast<std::size_t>(d)]);
  return elements;
}

long Array::stored_elements() const {
  const auto first = static_cast<std::size_t>(agent_dims);
  return strides.empty() ? agent_elements() : strides.front() * extents.at(first);
}

Document Array::write() const {
  Document document;
  document["name"] = name;
  document["element"] = type_name(element);
  document["space"] = space;
  document["tensor"] = tensor;
  document["extents"] = extents;
  document["scope"] = scope;
  document["alignment"] = alignment;
  if (agent_dims > 0) document["agent_dims"] = agent_dims;
  if (!strides.empty()) document["strides"] = strides;
  if (!swizzle.empty()) document["swizzle"] = {{"along", swizzle.along}, {"by", swizzle.by}};
  if (!ring.empty()) {
    document["ring"] = ring;
    document["slots"] = slots;
  }
  return document;
}

Array Array::read(const Document& document, const std::string& file) { return read_array(Field(document, "", file)); }

Array read_array(const Field& field) {
  field.allow_only({"name", "element", "space", "tensor", "extents", "scope", "alignment", "ring", "slots", "agent_dims", "strides", "swizzle"});
  Array array;
  array.name = field["name"].name();
  const auto element = parse_type(field["element"].text());
  if (!element) field["element"].fail("unknown element type `" + field["element"].text() + "`");
  array.element = *element;
  array.space = field["space"].text();
  array.tensor = field["tensor"].text();
  array.extents = field["extents"].integers();
  long product = 1;
  for (const long extent : array.extents) {
    if (extent < 1) field["extents"].fail("extents are at least 1");
    if (__builtin_mul_overflow(product, extent, &product) || product > max_elements) field["extents"].fail("too many elements");
  }
  array.scope = field["scope"].text();
  const long alignment = field["alignment"].integer();
  if (alignment < 1 || alignment > 4096 || (alignment & (alignment - 1)) != 0)
    field["alignment"].fail("expected a power of two up to 4096");
  array.alignment = static_cast<int>(alignment);
  if (field.has("agent_dims")) array.agent_dims = static_cast<int>(field["agent_dims"].integer());
  if (array.agent_dims < 0 || array.agent_dims > static_cast<int>(array.extents.size())) field["agent_dims"].fail("expected at most as many as there are extents");
  if (field.has("strides")) {
    array.strides = field["strides"].integers();
    const std::size_t places = array.extents.size() - static_cast<std::size_t>(array.agent_dims);
    if (array.strides.size() != places || places == 0) field["strides"].fail("expected a stride for each extent that is no agent's coordinate");
    long room = 1;  // elements that the dimensions behind take
    for (std::size_t d = places; d-- > 0;) {
      const long extent = array.extents[d + array.extents.size() - places];
      if (array.strides[d] < room || __builtin_mul_overflow(array.strides[d], extent, &room) || room > max_elements)
        field["strides"].fail("each stride is at least what the dimensions behind it take, and there are not too many elements");
    }
  }
  if (field.has("swizzle")) {
    field["swizzle"].allow_only({"along", "by"});
    const long along = field["swizzle"]["along"].integer(), by = field["swizzle"]["by"].integer();
    const long most = static_cast<long>(array.extents.size());
    if (along < array.agent_dims || by < array.agent_dims || along >= most || by >= most || along == by) field["swizzle"].fail("expected two dimensions that say where an element lies");
    const long pieces = array.extents[static_cast<std::size_t>(along)];
    if ((pieces & (pieces - 1)) != 0) field["swizzle"]["along"].fail("the extent of that dimension is no power of two");
    array.swizzle = {static_cast<int>(along), static_cast<int>(by)};
  }
  if (!field.has("ring")) return array;
  array.ring = field["ring"].name();
  array.slots = field["slots"].integer();
  if (array.slots < 1 || array.slots > max_slots) field["slots"].fail("expected an integer from 1 to " + std::to_string(max_slots));
  return array;
}

}  // namespace tileopt
