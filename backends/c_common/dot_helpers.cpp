/// Helper texts of dot atoms on vectors of `@` words: each word of the factors holds two 16-bit or four 8-bit elements, the first one in its low
/// bits, and its products are added to the result in the same lane. One instruction where the machine has it; the same values in GNU C
/// elsewhere. (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2: VPDPWSSD, VPDPBUSD, VDPBF16PS, VPMADDWD.)
#include "backends/c_common/helper_table.h"

namespace tileopt {

namespace {
const char* const intrinsics = "#if defined(__AVX2__)\n#include <immintrin.h>\n#endif\n";

// VPMADDWD wraps as the sum of products does: it overflows only where all four factors are -2^15, to -2^31.
const char* const dot_i16_text = R"(static inline __attribute__((always_inline)) i32x@ tileopt_dot_i16_i16x@(i32x@ sum, i32x@ a, i32x@ b) {
#if defined(__AVX512VNNI__) && @ == 16
  return (i32x@)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
#elif defined(__AVX512BW__) && @ == 16
  return (i32x@)_mm512_add_epi32((__m512i)sum, _mm512_madd_epi16((__m512i)a, (__m512i)b));
#elif defined(__AVX512VNNI__) && defined(__AVX512VL__) && @ == 8
  return (i32x@)_mm256_dpwssd_epi32((__m256i)sum, (__m256i)a, (__m256i)b);
#elif defined(__AVX2__) && @ == 8
  return (i32x@)_mm256_add_epi32((__m256i)sum, _mm256_madd_epi16((__m256i)a, (__m256i)b));
#else
  const i32x@ low = (i32x@)((u32x@)a << 16) >> 16, high = (i32x@)((u32x@)b << 16) >> 16;
  return (i32x@)((u32x@)sum + (u32x@)low * (u32x@)high + (u32x@)(a >> 16) * (u32x@)(b >> 16));
#endif
}
)";

const char* const dot_u8_i8_text = R"(static inline __attribute__((always_inline)) i32x@ tileopt_dot_$Ax@(i32x@ sum, i32x@ a, i32x@ b) {
#if defined(__AVX512VNNI__) && @ == 16
  return (i32x@)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)$U, (__m512i)$S);
#elif defined(__AVX512VNNI__) && defined(__AVX512VL__) && @ == 8
  return (i32x@)_mm256_dpbusd_epi32((__m256i)sum, (__m256i)$U, (__m256i)$S);
#else
  for (int shift = 0; shift < 32; shift += 8)
    sum = (i32x@)((u32x@)sum + (((u32x@)$U >> shift) & 255u) * (u32x@)((i32x@)((u32x@)$S << (24 - shift)) >> 24));
  return sum;
#endif
}
)";

// Products of bf16 values are exact in float; subnormal operands and results are zeros to the instruction.
const char* const dot_bf16_text = R"(static inline __attribute__((always_inline)) f32x@ tileopt_dot_bf16_bf16x@(f32x@ sum, i32x@ a, i32x@ b) {
#if defined(__AVX512BF16__) && @ == 16
  return (f32x@)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
#elif defined(__AVX512BF16__) && defined(__AVX512VL__) && @ == 8
  return (f32x@)_mm256_dpbf16_ps((__m256)sum, (__m256bh)a, (__m256bh)b);
#else
  sum += (f32x@)((u32x@)a & 0xffff0000u) * (f32x@)((u32x@)b & 0xffff0000u);
  return sum + (f32x@)((u32x@)a << 16) * (f32x@)((u32x@)b << 16);
#endif
}
)";

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

std::string bytes_text(const std::string& types, const std::string& without_sign, const std::string& with_sign) {
  return intrinsics + replace_all(replace_all(replace_all(dot_u8_i8_text, "$A", types), "$U", without_sign), "$S", with_sign);
}
}  // namespace

std::vector<HelperRow> dot_helper_rows() {
  return {{"tileopt_dot_i16_i16x@", {"i32", "u32"}, std::string(intrinsics) + dot_i16_text},
          {"tileopt_dot_u8_i8x@", {"i32", "u32"}, bytes_text("u8_i8", "a", "b")},
          {"tileopt_dot_i8_u8x@", {"i32", "u32"}, bytes_text("i8_u8", "b", "a")},
          {"tileopt_dot_bf16_bf16x@", {"f32", "i32", "u32"}, std::string(intrinsics) + dot_bf16_text}};
}

}  // namespace tileopt
