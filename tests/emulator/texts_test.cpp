// Correct texts give what they should in every order; texts with a fault are reported with its kind and line in every order.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "tests/emulator/emulated_input.h"

namespace tileopt::emulator {
namespace {

/// An input with arguments, and what it computes.
struct Case {
  std::vector<std::int64_t> sizes;
  std::vector<Array> arguments;
  std::function<void(const std::vector<Array>&)> expect;
};

template <class T>
std::function<void(const std::vector<Array>&)> gives(std::size_t argument, std::vector<T> expected) {
  return [argument, expected](const std::vector<Array>& results) { EXPECT_EQ(values_of<T>(results[argument]), expected); };
}

Case gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::vector<float> a = numbers(static_cast<std::size_t>(m * k), 1), b = numbers(static_cast<std::size_t>(k * n), 2);
  std::vector<float> c(static_cast<std::size_t>(m * n), 0.0f);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t l = 0; l < k; ++l) c[i * n + j] += a[i * k + l] * b[l * n + j];
  return {{m, n, k}, {array("A", Array::Role::in, a), array("B", Array::Role::in, b), array("C", Array::Role::out, std::vector<float>(c.size()))}, gives(2, c)};
}

Case row_sum(std::int64_t m, std::int64_t n) {
  const std::vector<float> x = numbers(static_cast<std::size_t>(m * n), 3);
  std::vector<float> y(static_cast<std::size_t>(m), 0.0f);
  for (std::int64_t i = 0; i < m * n; ++i) y[i / n] += x[i];
  return {{m, n}, {array("X", Array::Role::in, x), array("Y", Array::Role::out, std::vector<float>(y.size()))}, gives(1, y)};
}

Case pipelined(std::int64_t blocks, std::int64_t pieces) {
  const std::vector<float> x = numbers(static_cast<std::size_t>(256 * blocks * pieces), 4);
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2.0f * x[i / 256 * 256 + 255 - i % 256];
  return {{blocks, pieces}, {array("X", Array::Role::in, x), array("Y", Array::Role::out, std::vector<float>(x.size()))}, gives(1, y)};
}

Case histogram(std::int64_t n) {
  std::vector<std::uint32_t> x(static_cast<std::size_t>(n)), y(64, 5), expected(64, 5);
  for (std::size_t i = 0; i < x.size(); ++i) ++expected[(x[i] = static_cast<std::uint32_t>(i * i * 7 + i / 3)) % 64];
  return {{n}, {array("X", Array::Role::in, x), array("Y", Array::Role::inout, y)}, gives(1, expected)};
}

Case last_block(std::int64_t n) {
  const std::vector<float> x = numbers(static_cast<std::size_t>(n), 5);
  return {{n}, {array("X", Array::Role::in, x), array("Y", Array::Role::out, std::vector<float>(1))}, gives(1, std::vector<float>{std::accumulate(x.begin(), x.end(), 0.0f)})};
}

Case look_back(std::int64_t n) {
  std::vector<std::uint32_t> x(static_cast<std::size_t>(n), 3), y(x.size());
  std::iota(x.begin(), x.end(), 1u);
  std::partial_sum(x.begin(), x.end(), y.begin());
  return {{n}, {array("X", Array::Role::in, x), array("Y", Array::Role::out, std::vector<std::uint32_t>(x.size())),
                array("ready", Array::Role::inout, std::vector<std::uint32_t>(x.size(), 0))}, gives(1, y)};
}

Case overlapping(std::int64_t n) {
  const std::vector<float> x = numbers(static_cast<std::size_t>(n), 6);
  std::vector<float> y = x;
  for (float& value : y) value += 1.0f;
  return {{n}, {array("X", Array::Role::in, x), array("Y", Array::Role::out, std::vector<float>(x.size()))}, gives(1, y)};
}

Case case_of(const std::string& name) {
  if (name == "gemm") return gemm(33, 45, 19);
  if (name == "row_sum") return row_sum(3, 300);
  if (name == "pipelined") return pipelined(2, 5);
  if (name == "histogram") return histogram(200);
  if (name == "last_block") return last_block(300);
  if (name == "look_back") return look_back(50);
  return overlapping(160);
}

class CorrectText : public testing::TestWithParam<std::string> {};

TEST_P(CorrectText, IsCleanAndRightInEveryOrder) {
  const Module module = Module::compile(read_input(GetParam()), "");
  const Case example = case_of(GetParam());
  for (const Settings& settings : all_settings()) {
    SCOPED_TRACE(settings_text(settings));
    std::vector<Array> arguments = example.arguments;
    const Outcome outcome = module.run(example.sizes, arguments, settings);
    ASSERT_EQ(outcome.end, Outcome::End::done) << reports_text(outcome);
    EXPECT_GT(outcome.accesses, 0);
    example.expect(arguments);
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, CorrectText, testing::Values("gemm", "row_sum", "pipelined", "histogram", "last_block", "look_back", "overlapping"),
                         [](const auto& info) { return info.param; });

TEST(CorrectText, RunsWithWavesOf64Lanes) {
  for (const char* name : {"gemm", "row_sum", "pipelined"}) {
    const Module module = Module::compile(read_input(name), "");
    const Case example = case_of(name);
    for (const Settings& settings : all_settings(64)) {
      SCOPED_TRACE(std::string(name) + ", " + settings_text(settings));
      std::vector<Array> arguments = example.arguments;
      const Outcome outcome = module.run(example.sizes, arguments, settings);
      ASSERT_EQ(outcome.end, Outcome::End::done) << reports_text(outcome);
      example.expect(arguments);
    }
  }
}

TEST(CorrectText, TakesEveryEdgeOfItsTiles) {
  const Module module = Module::compile(read_input("gemm"), "");
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1}, {2, 33, 8}, {32, 32, 9}, {64, 65, 1}, {31, 3, 100}}) {
    Case example = gemm(m, n, k);
    Settings settings;
    settings.order = Order::random;
    const Outcome outcome = module.run(example.sizes, example.arguments, settings);
    ASSERT_EQ(outcome.end, Outcome::End::done) << reports_text(outcome);
    example.expect(example.arguments);
  }
}

/// A fault: `from` becomes `to` in the input. The report has `kind` (one of several, where which comes first depends on the order), and names the line that holds `line` (in the planted text).
struct Fault {
  std::string name, input, from, to, kind, line;
  friend void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }
};

const std::vector<Fault> faults = {
    {"deleted_barrier", "gemm", "tileopt_block_barrier(); /* tiles are full */", "", "race", "C_reg[ir] += A_shared"},
    {"deleted_first_barrier", "gemm", "tileopt_block_barrier(); /* tiles are free */", "", "race", "_shared[e] ="},
    {"barrier_moved_before_copies", "gemm", "tileopt_block_barrier(); /* tiles are full */\n    for (int kk = 0; kk < 8; ++kk)",
     "for (int kk = 0; kk < 8; ++kk)\n      if (kk == 1) tileopt_block_barrier(); else", "race", "C_reg[ir] += A_shared"},
    {"barrier_under_divergence", "row_sum", "tileopt_block_barrier();", "if (thread < 64) tileopt_block_barrier();", "barrier", "if (thread < 64)"},
    {"barrier_at_two_places", "row_sum", "tileopt_block_barrier();", "if (thread < 64) tileopt_block_barrier();\n  else tileopt_block_barrier();", "barrier",
     "tileopt_block_barrier();"},
    {"left_before_the_barrier", "row_sum", "float sum = 0.0f;", "float sum = 0.0f;\n  if (thread >= 96 && row == 1) return;", "barrier", "tileopt_block_barrier();"},
    {"missing_tail_guard", "gemm", "if (32 * ib + 4 * it + ir < M && 32 * jb + jt < N) C[", "if (32 * jb + jt < N) C[", "out of bounds", "C[(32 * ib"},
    {"missing_column_guard", "gemm", "if (32 * ib + 4 * it + ir < M && 32 * jb + jt < N) C[", "if (32 * ib + 4 * it + ir < M) C[", "race|out of bounds", "C[(32 * ib"},
    {"missing_guard_of_a_load", "gemm", "k < K && j < N ? B", "j < N ? B", "out of bounds", "B_shared[e] ="},
    {"shared_out_of_bounds", "gemm", "B_shared[kk * 32 + jt];", "B_shared[kk * 32 + jt + 1];", "out of bounds", "C_reg[ir] +="},
    {"subscript_outside_registers", "gemm", "ir < 4; ++ir) C_reg[ir] +=", "ir < 5; ++ir) C_reg[ir] +=", "index", "C_reg[ir] +="},
    {"uninitialised_shared", "gemm", "      B_shared[e] = k < K && j < N ? B[k * N + j] : 0.0f;", "      if (k < K && j < N) B_shared[e] = B[k * N + j];", "uninitialised",
     "C_reg[ir] +="},
    {"uninitialised_result", "gemm", "C[(32 * ib + 4 * it + ir) * N + 32 * jb + jt] = C_reg[ir];", "C[(32 * ib + 4 * it + ir) * N + 32 * jb + jt] += C_reg[ir];",
     "uninitialised", "+= C_reg[ir];"},
    {"written_input", "gemm", "A_shared[e] = i <", "((float*)A)[0] = 1.0f;\n      A_shared[e] = i <", "out of bounds", "((float*)A)[0]"},
    {"one_slot", "pipelined", "ring + (p + 1) % 2 * 256", "ring + p % 2 * 256", "race", "tileopt_async_copy16(ring + p % 2"},
    {"race_of_blocks", "histogram", "tileopt_atomic_add_u32(&Y[thread], counts[thread]);", "Y[thread] += counts[thread];", "race", "Y[thread] +="},
    {"race_of_threads", "histogram", "tileopt_atomic_add_u32(&counts[X[i] % 64], 1u);", "counts[X[i] % 64] += 1u;", "race", "counts[X[i] % 64] +="},
    {"counts_not_cleared", "histogram", "counts[thread] = 0;", "if (thread > 0) counts[thread] = 0;", "uninitialised", "&counts[X[i] % 64]"},
    {"no_barrier_after_clearing", "histogram", "tileopt_block_barrier(); /* counts are zero */", "", "race", "[X[i] % 64]"},
    {"no_barrier_after_counting", "histogram", "tileopt_block_barrier(); /* counts are complete */", "", "race", "&Y[thread], counts[thread]"},
    {"mask_without_a_lane", "row_sum", "tileopt_shuffle_xor(~0ull,", "tileopt_shuffle_xor(0xfffffffeull,", "warp", "tileopt_shuffle_xor"},
    {"mask_with_absent_lanes", "row_sum", "tileopt_shuffle_xor(~0ull,", "tileopt_shuffle_xor(0x1ffffffffull,", "warp", "tileopt_shuffle_xor"},
    {"masks_that_differ", "row_sum", "tileopt_shuffle_xor(~0ull,", "tileopt_shuffle_xor(TILEOPT_LANE < 16 ? 0xffffull : 0xffffffffull,", "warp", "tileopt_shuffle_xor"},
    {"lanes_outside_the_mask", "row_sum", "tileopt_shuffle_xor(~0ull,", "tileopt_shuffle_xor(TILEOPT_LANE < 16 ? 0xffffull : 0xffff0000ull,", "warp", "tileopt_shuffle_xor"},
    {"shuffle_under_divergence", "row_sum", "step /= 2) sum +=", "step /= 2) if (thread < 127) sum +=", "deadlock", "tileopt_shuffle_xor"},
    {"no_wait_for_copies", "pipelined", "    tileopt_async_wait(1);\n", "", "race", "2.0f * ring"},
    {"wait_one_too_few", "pipelined", "tileopt_async_wait(1)", "tileopt_async_wait(2)", "race", "2.0f * ring"},
    {"no_barrier_after_the_wait", "pipelined", "tileopt_block_barrier(); /* piece p is there */", "", "race", "2.0f * ring"},
    {"no_barrier_after_reading", "pipelined", "tileopt_block_barrier(); /* piece p was read */", "", "race", "tileopt_async_copy16(ring + (p + 1)"},
    {"commit_missing", "pipelined", "    tileopt_async_commit();\n    tileopt_async_wait(1);", "    tileopt_async_wait(0);", "race", "2.0f * ring"},
    {"misaligned_copy", "pipelined", "tileopt_async_copy16(ring + 4 * thread, X", "tileopt_async_copy16(ring + 4 * thread, 1 + X", "misaligned", "1 + X"},
    {"part_not_released", "last_block", "tileopt_device_fence(); /* the part is there */", "", "race", "total += parts[b]"},
    {"parts_not_acquired", "last_block", "tileopt_device_fence(); /* all parts are there */", "", "race", "total += parts[b]"},
    {"not_waited_for_all", "last_block", "*before + 1 == (uint32_t)TILEOPT_GRID_X &&", "*before + 1 == (uint32_t)TILEOPT_GRID_X - 1 &&", "race|uninitialised", "total += parts[b]"},
    {"never_signalled", "look_back", "tileopt_atomic_store_release_u32(&ready[block], 1u);", "tileopt_atomic_store_release_u32(&ready[block], block == 40 ? 0u : 1u);", "deadlock",
     "while (tileopt_atomic_load_acquire"},
    {"signalled_too_early", "look_back", "    Y[block] = sum;\n    tileopt_atomic_store_release_u32(&ready[block], 1u);",
     "    tileopt_atomic_store_release_u32(&ready[block], 1u);\n    Y[block] = sum;", "race|uninitialised", "(volatile uint32_t*)Y"},
    {"overlap_with_other_values", "overlapping", "v.x[e] += 1.0f;", "v.x[e] += (float)TILEOPT_BLOCK_X;", "race", "tileopt_store16"},
    {"misaligned_vector", "overlapping", "tileopt_load16(X + place)", "tileopt_load16(X + place + (place < N - 4 ? 1 : 0))", "misaligned", "tileopt_load16"},
    {"index_overflow", "overlapping", "const int64_t place =", "const int far = 1 << 30, more = far * (2 + TILEOPT_BLOCK_X);\n  if (more == 7) return;\n  const int64_t place =", "overflow",
     "far * (2"},
    {"null_pointer", "overlapping", "tileopt_load16(X + place)", "tileopt_load16((const float*)0 + place)", "out of bounds", "tileopt_load16"},
    {"no_end", "overlapping", "v.x[e] += 1.0f;", "v.x[e] += 1.0f;\n  for (volatile int i = 0; TILEOPT_BLOCK_X == 0; i = 0) {\n  }", "time", "volatile int i"},
};

class PlantedFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, IsReportedInEveryOrder) {
  const Fault& fault = GetParam();
  const std::string text = planted(read_input(fault.input), fault.from, fault.to);
  const Module module = Module::compile(text, "");
  const Case example = case_of(fault.input);
  for (Settings settings : all_settings()) {
    SCOPED_TRACE(settings_text(settings));
    if (fault.kind == "time") settings.timeout_seconds = 0.3;
    std::vector<Array> arguments = example.arguments;
    const Outcome outcome = module.run(example.sizes, arguments, settings);
    ASSERT_EQ(outcome.reports.size(), 1u) << "not seen";
    const Report& report = outcome.reports.front();
    EXPECT_NE(("|" + fault.kind + "|").find("|" + report.kind + "|"), std::string::npos) << report.kind << ": " << report.text;
    ASSERT_FALSE(report.lines.empty()) << report.text;
    std::istringstream lines(text);
    std::vector<std::string> all(1);
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    const bool named = std::any_of(report.lines.begin(), report.lines.end(),
                                   [&](int line) { return all.at(static_cast<std::size_t>(line)).find(fault.line) != std::string::npos; });
    EXPECT_TRUE(named) << report.text;
    EXPECT_FALSE(report.kernel.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, PlantedFault, testing::ValuesIn(faults), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tileopt::emulator
