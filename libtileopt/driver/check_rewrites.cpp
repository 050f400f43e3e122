#include "driver/check_rewrites.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "support/text.h"

namespace tileopt {

namespace {

constexpr std::uint64_t seed = 1;
constexpr std::size_t most_vectors = 32;

/// Small sizes, the edges 0 and 1 among them; and for each size of a rewrite (a chunk, a block) every parameter in turn beyond one
/// and beyond two of them, the others small.
std::vector<Sizes> sizes_for(const Program& source, const RewrittenProgram& rewritten) {
  SizeSpread spread{{5, 1, 0, 17, 2, 3, 8}, 10, std::int64_t(1) << 16, std::int64_t(1) << 20};
  std::vector<Sizes> vectors = spread_sizes(source, spread);
  if (vectors.empty()) {  // the context, or constant extents, ask for more
    spread = {{32, 64, 100, 128, 256, 512, 1000, 1024}, 2, std::int64_t(1) << 22, std::int64_t(1) << 26};
    vectors = spread_sizes(source, spread);
  }
  std::set<std::int64_t> large;
  for (const Rewriting& rewriting : rewritten.rewrites)
    for (const auto& [name, size] : rewriting.sizes) large.insert({size, 2 * std::int64_t(size) + 3});
  for (const std::int64_t value : large)
    for (const std::string& parameter : source.parameters())
      for (const std::int64_t other : {5, 3, 2, 1}) {
        Sizes sizes;
        for (const std::string& each : source.parameters()) sizes[each] = each == parameter ? value : other;
        if (!sizes_fit(source, sizes, spread)) continue;
        if (std::find(vectors.begin(), vectors.end(), sizes) == vectors.end()) vectors.push_back(std::move(sizes));
        break;
      }
  if (vectors.size() > most_vectors) vectors.resize(most_vectors);
  return vectors;
}

bool same(const HostArray& a, const HostArray& b, std::int64_t offset) {
  const auto width = static_cast<std::size_t>(size_bytes(a.type));
  const std::size_t start = static_cast<std::size_t>(offset) * width;
  if (std::memcmp(a.bytes.data() + start, b.bytes.data() + start, width) == 0) return true;
  return is_float(a.type) && std::isnan(a.get(offset)) && std::isnan(b.get(offset));
}

/// The first element whose bits differ; "" where there is none.
std::string first_difference(const Program& program, const Arrays& expected, const Arrays& got) {
  for (const Tensor& tensor : program.tensors()) {
    if (tensor.role != TensorRole::out && tensor.role != TensorRole::inout) continue;
    const HostArray &a = expected.at(tensor.name), &b = got.at(tensor.name);
    for (std::int64_t i = 0; i < a.elements(); ++i) {
      if (same(a, b, i)) continue;
      char numbers[96];
      std::snprintf(numbers, sizeof numbers, " is %.17g, expected %.17g", b.get(i), a.get(i));
      return "element " + std::to_string(i) + " of " + tensor.name + numbers;
    }
  }
  return "";
}

std::string difference(const Program& source, const RewrittenProgram& rewritten, const InterpreterResult& reference, const Arrays& arguments,
                       const Sizes& sizes) {
  try {
    const InterpreterResult result = interpret(*rewritten.program, sizes, arguments);
    if (rewritten.exact) return first_difference(source, reference.values, result.values);
    std::int64_t count = 0;
    const std::vector<Deviation> deviations = compare(source, reference, arguments, result.values, 1, &count);
    return deviations.empty() ? "" : deviations.front().text();
  } catch (const Errors& errors) {
    return errors.diagnostics().front().message;
  }
}

}  // namespace

std::string RewriteCheck::text() const {
  std::vector<std::string> vectors;
  for (const Sizes& vector : sizes) vectors.push_back("(" + sizes_text(vector) + ")");
  return "the rewritten program means what the source says: both gave the same results, " +
         std::string(exact ? "bit by bit" : "within the error bound") + ", in " + std::to_string(runs) + " interpreted runs at " + join(vectors, " ");
}

RewriteCheck check_rewrites(const Program& source, const RewrittenProgram& rewritten) {
  RewriteCheck check;
  check.exact = rewritten.exact;
  for (const Sizes& sizes : sizes_for(source, rewritten)) {
    check.sizes.push_back(sizes);
    for (const Fill fill : {Fill::uniform, Fill::integers}) {
      const Arrays arguments = make_arguments(source, sizes, seed, fill);
      const InterpreterResult reference = interpret(source, sizes, arguments);
      ++check.runs;
      const std::string found = difference(source, rewritten, reference, arguments, sizes);
      if (found.empty()) continue;
      check.failure = "the rewritten program computes something else than the source";
      check.witness = "at " + sizes_text(sizes) + ", " + (fill == Fill::uniform ? "random" : "integer") + " arguments of seed " + std::to_string(seed) + ": " + found;
      return check;
    }
  }
  return check;
}

void attest_rewrites(const Program& source, const RewrittenProgram& rewritten, Certificate& certificate) {
  if (rewritten.rewrites.empty()) return;
  std::vector<std::string> names;
  for (const Rewriting& rewriting : rewritten.rewrites) names.push_back(to_string(rewriting));
  const RewriteCheck check = check_rewrites(source, rewritten);
  const std::string list = join(names, ", ");
  for (const std::string& permission : rewritten.numerics) certificate.numerics.push_back(permission + ": rewrites");
  if (check.failure.empty() && check.runs > 0) {
    certificate.assumed.push_back("rewrites " + list + ": " + check.text());
    return;
  }
  Obligation obligation;
  obligation.name = "rewrites";
  obligation.subject = list;
  obligation.plan_entry = "rewrites";
  obligation.where = {source.file(), 0, 0};
  obligation.verdict = check.failure.empty() ? Verdict::not_attempted : Verdict::refuted;
  obligation.reason = check.failure.empty() ? "no sizes are small enough to run both programs" : check.failure;
  obligation.witness = check.witness;
  certificate.obligations.push_back(std::move(obligation));
}

}  // namespace tileopt
