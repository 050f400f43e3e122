#include "driver/check_stages.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "support/text.h"

namespace tileopt {

namespace {

/// A run that every stage is compared with.
struct Reference {
  Sizes sizes;
  std::string name;  ///< of the arguments
  Arrays arguments;
  InterpreterResult result;
};

std::vector<Reference> make_references(const Program& program, const std::vector<Sizes>& sizes, std::uint64_t seed, StagesEffort effort) {
  std::vector<Reference> references;
  for (std::size_t v = 0; v < sizes.size(); ++v)
    for (const Fill fill : {Fill::uniform, Fill::integers}) {
      const bool turn = (v % 2 == 0) == (fill == Fill::uniform);
      if (effort == StagesEffort::quick && !turn) continue;
      const Sizes& vector = sizes[v];
      Reference reference;
      reference.sizes = vector;
      reference.name = std::string(fill == Fill::uniform ? "random" : "integer") + " arguments of seed " + std::to_string(seed);
      reference.arguments = make_arguments(program, vector, seed, fill);
      reference.result = interpret(program, vector, reference.arguments);
      references.push_back(std::move(reference));
    }
  return references;
}

/// What one run of all kernels came to.
struct StageRun {
  std::optional<TreeFault> fault;
  std::string kernel;  ///< that faulted
  Arrays results;
};

class StageChecker {
 public:
  StageChecker(const Program& program, const Machine& machine, const std::vector<RunnableKernel>& kernels, std::uint64_t seed)
      : program_(program), staged_(kernels.front().digits.kernel().whole_program()), machine_(machine), kernels_(kernels), seed_(seed) {}

  /// Nothing where stage number `stage` agrees with the reference.
  std::optional<StageDeviation> check(std::size_t stage, const Reference& reference, LoopOrder order) const {
    const StageRun run = run_all(reference, order, [&](std::size_t) { return stage; });
    std::int64_t count = 0;
    std::vector<Deviation> deviations;
    if (!run.fault) deviations = compare(program_, reference.result, reference.arguments, run.results, 64, &count);
    if (!run.fault && count == 0) return std::nullopt;
    StageDeviation found;
    found.stage = kernels_.front().stages[stage].stage;
    found.kernel = run.fault ? run.kernel : guilty_kernel(stage, reference, order);
    found.sizes = reference.sizes;
    found.arguments = reference.name;
    found.order = order;
    found.elements = count;
    if (run.fault) {
      found.fault = run.fault;
      place_fault(found);
    } else {
      describe(found, stage, reference, deviations);
    }
    return found;
  }

 private:
  /// Runs kernel k at the stage that `stage_of` says, in launch order.
  template <class StageOf>
  StageRun run_all(const Reference& reference, LoopOrder order, const StageOf& stage_of, const Deviation* watched = nullptr,
                   std::optional<TreePoint>* writer = nullptr) const {
    TreeOptions options;
    options.order = order;
    options.seed = seed_;
    // Whole boxes, copies and empty outer loops cost more than the instances alone; a runaway loop costs more than all of them.
    options.max_points = (std::int64_t(1) << 22) + 256 * reference.result.instances;
    TreeInterpreter interpreter(staged_, machine_, reference.sizes, reference.arguments, options);
    if (watched != nullptr) interpreter.watch(watched->tensor, offset_of(reference, *watched));
    StageRun run;
    for (std::size_t k = 0; k < kernels_.size() && !run.fault; ++k) {
      if (!runs(kernels_[k], reference.sizes)) continue;
      run.fault = kernels_[k].stages[stage_of(k)].run(interpreter);
      run.kernel = kernels_[k].name;
    }
    run.results = interpreter.results();
    if (writer != nullptr) *writer = interpreter.last_writer();
    return run;
  }

  /// A version that is for other sizes does not.
  static bool runs(const RunnableKernel& kernel, const Sizes& sizes) {
    const KernelPlan& plan = kernel.digits.plan();
    return plan.when.empty() || !fix_parameters(kernel.digits.kernel().program().context(), sizes).is_empty();
  }

  static std::int64_t offset_of(const Reference& reference, const Deviation& element) {
    const std::vector<std::int64_t>& shape = reference.arguments.at(element.tensor).shape;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + element.index[d];
    return offset;
  }

  /// The first kernel that deviates when it alone runs at the stage and the others at the first one.
  std::string guilty_kernel(std::size_t stage, const Reference& reference, LoopOrder order) const {
    if (kernels_.size() == 1) return kernels_.front().name;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      const StageRun run = run_all(reference, order, [&](std::size_t other) { return other == k ? stage : 0; });
      std::int64_t count = 0;
      if (!run.fault) compare(program_, reference.result, reference.arguments, run.results, 0, &count);
      if (run.fault || count > 0) return kernels_[k].name;
    }
    return kernels_.back().name;
  }

  void describe(StageDeviation& found, std::size_t stage, const Reference& reference, const std::vector<Deviation>& deviations) const {
    // Prefer an element that the program writes: its instance says in which tile it lies.
    const Deviation* shown = &deviations.front();
    for (const Deviation& deviation : deviations) {
      const bool written = reference.result.written.at(deviation.tensor)[static_cast<std::size_t>(offset_of(reference, deviation))];
      if (!written) continue;
      shown = &deviation;
      break;
    }
    found.tensor = shown->tensor;
    found.index = shown->index;
    found.got = shown->got;
    found.expected = shown->expected;
    found.allowed = shown->allowed;
    std::optional<TreePoint> writer, instance;
    run_all(reference, found.order, [&](std::size_t) { return stage; }, shown, &writer);
    if (writer) found.writer = writer->text();
    run_all(reference, LoopOrder::forward, [](std::size_t) { return std::size_t(0); }, shown, &instance);
    if (!instance) return;
    found.instance = instance->text();
    for (const RunnableKernel& kernel : kernels_)
      if (contains(kernel.statements, instance->statement) && runs(kernel, found.sizes)) place_instance(found, kernel, *instance);
  }

  /// The tile of a program instance.
  void place_instance(StageDeviation& found, const RunnableKernel& kernel, const TreePoint& instance) const {
    const StatementSpace& space = kernel.digits.statement(instance.statement);
    isl_set* here = isl_set_universe(isl_set_get_space(staged_.statement(instance.statement).domain.get()));
    for (std::size_t i = 0; i < instance.digits.size(); ++i)
      here = isl_set_fix_val(here, isl_dim_set, static_cast<unsigned>(i), isl_val_int_from_si(isl_set_get_ctx(here), instance.digits[i].second));
    const isl::set point = fix_parameters(space.to_program.intersect_range(isl::manage(here)).domain(), found.sizes);
    place_digits(found, kernel, space, point);
  }

  /// After a fault: the statement's dimensions are digits, some of them perhaps missing. A copy has those of the loops around it,
  /// which some program statement shares.
  void place_fault(StageDeviation& found) const {
    for (const RunnableKernel& kernel : kernels_) {
      if (kernel.name != found.kernel) continue;
      const bool copy = !contains(kernel.statements, found.fault->where.statement);
      for (const StatementSpace& space : kernel.digits.statements())
        if ((copy || space.name == found.fault->where.statement) && found.digits.empty())
          place_digits(found, kernel, space, points_at(space, found.fault->where, found.sizes));
    }
  }

  /// The digits of `space` that agree with those of `where`, of which there must be some.
  static isl::set points_at(const StatementSpace& space, const TreePoint& where, const Sizes& sizes) {
    isl_set* here = fix_parameters(space.domain, sizes).release();
    bool shared = false;
    for (const auto& [name, value] : where.digits)
      for (std::size_t d = 0; d < space.dims.size(); ++d)
        if (space.dims[d] == name) {
          shared = true;
          here = isl_set_fix_val(here, isl_dim_set, static_cast<unsigned>(d), isl_val_int_from_si(isl_set_get_ctx(here), value));
        }
    const isl::set points = isl::manage(here);
    return shared ? points : isl::manage(isl_set_empty(isl_set_get_space(points.get())));
  }

  /// `point`: { S[digits] }, parameters fixed. The tile is given by the most significant digits of all members that have several;
  /// it is interior where every combination of the lower ones is an instance.
  static void place_digits(StageDeviation& found, const RunnableKernel& kernel, const StatementSpace& space, const isl::set& point) {
    if (point.is_empty()) return;
    const isl::set one = isl::manage(isl_set_from_point(isl_set_sample_point(point.copy())));
    isl_set* box = isl_set_universe(isl_set_get_space(one.get()));
    for (std::size_t d = 0; d < space.dims.size(); ++d) {
      const auto position = static_cast<unsigned>(d);
      const isl::val value = isl::manage(isl_set_plain_get_val_if_fixed(one.get(), isl_dim_set, position));
      const Digit* digit = kernel.digits.plan().find_digit(space.dims[d]);
      const std::string owner = kernel.digits.plan().owner(space.dims[d]);
      bool tiled = false;
      for (const auto& [member, digits] : kernel.digits.plan().digits) tiled = tiled || (member == owner && digits.size() > 1);
      if (tiled && digit != nullptr && digit->radix > 0) {
        box = isl_set_lower_bound_si(box, isl_dim_set, position, 0);
        box = isl_set_upper_bound_val(box, isl_dim_set, position, isl_val_int_from_si(isl_set_get_ctx(box), digit->radix - 1));
        continue;
      }
      if (tiled && value.is_int()) found.digits.emplace_back(space.dims[d], value.num_si());
      box = isl_set_fix_val(box, isl_dim_set, position, value.copy());
    }
    const isl::set whole = isl::manage(box);
    if (found.digits.empty()) return;
    const bool interior = whole.is_subset(fix_parameters(space.domain, found.sizes));
    found.tile = interior ? StageDeviation::Tile::interior : StageDeviation::Tile::edge;
  }

  const Program& program_;  ///< the source: what every stage must compute
  const Program& staged_;   ///< after the rewrites: what the stages run
  const Machine& machine_;
  const std::vector<RunnableKernel>& kernels_;
  std::uint64_t seed_;
};

std::string number_text(double value, int digits = 17) {
  std::ostringstream text;
  text.precision(digits);
  text << value;
  return text.str();
}

std::string digits_text(const std::vector<std::pair<std::string, std::int64_t>>& digits) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : digits) parts.push_back(name + "=" + std::to_string(value));
  return join(parts, ", ");
}

std::string order_text(LoopOrder order) {
  switch (order) {
    case LoopOrder::forward: return "";
    case LoopOrder::reversed: return ", parallel iterations reversed";
    case LoopOrder::shuffled: return ", parallel iterations shuffled";
  }
  return "";
}

/// A number as JSON can hold it.
Document json_number(double value) { return std::isfinite(value) ? Document(value) : Document(number_text(value)); }

Document digits_document(const std::vector<std::pair<std::string, std::int64_t>>& digits) {
  Document document = Document::object();
  for (const auto& [name, value] : digits) document[name] = value;
  return document;
}

Document deviation_document(const StageDeviation& d) {
  Document document = {{"stage", d.stage}, {"kernel", d.kernel}, {"sizes", d.sizes}, {"arguments", d.arguments}, {"message", d.text()}};
  document["tile"] = d.tile == StageDeviation::Tile::none ? Document() : Document(tile_name(d.tile));
  document["tile_digits"] = digits_document(d.digits);
  if (d.fault) {
    document["fault"] = d.fault->text();
    return document;
  }
  document["elements"] = d.elements;
  document["tensor"] = d.tensor;
  document["index"] = d.index;
  document["got"] = json_number(d.got);
  document["expected"] = json_number(d.expected);
  document["allowed"] = json_number(d.allowed);
  document["ratio"] = json_number(d.ratio());
  document["written_by"] = d.writer;
  document["instance"] = d.instance;
  return document;
}

}  // namespace

std::vector<RunnableKernel> runnable_stages(const std::vector<KernelStages>& kernels) {
  std::vector<RunnableKernel> runnable;
  for (const KernelStages& k : kernels) {
    const KernelStages* stages = &k;
    const auto promoted = [](const PromotedSchedule& p) {
      return [code = StageCode::of(p)](TreeInterpreter& interpreter) { return interpreter.run(code); };
    };
    RunnableKernel kernel{k.digits().plan().name, k.digits().plan().statements, {}, k.digits()};
    kernel.stages.push_back({"20-schedule", [stages](TreeInterpreter& i) { return i.run(stages->schedule()); }});
    kernel.stages.push_back({"30-digits", [stages](TreeInterpreter& i) { return i.run(stages->digits()); }});
    kernel.stages.push_back({"40-fitted", [stages](TreeInterpreter& i) { return i.run(stages->fitted()); }});
    kernel.stages.push_back({"50-promoted", promoted(k.promoted())});
    kernel.stages.push_back({"55-pipelined", promoted(k.pipelined().promoted()), true});
    kernel.stages.push_back({"58-synchronized", promoted(k.synchronized.promoted()), true});
    kernel.stages.push_back({"60-ast", [stages](TreeInterpreter& i) { return i.run(stages->ast); }});
    runnable.push_back(std::move(kernel));
  }
  return runnable;
}

std::string tile_name(StageDeviation::Tile tile) {
  switch (tile) {
    case StageDeviation::Tile::none: return "no tile";
    case StageDeviation::Tile::interior: return "interior";
    case StageDeviation::Tile::edge: return "edge";
  }
  return "?";
}

double StageDeviation::ratio() const {
  if (got == expected) return 0;
  const double error = std::fabs(got - expected);
  return allowed > 0 && std::isfinite(error) ? error / allowed : std::numeric_limits<double>::infinity();
}

std::string StageDeviation::text() const {
  std::string text = "stage " + stage + " of kernel " + kernel + " is the first to deviate, at " + sizes_text(sizes) + ", " + arguments + order_text(order) + ": ";
  const std::string where = tile == Tile::none ? "" : "; in " + std::string(tile == Tile::edge ? "an edge" : "an interior") + " tile (" + digits_text(digits) + ")";
  if (fault) return text + fault->text() + where;
  std::vector<std::string> subscripts;
  for (const std::int64_t i : index) subscripts.push_back(std::to_string(i));
  text += std::to_string(elements) + (elements == 1 ? " element; " : " elements; ") + tensor + "[" + join(subscripts, ", ") + "] is " +
          number_text(got) + ", expected " + number_text(expected) + " (error/tolerance " + number_text(ratio(), 3) + ")" + where;
  text += writer.empty() ? "; the stage never writes it" : "; last written by " + writer;
  if (instance.empty()) return text + "; the program never writes it";
  return text + ", in the program by " + instance;
}

SizeSpread stages_spread() { return {{1, 3, 0, 7, 17, 33, 64, 100}, 10, std::int64_t(1) << 17, std::int64_t(1) << 21}; }

StagesReport check_stages(const Program& program, const Machine& machine, const std::vector<RunnableKernel>& kernels,
                          const std::vector<Sizes>& sizes, std::uint64_t seed, StagesEffort effort) {
  StagesReport report;
  report.sizes = sizes;
  const std::vector<Reference> references = make_references(program, sizes, seed, effort);
  const StageChecker checker(program, machine, kernels, seed);
  const std::vector<LoopOrder> orders = {LoopOrder::forward, LoopOrder::reversed, LoopOrder::shuffled};
  for (std::size_t stage = 0; stage < kernels.front().stages.size(); ++stage) {
    const RunnableStage& first = kernels.front().stages[stage];
    report.stages.push_back(first.stage);
    if (effort == StagesEffort::quick && first.repeats) continue;
    for (std::size_t o = 0; o < (stage == 0 ? 1 : orders.size()); ++o)
      for (std::size_t r = 0; r < references.size(); ++r) {
        if (effort == StagesEffort::quick && stage > 0 && (stage + r) % orders.size() != o) continue;
        ++report.runs;
        report.deviation = checker.check(stage, references[r], orders[o]);
        if (report.deviation) return report;
      }
  }
  return report;
}

std::string StagesReport::text() const {
  if (deviation) return deviation->text();
  return std::to_string(stages.size()) + " stages agree with the interpreter in " + std::to_string(runs) + " runs at " +
         std::to_string(sizes.size()) + (sizes.size() == 1 ? " size vector" : " size vectors");
}

std::string StagesReport::growth_text() const {
  std::string text;
  for (const ErrorGrowth& growth : this->growth) {
    text += "  error of " + growth.tensor + " (" + growth.type + ") as " + growth.size + " grows, in units of roundoff of its largest element:\n";
    for (const ErrorGrowth::Row& row : growth.rows) {
      char line[160];
      std::snprintf(line, sizeof line, "    %s = %-6lld error %-10.3g bound %-10.3g error/bound %.3g\n", growth.size.c_str(),
                    static_cast<long long>(row.length), row.error, row.bound, row.ratio);
      text += line;
    }
  }
  return text;
}

Document StagesReport::write() const {
  Document document = Document::object();
  document["stages"] = stages;
  document["sizes"] = Document::array();
  for (const Sizes& vector : sizes) document["sizes"].push_back(vector);
  document["runs"] = runs;
  document["deviation"] = deviation ? deviation_document(*deviation) : Document();
  document["error_growth"] = Document::array();
  for (const ErrorGrowth& g : growth) {
    Document rows = Document::array();
    for (const ErrorGrowth::Row& row : g.rows)
      rows.push_back({{"length", row.length}, {"sizes", row.sizes}, {"error", json_number(row.error)}, {"bound", json_number(row.bound)},
                      {"ratio", json_number(row.ratio)}});
    document["error_growth"].push_back({{"size", g.size}, {"tensor", g.tensor}, {"type", g.type}, {"rows", rows}});
  }
  document["accumulator_warnings"] = Document::array();
  for (const AccumulatorWarning& w : warnings)
    document["accumulator_warnings"].push_back({{"tensor", w.tensor}, {"type", w.type}, {"line", w.where.line}, {"column", w.where.column},
                                                {"ulps", json_number(w.ulps)}, {"digits_lost", json_number(w.digits)},
                                                {"accumulate_in", w.wider}, {"sizes", w.sizes}, {"message", w.text()}});
  return document;
}

}  // namespace tileopt
