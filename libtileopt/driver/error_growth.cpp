/// How errors grow with the length of a reduction, and which accumulators lose digits.
#include <algorithm>
#include <cmath>
#include <optional>

#include "driver/check_stages.h"
#include "support/text.h"

namespace tileopt {

namespace {

constexpr std::int64_t lengths[] = {16, 64, 256, 1024};
constexpr std::int64_t other_sizes[] = {8, 4, 2, 1};
/// What a run of the growth table may cost.
const SizeSpread limits{{}, 1, std::int64_t(1) << 20, std::int64_t(1) << 26};

bool adds_up(const Program& program, const Statement& s) {
  return (s.combine == Combine::sum || s.combine == Combine::prod) && is_float(program.tensor(s.write.tensor).type);
}

/// Whether the element that is written moves with iterator `position`: its domain, which every iterator bounds, apart.
bool moves(const isl::pw_multi_aff& write, unsigned position) {
  bool found = false;
  write.foreach_piece([&](isl::set, isl::multi_aff subscripts) {
    found = found || isl_multi_aff_involves_dims(subscripts.get(), isl_dim_in, position, 1) != isl_bool_false;
  });
  return found;
}

/// Parameters that bound an iterator over which a float reduction runs, in order of the program's.
std::vector<std::string> reduction_sizes(const Program& program) {
  std::vector<std::string> found;
  for (const Statement& s : program.statements()) {
    if (!adds_up(program, s)) continue;
    for (unsigned i = 0; i < s.iterators.size(); ++i) {
      if (moves(s.write.index, i)) continue;
      const isl::pw_aff last = isl::manage(isl_set_dim_max(s.domain.copy(), static_cast<int>(i)));
      last.foreach_piece([&](isl::set, isl::multi_aff piece) {
        const isl::aff value = piece.at(0);
        for (const std::string& name : program.parameters()) {
          const int position = isl_aff_find_dim_by_name(value.get(), isl_dim_param, name.c_str());
          if (position >= 0 && isl_aff_involves_dims(value.get(), isl_dim_param, static_cast<unsigned>(position), 1) == isl_bool_true)
            found.push_back(name);
        }
      });
    }
  }
  std::vector<std::string> ordered;
  for (const std::string& name : program.parameters())
    if (contains(found, name)) ordered.push_back(name);
  return ordered;
}

/// `size` = `length`, the others as fixed, or as large as the limits allow.
std::optional<Sizes> growth_sizes(const Program& program, const std::string& size, std::int64_t length, const Sizes& fixed) {
  for (const std::int64_t other : other_sizes) {
    Sizes sizes = fixed;
    for (const std::string& name : program.parameters()) sizes.emplace(name, other);
    sizes[size] = length;
    if (sizes_fit(program, sizes, limits)) return sizes;
  }
  return std::nullopt;
}

/// Errors of one tensor at one size vector.
ErrorGrowth::Row measure(const InterpreterResult& reference, const HostArray& got, const std::string& tensor) {
  const std::vector<double>& exact = reference.shadow.at(tensor);
  const std::vector<double>& bound = reference.bound.at(tensor);
  const std::vector<bool>& written = reference.written.at(tensor);
  ErrorGrowth::Row row;
  double largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!written[i] || !std::isfinite(exact[i]) || !std::isfinite(bound[i])) continue;
    const double error = std::fabs(got.get(static_cast<std::int64_t>(i)) - exact[i]);
    if (!std::isfinite(error)) continue;
    largest = std::max(largest, std::fabs(exact[i]));
    row.error = std::max(row.error, error);
    row.bound = std::max(row.bound, bound[i]);
    if (bound[i] > 0) row.ratio = std::max(row.ratio, error / bound[i]);
  }
  const double unit = unit_roundoff(got.type) * largest;
  row.error = unit > 0 ? row.error / unit : 0;
  row.bound = unit > 0 ? row.bound / unit : 0;
  return row;
}

Arrays run_last_stage(const Machine& machine, const std::vector<RunnableKernel>& kernels, const Sizes& sizes,
                      const Arrays& arguments) {
  TreeInterpreter interpreter(kernels.front().digits.kernel().whole_program(), machine, sizes, arguments);
  for (const RunnableKernel& kernel : kernels)
    if (kernel.stages.back().run(interpreter)) break;
  return interpreter.results();
}

std::string wider_type(ElementType type) { return type_name(size_bytes(type) < 4 ? ElementType::f32 : ElementType::f64); }

const Statement* reduction_into(const Program& program, const std::string& tensor) {
  for (const Statement& s : program.statements())
    if (s.write.tensor == tensor && adds_up(program, s)) return &s;
  return nullptr;
}

/// More than a quarter of the type's digits gone is worth a word: 4 units in the last place of bf16, 64 of f32.
bool loses_digits(const AccumulatorError& error) {
  return size_bytes(error.type) < 8 && error.ulps > std::exp2(-std::log2(unit_roundoff(error.type)) / 4);
}

}  // namespace

std::vector<ErrorGrowth> measure_growth(const Program& program, const Machine& machine, const std::vector<RunnableKernel>& kernels,
                                        const Sizes& fixed, std::uint64_t seed) {
  std::vector<ErrorGrowth> all;
  for (const std::string& size : reduction_sizes(program)) {
    if (fixed.count(size) != 0) continue;
    std::map<std::string, std::vector<ErrorGrowth::Row>> rows;  // by tensor
    for (const std::int64_t length : lengths) {
      const std::optional<Sizes> sizes = growth_sizes(program, size, length, fixed);
      if (!sizes) continue;
      const Arrays arguments = make_arguments(program, *sizes, seed, Fill::uniform);
      const InterpreterResult reference = interpret(program, *sizes, arguments);
      const Arrays got = run_last_stage(machine, kernels, *sizes, arguments);
      for (const auto& [tensor, values] : got) {
        if (!is_float(values.type)) continue;
        ErrorGrowth::Row row = measure(reference, values, tensor);
        row.length = length;
        row.sizes = *sizes;
        rows[tensor].push_back(std::move(row));
      }
    }
    const auto worst = [](const std::vector<ErrorGrowth::Row>& of) {
      double ratio = 0;
      for (const ErrorGrowth::Row& row : of) ratio = std::max(ratio, row.ratio);
      return ratio;
    };
    const auto shown = std::max_element(rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return worst(a.second) < worst(b.second); });
    if (shown != rows.end()) all.push_back({size, shown->first, type_name(program.tensor(shown->first).type), shown->second});
  }
  return all;
}

std::vector<AccumulatorWarning> measure_accumulators(const Program& program, const Sizes& fixed, std::uint64_t seed) {
  std::vector<Sizes> tried;
  for (const std::string& size : reduction_sizes(program)) {
    std::optional<Sizes> largest;
    for (const std::int64_t length : lengths)
      if (fixed.count(size) == 0)
        if (auto sizes = growth_sizes(program, size, length, fixed)) largest = std::move(sizes);
    if (largest) tried.push_back(*largest);
  }
  if (tried.empty() && fixed.size() == program.parameters().size() && sizes_fit(program, fixed, limits)) tried.push_back(fixed);
  std::map<std::string, AccumulatorWarning> worst;
  for (const Sizes& sizes : tried) {
    const InterpreterResult run = interpret(program, sizes, make_arguments(program, sizes, seed, Fill::uniform));
    for (const AccumulatorError& error : run.accumulators) {
      const Statement* source = reduction_into(program, error.tensor);
      if (source == nullptr || !loses_digits(error)) continue;
      AccumulatorWarning& warning = worst[error.tensor];
      if (warning.ulps >= error.ulps) continue;
      warning = {error.tensor, type_name(error.type), wider_type(error.type), source->where, error.ulps, std::log2(error.ulps), sizes};
    }
  }
  std::vector<AccumulatorWarning> warnings;
  for (auto& [tensor, warning] : worst) warnings.push_back(std::move(warning));
  return warnings;
}

std::string AccumulatorWarning::text() const {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, "%.3g units in the last place (%.1f binary digits)", ulps, digits);
  return "adding up in " + type + " loses " + numbers + " of `" + tensor + "` at " + sizes_text(sizes) + "; accumulate in " + wider;
}

}  // namespace tileopt
