/// Runs every stage of every kernel in the tree interpreter and names the first that deviates from the reference interpreter.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/pipeline.h"
#include "driver/size_vectors.h"
#include "interpreter/tree_interpreter.h"

namespace tileopt {

/// One stage of one kernel, ready to run.
struct RunnableStage {
  std::string stage;  ///< "50-promoted"
  std::function<std::optional<TreeFault>(TreeInterpreter&)> run;
  bool repeats = false;  ///< runs what the stage before it runs
};
/// The stages of a kernel in driver order: the same stages for every kernel of a program.
struct RunnableKernel {
  std::string name;
  std::vector<std::string> statements;
  std::vector<RunnableStage> stages;  ///< the first of them is the trusted one when another kernel is under suspicion
  DigitSchedule digits;               ///< to say in which tile an element lies
};
/// The stages refer to `kernels`, which must outlive them.
std::vector<RunnableKernel> runnable_stages(const std::vector<KernelStages>& kernels);

/// The first stage that deviates, and one element that shows it.
struct StageDeviation {
  std::string stage, kernel;
  Sizes sizes;
  std::string arguments;                ///< "random arguments of seed 1"
  LoopOrder order = LoopOrder::forward; ///< of parallel bands
  std::optional<TreeFault> fault;       ///< the run stopped; else values differ:
  std::int64_t elements = 0;            ///< how many differ
  std::string tensor;
  std::vector<std::int64_t> index;
  double got = 0, expected = 0, allowed = 0;
  double ratio() const;                 ///< error / tolerance; infinite where nothing is allowed
  std::string writer;                   ///< the stage's statement that wrote the element last; "" = none
  std::string instance;                 ///< the program's instance that should have; "" = none
  /// Where that instance (or, after a fault, the statement's instance) lies.
  enum class Tile { none, interior, edge };
  Tile tile = Tile::none;               ///< none: the loops are not tiled, or nothing is known
  std::vector<std::pair<std::string, std::int64_t>> digits;  ///< of the tile
  std::string text() const;             ///< one line
};
std::string tile_name(StageDeviation::Tile tile);

/// How far results may lie, and do lie, from exact arithmetic as a reduction grows.
struct ErrorGrowth {
  struct Row {
    std::int64_t length = 0;   ///< of the size that bounds the reduction
    Sizes sizes;
    /// In units of roundoff: |result - exact| and the bound, over unit roundoff times the largest |exact| of the tensor.
    double error = 0, bound = 0;
    double ratio = 0;          ///< largest error / bound of an element
  };
  std::string size;            ///< parameter
  std::string tensor;          ///< the result with the largest ratio
  std::string type;
  std::vector<Row> rows;
};

/// A tensor whose element type loses digits while terms are added up in it.
struct AccumulatorWarning {
  std::string tensor, type, wider;  ///< `wider`: the type to accumulate in
  SourceLocation where;
  double ulps = 0;                  ///< largest error, in units in the last place of the largest element
  double digits = 0;                ///< binary digits lost
  Sizes sizes;
  std::string text() const;         ///< without the position
};

struct StagesReport {
  std::vector<std::string> stages;
  std::vector<Sizes> sizes;
  int runs = 0;                     ///< of a stage of all kernels
  std::optional<StageDeviation> deviation;
  std::vector<ErrorGrowth> growth;  ///< empty after a deviation
  std::vector<AccumulatorWarning> warnings;
  std::string text() const;         ///< one line
  std::string growth_text() const;  ///< a table, complete lines; "" where nothing is measured
  Document write() const;
};

/// How much check_stages runs.
enum class StagesEffort {
  full,   ///< every stage, at every size vector, on both kinds of arguments, in every order of parallel iterations
  quick,  ///< every distinct stage at every size vector, the kinds of arguments and the orders by turns
};

/// Every stage at every size vector, on random and on small-integer arguments, sequentially; the stages from 30-digits on also
/// with the iterations of their parallel bands reversed and shuffled. Stage by stage, so that the first that deviates is the one
/// that is named; within the stage, the kernel.
StagesReport check_stages(const Program& program, const Machine& machine, const std::vector<RunnableKernel>& kernels,
                          const std::vector<Sizes>& sizes, std::uint64_t seed, StagesEffort effort = StagesEffort::full);

/// The size vectors of `check --stages`: small, odd, and around the multiples of tiles.
SizeSpread stages_spread();

/// Errors of the last stage as each size that bounds a float reduction grows, the other sizes small or as in `fixed`.
/// 16, 64, 256, 1024, as far as the interpreter's limits allow.
std::vector<ErrorGrowth> measure_growth(const Program& program, const Machine& machine, const std::vector<RunnableKernel>& kernels,
                                        const Sizes& fixed, std::uint64_t seed);
/// Measured at the largest sizes that measure_growth would take, or at `fixed` alone where no size bounds a reduction.
std::vector<AccumulatorWarning> measure_accumulators(const Program& program, const Sizes& fixed, std::uint64_t seed);

}  // namespace tileopt
