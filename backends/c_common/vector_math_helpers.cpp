/// Mathematical functions on vectors of f32: the polynomials of math_helpers.cpp lane by lane, with fused multiply-adds where the machine has
/// them, so the errors stated there bound these too, but for tanh (the tests measure all). NaN, infinities, overflow and subnormal results come out right.
/// What is one instruction on x86 (fma, root, rounding, scaling by a power of two) is one here; elsewhere it is plain C.
#include "backends/c_common/helper_table.h"

namespace tileopt {

namespace {
const std::string prefix = "static inline __attribute__((always_inline)) ";

/// One x86 instruction with its three widths, lanes by lanes elsewhere. `arguments`: after the vectors, e.g. ", 9".
struct Instruction {
  const char* name;       ///< tileopt_NAME_f32x@
  int operands;
  const char* feature;    ///< macro that the narrow forms need
  const char* wide;       ///< 16 lanes (8 of f64), AVX-512
  const char* narrow;     ///< the others
  const char* wide_arguments;
  const char* narrow_arguments;
  const char* plain;      ///< C text of the body elsewhere
};

// By lanes: GNU vectors have no roots and no rounding. `fma` without the instruction is two roundings, as the scalar helpers have it.
constexpr Instruction instructions[] = {
    {"fma", 3, "__FMA__", "fmadd", "fmadd", "", "", "  return a * b + c;\n"},
    {"sqrt", 1, "__AVX__", "sqrt", "sqrt", "", "", "  $T y;\n  for (int i = 0; i < @; ++i) y[i] = sqrt$F(a[i]);\n  return y;\n"},
    {"floor", 1, "__AVX__", "roundscale", "round", ", 9", ", 9", "  $T y;\n  for (int i = 0; i < @; ++i) y[i] = floor$F(a[i]);\n  return y;\n"},
    {"ceil", 1, "__AVX__", "roundscale", "round", ", 10", ", 10", "  $T y;\n  for (int i = 0; i < @; ++i) y[i] = ceil$F(a[i]);\n  return y;\n"},
    {"round", 1, "__AVX__", "roundscale", "round", ", 8", ", 8", "  $T y;\n  for (int i = 0; i < @; ++i) y[i] = rint$F(a[i]);\n  return y;\n"},
    // The second operand where either is NaN.
    {"below", 2, "__AVX__", "min", "min", "", "", "  return tileopt_select_$N(($Mx@)(b > a), a, b);\n"},
    {"above", 2, "__AVX__", "max", "max", "", "", "  return tileopt_select_$N(($Mx@)(b < a), a, b);\n"},
};

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

std::string call_text(const std::string& bits, const char* operation, bool is_f32, int operands, const char* arguments) {
  const std::string suffix = is_f32 ? "ps" : "pd";
  const std::string type = "__m" + bits + (is_f32 ? "" : "d");
  std::string text = "  return ($T)_mm" + (bits == "128" ? "" : bits) + "_" + operation + "_" + suffix + "(";
  for (int o = 0; o < operands; ++o) text += std::string(o > 0 ? ", " : "") + "(" + type + ")" + static_cast<char>('a' + o);
  return text + arguments + ");\n";
}

HelperRow instruction_row(const Instruction& i, ElementType element) {
  const bool is_f32 = element == ElementType::f32;
  const std::string type = type_name(element), vector = type + "x@";
  const int wide = is_f32 ? 16 : 8;
  std::string text = "#if defined(__AVX__)\n#include <immintrin.h>\n#endif\n" + prefix + "$T tileopt_" + i.name + "_$N(";
  for (int o = 0; o < i.operands; ++o) text += std::string(o > 0 ? ", " : "") + "$T " + static_cast<char>('a' + o);
  text += ") {\n#if defined(__AVX512F__) && @ == " + std::to_string(wide) + "\n" + call_text("512", i.wide, is_f32, i.operands, i.wide_arguments);
  text += std::string("#elif defined(") + i.feature + ") && @ == " + std::to_string(wide / 2) + "\n" + call_text("256", i.narrow, is_f32, i.operands, i.narrow_arguments);
  text += std::string("#elif defined(") + i.feature + ") && @ == " + std::to_string(wide / 4) + "\n" + call_text("128", i.narrow, is_f32, i.operands, i.narrow_arguments);
  text += std::string("#else\n") + i.plain + "#endif\n}\n";
  text = replace_all(replace_all(replace_all(text, "$T", vector), "$N", vector), "$F", is_f32 ? "f" : "");
  text = replace_all(text, "$M", is_f32 ? "i32" : "i64");
  const bool selects = std::string(i.plain).find("select") != std::string::npos;
  return {std::string("tileopt_") + i.name + "_" + vector, {selects ? "tileopt_select_" + vector : type}, text};
}

/// y 2^n for n = shifted - 12582912, |n| < 300: by halves, so that subnormal results are reached.
const char* const scale_text =
    "f32x@ tileopt_scale_f32x@(f32x@ y, f32x@ shifted) {\n"
    "#if defined(__AVX512F__) && @ == 16\n"
    "  return (f32x@)_mm512_scalef_ps((__m512)y, (__m512)(shifted - 12582912.0f));\n"
    "#else\n"
    "  const u32x@ e = (u32x@)shifted - 0x4b400000u;\n"
    "  const u32x@ half = (u32x@)((i32x@)e >> 1);\n"
    "  return y * (f32x@)((half + 127u) << 23) * (f32x@)((e - half + 127u) << 23);\n"
    "#endif\n"
    "}\n";

const char* const exp_text =
    "f32x@ tileopt_exp_f32x@(f32x@ x) {\n"
    "  const f32x@ zero = {0};\n"
    "  const f32x@ t = tileopt_above_f32x@(zero - 104.0f, tileopt_below_f32x@(zero + 89.0f, x));\n"
    "  const f32x@ shifted = tileopt_fma_f32x@(t, zero + 0x1.715476p+0f, zero + 12582912.0f);\n"
    "  const f32x@ n = shifted - 12582912.0f;\n"
    "  const f32x@ r = tileopt_fma_f32x@(n, zero - 0x1.7f7d1cp-20f, tileopt_fma_f32x@(n, zero - 0x1.62e4p-1f, t));\n"
    "  f32x@ q = zero + 0x1.6db38ap-10f;\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0x1.123b00p-7f);\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0x1.555460p-5f);\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0x1.555490p-3f);\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0.5f);\n"
    "  return tileopt_scale_f32x@(tileopt_fma_f32x@(r * r, q, r) + 1.0f, shifted);\n"
    "}\n";

const char* const exp2_text =
    "f32x@ tileopt_exp2_f32x@(f32x@ x) {\n"
    "  const f32x@ zero = {0};\n"
    "  const f32x@ t = tileopt_above_f32x@(zero - 151.0f, tileopt_below_f32x@(zero + 129.0f, x));\n"
    "  const f32x@ shifted = t + 12582912.0f;\n"
    "  const f32x@ r = t - (shifted - 12582912.0f);\n"
    "  f32x@ q = zero + 0x1.44904cp-13f;\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0x1.5f485ap-10f);\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0x1.3b29aap-7f);\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0x1.c6aecep-5f);\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0x1.ebfbe0p-3f);\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0x1.62e430p-1f);\n"
    "  return tileopt_scale_f32x@(tileopt_fma_f32x@(r, q, zero + 1.0f), shifted);\n"
    "}\n";

const char* const log_text =
    "f32x@ tileopt_log_f32x@(f32x@ x) {\n"
    "  const f32x@ zero = {0};\n"
    "  const i32x@ tiny = (i32x@)(x < 0x1p-126f);\n"
    "  const u32x@ bits = (u32x@)tileopt_select_f32x@(tiny, x * 0x1p25f, x);\n"
    "  const u32x@ e = (bits - 0x3f3504f3u) & 0xff800000u; /* leaves a significand in [sqrt(1/2), sqrt(2)) */\n"
    "  const f32x@ f = (f32x@)(bits - e) - 1.0f;\n"
    "  const f32x@ k = __builtin_convertvector((i32x@)e >> 23, f32x@) - (f32x@)((i32x@)(zero + 25.0f) & tiny);\n"
    "  f32x@ p = zero + 0x1.1b46a2p-4f;\n"
    "  p = tileopt_fma_f32x@(p, f, zero - 0x1.e2dec8p-4f);\n"
    "  p = tileopt_fma_f32x@(p, f, zero + 0x1.e64892p-4f);\n"
    "  p = tileopt_fma_f32x@(p, f, zero - 0x1.fb44aap-4f);\n"
    "  p = tileopt_fma_f32x@(p, f, zero + 0x1.233378p-3f);\n"
    "  p = tileopt_fma_f32x@(p, f, zero - 0x1.5562dcp-3f);\n"
    "  p = tileopt_fma_f32x@(p, f, zero + 0x1.99a53ap-3f);\n"
    "  p = tileopt_fma_f32x@(p, f, zero - 0x1.ffffeep-3f);\n"
    "  p = tileopt_fma_f32x@(p, f, zero + 0x1.555546p-2f);\n"
    "  const f32x@ s = f * f;\n"
    "  const f32x@ tail = tileopt_fma_f32x@(f * s, p, k * -0x1.05c610p-29f) - 0.5f * s;\n"
    "  const f32x@ y = tileopt_fma_f32x@(k, zero + 0x1.62e430p-1f, f + tail);\n"
    "  const i32x@ negative = (i32x@)(x < 0.0f);\n"
    "  const f32x@ real = tileopt_select_f32x@(negative, zero + NAN, tileopt_select_f32x@((i32x@)(x == 0.0f), zero - INFINITY, y));\n"
    "  return tileopt_select_f32x@((i32x@)(x - x == 0.0f) | negative, real, x);\n"
    "}\n";

// (e^2a - 1) / (e^2a + 1) with e^2a - 1 = 2^n (e^r - 1) + (2^n - 1), which keeps its digits where a is small: one path for all lanes, within
// 2.5 ulp (2.8 without fused multiply-adds).
const char* const tanh_text =
    "f32x@ tileopt_tanh_f32x@(f32x@ x) {\n"
    "  const f32x@ zero = {0};\n"
    "  const u32x@ sign = (u32x@)x & 0x80000000u;\n"
    "  const f32x@ a = (f32x@)((u32x@)x ^ sign);\n"
    "  const f32x@ t = tileopt_below_f32x@(zero + 20.0f, a + a);\n"
    "  const f32x@ shifted = tileopt_fma_f32x@(t, zero + 0x1.715476p+0f, zero + 12582912.0f);\n"
    "  const f32x@ n = shifted - 12582912.0f;\n"
    "  const f32x@ r = tileopt_fma_f32x@(n, zero - 0x1.7f7d1cp-20f, tileopt_fma_f32x@(n, zero - 0x1.62e4p-1f, t));\n"
    "  f32x@ q = zero + 0x1.6db38ap-10f;\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0x1.123b00p-7f);\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0x1.555460p-5f);\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0x1.555490p-3f);\n"
    "  q = tileopt_fma_f32x@(q, r, zero + 0.5f);\n"
    "  const f32x@ power = (f32x@)(((u32x@)shifted << 23) + 0x3f800000u);\n"
    "  const f32x@ less_one = tileopt_fma_f32x@(power, tileopt_fma_f32x@(r * r, q, r), power - 1.0f);\n"
    "  return (f32x@)((u32x@)(less_one / (less_one + 2.0f)) | sign);\n"
    "}\n";

const char* const erf_text =
    "f32x@ tileopt_erf_f32x@(f32x@ x) {\n"
    "  const f32x@ zero = {0};\n"
    "  const u32x@ sign = (u32x@)x & 0x80000000u;\n"
    "  const f32x@ a = (f32x@)((u32x@)x ^ sign);\n"
    "  const f32x@ z = x * x;\n"
    "  f32x@ p = zero + 0x1.603aa2p-14f;\n"
    "  p = tileopt_fma_f32x@(p, z, zero - 0x1.ab48d6p-11f);\n"
    "  p = tileopt_fma_f32x@(p, z, zero + 0x1.54e650p-8f);\n"
    "  p = tileopt_fma_f32x@(p, z, zero - 0x1.b811c2p-6f);\n"
    "  p = tileopt_fma_f32x@(p, z, zero + 0x1.ce2e30p-4f);\n"
    "  p = tileopt_fma_f32x@(p, z, zero - 0x1.812744p-2f);\n"
    "  p = tileopt_fma_f32x@(p, z, zero + 0x1.06eba8p-3f);\n"
    "  const f32x@ small = tileopt_fma_f32x@(a, p, a);\n"
    "  const f32x@ c = tileopt_below_f32x@(zero + 4.0f, a);\n"
    "  f32x@ q = zero + 0x1.12cb5ap-21f;\n"
    "  q = tileopt_fma_f32x@(q, c, zero + 0x1.e4ee58p-17f);\n"
    "  q = tileopt_fma_f32x@(q, c, zero - 0x1.a0dcccp-12f);\n"
    "  q = tileopt_fma_f32x@(q, c, zero + 0x1.09d5e6p-8f);\n"
    "  q = tileopt_fma_f32x@(q, c, zero - 0x1.97fad0p-6f);\n"
    "  q = tileopt_fma_f32x@(q, c, zero + 0x1.ba72aep-4f);\n"
    "  q = tileopt_fma_f32x@(q, c, zero + 0x1.445f08p-1f);\n"
    "  q = tileopt_fma_f32x@(q, c, zero + 0x1.2122c4p+0f);\n"
    "  q = tileopt_fma_f32x@(q, c, zero - 0x1.516d24p-13f);\n"
    "  const f32x@ large = 1.0f - tileopt_exp_f32x@(-q);\n"
    "  return (f32x@)((u32x@)tileopt_select_f32x@((i32x@)(a < 0.921875f), small, large) | sign);\n"
    "}\n";

HelperRow function_row(const std::string& name, std::vector<std::string> requirements, const char* text) {
  requirements.insert(requirements.end(), {"f32", "i32", "u32"});
  return {"tileopt_" + name + "_f32x@", std::move(requirements), prefix + text};
}
}  // namespace

std::vector<HelperRow> vector_math_helper_rows() {
  const std::string fma = "tileopt_fma_f32x@", select = "tileopt_select_f32x@", below = "tileopt_below_f32x@", above = "tileopt_above_f32x@";
  std::vector<HelperRow> rows;
  for (const ElementType type : {ElementType::f32, ElementType::f64}) {
    for (const Instruction& instruction : instructions) rows.push_back(instruction_row(instruction, type));
    const std::string vector = type_name(type) + "x@", bits = type == ElementType::f32 ? "u32" : "u64";
    rows.push_back({"tileopt_rsqrt_" + vector, {"tileopt_sqrt_" + vector},
                    prefix + vector + " tileopt_rsqrt_" + vector + "(" + vector + " x) { return 1 / tileopt_sqrt_" + vector + "(x); }\n"});
    rows.push_back({"tileopt_abs_" + vector, {type_name(type), bits},
                    prefix + vector + " tileopt_abs_" + vector + "(" + vector + " x) { return (" + vector + ")((" + bits + "x@)x << 1 >> 1); }\n"});
  }
  rows.push_back(function_row("scale", {}, scale_text));
  rows.push_back(function_row("exp", {fma, below, above, "tileopt_scale_f32x@"}, exp_text));
  rows.push_back(function_row("exp2", {fma, below, above, "tileopt_scale_f32x@"}, exp2_text));
  rows.push_back(function_row("log", {fma, select}, log_text));
  rows.push_back(function_row("tanh", {fma, below}, tanh_text));
  rows.push_back(function_row("erf", {fma, select, below, "tileopt_exp_f32x@"}, erf_text));
  return rows;
}

bool has_vector_function(Function function, ElementType type) {
  switch (function) {
    case Function::sqrt: case Function::rsqrt: case Function::abs: case Function::floor: case Function::ceil: case Function::round:
      return type == ElementType::f32 || type == ElementType::f64;
    case Function::exp: case Function::exp2: case Function::log: case Function::tanh: case Function::erf: return type == ElementType::f32;
  }
  return false;
}

}  // namespace tileopt
