#include "onednn.h"

#ifdef TILEOPT_HAS_ONEDNN
#include <dnnl.hpp>
#endif

namespace tileopt::table::onednn {

#ifdef TILEOPT_HAS_ONEDNN

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

dnnl::engine& cpu() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory at(const memory::desc& what, const void* data) { return memory(what, cpu(), const_cast<void*>(data)); }

// A closure that owns everything the primitive needs.
std::vector<Contender> contender(const dnnl::primitive& primitive, std::unordered_map<int, memory> arguments) {
  dnnl::stream stream(cpu());
  return {{"oneDNN", [primitive, arguments = std::move(arguments), stream]() mutable {
             primitive.execute(stream, arguments);
             stream.wait();
           }}};
}

std::vector<Contender> matmul(const memory::desc& a, const memory::desc& b, const memory::desc& c, const void* A, const void* B, void* C) {
  const dnnl::matmul::primitive_desc described(dnnl::matmul::desc(a, b, c), cpu());
  return contender(dnnl::matmul(described), {{DNNL_ARG_SRC, at(a, A)}, {DNNL_ARG_WEIGHTS, at(b, B)}, {DNNL_ARG_DST, at(c, C)}});
}

}  // namespace

std::vector<Contender> gemm(int batch, int M, int N, int K, bool a_transposed, bool b_transposed, const float* A, const float* B, float* C) {
  if (batch == 1)
    return {{"oneDNN", [=] {
               dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', M, N, K, 1, A, a_transposed ? M : K, B, b_transposed ? K : N, 0, C, N);
             }}};
  return matmul({{batch, M, K}, Type::f32, a_transposed ? Tag::acb : Tag::abc}, {{batch, K, N}, Type::f32, b_transposed ? Tag::acb : Tag::abc},
                {{batch, M, N}, Type::f32, Tag::abc}, A, B, C);
}

std::vector<Contender> gemm_int8(int M, int N, int K, const std::int8_t* A, const std::int8_t* B, std::int32_t* C) {
  return {{"oneDNN", [=] {
             const std::int32_t zero = 0;
             dnnl_gemm_s8s8s32('N', 'N', 'F', M, N, K, 1, A, K, 0, B, N, 0, 0, C, N, &zero);
           }}};
}

std::vector<Contender> gemm_bf16(int M, int N, int K, const std::uint16_t* A, const std::uint16_t* B, std::uint16_t* C) {
  return matmul({{M, K}, Type::bf16, Tag::ab}, {{K, N}, Type::bf16, Tag::ab}, {{M, N}, Type::bf16, Tag::ab}, A, B, C);
}

std::vector<Contender> conv(const Conv& s, const float* input, const float* weights, float* output) {
  const memory::dims strides = {1, 1}, none = {0, 0};
  const memory::desc in({s.n, s.c, s.h + s.kernel - 1, s.w + s.kernel - 1}, Type::f32, Tag::nhwc), out({s.n, s.f, s.h, s.w}, Type::f32, Tag::nhwc);
  const memory::dims filter = s.depthwise ? memory::dims{s.c, 1, 1, s.kernel, s.kernel} : memory::dims{s.f, s.c, s.kernel, s.kernel};
  const memory::desc given(filter, Type::f32, s.depthwise ? Tag::decab : Tag::hwio), any(filter, Type::f32, Tag::any);
  const dnnl::convolution_forward::primitive_desc described(
      dnnl::convolution_forward::desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, in, any, out, strides, none, none), cpu());
  memory own(described.weights_desc(), cpu());
  dnnl::stream stream(cpu());
  memory source = at(given, weights);
  dnnl::reorder(source, own).execute(stream, source, own);
  stream.wait();
  return contender(dnnl::convolution_forward(described), {{DNNL_ARG_SRC, at(in, input)}, {DNNL_ARG_WEIGHTS, own}, {DNNL_ARG_DST, at(out, output)}});
}

std::vector<Contender> softmax(int R, int N, const float* X, float* Y) {
  const memory::desc rows({R, N}, Type::f32, Tag::ab);
  const dnnl::softmax_forward::primitive_desc described(dnnl::softmax_forward::desc(dnnl::prop_kind::forward_inference, rows, 1), cpu());
  return contender(dnnl::softmax_forward(described), {{DNNL_ARG_SRC, at(rows, X)}, {DNNL_ARG_DST, at(rows, Y)}});
}

std::vector<Contender> layernorm(int R, int N, const float* X, const float* gamma, const float* beta, float epsilon, float* Y) {
  const memory::desc rows({R, N}, Type::f32, Tag::ab), row({N}, Type::f32, Tag::a);
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  const dnnl::layer_normalization_forward::primitive_desc described(
      dnnl::layer_normalization_forward::desc(dnnl::prop_kind::forward_inference, rows, epsilon, flags), cpu());
  return contender(dnnl::layer_normalization_forward(described),
                   {{DNNL_ARG_SRC, at(rows, X)}, {DNNL_ARG_SCALE, at(row, gamma)}, {DNNL_ARG_SHIFT, at(row, beta)}, {DNNL_ARG_DST, at(rows, Y)}});
}

std::vector<Contender> gelu_tanh(int R, int N, const float* X, float* Y) {
  const memory::desc rows({R, N}, Type::f32, Tag::ab);
  const dnnl::eltwise_forward::primitive_desc described(
      dnnl::eltwise_forward::desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_gelu_tanh, rows, 0.f, 0.f), cpu());
  return contender(dnnl::eltwise_forward(described), {{DNNL_ARG_SRC, at(rows, X)}, {DNNL_ARG_DST, at(rows, Y)}});
}

#else

std::vector<Contender> gemm(int, int, int, int, bool, bool, const float*, const float*, float*) { return {}; }
std::vector<Contender> gemm_int8(int, int, int, const std::int8_t*, const std::int8_t*, std::int32_t*) { return {}; }
std::vector<Contender> gemm_bf16(int, int, int, const std::uint16_t*, const std::uint16_t*, std::uint16_t*) { return {}; }
std::vector<Contender> conv(const Conv&, const float*, const float*, float*) { return {}; }
std::vector<Contender> softmax(int, int, const float*, float*) { return {}; }
std::vector<Contender> layernorm(int, int, const float*, const float*, const float*, float, float*) { return {}; }
std::vector<Contender> gelu_tanh(int, int, const float*, float*) { return {}; }

#endif

}  // namespace tileopt::table::onednn
