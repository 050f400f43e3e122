// Predicted times of kernels beside those measured on an H200.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>

#include "cost_models/machines.h"
#include "driver/predict_device.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "tests/predict/measured_rows.h"

namespace tileopt {
namespace {

MeasuredRow row_of(const MeasuredProduct& p) {
  const std::string layout = p.layout, type = p.type, epilogue = p.epilogue;
  const std::string a = layout[0] == 'N' ? "A[i, k]" : "A[k, i]", b = layout[1] == 'N' ? "B[k, j]" : "B[j, k]";
  const std::string a_shape = layout[0] == 'N' ? "M, K" : "K, M", b_shape = layout[1] == 'N' ? "K, N" : "N, K";
  const std::string assume = *p.assume ? "    assume(" + std::string(p.assume) + ")\n" : "";
  std::string text;
  if (type == "f32") {
    text = "@numerics(contract=True)\ndef product(A: f32[" + a_shape + "], B: f32[" + b_shape + "], C: out[f32[M, N]]):\n" + assume +
           "    for i, j in grid(M, N):\n        C[i, j] = sum(" + a + " * " + b + " for k in range(K))\n";
  } else {
    std::string tensor, last = "        C[i, j] = " + type + "(acc)\n";
    if (epilogue == "gelu") {
      tensor = "D: " + type + "[N], ";
      last = "        x: f32 = acc + f32(D[j])\n        C[i, j] = " + type +
             "(f32(0.5) * x * (f32(1.0) + tanh(f32(0.7978845608) * (x + f32(0.044715) * x * x * x))))\n";
    } else if (epilogue == "residual") {
      tensor = "D: " + type + "[M, N], ";
      last = "        C[i, j] = " + type + "(acc + f32(D[i, j]))\n";
    }
    text = "@numerics(contract=True, flush_subnormals=True)\ndef product(A: " + type + "[" + a_shape + "], B: " + type + "[" + b_shape + "], " + tensor + "C: out[" +
           type + "[M, N]]):\n" + assume + "    for i, j in grid(M, N):\n        acc: f32 = sum(f32(" + a + ") * f32(" + b + ") for k in range(K))\n" + last;
  }
  const std::string sizes = "M=" + std::to_string(p.m) + ",N=" + std::to_string(p.n) + ",K=" + std::to_string(p.k);
  return {"product " + layout + " " + type + " " + epilogue + " " + sizes + (assume.empty() ? "" : " aligned"), text, sizes,
          2.0 * double(p.m) * double(p.n) * double(p.k) / p.teraflops * 1e-6};
}

MeasuredRow row_of(const MeasuredConvolution& c) {
  const std::string channels = c.any_channels ? "C" : std::to_string(c.c);
  const auto moved = [&](const std::string& x) { return c.stride == 1 ? x : std::to_string(c.stride) + " * " + x; };
  const auto side = [&](const std::string& x) { return moved(x) + (3 >= c.stride ? " + " : " - ") + std::to_string(std::abs(3 - c.stride)); };
  const bool last = std::string(c.weights) == "RSCF";
  std::string assume = c.any_channels ? "C % 8 == 0" : "";
  if (last) assume += (assume.empty() ? "" : " and ") + std::string("F % 8 == 0");
  std::string text = "@numerics(contract=True, flush_subnormals=True)\ndef conv(I: f16[N, " + side("H") + ", " + side("W") + ", " + channels + "], G: f16[" +
                     (last ? "3, 3, " + channels + ", F" : "F, 3, 3, " + channels) + "], O: out[f16[N, H, W, F]]):\n";
  if (!assume.empty()) text += "    assume(" + assume + ")\n";
  text += "    for n, h, w, f in grid(N, H, W, F):\n        acc: f32 = sum(f32(I[n, " + moved("h") + " + r, " + moved("w") + " + s, c]) * f32(" +
          (last ? "G[r, s, c, f]" : "G[f, r, s, c]") + ") for r, s, c in grid(3, 3, " + channels + "))\n        O[n, h, w, f] = f16(acc)\n";
  std::string sizes = "N=" + std::to_string(c.n) + ",H=" + std::to_string(c.h) + ",W=" + std::to_string(c.h) + ",F=" + std::to_string(c.f);
  if (c.any_channels) sizes += ",C=" + std::to_string(c.c);
  if (c.slots > 0) text += "@schedule(conv)\ndef pinned():\n    pipeline(\"s\", slots=" + std::to_string(c.slots) + ")\n";
  return {"convolution " + std::string(c.weights) + " " + sizes + " channels " + channels + " slots " + std::to_string(c.slots), text, sizes,
          2.0 * 9 * double(c.n) * double(c.h) * double(c.h) * double(c.c) * double(c.f) / c.teraflops * 1e-6};
}

DeviceCost predict(const MeasuredRow& row) {
  const poly::Context context;
  const TileFile file = parse_tile_file(context.get(), row.program, row.name);
  const auto program = std::make_shared<const Program>(file.programs.at(0));
  const Machine machine = find_machine("h200");
  const std::map<std::string, std::int64_t> sizes = parse_sizes(row.sizes, "row");
  ResolveOptions options;
  options.typical_sizes = {sizes.begin(), sizes.end()};
  const Pins pins = file.schedules.empty() ? Pins() : file.schedules.front();
  const Candidate<ResolvedPlan> plan = resolve_plan(*program, pins, machine, options);
  if (const auto* refused = std::get_if<Infeasible>(&plan)) {
    ADD_FAILURE() << row.name << ": " << to_string(*refused);
    return {};
  }
  const Candidate<DeviceCost> cost = predict_plan(program, std::get<ResolvedPlan>(plan).plan, machine, find_backend("cuda"), options.typical_sizes);
  if (const auto* refused = std::get_if<Infeasible>(&cost)) {
    ADD_FAILURE() << row.name << ": " << to_string(*refused);
    return {};
  }
  return std::get<DeviceCost>(cost);
}

struct Compared {
  std::string name;
  double predicted = 0, measured = 0;  ///< seconds
  double off() const { return std::abs(std::log2(std::max(predicted, 1e-12) / measured)); }
};

Compared compare(const MeasuredRow& row) {
  const DeviceCost cost = predict(row);
  const Compared compared{row.name, cost.seconds, row.microseconds * 1e-6};
  std::cout << std::left << std::setw(64) << row.name << std::right << std::setw(10) << std::fixed << std::setprecision(1) << compared.predicted * 1e6 << " us predicted "
            << std::setw(10) << row.microseconds << " measured " << std::setw(6) << std::setprecision(2) << compared.predicted / compared.measured << "  "
            << resource_name(cost.binding()) << "\n";
  return compared;
}

/// Kendall's tau over all pairs whose times differ by more than a twentieth.
double rank_correlation(const std::vector<Compared>& rows) {
  double agree = 0, pairs = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = i + 1; j < rows.size(); ++j) {
      if (std::abs(std::log(rows[i].measured / rows[j].measured)) < 0.05) continue;
      pairs += 1;
      agree += (rows[i].predicted - rows[j].predicted) * (rows[i].measured - rows[j].measured) > 0 ? 1 : -1;
    }
  }
  return pairs > 0 ? agree / pairs : 1;
}

/// All rows are within a factor of `worst`; the part of them that is within 1.25.
double near_part(const std::vector<Compared>& rows, double worst) {
  double near = 0;
  for (const Compared& row : rows) {
    EXPECT_LT(row.off(), std::log2(worst)) << row.name << ": " << row.predicted * 1e6 << " us, measured " << row.measured * 1e6;
    near += row.off() < std::log2(1.25) ? 1 : 0;
  }
  return near / double(std::max<std::size_t>(1, rows.size()));
}

template <class Rows>
std::vector<Compared> compare_all(const Rows& rows) {
  std::vector<Compared> compared;
  for (const auto& row : rows) {
    if constexpr (std::is_same_v<std::decay_t<decltype(row)>, MeasuredRow>) compared.push_back(compare(row));
    else compared.push_back(compare(row_of(row)));
  }
  return compared;
}

TEST(PredictedTimes, RowsOnAnH200) {
  const std::vector<Compared> rows = compare_all(measured_rows);
  EXPECT_GT(near_part(rows, 2), 0.55);
  EXPECT_GT(rank_correlation(rows), 0.65) << "most of them take as long as the memory does";
}

TEST(PredictedTimes, ProductsOnAnH200) {
  const std::vector<Compared> rows = compare_all(measured_products);
  EXPECT_GT(near_part(rows, 1.4), 0.9);
  EXPECT_GT(rank_correlation(rows), 0.9);
}

TEST(PredictedTimes, ConvolutionsOnAnH200) {
  const std::vector<Compared> rows = compare_all(measured_convolutions);
  EXPECT_GT(near_part(rows, 1.5), 0.8);
  EXPECT_GT(rank_correlation(rows), 0.8);
}

}  // namespace
}  // namespace tileopt
