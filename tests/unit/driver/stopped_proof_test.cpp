// A proof that is stopped, wherever it is, leaves no object of isl behind: a host's memory would go, and the session's context with it.
#include <gtest/gtest.h>

#include <isl/options.h>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "rewrites/apply_rewrites.h"
#include "verify/verify.h"

namespace tileopt {
namespace {

// What isl says when its context is freed: something where objects are left.
std::string freeing(isl_ctx* context) {
  isl_options_set_on_error(context, ISL_ON_ERROR_WARN);
  ::testing::internal::CaptureStderr();
  isl_ctx_free(context);
  return ::testing::internal::GetCapturedStderr();
}

isl_ctx* new_context() {
  isl_ctx* const context = isl_ctx_alloc();
  isl_options_set_on_error(context, ISL_ON_ERROR_CONTINUE);
  return context;
}

TEST(StoppedProof, AForgottenObjectIsSeen) {
  isl_ctx* const context = new_context();
  isl_val* const forgotten = isl_val_int_from_si(context, 7);
  EXPECT_NE(freeing(context), "");
  isl_val_free(forgotten);
  isl_ctx_free(context);
}

TEST(StoppedProof, LeavesNothingBehind) {
  isl_ctx* const context = new_context();
  std::size_t stopped = 0, finished = 0;
  {
    const char* const text =
        "def sums(A: f32[M, N], B: out[f32[M]]):\n"
        "    for i in range(M):\n"
        "        B[i] = sum(A[i, j] for j in range(N))\n";
    const auto program = std::make_shared<const Program>(parse_tile_file(isl::ctx(context), text, "sums.tile").programs.at(0));
    Request request;
    request.machine = find_machine("x86-64-v3");
    Trace trace;
    Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
    ASSERT_TRUE(std::holds_alternative<Outcome>(outcome));
    const Module& module = std::get<Outcome>(outcome).module;
    const auto rewritten = std::get<RewrittenProgram>(apply_rewrites(program, module.plan.rewrites)).program;
    for (unsigned long limit = 1; finished == 0 && limit < 100'000; limit += 13) {
      ProofOptions options;
      options.operations = limit;
      const Certificate certificate = verify(*rewritten, module.asts, module.text.facts, request.machine, "test", options);
      const bool open = std::any_of(certificate.obligations.begin(), certificate.obligations.end(), [](const Obligation& o) { return o.verdict == Verdict::not_attempted; });
      ++(open ? stopped : finished);
    }
  }
  EXPECT_GE(stopped, 100u);
  EXPECT_EQ(finished, 1u);
  EXPECT_EQ(freeing(context), "");
}

}  // namespace
}  // namespace tileopt
