/// The interpreter's bounds hold for other orders of reductions: random programs with private reduction loops run backwards.
#include <gtest/gtest.h>

#include <cstdio>

#include "frontends/tile_text/tile_text.h"
#include "interpreter/interpreter.h"
#include "random_program.h"
#include "support/text.h"

namespace tileopt {
namespace {
using namespace testing;

/// Bands that hold `statement` alone, outermost first.
void private_bands(const Tree& tree, const std::string& statement, bool alone, std::vector<std::string>& dims) {
  switch (tree.kind()) {
    case Tree::Kind::leaf: return;
    case Tree::Kind::band:
      if (alone) dims.push_back(tree.dim());
      return private_bands(tree.child(), statement, alone, dims);
    case Tree::Kind::allocate:
    case Tree::Kind::nested: return private_bands(tree.child(), statement, alone, dims);
    case Tree::Kind::sequence:
      for (const Tree::Branch& branch : tree.branches())
        if (contains(branch.statements, statement)) private_bands(branch.tree, statement, branch.statements.size() == 1, dims);
      return;
  }
}

/// Whether a subscript depends on iterator `number` (the domain of the access may).
bool names_iterator(const Access& access, std::size_t number) {
  bool named = false;
  access.index.foreach_piece([&](isl::set, isl::multi_aff subscripts) {
    named = named || isl_multi_aff_involves_dims(subscripts.get(), isl_dim_in, static_cast<unsigned>(number), 1) == isl_bool_true;
  });
  return named;
}

/// Iterators of a reduction that its write does not name and no other statement shares.
std::vector<std::string> reversible_iterators(const Program& program, const Statement& s) {
  std::vector<std::string> reversible;
  if (s.combine == Combine::assign || s.conditional()) return reversible;
  if (s.combine == Combine::monoid && !program.monoid(s.monoid).commutative) return reversible;
  for (const Access& read : s.reads)
    if (read.tensor == s.write.tensor) return reversible;
  std::vector<std::string> dims;
  private_bands(program.order(), s.name, program.statements().size() == 1, dims);
  for (std::size_t d = 0; d < s.iterators.size(); ++d)
    if (contains(dims, s.iterators[d]) && !names_iterator(s.write, d)) reversible.push_back(s.iterators[d]);
  return reversible;
}

/// The statement over negated iterators, so that ascending order is the old descending one.
Statement reverse(const Statement& s, const std::vector<std::string>& negated) {
  std::vector<std::string> images;
  for (const std::string& iterator : s.iterators) images.push_back(contains(negated, iterator) ? "-" + iterator : iterator);
  const std::string text = "{ " + s.name + "[" + join(s.iterators, ", ") + "] -> " + s.name + "[" + join(images, ", ") + "] }";
  const isl::multi_aff map(s.domain.ctx(), text);
  Statement reversed = s;
  const auto pull = [&](isl::pw_multi_aff& index) { index = isl::manage(isl_pw_multi_aff_pullback_multi_aff(index.copy(), map.copy())); };
  reversed.domain = isl::manage(isl_set_preimage_multi_aff(s.domain.copy(), map.copy()));
  pull(reversed.write.index);
  for (Access& read : reversed.reads) pull(read.index);
  for (isl::pw_aff& index : reversed.indices) index = isl::manage(isl_pw_aff_pullback_multi_aff(index.copy(), map.copy()));
  return reversed;
}

/// `program` with reductions backwards; `changed` counts them.
Program reverse_reductions(const Program& program, int* changed) {
  ProgramBuilder builder(program.ctx(), program.name());
  builder.file(program.file()).text(program.text()).context(program.context()).order(program.order()).numerics(program.numerics());
  for (const std::string& parameter : program.parameters()) builder.parameter(parameter);
  for (const Tensor& tensor : program.tensors()) builder.tensor(tensor);
  for (const Monoid& monoid : program.monoids()) builder.monoid(monoid);
  for (const Statement& s : program.statements()) {
    const std::vector<std::string> negated = reversible_iterators(program, s);
    *changed += !negated.empty();
    builder.statement(negated.empty() ? s : reverse(s, negated));
  }
  return builder.build();
}

TEST(ReductionOrder, BackwardReductionsStayWithinTheBounds) {
  int reversed_statements = 0;
  std::int64_t different = 0, elements = 0;
  for (std::uint64_t seed = 2000; seed < 2300; ++seed) {
    SCOPED_TRACE(random_program(seed));
    poly::Context context;
    const Program program = parse_tile_file(context.get(), random_program(seed), "random.tile").programs.front();
    int changed = 0;
    const Program backward = reverse_reductions(program, &changed);
    if (changed == 0) continue;
    reversed_statements += changed;
    const Sizes sizes = random_sizes(seed, program.parameters()).front();
    const Arrays arguments = make_arguments(program, sizes, seed, Fill::uniform);
    const InterpreterResult reference = interpret(program, sizes, arguments);
    const InterpreterResult other = interpret(backward, sizes, arguments);
    EXPECT_EQ(other.instances, reference.instances);
    std::int64_t count = -1;
    const std::vector<Deviation> deviations = compare(program, reference, arguments, other.values, 1, &count);
    EXPECT_EQ(count, 0) << (deviations.empty() ? "" : deviations.front().text());
    for (const auto& [name, values] : reference.values) {
      elements += values.elements();
      for (std::int64_t i = 0; i < values.elements(); ++i) different += values.get(i) != other.values.at(name).get(i) && values.get(i) == values.get(i);
    }
  }
  std::printf("%d reductions reversed; %lld of %lld elements differ and are within their bounds\n", reversed_statements,
              static_cast<long long>(different), static_cast<long long>(elements));
  EXPECT_GT(reversed_statements, 100);
  EXPECT_GT(different, 100);
}

}  // namespace
}  // namespace tileopt
