/// Random programs under random rewrites: where the conditions hold, both programs compute the same.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <random>

#include "driver/check_rewrites.h"
#include "frontends/tile_text/tile_text.h"
#include "rewrites/apply_rewrites.h"
#include "tests/properties/random_program.h"

namespace tileopt::testing {
namespace {

constexpr std::uint64_t first_program = 700000;
constexpr int programs = 300;
constexpr int rewrites_each = 12;  // tried; one in ten fits

/// One of each kind in turn, to something that the program has.
Rewriting random_rewriting(const Program& program, std::mt19937_64& random) {
  const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  const RewriteShape& shape = rewrite_shapes()[pick(rewrite_shapes().size())];
  Rewriting rewriting{shape.name, {}, {}};
  const Statement& statement = program.statements()[pick(program.statements().size())];
  std::vector<std::string> locals;
  for (const Tensor& tensor : program.tensors())
    if (tensor.role == TensorRole::local) locals.push_back(tensor.name);
  if (shape.of_tensor) rewriting.arguments.push_back(locals.empty() ? program.tensors().front().name : locals[pick(locals.size())]);
  else if (shape.least > 0 || pick(2) == 0) rewriting.arguments.push_back(statement.name);
  if (shape.least > 1) rewriting.arguments.push_back(statement.iterators.empty() ? "i" : statement.iterators[pick(statement.iterators.size())]);
  for (const std::string& size : shape.required) rewriting.sizes[size] = 1 + static_cast<long>(pick(6));
  for (const std::string& size : shape.optional)
    if (pick(2) == 0) rewriting.sizes[size] = 1 + static_cast<long>(pick(4));
  return rewriting;
}

class RandomRewrites : public ::testing::TestWithParam<int> {};

TEST_P(RandomRewrites, AgreeWithTheSource) {
  std::map<std::string, int> taken;
  for (int p = GetParam(); p < programs; p += 4) {
    const std::uint64_t seed = first_program + static_cast<std::uint64_t>(p);
    poly::Context context;
    const std::string text = random_program(seed);
    const auto source = std::make_shared<const Program>(parse_tile_file(context.get(), text, "random.tile").programs.at(0));
    std::mt19937_64 random(seed);
    RewrittenProgram rewritten{source, {}, true, {}};
    for (int r = 0; r < rewrites_each; ++r) {
      const Candidate<RewrittenProgram> next = apply_rewrite(rewritten, random_rewriting(*rewritten.program, random));
      if (!feasible(next)) continue;
      rewritten = std::get<RewrittenProgram>(next);
      ++taken[rewritten.rewrites.back().name];
    }
    if (rewritten.rewrites.empty()) continue;
    const RewriteCheck check = check_rewrites(*source, rewritten);
    std::string list;
    for (const Rewriting& rewriting : rewritten.rewrites) list += " " + to_string(rewriting);
    EXPECT_EQ(check.failure, "") << "seed " << seed << list << "\n" << check.witness << "\n" << text;
  }
  int all = 0;
  for (const auto& [name, count] : taken) {
    std::cout << name << " " << count << "  ";
    all += count;
  }
  std::cout << "\n";
  EXPECT_GE(all, 10);
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomRewrites, ::testing::Range(0, 4));

}  // namespace
}  // namespace tileopt::testing
