// Arguments that lie in memory otherwise than row by row: packed, permuted, strided. Against the interpreter, and byte by byte.
#include <dlfcn.h>

#include <random>

#include "backends/openmp/toolchain.h"
#include "tests/execute/fixture.h"
#include "verify/verify.h"

namespace tileopt::test {
namespace {

class Layouts : public Execute {
 protected:
  /// A function of the first kernel's shared object.
  template <class Function>
  Function* function(const std::string& name) {
    void* handle = dlopen(kernels_.front().object().c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle, nullptr);
    void* symbol = dlsym(handle, name.c_str());
    EXPECT_NE(symbol, nullptr) << name;
    return reinterpret_cast<Function*>(symbol);
  }
  void* workspace() { return memory_; }

 private:
  alignas(256) unsigned char memory_[4096] = {};
};

// All pairs of values through every operator, conversion and reduction of both types.
TEST_F(Layouts, FourBitIntegersComputeAsDefined) {
  for (const std::string type : {"i4", "u4"}) {
    kernels_.clear();
    const std::vector<std::string> operators = {"x + y", "x - y", "x * y", "x // y", "x % y", "x & y", "x | y", "x ^ y", "x << y", "x >> y", "min(x, y)",
                                                "max(x, y)", "-x", "~x", "abs(x)", "x if x < y else y + 1", type + "(F[i])", type + "(A[i] * 37)",
                                                type + "(G[i])", type + "(i16(A[i]) * 1001)"};
    std::string text = "def f(A: i8[N], B: i8[N], F: f32[N], G: f64[N], W: out[i16[N]], R: out[f32[N]], E: out[bf16[N]], S: inout[i32]";
    for (std::size_t k = 0; k < operators.size(); ++k) text += ", X" + std::to_string(k) + ": out[i8[N]]";
    text += "):\n    total: " + type + " = sum(" + type + "(A[i]) for i in range(N))\n    product: " + type + " = prod(" + type +
            "(B[i]) for i in range(N) if i % 16 < 5)\n    S = i32(total) * 100 + i32(product)\n    for i in range(N):\n        x: " + type + " = " + type +
            "(A[i])\n        y: " + type + " = " + type + "(B[i])\n";
    for (std::size_t k = 0; k < operators.size(); ++k) text += "        X" + std::to_string(k) + "[i] = i8(" + operators[k] + ")\n";
    text += "        W[i] = i16(x) - i16(" + std::string(type == "i4" ? "u4" : "i4") + "(x))\n        R[i] = f32(x) / 3\n        E[i] = bf16(x)\n";
    compile(text);
    Arrays a = arguments({{"N", 256}});
    for (std::int64_t i = 0; i < 256; ++i) {
      a.at("A").set_integer(i, i % 16 - 8);
      a.at("B").set_integer(i, i / 16 - 8);
      a.at("F").set(i, static_cast<double>(i) / 5 - 25);
      a.at("G").set(i, i == 7 ? std::nan("") : static_cast<double>(i) * 1e3 - 128e3);
    }
    const Arrays expected = interpret(*program_, {{"N", 256}}, a).values;
    run({{"N", 256}}, a, [&](const Arrays& results) {
      for (const auto& [name, array] : expected) EXPECT_EQ(array.bytes, results.at(name).bytes) << type << " " << name;
    });
    // Not by the interpreter: -8 // -1 wraps, saturation, floor forms.
    const auto value = [&](int op, std::int64_t x, std::int64_t y) { return expected.at("X" + std::to_string(op)).get_integer((y + 8) * 16 + x + 8); };
    if (type == "i4") {
      EXPECT_EQ(value(0, 7, 1), -8);
      EXPECT_EQ(value(3, -8, -1), -8);
      EXPECT_EQ(value(3, -7, 2), -4);
      EXPECT_EQ(value(4, -7, 2), 1);
      EXPECT_EQ(value(8, 3, 2), -4);
      EXPECT_EQ(value(9, -8, 5), -1);
      EXPECT_EQ(value(14, -8, 0), -8);
      EXPECT_EQ(expected.at("X16").get_integer(0), -8);
      EXPECT_EQ(expected.at("X16").get_integer(255), 7);
    } else {
      EXPECT_EQ(value(0, 7, 7), 14);
      EXPECT_EQ(value(1, 0, 1), 15);
      EXPECT_EQ(value(12, 1, 0), 15);
      EXPECT_EQ(value(13, 5, 0), 10);
      EXPECT_EQ(expected.at("X16").get_integer(0), 0);
      EXPECT_EQ(expected.at("X16").get_integer(255), 15);
    }
  }
}

TEST_F(Layouts, PackedElementsAreReadFromTheirHalves) {
  compile(
      "def f(W: packed[i4[N, K]], U: packed[u4[B, N, K]], X: out[i8[N, K]], Y: out[f32[B, N, K]], C: out[i32[N]]):\n"
      "    for n, k in grid(N, K):\n"
      "        X[n, k] = i8(W[n, k])\n"
      "    for b, n, k in grid(B, N, K):\n"
      "        Y[b, n, k] = f32(U[b, n, K - 1 - k]) * 0.5\n"
      "    for n in range(N):\n"
      "        C[n] = sum(i32(W[n, k]) * i32(W[n, K - 1 - k]) for k in range(K))\n");
  check_sizes({{0, 1, 2, 3, 7, 16, 33, 64}});
}

TEST_F(Layouts, TheEvenElementLiesInTheLowHalf) {
  compile("def f(W: packed[i4[N, K]], X: out[i8[N, K]]):\n    for n, k in grid(N, K):\n        X[n, k] = i8(W[n, k])\n");
  auto* kernel = function<std::int32_t(std::int64_t, std::int64_t, const std::uint8_t*, std::int8_t*, void*)>("f");
  const std::uint8_t bytes[] = {0x21, 0xf3, 0x84, 0x97};  // rows of three: the high half of each second byte is not read
  std::int8_t x[6] = {};
  ASSERT_EQ(kernel(2, 3, bytes, x, workspace()), 0);
  const std::int8_t expected[6] = {1, 2, 3, 4, -8, 7};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(x[i], expected[i]) << i;
}

TEST_F(Layouts, PackAndUnpackAreInverses) {
  compile("def f(W: packed[i4[N, K]], U: packed[u4[7]], X: out[i32[N]]):\n    for n in range(N):\n        X[n] = sum(i32(W[n, k]) for k in range(K)) + i32(U[n % 7])\n");
  auto* bytes = function<std::int64_t(std::int64_t, std::int64_t)>("f_packed_bytes_W");
  auto* pack = function<std::int32_t(std::int64_t, std::int64_t, const std::int8_t*, std::uint8_t*)>("f_pack_W");
  auto* unpack = function<std::int32_t(std::int64_t, std::int64_t, const std::uint8_t*, std::int8_t*)>("f_unpack_W");
  std::mt19937 random(7);
  for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{3, 5}, {4, 8}, {1, 1}, {0, 9}, {9, 0}, {17, 31}}) {
    ASSERT_EQ(bytes(n, k), n * ((k + 1) / 2));
    std::vector<std::int8_t> plain(static_cast<std::size_t>(n * k) + 1), back(plain.size(), 99);
    for (std::int8_t& value : plain) value = static_cast<std::int8_t>(static_cast<int>(random() % 16) - 8);
    std::vector<std::uint8_t> packed(static_cast<std::size_t>(bytes(n, k)) + 1, 0xaa);
    ASSERT_EQ(pack(n, k, plain.data(), packed.data()), 0);
    EXPECT_EQ(packed.back(), 0xaa) << "wrote beyond the end";
    ASSERT_EQ(unpack(n, k, packed.data(), back.data()), 0);
    EXPECT_EQ(back.back(), 99);
    for (std::size_t i = 0; i + 1 < plain.size(); ++i) EXPECT_EQ(back[i], plain[i]) << n << " " << k << " " << i;
    for (std::int64_t r = 0; r < n && k % 2 != 0; ++r) EXPECT_EQ(packed[static_cast<std::size_t>((r + 1) * ((k + 1) / 2) - 1)] >> 4, 0) << "padding";
  }
  std::int8_t plain[4] = {};
  std::uint8_t packed[4] = {};
  EXPECT_EQ(bytes(-1, 4), -1);
  EXPECT_EQ(bytes(std::int64_t(1) << 40, std::int64_t(1) << 40), -1);
  EXPECT_EQ(pack(-1, 4, plain, packed), 1);
  EXPECT_EQ(pack(2, 2, nullptr, packed), 2);
  EXPECT_EQ(unpack(2, 2, packed, nullptr), 2);
  EXPECT_EQ(pack(0, 2, nullptr, nullptr), 0);
  EXPECT_EQ(function<std::int64_t()>("f_packed_bytes_U")(), 4);
}

TEST_F(Layouts, PackedElementsServeAsIndices) {
  compile(
      "def f(code: packed[u4[N, K]], book: f32[16], X: out[f32[N, K]], count: inout[i32[16]]):\n"
      "    for n, k in grid(N, K):\n"
      "        X[n, k] = book[code[n, k]]\n"
      "    for n, k in grid(N, K):\n"
      "        count[code[n, k]] += 1\n");
  check_sizes({{0, 1, 2, 5, 33}});
}

TEST_F(Layouts, PackedFactorOfAProduct) {
  compile("@numerics(contract=True)\ndef f(A: f32[M, K], W: packed[i4[K, N]], C: out[f32[M, N]]):\n"
          "    for i, j in grid(M, N):\n        C[i, j] = sum(A[i, k] * f32(W[k, j]) for k in range(K))\n");
  check_sizes({{0, 1, 5, 33, 70}});
}

/// A product in which every operand lies as told.
std::string product(const std::string& a, const std::string& b, const std::string& c) {
  return "@numerics(contract=True)\ndef f(A: " + a + ", B: " + b + ", C: out[" + c +
         "]):\n    for i, j in grid(M, N):\n        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))\n";
}

TEST_F(Layouts, ProductsOfPermutedAndStridedMatrices) {
  const std::string row_a = "f32[M, K]", row_b = "f32[K, N]", row_c = "f32[M, N]";
  for (const std::string& text : {product("permuted[f32[M, K], 1, 0]", row_b, row_c), product(row_a, "permuted[f32[K, N], 1, 0]", row_c),
                                  product(row_a, row_b, "permuted[f32[M, N], 1, 0]"),
                                  product("permuted[f32[M, K], 1, 0]", "permuted[f32[K, N], 1, 0]", "permuted[f32[M, N], 1, 0]"),
                                  product("strided[f32[M, K], lda, 1]", "strided[f32[K, N], ldb, 1]", "strided[f32[M, N], ldc, 1]"),
                                  product("strided[f32[M, K], 1, lda]", row_b, "strided[f32[M, N], 1, ldc]"),
                                  product("strided[f32[M, K], 2 * K + 3, 2]", row_b, "strided[f32[M, N], s, 3]")}) {
    kernels_.clear();
    compile(text);
    check_sizes({{0, 1, 5, 33, 70, 300}, 6});
  }
}

TEST_F(Layouts, StencilsSumsAndTransposes) {
  compile(
      "def f(X: strided[permuted[f32[B, M, N], 1, 0, 2], sb, sm, 1], Y: inout[strided[f32[M, N], ld, 1]], T: out[permuted[f32[N, M], 1, 0]], S: out[f32[B]]):\n"
      "    for b in range(B):\n"
      "        S[b] = sum(X[b, i, j] for i in range(M) for j in range(N))\n"
      "    for i in range(1, M):\n"
      "        for j in range(1, N):\n"
      "            Y[i, j] = (Y[i - 1, j] + Y[i, j - 1]) / 2\n"
      "    for i, j in grid(M, N):\n"
      "        T[j, i] = Y[i, j]\n");
  check_sizes({{0, 1, 2, 7, 33, 100, 1000, 3000}, 8});
}

TEST_F(Layouts, LauncherRefusesStridesThatOverlap) {
  compile("def f(X: strided[f32[A, M, N], sa, sm, 1], Y: out[f32[A]]):\n    for a in range(A):\n        Y[a] = sum(X[a, i, j] for i in range(M) for j in range(N))\n");
  auto* kernel = function<std::int32_t(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, const float*, float*, void*)>("f");
  const auto call = [&](std::int64_t a, std::int64_t m, std::int64_t n, std::int64_t sa, std::int64_t sm) {
    std::vector<float> x(100, 1), y(4);
    return kernel(a, m, n, sa, sm, x.data(), y.data(), workspace());
  };
  EXPECT_EQ(call(2, 3, 4, 15, 5), 0);
  EXPECT_EQ(call(2, 3, 4, 14, 5), 1) << "not affine: the launcher knows";
  EXPECT_EQ(call(2, 3, 4, 15, 3), 1);
  EXPECT_EQ(call(2, 3, 4, 0, 5), 1);
  EXPECT_EQ(call(2, 3, 4, std::int64_t(1) << 46, std::int64_t(1) << 46), 1);
  EXPECT_EQ(call(0, 3, 4, 15, 5), 0);
  EXPECT_THROW(make_arguments(*program_, {{"A", 2}, {"M", 3}, {"N", 4}, {"sa", 14}, {"sm", 5}}, 1, Fill::integers), Errors);
  EXPECT_THROW(make_arguments(*program_, {{"A", 2}, {"M", 3}, {"N", 4}, {"sa", 1}, {"sm", 5}}, 1, Fill::integers), Errors);
  EXPECT_THROW(make_arguments(*program_, {{"A", 2}, {"M", 3}, {"N", 4}, {"sa", std::int64_t(1) << 62}, {"sm", 5}}, 1, Fill::integers), Errors);
  EXPECT_THROW(make_arguments(*program_, {{"A", 2}, {"M", 3}, {"N", 4}, {"sa", std::int64_t(1) << 61}, {"sm", 5}}, 1, Fill::integers), Errors) << "bytes";
  EXPECT_NO_THROW(make_arguments(*program_, {{"A", 2}, {"M", 3}, {"N", 4}, {"sa", 15}, {"sm", 5}}, 1, Fill::integers));
}

// The columns of a matrix with gaps, seen from C.
TEST_F(Layouts, StridesCountElements) {
  compile("def f(X: strided[f32[M, N], 1, ld], Y: out[strided[f32[M, N], lda, 2]]):\n    for i, j in grid(M, N):\n        Y[i, j] = X[i, j]\n");
  auto* kernel = function<std::int32_t(std::int64_t, std::int64_t, std::int64_t, std::int64_t, const float*, float*, void*)>("f");
  float x[14], y[14];
  for (int i = 0; i < 14; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = -1;
  }
  ASSERT_EQ(kernel(2, 3, 4, 7, x, y, workspace()), 0);
  const float expected[14] = {0, -1, 4, -1, 8, -1, -1, 1, -1, 5, -1, 9, -1, -1};
  for (int i = 0; i < 14; ++i) EXPECT_EQ(y[i], expected[i]) << i;
}

// What users of C see of layouts: shapes, bytes, preconditions, and functions to pack.
TEST_F(Layouts, TheHeaderDocumentsThem) {
  const auto program = std::make_shared<const Program>(
      parse_tile_file(context_.get(),
                      "def f(W: packed[i4[N, K]], X: strided[f32[N, K], 1, ld], Y: inout[permuted[f32[N, K, 4], 2, 0, 1]]):\n"
                      "    for i, j in grid(N, K):\n        Y[i, j, 1] += f32(W[i, j]) * X[i, j]\n",
                      "test.tile")
          .programs.at(0));
  Request request;
  request.machine = find_machine("x86-64-v3");
  Trace trace;
  Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
  ASSERT_FALSE(std::holds_alternative<Infeasible>(outcome));
  const std::string header = std::get<Outcome>(outcome).module.text.header;
  for (const char* expected : {"even subscript in the low four bits, rows padded to whole bytes; N * ((K + 1) / 2) bytes, read\n",
                               "X: f32 [N][K], strides 1, ld, read\n", "Y: f32 [N][K][4], strides K, 1, N * K, read and written\n", "Strides are at least 1",
                               "int64_t f_packed_bytes_W(int64_t N, int64_t K);", "int32_t f_pack_W(int64_t N, int64_t K, const int8_t* plain, uint8_t* packed);",
                               "int32_t f_unpack_W(int64_t N, int64_t K, const uint8_t* packed, int8_t* plain);",
                               "int32_t f(int64_t N, int64_t K, int64_t ld, const uint8_t* W, const float* X, float* Y, void* workspace);"})
    EXPECT_NE(header.find(expected), std::string::npos) << expected << "\n" << header;
  TemporaryDirectory folder;
  write_file(folder.path() + "/f.h", header);
  const std::string user = "#include \"f.h\"\nint main(void) { return (int)f_packed_bytes_W(3, 5) + (int)f_pack_W(1, 1, 0, 0); }\n";
  for (const char* language : {"c", "c++"}) {
    write_file(folder.path() + "/user.c", user);
    const ProcessResult result = run_process({find_c_compiler(), "-x", language, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", folder.path() + "/user.c"}, 60);
    EXPECT_EQ(result.code, 0) << result.output;
  }
}

// The checker compares what was printed with the Program, not with what the printer was told.
TEST_F(Layouts, VerifyKnowsTheLayouts) {
  const auto program = std::make_shared<const Program>(
      parse_tile_file(context_.get(), product("strided[f32[M, K], 1, lda]", "permuted[f32[K, N], 1, 0]", "f32[M, N]"), "test.tile").programs.at(0));
  Request request;
  request.machine = find_machine("x86-64-v3");
  Trace trace;
  Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
  ASSERT_FALSE(std::holds_alternative<Infeasible>(outcome));
  const Module module = std::move(std::get<Outcome>(outcome).module);
  const auto refuted = [&](const std::function<void(std::vector<PrintFacts::Layout>&)>& change) {
    std::vector<PrintFacts> facts = module.text.facts;
    change(facts.at(0).layouts);
    return unproved_text(verify(*program, module.asts, facts, request.machine, "test"));
  };
  EXPECT_EQ(refuted([](auto&) {}), "");
  EXPECT_NE(refuted([](auto& layouts) { layouts.pop_back(); }).find("the layout of B"), std::string::npos);
  EXPECT_NE(refuted([](auto& layouts) { layouts[0].strides[1] = "lda + 1"; }).find("stride 1 of A"), std::string::npos);
  EXPECT_NE(refuted([](auto& layouts) { layouts[1].order = {0, 1}; }).find("the order of the dimensions of B"), std::string::npos);
  EXPECT_NE(refuted([](auto& layouts) { layouts[1].packed = true; }).find("the layout of B"), std::string::npos);
  EXPECT_NE(refuted([](auto& layouts) { layouts.push_back({"C", {1, 0}, {}, false}); }).find("the layout of C"), std::string::npos);
}

}  // namespace
}  // namespace tileopt::test
