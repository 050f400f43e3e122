/// Helper texts on GNU vectors of `@` lanes. GNU C has no `?:` on vectors: selections go through masks.
#include "backends/c_common/helper_table.h"
#include "backends/c_common/helpers.h"

namespace tileopt {

namespace {
std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

const std::string prefix = "static inline __attribute__((always_inline)) ";

const char* const select_text =
    "$Tx@ tileopt_select_$Tx@($Mx@ mask, $Tx@ a, $Tx@ b) {\n"
    "  return ($Tx@)((mask & ($Mx@)a) | (~mask & ($Mx@)b));\n"
    "}\n";
const char* const splat_text = "$Tx@ tileopt_splat_$Tx@($C x) { return x - ($Tx@){0}; }\n";
// The instructions give their second operand where both are equal or either is NaN: what is left is a NaN in b.
const char* const minmax_float_text =
    "$Tx@ tileopt_$O_$Tx@($Tx@ a, $Tx@ b) {\n"
    "#if defined(__AVX512F__) && @ * $B == 64\n"
    "  return ($Tx@)_mm512_mask_mov_$S(_mm512_$O_$S((__m512$K)b, (__m512$K)a), _mm512_cmp_$S_mask((__m512$K)b, (__m512$K)b, 3), (__m512$K)b);\n"
    "#elif defined(__AVX__) && @ * $B == 32\n"
    "  return ($Tx@)_mm256_blendv_$S(_mm256_$O_$S((__m256$K)b, (__m256$K)a), (__m256$K)b, _mm256_cmp_$S((__m256$K)b, (__m256$K)b, 3));\n"
    "#endif\n"
    "  return tileopt_select_$Tx@(($Mx@)(a $R b) | ($Mx@)(a != a), a, b);\n"
    "}\n";
const char* const minmax_integer_text =
    "$Tx@ tileopt_$O_$Tx@($Tx@ a, $Tx@ b) { return tileopt_select_$Tx@(($Mx@)(a $R b), a, b); }\n";

const char* const load_bf16_text =
    "f32x@ tileopt_load_bf16x@(u16x@ bits) { return (f32x@)(__builtin_convertvector(bits, u32x@) << 16); }\n";
const char* const store_bf16_text =
    "u16x@ tileopt_store_bf16x@(f32x@ x) { return __builtin_convertvector((u32x@)x >> 16, u16x@); }\n";
const char* const round_bf16_text =
    "f32x@ tileopt_round_bf16x@(f32x@ x) {\n"
    "  const u32x@ bits = (u32x@)x;\n"
    "  const u32x@ rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;\n"
    "  return tileopt_select_f32x@((i32x@)(x != x), (f32x@)((bits | 0x00400000u) & 0xffff0000u), (f32x@)rounded);\n"
    "}\n";
const char* const load_f16_text =
    "f32x@ tileopt_load_f16x@(u16x@ half) {\n"
    "  const u32x@ wide = __builtin_convertvector(half, u32x@);\n"
    "  const u32x@ magnitude = (wide & 0x7fffu) << 13;\n"
    "  const u32x@ scaled = (u32x@)((f32x@)magnitude * 0x1p112f);\n"
    "  const u32x@ special = (u32x@)(magnitude >= 0x0f800000u);\n"
    "  return (f32x@)((special & (magnitude | 0x7f800000u)) | (~special & scaled) | (wide & 0x8000u) << 16);\n"
    "}\n";
const char* const store_f16_text =
    "u16x@ tileopt_store_f16x@(f32x@ x) {\n"
    "  const u32x@ bits = (u32x@)x;\n"
    "  const u32x@ sign = bits & 0x80000000u;\n"
    "  const u32x@ magnitude = bits ^ sign;\n"
    "  const u32x@ normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;\n"
    "  const u32x@ tiny = (u32x@)((f32x@)magnitude + 0.5f) - 0x3f000000u;\n"
    "  const u32x@ is_tiny = (u32x@)(magnitude < 0x38800000u);\n"
    "  const u32x@ is_large = (u32x@)(magnitude >= 0x477ff000u);\n"
    "  const u32x@ is_nan = (u32x@)(magnitude > 0x7f800000u);\n"
    "  const u32x@ finite = (is_tiny & tiny) | (~is_tiny & ((is_large & 0x7c00u) | (~is_large & normal)));\n"
    "  return __builtin_convertvector((is_nan & 0x7e00u) | (~is_nan & finite) | sign >> 16, u16x@);\n"
    "}\n";

// The first n lanes of a vector in memory: the others are 0, and nothing beyond them is touched.
const char* const load_part_text =
    "$Tx@ tileopt_load_part_$Tx@(const $C* p, int64_t n) {\n"
    "  if (n >= @) return *(const $Tx@_u*)p;\n$I"
    "  $C lanes[@] = {0};\n"
    "  for (int64_t i = 0; i < n; ++i) lanes[i] = p[i];\n"
    "  return *(const $Tx@_u*)lanes;\n"
    "}\n";
const char* const store_part_text =
    "void tileopt_store_part_$Tx@($C* p, $Tx@ x, int64_t n) {\n"
    "  if (n >= @) { *($Tx@_u*)p = x; return; }\n$I"
    "  for (int64_t i = 0; i < n; ++i) p[i] = x[i];\n"
    "}\n";

/// The first n lanes of x, the others of `old`.
const char* const keep_part_text =
    "$Tx@ tileopt_keep_part_$Tx@($Tx@ old, $Tx@ x, int64_t n) {\n"
    "  $Mx@ index = {0};\n"
    "  if (n >= @) return x;\n$I"
    "  for (int i = 0; i < @; ++i) index[i] = ($N)i;\n"
    "  return tileopt_select_$Tx@(($Mx@)(index < ($N)n), x, old);\n"
    "}\n";

// Two vectors interleaved: the lower or the upper halves of both.
const char* const interleave_text = "$Tx@ tileopt_$O_$Tx@($Tx@ a, $Tx@ b) { return __builtin_shufflevector(a, b, {$O}); }\n";

// Past the caches, where the vector is as wide as an instruction and the address is one that it takes.
const char* const stream_text =
    "void tileopt_stream_$Tx@($C* p, $Tx@ x) {\n"
    "#if defined(__AVX512F__) && @ * $B == 64\n"
    "  if ((uintptr_t)p % 64 == 0) { _mm512_stream_si512((__m512i*)p, (__m512i)x); return; }\n"
    "#elif defined(__AVX__) && @ * $B == 32\n"
    "  if ((uintptr_t)p % 32 == 0) { _mm256_stream_si256((__m256i*)p, (__m256i)x); return; }\n"
    "#endif\n"
    "  *($Tx@_u*)p = x;\n"
    "}\n";

/// All lanes combined into one: halves meet until one lane is left.
const char* const fold_text =
    "$C tileopt_fold_$O_$Tx@($Tx@ x) {\n"
    "  x = $E;\n"
    "  return x[0];\n"
    "}\n";

/// Instructions with a mask, where the type has them: by AVX-512, of 32 bytes by AVX2 too.
struct MaskedMoves {
  ElementType type;
  const char* suffix;
};
constexpr MaskedMoves masked_moves[] = {
    {ElementType::f32, "ps"}, {ElementType::i32, "epi32"}, {ElementType::f64, "pd"}, {ElementType::i64, "epi64"}};

/// `form(bits, mask)`: the statements for registers of so many bits under a mask of AVX-512, which serves the narrower ones too where it can.
template <class Form>
std::string under_masks(bool quads, const Form& form) {
  const int wide = quads ? 8 : 16;
  std::string text;
  for (int part = 1; part <= (quads ? 2 : 4); part *= 2) {
    const std::string mask = wide / part >= 16 ? "(__mmask16)((1u << n) - 1)" : "(__mmask8)((1u << n) - 1)";
    const std::string feature = part == 1 ? "__AVX512F__" : "__AVX512VL__";
    text += (part == 1 ? "#if" : "#elif") + std::string(" defined(") + feature + ") && @ == " + std::to_string(wide / part) + "\n" + form(512 / part, mask);
  }
  return text;
}

std::string masked_text(const MaskedMoves& moves, bool load) {
  const bool quads = size_bytes(moves.type) == 8;
  const std::string half = quads ? "4" : "8", suffix = moves.suffix;
  const std::string mask256 = quads ? "_mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_set_epi64x(3, 2, 1, 0))"
                                    : "_mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))";
  const std::string pointer = moves.type != ElementType::i64 ? "p" : load ? "(const long long*)p" : "(long long*)p";
  const std::string kind = !is_float(moves.type) ? "i" : quads ? "d" : "";
  const std::string when256 = "#elif defined(__AVX2__) && @ == " + half + "\n";
  const auto prefix_of = [](int bits) { return "_mm" + (bits == 128 ? std::string() : std::to_string(bits)); };
  if (load)
    return under_masks(quads, [&](int bits, const std::string& mask) { return "  return ($Tx@)" + prefix_of(bits) + "_maskz_loadu_" + suffix + "(" + mask + ", p);\n"; }) +
           when256 + "  return ($Tx@)_mm256_maskload_" + suffix + "(" + pointer + ", " + mask256 + ");\n#endif\n";
  return under_masks(quads, [&](int bits, const std::string& mask) {
           return "  " + prefix_of(bits) + "_mask_storeu_" + suffix + "(p, " + mask + ", (__m" + std::to_string(bits) + kind + ")x);\n  return;\n";
         }) + when256 + "  _mm256_maskstore_" + suffix + "(" + pointer + ", " + mask256 + ", (__m256" + kind + ")x);\n  return;\n#endif\n";
}

std::string masked_keep_text(const MaskedMoves& moves) {
  const bool quads = size_bytes(moves.type) == 8;
  const std::string kind = !is_float(moves.type) ? "i" : quads ? "d" : "", suffix = moves.suffix;
  return under_masks(quads, [&](int bits, const std::string& mask) {
           const std::string type = "(__m" + std::to_string(bits) + kind + ")";
           return "  return ($Tx@)_mm" + (bits == 128 ? std::string() : std::to_string(bits)) + "_mask_mov_" + suffix + "(" + type + "old, " + mask + ", " + type + "x);\n";
         }) + "#endif\n";
}

const char* const intrinsics_text = "#if defined(__AVX2__)\n#include <immintrin.h>\n#endif\n";

const std::string avx_text = "#if defined(__AVX__)\n#include <immintrin.h>\n#endif\n";

struct Lane {
  ElementType type;
  ElementType mask;
};
constexpr Lane lanes[] = {{ElementType::f32, ElementType::i32}, {ElementType::f64, ElementType::i64},
                          {ElementType::i8, ElementType::i8},   {ElementType::i16, ElementType::i16},
                          {ElementType::i32, ElementType::i32}, {ElementType::i64, ElementType::i64},
                          {ElementType::u8, ElementType::i8},   {ElementType::u16, ElementType::i16},
                          {ElementType::u32, ElementType::i32}, {ElementType::u64, ElementType::i64}};

void add_lane(std::vector<HelperRow>& rows, const Lane& lane) {
  const std::string type = type_name(lane.type);
  const std::string mask = type_name(lane.mask);
  const auto fill = [&](const std::string& text) {
    return prefix + replace_all(replace_all(replace_all(text, "$T", type), "$M", mask), "$C", storage_type_c(lane.type));
  };
  rows.push_back({"tileopt_splat_" + type + "x@", {type}, fill(splat_text)});
  rows.push_back({"tileopt_select_" + type + "x@", {type, mask}, fill(select_text)});
  const bool is_f64 = lane.type == ElementType::f64;
  const std::string minmax = !is_float(lane.type) ? minmax_integer_text
                                                  : replace_all(replace_all(replace_all(minmax_float_text, "$S", is_f64 ? "pd" : "ps"), "$K", is_f64 ? "d" : ""),
                                                                "$B", is_f64 ? "8" : "4");
  const std::string header = is_float(lane.type) ? avx_text : "";
  rows.push_back({"tileopt_min_" + type + "x@", {"tileopt_select_" + type + "x@"},
                  header + fill(replace_all(replace_all(minmax, "$O", "min"), "$R", "<="))});
  rows.push_back({"tileopt_max_" + type + "x@", {"tileopt_select_" + type + "x@"},
                  header + fill(replace_all(replace_all(minmax, "$O", "max"), "$R", ">="))});
  std::string keep;
  for (const MaskedMoves& moves : masked_moves)
    if (moves.type == lane.type) keep = masked_keep_text(moves);
  rows.push_back({"tileopt_keep_part_" + type + "x@", {"tileopt_select_" + type + "x@"},
                  (keep.empty() ? "" : intrinsics_text) + fill(replace_all(replace_all(keep_part_text, "$I", keep), "$N", storage_type_c(lane.mask)))});
  rows.push_back({"tileopt_stream_" + type + "x@", {type}, avx_text + fill(replace_all(stream_text, "$B", std::to_string(size_bytes(lane.type))))});
  const std::string wrap = is_float(lane.type) || !is_signed(lane.type) ? "" : "u" + type.substr(1);
  const std::string turned = "__builtin_shufflevector(x, x, {rotated})", vector = type + "x@", unsigned_vector = wrap + "x@";
  const auto infix = [&](const char* op) {
    if (wrap.empty()) return "x " + std::string(op) + " " + turned;
    return "(" + vector + ")((" + unsigned_vector + ")x " + op + " (" + unsigned_vector + ")" + turned + ")";
  };
  const auto add_fold = [&](const std::string& name, const std::string& expression, std::vector<std::string> requirements) {
    if (!wrap.empty()) requirements.push_back(wrap);
    rows.push_back({"tileopt_fold_" + name + "_" + vector, requirements, fill(replace_all(replace_all(fold_text, "$O", name), "$E", expression))});
  };
  for (const std::string half : {"low", "high"})
    rows.push_back({"tileopt_" + half + "_" + vector, {type}, fill(replace_all(interleave_text, "$O", half))});
  add_fold("sum", infix("+"), {type});
  add_fold("prod", infix("*"), {type});
  for (const std::string name : {"min", "max"}) add_fold(name, "tileopt_" + name + "_" + vector + "(x, " + turned + ")", {"tileopt_" + name + "_" + vector});
  for (const bool load : {true, false}) {
    std::string masked;
    for (const MaskedMoves& moves : masked_moves)
      if (moves.type == lane.type) masked = masked_text(moves, load);
    rows.push_back({std::string(load ? "tileopt_load_part_" : "tileopt_store_part_") + type + "x@", {type},
                    (masked.empty() ? "" : intrinsics_text) + fill(replace_all(load ? load_part_text : store_part_text, "$I", masked))});
  }
}
}  // namespace

std::vector<HelperRow> vector_helper_rows() {
  std::vector<HelperRow> rows;
  for (const Lane& lane : lanes) add_lane(rows, lane);
  rows.push_back({"tileopt_load_bf16x@", {"f32", "u16", "u32"}, prefix + load_bf16_text});
  rows.push_back({"tileopt_store_bf16x@", {"f32", "u16", "u32"}, "/* The lanes are bf16 values. */\n" + prefix + store_bf16_text});
  rows.push_back({"tileopt_round_bf16x@", {"tileopt_select_f32x@", "u32"}, prefix + round_bf16_text});
  rows.push_back({"tileopt_load_f16x@", {"f32", "u16", "u32"}, prefix + load_f16_text});
  rows.push_back({"tileopt_store_f16x@", {"f32", "u16", "u32"}, prefix + store_f16_text});
  rows.push_back({"tileopt_round_f16x@", {"tileopt_load_f16x@", "tileopt_store_f16x@"},
                  prefix + "f32x@ tileopt_round_f16x@(f32x@ x) { return tileopt_load_f16x@(tileopt_store_f16x@(x)); }\n"});
  return rows;
}

}  // namespace tileopt
