/// Scalar helper texts: index arithmetic, 16-bit floats, the language's integer and float operators.
#include "backends/c_common/helper_table.h"
#include "backends/c_common/helpers.h"

namespace tileopt {

namespace {
std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

const char* const index_rows = R"(static inline int64_t tileopt_floord(int64_t a, int64_t b) { return a / b - (a % b < 0); }
|tileopt_mod|static inline int64_t tileopt_mod(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }
|tileopt_min|static inline int64_t tileopt_min(int64_t a, int64_t b) { return a < b ? a : b; }
|tileopt_max|static inline int64_t tileopt_max(int64_t a, int64_t b) { return a > b ? a : b; }
)";

const char* const bits_f32 = R"(static inline uint32_t tileopt_bits_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
)";

const char* const f32_bits = R"(static inline float tileopt_f32_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
)";

/// Four bytes as they lie in memory.
const char* const word_text = R"(static inline int32_t tileopt_word(const void* p) {
  int32_t word;
  memcpy(&word, p, sizeof word);
  return word;
}
)";

const char* const odd_f32 = R"(/* double to float, rounded to odd: a second rounding to a 16-bit float is then the only one that counts. */
static inline float tileopt_odd_f32(double x) {
  const float near = (float)x;
  const double back = (double)near;
  if (back == x || x != x) return near;
  const uint32_t bits = tileopt_bits_f32(near);
  return tileopt_f32_bits((fabs(back) > fabs(x) ? bits - 1u : bits) | 1u);
}
)";

const char* const odd_u64 = R"(/* Integers beyond 2^53 to double, rounded to odd. */
static inline double tileopt_odd_u64(uint64_t x) {
  return x < (UINT64_C(1) << 53) ? (double)x : (double)((x & ~UINT64_C(0xfff)) | ((x & 0xfff) != 0 ? 0x1000u : 0u));
}
)";

const char* const odd_i64 = R"(static inline double tileopt_odd_i64(int64_t x) { return x < 0 ? -tileopt_odd_u64(0u - (uint64_t)x) : tileopt_odd_u64((uint64_t)x); }
)";

const char* const round_bf16 = R"(/* float rounded to the nearest even bf16 value. */
static inline float tileopt_round_bf16(float x) {
  const uint32_t bits = tileopt_bits_f32(x);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
  return tileopt_f32_bits(x != x ? (bits | 0x00400000u) & 0xffff0000u : rounded);
}
)";

const char* const load_bf16 = R"(static inline float tileopt_load_bf16(uint16_t bits) { return tileopt_f32_bits((uint32_t)bits << 16); }
)";

const char* const store_bf16 = R"(/* `x` is a bf16 value. */
static inline uint16_t tileopt_store_bf16(float x) { return (uint16_t)(tileopt_bits_f32(x) >> 16); }
)";

const char* const load_f16 = R"(static inline float tileopt_load_f16(uint16_t half) {
  const uint32_t magnitude = (uint32_t)(half & 0x7fffu) << 13;
  const uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
  const uint32_t scaled = tileopt_bits_f32(tileopt_f32_bits(magnitude) * 0x1p112f);
  return tileopt_f32_bits((special != 0 ? magnitude | special : scaled) | (uint32_t)(half & 0x8000u) << 16);
}
)";

const char* const store_f16 = R"(/* Bits of the nearest even f16. */
static inline uint16_t tileopt_store_f16(float x) {
  const uint32_t bits = tileopt_bits_f32(x);
  const uint32_t sign = bits & 0x80000000u;
  const uint32_t magnitude = bits ^ sign;
  const uint32_t normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
  const uint32_t tiny = tileopt_bits_f32(tileopt_f32_bits(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t finite = magnitude < 0x38800000u ? tiny : magnitude >= 0x477ff000u ? 0x7c00u : normal;
  return (uint16_t)((magnitude > 0x7f800000u ? 0x7e00u : finite) | sign >> 16);
}
)";

const char* const round_tf32 = R"(/* float rounded to the nearest even of 11 significant bits. */
static inline float tileopt_round_tf32(float x) {
  const uint32_t bits = tileopt_bits_f32(x);
  const uint32_t rounded = (bits + 0xfffu + ((bits >> 13) & 1u)) & 0xffffe000u;
  return tileopt_f32_bits(x != x ? (bits | 0x00400000u) & 0xffffe000u : rounded);
}
)";

// 8-bit floats: $M mantissa bits, $B the exponent's bias. A float's exponent and mantissa are shifted together; scaling by a power
// of two, which is exact, puts the exponent (and subnormal numbers) right.
const char* const load_fp8 = R"(static inline float tileopt_load_$T(uint8_t bits) {
  const uint32_t sign = (uint32_t)(bits & 0x80u) << 24;
  const uint32_t magnitude = bits & 0x7fu;
  const float value = tileopt_f32_bits(magnitude << $S) * 0x1p$Df;
  return tileopt_f32_bits($N ? 0x7fc00000u : $Isign | tileopt_bits_f32(value));
}
)";

const char* const store_fp8 = R"(/* Bits of the nearest even $T; what overflows is $O. */
static inline uint8_t tileopt_store_$T(float x) {
  const uint32_t bits = tileopt_bits_f32(x);
  const uint32_t sign = bits >> 24 & 0x80u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t normal = (magnitude - $Ru + ((magnitude >> $S) & 1u)) >> $S;
  const uint32_t tiny = tileopt_bits_f32(tileopt_f32_bits(magnitude) + 0x1p$Cf) - tileopt_bits_f32(0x1p$Cf);
  const uint32_t finite = magnitude < $Lu ? tiny : normal;
  const uint32_t kept = finite < $Xu ? finite : $Xu;
  return (uint8_t)(magnitude > 0x7f800000u ? $Q : $K);
}
)";

const char* const minmax_float = R"(/* A NaN wins, the first of two. */
static inline $C tileopt_$O_$T($C a, $C b) { return ((a $R b) | (a != a)) ? a : b; }
)";

const char* const saturate = R"(static inline $I tileopt_$F_to_$T($C x) {
  return x != x ? 0 : x <= $LOWC ? $LOWV : x >= $HIGHC ? $HIGHV : ($I)x;
}
)";

const char* const floor_signed = R"(/* Python's `//`; a zero divisor gives 0. */
static inline $C tileopt_floordiv_$T($C a, $C b) {
  if (b == 0) return 0;
  if (b == -1) return $W(0u - ($U)a);
  return ($C)(a / b - (a % b != 0 && (a % b < 0) != (b < 0)));
}
)";
const char* const modulo_signed = R"(/* Python's `%`; a zero divisor gives 0. */
static inline $C tileopt_modulo_$T($C a, $C b) {
  if (b == 0 || b == -1) return 0;
  const $C rest = ($C)(a % b);
  return ($C)(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}
)";
const char* const floor_unsigned = R"(/* A zero divisor gives 0. */
static inline $C tileopt_floordiv_$T($C a, $C b) { return ($C)(b == 0 ? 0 : a / b); }
)";
const char* const modulo_unsigned = R"(/* A zero divisor gives 0. */
static inline $C tileopt_modulo_$T($C a, $C b) { return ($C)(b == 0 ? 0 : a % b); }
)";
const char* const shift_left = R"(static inline $C tileopt_shl_$T($C a, $C count) {
  return (uint64_t)count < $N ? $W(($U)a << count) : ($C)0;
}
)";
const char* const shift_right = R"(static inline $C tileopt_shr_$T($C a, $C count) {
  return ($C)(a >> ((uint64_t)count < $N ? (int)count : $N - 1)$Z);
}
)";

const char* const minmax_integer = R"(static inline $C tileopt_$O_$T($C a, $C b) { return a $R b ? a : b; }
)";

void add_index(std::vector<HelperRow>& rows) {
  std::string rest = index_rows;
  std::string name = "tileopt_floord";
  while (true) {
    const std::size_t bar = rest.find('|');
    rows.push_back({name, {}, rest.substr(0, bar)});
    if (bar == std::string::npos) return;
    const std::size_t end = rest.find('|', bar + 1);
    name = rest.substr(bar + 1, end - bar - 1);
    rest = rest.substr(end + 1);
  }
}

/// Integers of 4 bits lie in a byte each; what leaves their values comes back by these.
const char* const wrap_i4 = "static inline int8_t tileopt_wrap_i4(uint32_t x) { return (int8_t)((int32_t)((x & 15u) ^ 8u) - 8); }\n";
const char* const wrap_u4 = "static inline uint8_t tileopt_wrap_u4(uint32_t x) { return (uint8_t)(x & 15u); }\n";

const char* const packed_text = R"(/* Element `at` of packed 4-bit integers: the even one in the low bits of its byte. */
static inline $C tileopt_packed_$T(const uint8_t* packed, int64_t at) { return tileopt_wrap_$T((uint32_t)packed[at >> 1] >> ((at & 1) * 4)); }
)";

struct IntegerRow {
  ElementType type;
  int bits;
  bool with_sign;
};
constexpr IntegerRow integers[] = {
    {ElementType::i8, 8, true},   {ElementType::i16, 16, true},   {ElementType::i32, 32, true},   {ElementType::i64, 64, true},
    {ElementType::u8, 8, false},  {ElementType::u16, 16, false},  {ElementType::u32, 32, false},  {ElementType::u64, 64, false},
    {ElementType::i4, 4, true},   {ElementType::u4, 4, false}};

std::string fill(std::string text, const IntegerRow& row) {
  text = replace_all(text, "$W", row.bits == 4 ? "tileopt_wrap_" + type_name(row.type) : "(" + storage_type_c(row.type) + ")");
  text = replace_all(text, "$C", storage_type_c(row.type));
  text = replace_all(text, "$T", type_name(row.type));
  text = replace_all(text, "$U", row.bits == 64 ? "uint64_t" : "uint32_t");
  text = replace_all(text, "$N", std::to_string(row.bits));
  return text;
}

void add_integer(std::vector<HelperRow>& rows, const IntegerRow& row) {
  const std::string type = type_name(row.type);
  const std::vector<std::string> wraps = row.bits == 4 ? std::vector<std::string>{"tileopt_wrap_" + type} : std::vector<std::string>{};
  const auto add = [&](const std::string& name, const std::string& text) { rows.push_back({"tileopt_" + name + "_" + type, wraps, fill(text, row)}); };
  if (row.bits == 4) add("packed", packed_text);
  add("floordiv", row.with_sign ? floor_signed : floor_unsigned);
  add("modulo", row.with_sign ? modulo_signed : modulo_unsigned);
  add("shl", shift_left);
  // Beyond the width an unsigned value is shifted out: one more step after the widest single shift.
  add("shr", replace_all(shift_right, "$Z", row.with_sign ? "" : " >> ((uint64_t)count < $N ? 0 : 1)"));
  add("min", replace_all(replace_all(minmax_integer, "$O", "min"), "$R", "<="));
  add("max", replace_all(replace_all(minmax_integer, "$O", "max"), "$R", ">="));
}

void add_saturating(std::vector<HelperRow>& rows, ElementType from, const IntegerRow& row) {
  const bool narrow = from == ElementType::f32;
  const std::string suffix = narrow ? "f" : "";
  const int magnitude = row.with_sign ? row.bits - 1 : row.bits;
  const std::string macro = std::string(row.with_sign ? "INT" : "UINT") + std::to_string(row.bits);
  std::string text = replace_all(saturate, "$LOWC", row.with_sign ? "-0x1p" + std::to_string(magnitude) + suffix : "0.0" + suffix);
  text = replace_all(text, "$LOWV", !row.with_sign ? "0" : row.bits == 4 ? "-8" : macro + "_MIN");
  text = replace_all(text, "$HIGHC", "0x1p" + std::to_string(magnitude) + suffix);
  text = replace_all(text, "$HIGHV", row.bits != 4 ? macro + "_MAX" : row.with_sign ? "7" : "15");
  text = replace_all(text, "$I", storage_type_c(row.type));
  text = replace_all(text, "$F", type_name(from));
  text = replace_all(text, "$C", storage_type_c(from));
  text = replace_all(text, "$T", type_name(row.type));
  rows.push_back({"tileopt_" + type_name(from) + "_to_" + type_name(row.type), {}, text});
}

void add_fp8(std::vector<HelperRow>& rows, ElementType type) {
  const std::string name = type_name(type);
  const int mantissa = value_digits(type) - 1, least = least_exponent(type), shift = 23 - mantissa, rebias = 126 + least;
  const bool infinities = has_infinity(type), signed_zero = has_negative_zero(type);
  const std::string top = infinities ? "0x7c" : signed_zero ? "0x7f" : "0x80";
  const auto fill = [&](std::string text) {
    text = replace_all(text, "$T", name);
    text = replace_all(text, "$S", std::to_string(shift));
    text = replace_all(text, "$D", std::to_string(rebias));
    text = replace_all(text, "$N", infinities ? "magnitude > 0x7cu" : signed_zero ? "magnitude == 0x7fu" : "bits == 0x80u");
    text = replace_all(text, "$I", infinities ? "magnitude == 0x7cu ? sign | 0x7f800000u : " : "");
    text = replace_all(text, "$O", infinities ? "infinite" : "NaN");
    text = replace_all(text, "$R", std::to_string((static_cast<unsigned>(rebias) << 23) - ((1u << (shift - 1)) - 1)));
    text = replace_all(text, "$C", std::to_string(least - mantissa + 23));
    text = replace_all(text, "$L", std::to_string(static_cast<unsigned>(least + 127) << 23));
    text = replace_all(text, "$X", top);
    text = replace_all(text, "$Q", infinities ? "sign | 0x7eu" : signed_zero ? "sign | 0x7fu" : "0x80u");
    return replace_all(text, "$K", signed_zero ? "sign | kept" : "kept == 0 ? 0u : kept == 0x80u ? 0x80u : sign | kept");
  };
  const std::vector<std::string> casts = {"tileopt_bits_f32", "tileopt_f32_bits"};
  rows.push_back({"tileopt_load_" + name, casts, fill(load_fp8)});
  rows.push_back({"tileopt_store_" + name, casts, fill(store_fp8)});
  rows.push_back({"tileopt_round_" + name, {"tileopt_load_" + name, "tileopt_store_" + name},
                  "static inline float tileopt_round_" + name + "(float x) { return tileopt_load_" + name + "(tileopt_store_" + name + "(x)); }\n"});
}

void add_float_minmax(std::vector<HelperRow>& rows, ElementType type) {
  for (const auto& [op, relation] : {std::pair("min", "<="), std::pair("max", ">=")}) {
    std::string text = replace_all(minmax_float, "$O", op);
    text = replace_all(replace_all(text, "$R", relation), "$T", type_name(type));
    rows.push_back({std::string("tileopt_") + op + "_" + type_name(type), {}, replace_all(text, "$C", storage_type_c(type))});
  }
}
}  // namespace

const char* const stream_fence = R"(/* What was stored past the caches is visible before what follows. */
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
static inline void tileopt_stream_fence(void) {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}
)";

std::vector<HelperRow> arithmetic_helper_rows() {
  std::vector<HelperRow> rows;
  add_index(rows);
  rows.push_back({"tileopt_stream_fence", {}, stream_fence});
  rows.push_back({"tileopt_bits_f32", {}, bits_f32});
  rows.push_back({"tileopt_f32_bits", {}, f32_bits});
  rows.push_back({"tileopt_word", {}, word_text});
  rows.push_back({"tileopt_odd_f32", {"tileopt_bits_f32", "tileopt_f32_bits"}, odd_f32});
  rows.push_back({"tileopt_odd_u64", {}, odd_u64});
  rows.push_back({"tileopt_odd_i64", {"tileopt_odd_u64"}, odd_i64});
  rows.push_back({"tileopt_round_bf16", {"tileopt_bits_f32", "tileopt_f32_bits"}, round_bf16});
  rows.push_back({"tileopt_load_bf16", {"tileopt_f32_bits"}, load_bf16});
  rows.push_back({"tileopt_store_bf16", {"tileopt_bits_f32"}, store_bf16});
  rows.push_back({"tileopt_load_f16", {"tileopt_bits_f32", "tileopt_f32_bits"}, load_f16});
  rows.push_back({"tileopt_store_f16", {"tileopt_bits_f32", "tileopt_f32_bits"}, store_f16});
  rows.push_back({"tileopt_round_f16", {"tileopt_load_f16", "tileopt_store_f16"},
                  "static inline float tileopt_round_f16(float x) { return tileopt_load_f16(tileopt_store_f16(x)); }\n"});
  rows.push_back({"tileopt_round_tf32", {"tileopt_bits_f32", "tileopt_f32_bits"}, round_tf32});
  rows.push_back({"tileopt_load_tf32", {"tileopt_round_tf32"},
                  "static inline float tileopt_load_tf32(float x) { return tileopt_round_tf32(x); }\n"});
  for (const ElementType type : {ElementType::e4m3fn, ElementType::e5m2, ElementType::e4m3fnuz, ElementType::e5m2fnuz})
    add_fp8(rows, type);
  add_float_minmax(rows, ElementType::f32);
  add_float_minmax(rows, ElementType::f64);
  rows.push_back({"tileopt_wrap_i4", {}, wrap_i4});
  rows.push_back({"tileopt_wrap_u4", {}, wrap_u4});
  for (const IntegerRow& row : integers) add_integer(rows, row);
  for (const IntegerRow& row : integers) add_saturating(rows, ElementType::f32, row);
  for (const IntegerRow& row : integers) add_saturating(rows, ElementType::f64, row);
  return rows;
}

}  // namespace tileopt
