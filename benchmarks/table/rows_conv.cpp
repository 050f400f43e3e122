// Convolutions beside oneDNN, NHWC, stride 1.
#include "kernel.h"
#include "onednn.h"
#include "row.h"

namespace tileopt::table {

namespace {

Instance conv(const onednn::Conv& s) {
  const auto count = [](int a, int b, int c, int d) { return static_cast<std::size_t>(a) * b * c * d; };
  const Buffer<float> input(count(s.n, s.h + s.kernel - 1, s.w + s.kernel - 1, s.c), 1), weights(count(s.kernel, s.kernel, s.c, s.depthwise ? 1 : s.f), 2);
  const Buffer<float> output(count(s.n, s.h, s.w, s.f), 3);
  const std::string k = std::to_string(s.kernel), halo = s.kernel == 1 ? "" : " + " + std::to_string(s.kernel - 1);
  const std::string text =
      s.depthwise ? "@numerics(contract=True)\ndef conv(I: f32[N, H" + halo + ", W" + halo + ", C], F: f32[" + k + ", " + k + ", C], O: out[f32[N, H, W, C]]):\n"
                    "    for n, h, w, c in grid(N, H, W, C):\n        O[n, h, w, c] = sum(I[n, h + r, w + s, c] * F[r, s, c] for r, s in grid(" + k + ", " + k + "))\n"
                  : "@numerics(contract=True)\ndef conv(I: f32[N, H" + halo + ", W" + halo + ", C], F: f32[" + k + ", " + k + ", C, K], O: out[f32[N, H, W, K]]):\n"
                    "    for n, h, w, f in grid(N, H, W, K):\n        O[n, h, w, f] = sum(I[n, h + r, w + s, c] * F[r, s, c, f] for r, s, c in grid(" + k + ", " + k + ", C))\n";
  Instance instance;
  instance.arguments = {input.keep(), weights.keep(), output.keep()};
  instance.output = [=] { return as_floats(output); };
  instance.contenders = onednn::conv(s, input.data(), weights.data(), output.data());
  std::vector<std::int64_t> sizes = {s.n, s.h, s.w, s.c};
  if (!s.depthwise) sizes.push_back(s.f);
  instance.contenders.push_back({"tileopt", Kernel::compile(text, {.sizes = sizes}).bind(sizes, {input.data(), weights.data(), output.data()})});
  return instance;
}

}  // namespace

void add_conv_rows(std::vector<Row>& rows) {
  const auto add = [&](const std::string& name, const onednn::Conv& s, double target) {
    const double channels = s.depthwise ? 1 : s.c;
    rows.push_back({name, "GFLOP/s", 2.0 * s.n * s.h * s.w * s.f * s.kernel * s.kernel * channels, 1, target, {"oneDNN"}, [=] { return conv(s); }});
  };
  add("conv_3x3_56_c64_f64", {1, 56, 56, 64, 64, 3, false}, 0.95);
  add("conv_3x3_14_c256_f256", {1, 14, 14, 256, 256, 3, false}, 0.95);
  add("conv_1x1_56_c64_f256", {1, 56, 56, 64, 256, 1, false}, 0.95);
  add("conv_depthwise_3x3_56_c64", {1, 56, 56, 64, 64, 3, true}, 0.85);
}

}  // namespace tileopt::table
