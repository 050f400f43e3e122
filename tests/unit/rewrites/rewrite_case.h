/// A program as text, rewrites of it, and what they make of it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "driver/check_rewrites.h"
#include "frontends/tile_text/tile_text.h"
#include "rewrites/apply_rewrites.h"

namespace tileopt::test {

class Rewrites : public ::testing::Test {
 protected:
  std::shared_ptr<const Program> parse(const std::string& text) {
    return std::make_shared<const Program>(parse_tile_file(context_.get(), text, "test.tile").programs.at(0));
  }

  /// Rewrites, and runs both programs; fails the test where that is refused or they differ.
  RewrittenProgram rewrite(const std::string& text, const std::vector<Rewriting>& rewrites, bool exact = true) {
    const auto source = parse(text);
    const Candidate<RewrittenProgram> result = apply_rewrites(source, rewrites);
    if (const auto* refused = std::get_if<Infeasible>(&result)) {
      ADD_FAILURE() << to_string(*refused);
      return {source, {}, true, {}};
    }
    const RewrittenProgram& rewritten = std::get<RewrittenProgram>(result);
    EXPECT_EQ(rewritten.exact, exact);
    const RewriteCheck check = check_rewrites(*source, rewritten);
    EXPECT_EQ(check.failure, "") << check.witness;
    EXPECT_GT(check.runs, 4);
    return rewritten;
  }

  Infeasible refusal(const std::string& text, const Rewriting& rewriting) {
    const auto source = parse(text);
    const Candidate<RewrittenProgram> result = apply_rewrites(source, {rewriting});
    if (feasible(result)) {
      ADD_FAILURE() << "accepted: " << to_string(rewriting);
      return {};
    }
    const Infeasible& refused = std::get<Infeasible>(result);
    EXPECT_NE(refused.hint, "");
    EXPECT_EQ(refused.plan_entry, "rewrites[0]");
    return refused;
  }
  /// The refusal of a condition: its position is `line`, its reason holds `words`.
  void expect_condition(const std::string& text, const Rewriting& rewriting, const std::string& words, int line) {
    const Infeasible refused = refusal(text, rewriting);
    EXPECT_EQ(refused.code, "rewrite");
    EXPECT_NE(refused.reason.find(words), std::string::npos) << refused.reason;
    EXPECT_EQ(refused.where.line, line) << refused.reason;
  }

  void expect_domain(const RewrittenProgram& rewritten, const std::string& statement, const std::string& text) {
    const Program& program = *rewritten.program;
    ASSERT_TRUE(program.has_statement(statement)) << statement;
    const isl::set here = program.statement(statement).domain.intersect_params(program.context());
    EXPECT_TRUE(here.is_equal(isl::set(context_.get(), text).intersect_params(program.context()))) << here << "\n" << text;
  }
  void expect_access(const RewrittenProgram& rewritten, const std::string& statement, const Access& access, const std::string& text) {
    const Program& program = *rewritten.program;
    const isl::map here = access.index.as_map().intersect_domain(program.statement(statement).domain.intersect_params(program.context()));
    const isl::map expected = isl::map(context_.get(), text).intersect_domain(program.statement(statement).domain.intersect_params(program.context()));
    EXPECT_TRUE(here.is_equal(expected)) << here << "\n" << text;
  }
  static std::vector<std::string> names(const RewrittenProgram& rewritten) {
    std::vector<std::string> result;
    for (const Statement& s : rewritten.program->statements()) result.push_back(s.name);
    return result;
  }
  static std::string body(const RewrittenProgram& rewritten, const std::string& statement) {
    return expr_text(rewritten.program->statement(statement).body);
  }
  using Names = std::vector<std::string>;

  poly::Context context_;
};

}  // namespace tileopt::test
