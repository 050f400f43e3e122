// Somebody edits a dump (a radix, the order, a level, an atom, a promotion) and resumes: the kernel is proved and right, or the
// edit is refused with a reason. There are no templates behind the stages that an edit could step out of.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <random>
#include <regex>
#include <set>

#include "backends/openmp/runner.h"
#include "cost_models/machines.h"
#include "driver/check_kernel.h"
#include "driver/check_stages.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"

namespace tileopt::test {
namespace {

namespace fs = std::filesystem;

const std::string root = TILEOPT_SOURCE_DIR;
constexpr int edits = 14;

// One seeded edit of the decisions of a stage; false where the stage has nothing of that kind.
class Editor {
 public:
  explicit Editor(std::uint64_t seed) : random_(seed) {}

  bool edit(const std::string& stage, Document& decisions, std::string* what) {
    if (stage == "30-digits") {
      switch (below(4)) {
        case 0: return split_digit(decisions, what);
        case 3: return edit_radix(decisions["digits"], what);
        case 1: return edit_order(decisions, what);
        default: return edit_level(decisions["digits"], what);
      }
    }
    if (stage == "40-fitted") return edit_atom(decisions["atoms"], what);
    return edit_promotion(decisions["promotions"], what);
  }

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

  // Digits that have a radix, as references into the document.
  static std::vector<Document*> bounded_digits(Document& table) {
    std::vector<Document*> digits;
    for (auto& member : table)
      for (Document& digit : member)
        if (digit["radix"] != 0) digits.push_back(&digit);
    return digits;
  }

  bool edit_radix(Document& table, std::string* what) {
    const std::vector<Document*> digits = bounded_digits(table);
    if (digits.empty()) return false;
    Document& digit = *digits[below(digits.size())];
    const long old = digit["radix"];
    const std::vector<long> choices = {old * 2, std::max(1L, old / 2), old + 1, std::max(1L, old - 1), 1, 3, 64};
    digit["radix"] = choices[below(choices.size())];
    *what = "radix of " + digit["name"].get<std::string>() + " from " + std::to_string(old) + " to " + digit["radix"].dump();
    return true;
  }

  // A further digit below the outermost one of a member.
  bool split_digit(Document& decisions, std::string* what) {
    auto member = decisions["digits"].begin();
    std::advance(member, static_cast<long>(below(decisions["digits"].size())));
    const std::string outer = member.value()[0]["name"];
    const std::string tree = decisions["tree"];
    const std::string split = std::regex_replace(tree, std::regex("\\b" + outer + "\\b"), outer + " > added");
    if (split == tree) return false;
    const std::vector<long> radices = {4, 16, 50, 128};
    const long radix = radices[below(radices.size())];
    decisions["tree"] = split;
    member.value().insert(member.value().begin() + 1, Document{{"name", "added"}, {"radix", radix}, {"level", "serial"}});
    *what = "digit of radix " + std::to_string(radix) + " below " + outer;
    return true;
  }

  bool edit_level(Document& table, std::string* what) {
    const std::vector<Document*> digits = bounded_digits(table);
    if (digits.empty()) return false;
    Document& digit = *digits[below(digits.size())];
    const std::vector<std::string> levels = {"serial", "unroll", "thread", "simd"};
    digit["level"] = levels[below(levels.size())];
    *what = "level of " + digit["name"].get<std::string>() + " to " + digit["level"].get<std::string>();
    return true;
  }

  // Two bands of the tree change places.
  bool edit_order(Document& decisions, std::string* what) {
    const std::string tree = decisions["tree"];
    std::vector<std::string> names;
    const std::regex band("([A-Za-z_][A-Za-z0-9_]*) >");
    for (std::sregex_iterator match(tree.begin(), tree.end(), band), end; match != end; ++match) names.push_back((*match)[1]);
    if (names.size() < 2) return false;
    const std::size_t first = below(names.size() - 1);
    const std::string a = names[first], b = names[first + 1];
    std::string swapped = std::regex_replace(tree, std::regex("\\b" + a + "\\b"), "@");
    swapped = std::regex_replace(swapped, std::regex("\\b" + b + "\\b"), a);
    decisions["tree"] = std::regex_replace(swapped, std::regex("@"), b);
    *what = "order of " + a + " and " + b;
    return true;
  }

  bool edit_atom(Document& atoms, std::string* what) {
    if (atoms.empty()) return false;
    auto entry = atoms.begin();
    std::advance(entry, static_cast<long>(below(atoms.size())));
    if (below(2) == 0) {
      *what = "no atom for " + entry.key();
      atoms.erase(entry);
    } else {
      entry.value()["edge"] = entry.value()["edge"] == "padded" ? "extents" : "padded";
      *what = "edge of " + entry.key() + " to " + entry.value()["edge"].get<std::string>();
    }
    return true;
  }

  bool edit_promotion(Document& promotions, std::string* what) {
    if (promotions.empty()) return false;
    const std::size_t index = below(promotions.size());
    Document& promotion = promotions[index];
    *what = "promotion " + promotion["array"].get<std::string>() + ": ";
    switch (below(5)) {
      case 0:
        promotions.erase(index);
        *what += "dropped";
        break;
      case 1:
        promotion["after"] = "";
        *what += "for the whole kernel";
        break;
      case 2:
        promotion["zero_fill"] = !promotion["zero_fill"].get<bool>();
        *what += "zero_fill " + promotion["zero_fill"].dump();
        break;
      case 3:
        promotion["space"] = promotion["space"] == "stack" ? "workspace" : "stack";
        *what += "space " + promotion["space"].get<std::string>();
        break;
      default:
        if (promotion["layout"].size() > 1) std::swap(promotion["layout"][0], promotion["layout"][1]);
        *what += "layout turned";
        break;
    }
    return true;
  }

  std::mt19937_64 random_;
};

class EditedDumpTest : public ::testing::TestWithParam<const char*> {
 protected:
  EditedDumpTest() : folder_(fs::temp_directory_path() / ("tileopt_edit_" + std::to_string(getpid()))) {}
  ~EditedDumpTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  // "" where the resumed kernel is proved and right; else why it was refused.
  std::string resume(const std::string& path, std::string* source) {
    poly::Context context;
    Request request;
    Resumed resumed;
    Trace trace;
    try {
      resumed = resume_from(context.get(), path);
      request.machine = resumed.machine;
      request.plan = resumed.plan;
      const Candidate<Outcome> outcome = resolve_and_compile(resumed.program, request, trace, resumed.asts);
      if (const auto* refused = std::get_if<Infeasible>(&outcome)) {
        EXPECT_FALSE(refused->reason.empty());
        return to_string(*refused);
      }
      const Module& module = std::get<Outcome>(outcome).module;
      const std::string unproved = unproved_text(module.certificate);
      if (!unproved.empty()) return "not proved: " + unproved;
      *source = module.text.source;
      const CompiledKernel kernel = CompiledKernel::compile(*resumed.program, module.text, resumed.machine, {"", {"-O1"}});
      const SizeSpread few{{1, 3, 33, 70}, 4, std::int64_t(1) << 18};
      const CheckReport report = check_kernels(*resumed.program, {&kernel}, spread_sizes(*resumed.program, few), 5, 0);
      EXPECT_EQ(report.failure, "");
      check_stages_of(resumed, request);
      return "";
    } catch (const Errors& errors) {
      EXPECT_FALSE(errors.diagnostics().front().hint.empty());
      return errors.what();
    }
  }

  // The stages of what was resumed agree too.
  static void check_stages_of(const Resumed& resumed, const Request& request) {
    Trace trace;
    const auto stages = resolve_and_stage(resumed.program, request, trace, resumed.asts);
    ASSERT_TRUE(feasible(stages));
    const SizeSpread few{{3, 33}, 2, std::int64_t(1) << 16};
    const StagesReport report = check_stages(*resumed.program, resumed.machine, runnable_stages(std::get<0>(stages)),
                                             spread_sizes(*resumed.program, few), 5, StagesEffort::quick);
    EXPECT_FALSE(report.deviation.has_value()) << report.text();
  }

  fs::path folder_;
};

TEST_P(EditedDumpTest, IsProvedAndRightOrRefusedWithAReason) {
  poly::Context context;
  const std::string file = root + "/benchmarks/kernels/" + GetParam() + ".tile";
  const auto program = std::make_shared<const Program>(parse_tile_file(context.get(), read_file(file), "kernel.tile").programs.at(0));
  Request request;
  request.machine = find_machine("host");
  Trace trace({(folder_ / "D").string(), ""});
  const Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
  ASSERT_TRUE(std::holds_alternative<Outcome>(outcome)) << to_string(std::get<Infeasible>(outcome));
  const Plan& plan = std::get<Outcome>(outcome).module.plan;

  std::set<std::string> seen;
  int done = 0, honoured = 0, changed = 0;
  for (std::uint64_t seed = 0; done < edits && seed < 30 * edits; ++seed) {
    const KernelPlan& kernel = plan.kernels[seed % plan.kernels.size()];
    const std::string stage = std::vector<std::string>{"30-digits", "40-fitted", "50-promoted", "30-digits"}[seed / plan.kernels.size() % 4];
    const std::string dump = (folder_ / "D" / kernel.name / (stage + ".yaml")).string();
    StageDump edited = StageDump::read(read_file(dump), dump);
    std::string what, source;
    if (!Editor(seed).edit(stage, edited.decisions, &what) || !seen.insert(what).second || edited.write() == read_file(dump)) continue;
    ++done;
    const std::string path = (folder_ / "edited.yaml").string();
    write_file(path, edited.write());
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + what);
    const std::string refusal = resume(path, &source);
    std::cout << what << ": " << (refusal.empty() ? "proved and right" : refusal) << "\n";
    honoured += refusal.empty();
    changed += refusal.empty() && source != std::get<Outcome>(outcome).module.text.source;
  }
  EXPECT_GE(done, 10);
  EXPECT_GE(honoured, 3);
  EXPECT_GE(changed, 2);
}

INSTANTIATE_TEST_SUITE_P(Kernels, EditedDumpTest, ::testing::Values("gemm", "gemm_bf16", "conv2d", "softmax", "jacobi_2d", "transpose"));

}  // namespace
}  // namespace tileopt::test
