#include "halide.h"

#ifdef TILEOPT_HAS_HALIDE
#include <Halide.h>
#endif

namespace tileopt::table::halide {

#ifdef TILEOPT_HAS_HALIDE

std::vector<Contender> gemm(int M, int N, int K, int threads, float* A, float* B, float* C) {
  Halide::load_plugin(TILEOPT_HAS_HALIDE);  // the path of libautoschedule_adams2019.so
  Halide::Buffer<float> a(A, K, M), b(B, N, K), c(C, N, M);
  Halide::Var j("j"), i("i");
  Halide::RDom k(0, K, "k");
  Halide::Func product("product");
  product(j, i) += a(k, i) * b(j, k);
  product.set_estimates({{0, N}, {0, M}});
  const Halide::Target target = Halide::get_host_target();
  Halide::Pipeline pipeline(product);
  pipeline.auto_schedule("Adams2019", target, Halide::MachineParams(threads, 32 * 1024 * 1024, 40));
  pipeline.compile_jit(target);
  return {{"Halide adams2019", [pipeline, c, a, b]() mutable { pipeline.realize(c); }}};
}

#else

std::vector<Contender> gemm(int, int, int, int, float*, float*, float*) { return {}; }

#endif

}  // namespace tileopt::table::halide
