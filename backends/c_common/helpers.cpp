#include "backends/c_common/helpers.h"

#include "backends/c_common/helper_table.h"
#include "support/error.h"

namespace tileopt {

namespace {
const HelperRow& find_row(const std::vector<HelperRow>& table, const std::string& name) {
  for (const HelperRow& row : table)
    if (row.name == name) return row;
  TILEOPT_CHECK(false, "no helper " + name);
  return table.front();
}

/// A line that mentions `{rotated}` stands for one line for each half of the lanes: lanes / 2, lanes / 4, ..., 1 places further round.
std::string with_halves(const std::string& text, int lanes) {
  const std::string mark = "{rotated}";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return text;
  const std::size_t start = text.rfind('\n', at) + 1, end = text.find('\n', at) + 1;
  std::string lines;
  for (int half = lanes / 2; half > 0; half /= 2) {
    std::string indices;
    for (int lane = 0; lane < lanes; ++lane) indices += (lane > 0 ? ", " : "") + std::to_string((lane + half) % lanes);
    lines += text.substr(start, at - start) + indices + text.substr(at + mark.size(), end - at - mark.size());
  }
  return text.substr(0, start) + lines + with_halves(text.substr(end), lanes);
}

std::string with_lanes(std::string text, int lanes) {
  text = with_halves(text, lanes);
  for (const auto& [mark, first] : {std::pair<std::string, int>("{low}", 0), std::pair<std::string, int>("{high}", lanes / 2)}) {
    std::string indices;
    for (int lane = 0; lane < lanes / 2; ++lane)
      indices += (lane > 0 ? ", " : "") + std::to_string(first + lane) + ", " + std::to_string(first + lane + lanes);
    if (const std::size_t at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), indices);
  }
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at)) text.replace(at, 1, std::to_string(lanes));
  return text;
}

/// Identity of a NaN-propagating minimum or maximum.
std::string reduction_identity(const std::string& helper) {
  return helper.rfind("tileopt_min_", 0) == 0 ? "INFINITY" : "-INFINITY";
}
}  // namespace

std::string storage_type_c(ElementType type) {
  if (is_tuple(type)) {
    std::string name = "tileopt_tuple";
    for (const ElementType component : tuple_components(type)) name += "_" + type_name(component);
    return name;
  }
  switch (type) {
    case ElementType::f64: return "double";
    case ElementType::f32: case ElementType::tf32: return "float";
    case ElementType::f16: case ElementType::bf16: return "uint16_t";
    case ElementType::i64: return "int64_t";
    case ElementType::i32: return "int32_t";
    case ElementType::i16: return "int16_t";
    case ElementType::i8: case ElementType::i4: return "int8_t";
    case ElementType::u64: return "uint64_t";
    case ElementType::u32: return "uint32_t";
    case ElementType::u16: return "uint16_t";
    case ElementType::u8: case ElementType::boolean: case ElementType::u4:
    case ElementType::e4m3fn: case ElementType::e5m2: case ElementType::e4m3fnuz: case ElementType::e5m2fnuz: return "uint8_t";
  }
  return "";
}

ElementType compute_type(ElementType type) {
  return is_narrow_float(type) ? ElementType::f32 : type;
}

std::string compute_type_c(ElementType type) { return storage_type_c(compute_type(type)); }

std::string storage_name(ElementType type) {
  if (type == ElementType::f16 || type == ElementType::bf16) return "u16";
  if (type == ElementType::tf32) return "f32";
  if (type == ElementType::i4) return "i8";
  return type == ElementType::boolean || type == ElementType::u4 || is_narrow_float(type) ? "u8" : type_name(type);
}

const std::vector<HelperRow>& scalar_helper_table() {
  static const std::vector<HelperRow> table = [] {
    std::vector<HelperRow> rows = arithmetic_helper_rows();
    for (HelperRow& row : math_helper_rows()) rows.push_back(std::move(row));
    return rows;
  }();
  return table;
}

const std::vector<HelperRow>& vector_helper_table() {
  static const std::vector<HelperRow> table = [] {
    std::vector<HelperRow> rows = vector_helper_rows();
    for (HelperRow& row : vector_math_helper_rows()) rows.push_back(std::move(row));
    for (HelperRow& row : dot_helper_rows()) rows.push_back(std::move(row));
    return rows;
  }();
  return table;
}

void Helpers::use(const std::string& name) {
  if (!scalars_.insert(name).second) return;
  for (const std::string& requirement : find_row(scalar_helper_table(), name).requirements) use(requirement);
}

std::string Helpers::use(const std::string& name, int lanes) {
  const HelperRow& row = find_row(vector_helper_table(), name);
  if (on_vectors_.insert({name, lanes}).second) {
    for (const std::string& requirement : row.requirements) {
      const auto type = parse_type(requirement);
      if (type) vector_type(*type, lanes);
      else use(requirement, lanes);
    }
  }
  return with_lanes(name, lanes);
}

std::string Helpers::vector_type(ElementType element, int lanes) {
  const std::string name = storage_name(element) + "x" + std::to_string(lanes);
  vectors_.emplace(name, storage_type_c(element));
  return name;
}

std::string Helpers::reduction(const std::string& helper) {
  use(helper);
  reductions_.insert(helper);
  return helper;
}

std::string Helpers::tuple(ElementType type) {
  tuples_.insert(type);
  return storage_type_c(type);
}

void Helpers::define(const std::string& name, const std::string& text) { definitions_.emplace(name, text); }

std::string Helpers::text() const {
  std::string text;
  for (const ElementType type : tuples_) {
    const std::vector<ElementType> components = tuple_components(type);
    text += "/* " + type_name(type) + " */\ntypedef struct {";
    for (std::size_t c = 0; c < components.size(); ++c) text += " " + storage_type_c(components[c]) + " c" + std::to_string(c) + ";";
    text += " } " + storage_type_c(type) + ";\n\n";
  }
  for (const auto& [name, element] : vectors_) {
    const std::string lanes = name.substr(name.find('x') + 1);
    const std::string bytes = lanes + " * sizeof(" + element + ")";
    text += "typedef " + element + " " + name + " __attribute__((vector_size(" + bytes + ")));\n";
    text += "typedef " + element + " " + name + "_u __attribute__((vector_size(" + bytes + "), aligned(sizeof(" + element + ")), may_alias));\n";
  }
  if (!vectors_.empty()) text += "\n";
  for (const HelperRow& row : scalar_helper_table())
    if (scalars_.count(row.name) != 0) text += row.text + "\n";
  for (const HelperRow& row : vector_helper_table())
    for (const auto& [name, lanes] : on_vectors_)
      if (name == row.name) text += with_lanes(row.text, lanes) + "\n";
  for (const std::string& helper : reductions_) {
    const std::string type = helper.substr(helper.size() - 3) == "f64" ? "double" : "float";
    text += "#pragma omp declare reduction(" + helper + " : " + type + " : omp_out = " + helper +
            "(omp_out, omp_in)) initializer(omp_priv = " + reduction_identity(helper) + ")\n\n";
  }
  for (const auto& [name, definition] : definitions_) text += definition + "\n";
  return text;
}

}  // namespace tileopt
