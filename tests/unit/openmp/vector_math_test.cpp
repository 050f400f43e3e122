/// The functions on vectors, printed and compiled for several widths with and without the instructions, against double over all of float.
#include <dlfcn.h>

#include <cmath>

#include "backends/c_common/helper_table.h"
#include "backends/c_common/helpers.h"
#include "fixture.h"

namespace tileopt {
namespace {

struct Measured {
  double ulp = 0;     ///< largest error, of finite results
  double where = 0;
  long wrong = 0;     ///< special results that differ: NaN, infinities
};

/// One function on vectors of `lanes`, called on every `step`th float of either sign and on the ends of the range.
class VectorFunction {
 public:
  VectorFunction(const std::string& name, int lanes, const std::vector<std::string>& flags) : lanes_(lanes) {
    Helpers helpers;
    const std::string callee = helpers.use("tileopt_" + name + "_f32x@", lanes), vector = helpers.vector_type(ElementType::f32, lanes);
    const std::string text = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n" + helpers.text() + "void run(const float* x, float* y) { *(" + vector +
                             "_u*)y = " + callee + "(*(const " + vector + "_u*)x); }\n";
    write_file(folder_.path() + "/f.c", text);
    Machine machine;
    machine.flags = flags;
    compile_shared_object(find_c_compiler(), {folder_.path() + "/f.c"}, folder_.path() + "/f.so", Numerics{}, machine, {"-Wall", "-Werror", "-Wno-unused-function"});
    handle_ = dlopen((folder_.path() + "/f.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) run_ = reinterpret_cast<void (*)(const float*, float*)>(dlsym(handle_, "run"));
  }
  ~VectorFunction() {
    if (handle_ != nullptr) dlclose(handle_);
  }

  Measured measure(double (*exact)(double), std::uint32_t step) const {
    Measured measured;
    std::vector<float> x(static_cast<std::size_t>(lanes_)), y(x.size());
    const auto flush = [&](std::size_t count) {
      run_(x.data(), y.data());
      for (std::size_t i = 0; i < count; ++i) compare(x[i], y[i], exact(static_cast<double>(x[i])), measured);
    };
    std::size_t filled = 0;
    const auto add = [&](std::uint32_t bits) {
      std::memcpy(&x[filled++], &bits, sizeof bits);
      if (filled == x.size()) flush(filled), filled = 0;
    };
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      for (std::uint32_t bits = 0; bits < 0x7f800000u; bits += step) add(sign | bits);
      for (const std::uint32_t bits : {0u, 1u, 0x007fffffu, 0x00800000u, 0x7f7fffffu, 0x7f800000u, 0x7fc00000u, 0x3f800000u}) add(sign | bits);
    }
    flush(filled);
    return measured;
  }

 private:
  static void compare(float x, float y, double exact, Measured& measured) {
    const float rounded = static_cast<float>(exact);
    if (std::isnan(rounded) || std::isnan(y)) {
      measured.wrong += std::isnan(rounded) != std::isnan(y);
      return;
    }
    if (std::isinf(rounded) || std::isinf(y)) {
      // An overflow may come one unit early or late.
      const bool near = std::fabs(exact) > 3.4028e38 && std::fabs(static_cast<double>(y)) > 3.4028e38 && std::signbit(y) == std::signbit(rounded);
      measured.wrong += !near && y != rounded;
      return;
    }
    const double unit = std::ldexp(1.0, std::max(rounded == 0 ? -126 : std::ilogb(rounded), -126) - 23);
    const double ulp = std::fabs(static_cast<double>(y) - exact) / unit;
    if (ulp > measured.ulp) measured.ulp = ulp, measured.where = static_cast<double>(x);
  }

  TemporaryDirectory folder_;
  int lanes_;
  void* handle_ = nullptr;
  void (*run_)(const float*, float*) = nullptr;
};

struct Bound {
  const char* name;
  double (*exact)(double);
  double ulp;
};

const Bound bounds[] = {
    {"exp", [](double x) { return std::exp(x); }, 1.1},    {"exp2", [](double x) { return std::exp2(x); }, 1.3},
    {"log", [](double x) { return std::log(x); }, 1.1},    {"tanh", [](double x) { return std::tanh(x); }, 2.8},
    {"erf", [](double x) { return std::erf(x); }, 1.2},    {"sqrt", [](double x) { return std::sqrt(x); }, 0.501},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1.5}, {"abs", [](double x) { return std::fabs(x); }, 0},
    {"floor", [](double x) { return std::floor(x); }, 0},  {"ceil", [](double x) { return std::ceil(x); }, 0},
    {"round", [](double x) { return std::nearbyint(x); }, 0},
};

void expect_within_bounds(int lanes, const std::vector<std::string>& flags) {
  for (const Bound& bound : bounds) {
    const Measured measured = VectorFunction(bound.name, lanes, flags).measure(bound.exact, 1999);
    EXPECT_LE(measured.ulp, bound.ulp) << bound.name << " on " << lanes << " lanes at " << measured.where;
    EXPECT_EQ(measured.wrong, 0) << bound.name << " on " << lanes << " lanes";
  }
}

bool lacks(const std::vector<std::string>& features) {
  Machine machine;
  machine.features = features;
  return !missing_features(machine).empty();
}

TEST(VectorMath, PlainC) { expect_within_bounds(4, {}); }

TEST(VectorMath, WiderThanTheMachine) { expect_within_bounds(16, {}); }

TEST(VectorMath, Avx2) {
  if (lacks({"avx2", "fma"})) GTEST_SKIP() << "this processor lacks AVX2";
  expect_within_bounds(8, {"-march=x86-64-v3"});
  expect_within_bounds(4, {"-march=x86-64-v3"});
}

TEST(VectorMath, Avx512) {
  if (lacks({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) GTEST_SKIP() << "this processor lacks AVX-512";
  expect_within_bounds(16, {"-march=x86-64-v4"});
}

}  // namespace
}  // namespace tileopt
