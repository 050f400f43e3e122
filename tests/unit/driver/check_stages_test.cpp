// check --stages: planted faults are found at exactly the stage that holds them; errors grow as they must; narrow accumulators
// are named.
#include "driver/check_stages.h"

#include "tests/unit/driver/fixture.h"

namespace tileopt::test {
namespace {

constexpr std::size_t promoted = 3, last = 6;  // positions of 50-promoted and 60-ast

class CheckStagesTest : public DriverTest {
 protected:
  // The stages of a program under pins, kept alive by the test.
  std::vector<RunnableKernel> stages(const std::shared_ptr<const Program>& program, const std::string& pins, int threads = 1) {
    Request wanted = request();
    wanted.resolve.threads = threads;
    if (!pins.empty()) wanted.pins = parse_pins(pins, "pins");
    Trace trace;
    Candidate<std::vector<KernelStages>> candidate = resolve_and_stage(program, wanted, trace);
    if (auto* refused = std::get_if<Infeasible>(&candidate)) {
      ADD_FAILURE() << to_string(*refused);
      return {};
    }
    kernels_ = std::move(std::get<0>(candidate));
    return runnable_stages(kernels_);
  }
  StagesReport check(const std::shared_ptr<const Program>& program, const std::vector<RunnableKernel>& kernels) {
    return check_stages(*program, request().machine, kernels, spread_sizes(*program, stages_spread()), 1);
  }
  // Replaces stage `position` of the first kernel by an edited copy of the promoted schedule.
  void plant(std::vector<RunnableKernel>& kernels, std::size_t position, const StageCode& code) {
    kernels.front().stages[position].run = [code](TreeInterpreter& interpreter) { return interpreter.run(code); };
  }
  StageCode code() const { return StageCode::of(kernels_.front().promoted()); }
  static LeafStatement& leaf(StageCode& code, const std::string& name) {
    for (LeafStatement& s : code.statements)
      if (s.name == name) return s;
    ADD_FAILURE() << "no leaf " << name;
    return code.statements.front();
  }
  // { .. -> A[.., x, ..] } with `by` added to dimension `dimension`.
  static isl::pw_multi_aff shifted(const isl::pw_multi_aff& index, int dimension, int by) {
    isl_pw_aff* value = isl_pw_multi_aff_get_pw_aff(index.get(), dimension);
    value = isl_pw_aff_add_constant_val(value, isl_val_int_from_si(index.ctx().get(), by));
    return isl::manage(isl_pw_multi_aff_set_pw_aff(index.copy(), static_cast<unsigned>(dimension), value));
  }
  void expect_named(const StagesReport& report, const std::string& stage) {
    ASSERT_TRUE(report.deviation.has_value());
    EXPECT_EQ(report.deviation->stage, stage) << report.text();
  }

  // i and j tiled, B and C kept in stack arrays for a tile: copy_in_B_kept, C, copy_out_C_kept.
  std::vector<RunnableKernel> tiled_stages(const std::shared_ptr<const Program>& program) {
    Request wanted = request();
    wanted.pins = parse_pins("schedule(\"original\")", "pins");
    const Candidate<ResolvedPlan> base = resolve_plan(*program, wanted.pins, wanted.machine, wanted.resolve);
    wanted.pins = {};
    wanted.plan = std::get<ResolvedPlan>(base).plan;
    KernelPlan& plan = wanted.plan->kernels.at(0);
    plan.digits = {{"i", {{"i", 0, "serial"}, {"ii", 4, "serial"}}}, {"j", {{"j", 0, "serial"}, {"jj", 8, "serial"}}}};
    plan.tree = Tree::read("i > j > ii > jj", "test");
    for (const std::string tensor : {"B", "C"})
      plan.promotions.push_back({tensor, tensor + "_kept", "j", {"C"}, "stack", "f32", {{0, tensor + "_0", 0}, {1, tensor + "_1", 0}}, false});
    Trace trace;
    Candidate<std::vector<KernelStages>> candidate = resolve_and_stage(program, wanted, trace);
    if (auto* refused = std::get_if<Infeasible>(&candidate)) {
      ADD_FAILURE() << to_string(*refused);
      return {};
    }
    kernels_ = std::move(std::get<0>(candidate));
    return runnable_stages(kernels_);
  }

  const std::string text_ = "def scale(B: f32[N, M], D: f32[N, M], C: out[f32[N, M]]):\n    for i, j in grid(N, M):\n        C[i, j] = B[i, j] - D[i, j]\n";
  std::vector<KernelStages> kernels_;
};

TEST_F(CheckStagesTest, RightStagesAgree) {
  for (const std::string name : {"gemm", "gemm_bf16", "softmax", "transpose", "jacobi_2d"}) {
    const auto program = kernel(name);
    const std::vector<RunnableKernel> kernels = stages(program, "", 2);
    const StagesReport report = check(program, kernels);
    EXPECT_FALSE(report.deviation.has_value()) << report.text();
    EXPECT_EQ(report.stages.size(), 7u);
    EXPECT_GT(report.runs, 100);
  }
}

TEST_F(CheckStagesTest, ADroppedCopyIsAnUninitialisedRead) {
  const auto program = kernel("gemm");
  std::vector<RunnableKernel> kernels = stages(program, "");
  StageCode broken = code();
  std::string dropped;
  for (LeafStatement& s : broken.statements)
    if (s.kind == LeafKind::copy_in && dropped.empty()) {
      dropped = s.write.array;
      s.domain = isl::manage(isl_set_empty(isl_set_get_space(s.domain.get())));
    }
  ASSERT_NE(dropped, "");
  plant(kernels, promoted, broken);
  const StagesReport report = check(program, kernels);
  expect_named(report, "50-promoted");
  ASSERT_TRUE(report.deviation->fault.has_value());
  EXPECT_EQ(report.deviation->fault->kind, TreeFault::Kind::uninitialised);
  EXPECT_EQ(report.deviation->fault->array, dropped);
}

// What data keeps from being written goes into a tile and back as it is; without the copy in, the copy out would spoil it.
TEST_F(CheckStagesTest, TilesThatDataWritesInPartGoInAndOut) {
  const auto program = parse("def keep(B: f32[N, M], C: out[f32[N, M]]):\n    for i, j in grid(N, M):\n        if B[i, j] > 0:\n            C[i, j] = B[i, j]\n");
  std::vector<RunnableKernel> kernels = tiled_stages(program);
  EXPECT_FALSE(check(program, kernels).deviation.has_value()) << check(program, kernels).text();
  StageCode broken = code();
  LeafStatement& copy = leaf(broken, "copy_in_C_kept");
  copy.domain = isl::manage(isl_set_empty(isl_set_get_space(copy.domain.get())));
  plant(kernels, promoted, broken);
  const StagesReport report = check(program, kernels);
  expect_named(report, "50-promoted");
  ASSERT_TRUE(report.deviation->fault.has_value());
  EXPECT_EQ(report.deviation->fault->kind, TreeFault::Kind::uninitialised);
  EXPECT_EQ(report.deviation->fault->array, "C_kept");
}

TEST_F(CheckStagesTest, AShiftedLayoutIsNamedWithItsTile) {
  const auto program = parse(text_);
  std::vector<RunnableKernel> kernels = tiled_stages(program);
  ASSERT_FALSE(kernels.empty());
  StageCode broken = code();
  // The copy takes every element from the next column; beyond the last one that is out of bounds.
  LeafStatement& copy = leaf(broken, "copy_in_B_kept");
  copy.reads[0].index = shifted(copy.reads[0].index, 1, 1);
  plant(kernels, promoted, broken);
  const StagesReport report = check(program, kernels);
  expect_named(report, "50-promoted");
  ASSERT_TRUE(report.deviation->fault.has_value());
  EXPECT_EQ(report.deviation->fault->kind, TreeFault::Kind::out_of_bounds);
  EXPECT_EQ(report.deviation->fault->array, "B");
  EXPECT_EQ(report.deviation->fault->where.statement, "copy_in_B_kept");
}

TEST_F(CheckStagesTest, ATurnedLayoutIsNamed) {
  const auto program = parse(text_);
  std::vector<RunnableKernel> kernels = tiled_stages(program);
  ASSERT_FALSE(kernels.empty());
  StageCode broken = code();
  // The copy fills the rows of the kept tile in reverse.
  LeafStatement& copy = leaf(broken, "copy_in_B_kept");
  isl_pw_aff* row = isl_pw_multi_aff_get_pw_aff(copy.write.index.get(), 0);
  row = isl_pw_aff_add_constant_val(isl_pw_aff_neg(row), isl_val_int_from_si(copy.domain.ctx().get(), 3));
  copy.write.index = isl::manage(isl_pw_multi_aff_set_pw_aff(copy.write.index.copy(), 0, row));
  plant(kernels, promoted, broken);
  const StagesReport report = check(program, kernels);
  expect_named(report, "50-promoted");
}

TEST_F(CheckStagesTest, AWrongElementIsReportedWithValuesRatioAndTile) {
  const auto program = parse(text_);
  std::vector<RunnableKernel> kernels = tiled_stages(program);
  ASSERT_FALSE(kernels.empty());
  StageCode broken = code();
  LeafStatement& compute = leaf(broken, "C");
  // D is read from where B is kept.
  compute.reads[1] = compute.reads[0];
  plant(kernels, last, broken);
  const StagesReport report = check(program, kernels);
  expect_named(report, "60-ast");
  const StageDeviation& found = *report.deviation;
  ASSERT_FALSE(found.fault.has_value());
  EXPECT_EQ(found.tensor, "C");
  EXPECT_EQ(found.index.size(), 2u);
  EXPECT_NE(found.got, found.expected);
  EXPECT_GT(found.ratio(), 1e3);
  EXPECT_EQ(found.tile, StageDeviation::Tile::edge);  // the first sizes are smaller than a tile
  ASSERT_EQ(found.digits.size(), 2u);
  EXPECT_NE(found.instance.find("C["), std::string::npos);
  EXPECT_NE(found.writer, "");
  const Document document = report.write();
  EXPECT_EQ(document["deviation"]["stage"], "60-ast");
  EXPECT_EQ(document["deviation"]["tile"], "edge");
  EXPECT_EQ(document["deviation"]["kernel"], kernels.front().name);
}

TEST_F(CheckStagesTest, AnInteriorTileIsToldFromAnEdgeTile) {
  const auto program = parse(text_);
  std::vector<RunnableKernel> kernels = tiled_stages(program);
  ASSERT_FALSE(kernels.empty());
  StageCode broken = code();
  LeafStatement& compute = leaf(broken, "C");
  compute.reads[1] = compute.reads[0];
  plant(kernels, promoted, broken);
  const StagesReport report = check_stages(*program, request().machine, kernels, {{{"N", 4}, {"M", 8}}}, 1);
  expect_named(report, "50-promoted");
  EXPECT_EQ(report.deviation->tile, StageDeviation::Tile::interior);
}

TEST_F(CheckStagesTest, AMissingEdgeIsFound) {
  const auto program = parse(text_);
  std::vector<RunnableKernel> kernels = tiled_stages(program);
  ASSERT_FALSE(kernels.empty());
  StageCode broken = code();
  LeafStatement& compute = leaf(broken, "C");
  // Only whole tiles: the last row is lost.
  compute.domain = compute.domain.intersect(isl::set(compute.domain.ctx(), "[N] -> { C[a, b, c, d] : 4a + c + 1 < N }"));
  plant(kernels, promoted, broken);
  const StagesReport report = check(program, kernels);
  expect_named(report, "50-promoted");
  EXPECT_EQ(report.deviation->tile, StageDeviation::Tile::edge);
}

TEST_F(CheckStagesTest, ADoubledReductionIsFound) {
  const auto program = kernel("gemm");
  std::vector<RunnableKernel> kernels = stages(program, "schedule(\"original\")");
  ASSERT_FALSE(kernels.empty());
  StageCode broken = code();
  for (LeafStatement& s : broken.statements)
    if (s.name.ends_with("_init")) {
      // Every element starts from its neighbour's: the first column is never set.
      s.write.index = shifted(s.write.index, 1, 1);
      s.domain = s.domain.intersect(s.write.index.as_map().intersect_range(program->tensor("C").elements(program->ctx())).domain());
    }
  plant(kernels, last, broken);
  const StagesReport report = check(program, kernels);
  expect_named(report, "60-ast");
}

TEST_F(CheckStagesTest, ARaceIsSeen) {
  // Every iteration of the parallel loop writes the same elements of one array that all of them share.
  const auto program = parse("def rows(A: f32[N, M], X: out[f32[N]]):\n    for i in range(N):\n        X[i] = sum(A[i, j] for j in range(M))\n");
  std::vector<RunnableKernel> kernels = stages(program, "schedule(\"original\")");
  ASSERT_FALSE(kernels.empty());
  StageCode broken = code();
  std::string reduction;
  for (const LeafStatement& s : broken.statements)
    if (!s.name.ends_with("_init")) reduction = s.dims.back();
  broken.levels[reduction] = "thread";
  plant(kernels, promoted, broken);
  const StagesReport report = check(program, kernels);
  expect_named(report, "50-promoted");
  ASSERT_TRUE(report.deviation->fault.has_value());
  EXPECT_EQ(report.deviation->fault->kind, TreeFault::Kind::race);
}

TEST_F(CheckStagesTest, WhatAnEarlierKernelWroteIsNoRace) {
  const auto program = parse("def two(A: f32[N], X: out[f32[N]], Y: out[f32[N]]):\n    for i in range(N):\n        X[i] = A[i] + 1.0\n"
                             "    for i in range(N):\n        Y[i] = X[N - 1 - i] * 2.0\n");
  std::vector<RunnableKernel> kernels = stages(program, "schedule(\"original\")");
  ASSERT_EQ(kernels.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    StageCode parallel = StageCode::of(kernels_[k].promoted());
    parallel.levels[parallel.statements.front().dims.front()] = "thread";
    kernels[k].stages[promoted].run = [parallel](TreeInterpreter& interpreter) { return interpreter.run(parallel); };
  }
  const StagesReport report = check(program, kernels);
  EXPECT_FALSE(report.deviation.has_value()) << report.text();
}

TEST_F(CheckStagesTest, AnOrderThatMattersShowsWhenParallelIterationsRunReversed) {
  const auto program = parse("def scan(A: f32[N], X: inout[f32[N]]):\n    for i in range(1, N):\n        X[i] = X[i - 1] + A[i]\n");
  std::vector<RunnableKernel> kernels = stages(program, "schedule(\"original\")");
  ASSERT_FALSE(kernels.empty());
  StageCode broken = code();
  broken.levels[broken.statements.front().dims.front()] = "simd";  // lockstep: no agents, so no race is looked for
  plant(kernels, promoted, broken);
  const StagesReport report = check(program, kernels);
  expect_named(report, "50-promoted");
  EXPECT_EQ(report.deviation->order, LoopOrder::reversed);
}

TEST_F(CheckStagesTest, TheGuiltyKernelIsNamed) {
  const auto program = parse("def two(A: f32[N], X: out[f32[N]], Y: out[f32[N]]):\n    for i in range(N):\n        X[i] = A[i] + 1.0\n"
                             "    for i in range(N):\n        Y[i] = X[i] * 2.0\n");
  std::vector<RunnableKernel> kernels = stages(program, "schedule(\"original\")");
  ASSERT_EQ(kernels.size(), 2u);
  StageCode broken = StageCode::of(kernels_[1].promoted());
  broken.statements.front().domain = isl::manage(isl_set_empty(isl_set_get_space(broken.statements.front().domain.get())));
  kernels[1].stages[promoted].run = [broken](TreeInterpreter& interpreter) { return interpreter.run(broken); };
  const StagesReport report = check(program, kernels);
  expect_named(report, "50-promoted");
  EXPECT_EQ(report.deviation->kernel, kernels[1].name);
  EXPECT_EQ(report.deviation->tensor, "Y");
}

TEST_F(CheckStagesTest, AnEditedAstIsNamed) {
  const auto program = kernel("transpose");
  Request wanted = request();
  Trace trace;
  const auto fresh = resolve_and_stage(program, wanted, trace);
  ASSERT_TRUE(feasible(fresh));
  const Ast& ast = std::get<0>(fresh).front().ast;
  Document document = ast.write();
  // The first subscript of every write moves by one.
  std::string text = document.dump();
  const std::size_t at = text.find("\"write\":[");
  ASSERT_NE(at, std::string::npos);
  const std::size_t open = at + std::string("\"write\":[").size();
  ASSERT_EQ(text[open], '"');
  text.insert(text.find('"', open + 1), " + 1");
  EditedAsts edited;
  edited.emplace(ast.kernel, Ast::read(parse_json(text, "edited"), "edited"));
  const auto changed = resolve_and_stage(program, wanted, trace, edited);
  ASSERT_TRUE(feasible(changed));
  const std::vector<RunnableKernel> kernels = runnable_stages(std::get<0>(changed));
  expect_named(check(program, kernels), "60-ast");
}

// An edited Ast may say anything: what does not fit is a user error with a hint, never a crash and never a hang.
TEST_F(CheckStagesTest, AstsThatMakeNoSenseAreUserErrors) {
  const auto program = kernel("transpose");
  Request wanted = request();
  Trace trace;
  const auto fresh = resolve_and_stage(program, wanted, trace);
  ASSERT_TRUE(feasible(fresh));
  const Ast& ast = std::get<0>(fresh).front().ast;
  const std::string text = ast.write().dump();
  const std::vector<std::pair<std::string, std::string>> edits = {
      {"\"upper\":\"", "\"upper\":\"4611686018427387904 + "},  // runs for ever
      {"\"upper\":\"", "\"upper\":\"nowhere + "},              // names nothing
      {"\"write\":[\"", "\"write\":[\"0\",\""},               // one subscript too many
      {"\"reads\":[[\"", "\"reads\":[[\"0\",\""},
      {"\"write_array\":\"", "\"write_array\":\"lost_"},
      {"\"radix\":", "\"radix\":9999999"},
  };
  for (const auto& [from, to] : edits) {
    SCOPED_TRACE(to);
    std::string edited_text = text;
    const std::size_t at = edited_text.find(from);
    if (at == std::string::npos) {
      ADD_FAILURE() << from << " is not in " << text.substr(0, 400);
      continue;
    }
    edited_text.replace(at, from.size(), to);
    try {
      EditedAsts edited;
      edited.emplace(ast.kernel, Ast::read(parse_json(edited_text, "edited"), "edited"));
      const auto changed = resolve_and_stage(program, wanted, trace, edited);
      ASSERT_TRUE(feasible(changed));
      check(program, runnable_stages(std::get<0>(changed)));
      ADD_FAILURE() << "accepted";
    } catch (const Errors& errors) {
      EXPECT_FALSE(errors.diagnostics().front().hint.empty());
      const ErrorCode code = errors.diagnostics().front().code;
      EXPECT_TRUE(code == ErrorCode::invalid_dump || code == ErrorCode::invalid_size) << errors.what();
    }
  }
}

TEST_F(CheckStagesTest, ErrorsGrowWithTheReductionAndStayBelowTheBound) {
  const auto program = kernel("gemm");
  const std::vector<RunnableKernel> kernels = stages(program, "");
  const std::vector<ErrorGrowth> growth = measure_growth(*program, request().machine, kernels, {}, 1);
  ASSERT_EQ(growth.size(), 1u);  // K alone bounds a reduction
  EXPECT_EQ(growth[0].size, "K");
  EXPECT_EQ(growth[0].tensor, "C");
  ASSERT_EQ(growth[0].rows.size(), 4u);
  for (const ErrorGrowth::Row& row : growth[0].rows) {
    EXPECT_GT(row.error, 0);
    EXPECT_LT(row.error, row.bound);
    EXPECT_LE(row.ratio, 1);
  }
  EXPECT_EQ(growth[0].rows[3].length, 1024);
  EXPECT_GT(growth[0].rows[3].error, growth[0].rows[0].error);
  EXPECT_GT(growth[0].rows[3].bound, 10 * growth[0].rows[0].bound);
}

TEST_F(CheckStagesTest, ANarrowAccumulatorIsNamed) {
  const auto narrow = parse("def dot(A: bf16[M, K], B: bf16[K], C: out[bf16[M]]):\n    for i in range(M):\n        C[i] = sum(A[i, k] * B[k] for k in range(K))\n");
  const std::vector<AccumulatorWarning> warnings = measure_accumulators(*narrow, {}, 1);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].tensor, "C");
  EXPECT_EQ(warnings[0].type, "bf16");
  EXPECT_EQ(warnings[0].wider, "f32");
  EXPECT_GT(warnings[0].ulps, 4);
  EXPECT_EQ(warnings[0].where.line, 3);
  EXPECT_NE(warnings[0].text().find("accumulate in f32"), std::string::npos);

  const auto wide = parse("def dot(A: bf16[M, K], B: bf16[K], C: out[bf16[M]]):\n    for i in range(M):\n        C[i] = bf16(sum(f32(A[i, k]) * f32(B[k]) for k in range(K)))\n");
  EXPECT_TRUE(measure_accumulators(*wide, {}, 1).empty());
}

}  // namespace
}  // namespace tileopt::test
