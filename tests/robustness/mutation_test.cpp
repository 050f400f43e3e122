// Damaged input of every kind: a value, or errors that have a position and a message. Nothing else may come out.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"

namespace tileopt::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> tile_files() {
  std::vector<std::string> files;
  for (const char* folder : {"/benchmarks/kernels", "/tests/cases"})
    for (const auto& entry : fs::directory_iterator(std::string(TILEOPT_SOURCE_DIR) + folder))
      if (entry.path().extension() == ".tile") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

// One to three small injuries: a byte dropped, doubled, swapped for one that occurs in the language, or a line moved.
std::string injure(std::string text, std::mt19937_64& random) {
  const std::string letters = "()[]{}:,.=+-*/%<>@#\"' \n\tijkNMAB019_f32size\\\x7f\xc3\xa9";
  const auto position = [&] { return static_cast<std::size_t>(random() % text.size()); };
  for (std::uint64_t n = 1 + random() % 3; n > 0 && !text.empty(); --n) {
    const std::size_t at = position();
    switch (random() % 5) {
      case 0: text.erase(at, 1 + random() % 4); break;
      case 1: text.insert(at, text.substr(position(), 1 + random() % 8)); break;
      case 2: text[at] = letters[random() % letters.size()]; break;
      case 3: text.insert(at, 1, letters[random() % letters.size()]); break;
      default: text = text.substr(0, at); break;
    }
  }
  return text;
}

class MutationTest : public ::testing::Test {
 protected:
  // Runs `read`; counts what was refused.
  template <class Read>
  void attempt(const std::string& input, const Read& read) {
    try {
      read();
      ++accepted_;
    } catch (const Errors& errors) {
      ++refused_;
      ASSERT_FALSE(errors.diagnostics().empty());
      for (const Diagnostic& diagnostic : errors.diagnostics()) {
        EXPECT_FALSE(diagnostic.message.empty()) << input;
        EXPECT_FALSE(diagnostic.hint.empty()) << diagnostic.message << "\n" << input;
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\nfrom input:\n" << input;
    }
  }
  int accepted_ = 0, refused_ = 0;
};

TEST_F(MutationTest, TileText) {
  std::mt19937_64 random(20240611);
  for (const std::string& file : tile_files()) {
    const std::string text = read_file(file);
    for (int i = 0; i < 40; ++i) {
      const std::string injured = injure(text, random);
      attempt(injured, [&] {
        poly::Context context;
        const TileFile parsed = parse_tile_file(context.get(), injured, "injured.tile");
        for (const Program& program : parsed.programs) EXPECT_EQ(canonical_tile_text(program.text(), "c.tile"), program.text()) << injured;
      });
    }
  }
  EXPECT_GT(refused_, 300);
  EXPECT_GT(accepted_, 20);
}

TEST_F(MutationTest, Pins) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    const std::string injured = injure("tile(\"thread\", i=64)\norder(\"i\", \"j\", \"k\")\npromote(A, \"stack\")\n", random);
    attempt(injured, [&] { parse_pins(injured, "--pin"); });
  }
  EXPECT_GT(refused_, 50);
}

TEST_F(MutationTest, PlansMachinesAndDumps) {
  std::mt19937_64 random(99);
  poly::Context context;
  const std::string file = std::string(TILEOPT_SOURCE_DIR) + "/benchmarks/kernels/gemm.tile";
  const auto program = std::make_shared<const Program>(parse_tile_file(context.get(), read_file(file), "gemm.tile").programs.at(0));
  Request request;
  request.machine = find_machine("x86-64-v3");
  const fs::path folder = fs::temp_directory_path() / ("tileopt_mutation_" + std::to_string(getpid()));
  Trace trace({folder.string(), ""});
  const Candidate<Outcome> outcome = resolve_and_compile(program, request, trace);
  ASSERT_TRUE(std::holds_alternative<Outcome>(outcome)) << to_string(std::get<Infeasible>(outcome));
  const std::string plan = read_file((folder / "plan.json").string());
  const std::string machine = request.machine.write().dump(2);
  const std::string dump = read_file((folder / std::get<Outcome>(outcome).module.plan.kernels.front().name / "30-digits.yaml").string());
  for (int i = 0; i < 200; ++i) {
    const std::string bad_plan = injure(plan, random), bad_machine = injure(machine, random), bad_dump = injure(dump, random);
    attempt(bad_plan, [&] { Plan::read(parse_json(bad_plan, "plan.json"), "plan.json"); });
    attempt(bad_machine, [&] { Machine::read(parse_json(bad_machine, "machine.json"), "machine.json"); });
    attempt(bad_dump, [&] {
      poly::Context other;
      write_file((folder / "bad.yaml").string(), bad_dump);
      resume_from(other.get(), (folder / "bad.yaml").string());
    });
  }
  EXPECT_GT(refused_, 300);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tileopt::test
