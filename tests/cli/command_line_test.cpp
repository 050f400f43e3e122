// The command line itself: help, options, paths, exit codes, messages.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

const char* const good = "def scale(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = f32(2) * A[i]\n";
const char* const bad = "def broken(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i + 1]\n";

TEST(CommandLine, VersionNamesTheLibraryAndItsIsl) {
  const ToolRun run = run_tool({"--version"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(run.out.starts_with("tileopt 0.")) << run.out;
  EXPECT_NE(run.out.find("isl-0.25-GMP"), std::string::npos) << run.out;
}

TEST(CommandLine, HelpHasExamplesAndExitCodes) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--help"}, {"compile", "--help"}, {"run", "--help"}, {"check", "--help"}, {"explain", "--help"}}) {
    const ToolRun run = run_tool(arguments);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.out.find("Examples:"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("Exit codes:"), std::string::npos);
    EXPECT_EQ(run.out.find("no-verify"), std::string::npos);
  }
}

TEST(CommandLine, WrongCommandLinesAreUserErrors) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {}, {"brew"}, {"compile", "--colour"}, {"compile", "--threads", "many"}, {"compile", "--threads", "0"}, {"compile"},
           {"compile", "--no-verify", kernel_file("gemm")}}) {
    const ToolRun run = run_tool(arguments);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_TRUE(run.err.starts_with("error: ")) << run.err;
    EXPECT_NE(run.err.find(" [invalid-option]\n  hint: "), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "");
  }
}

TEST(CommandLine, CalibrateWritesAMachineFile) {
  const Folder folder;
  const ToolRun run = run_shell("tileopt-schedule machines calibrate --seconds 0.01 -o here.json", folder.path());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("memories.L1.bandwidth"), std::string::npos) << run.err;
  folder.write("a.tile", good);
  EXPECT_EQ(run_shell("tileopt-schedule compile a.tile --machine here.json -o a.c", folder.path()).exit_code, 0);
  const ToolRun two = run_tool({"machines", "zen4", "host"});
  EXPECT_EQ(two.exit_code, 1);
  EXPECT_NE(two.err.find("two machines are given"), std::string::npos) << two.err;
  EXPECT_EQ(run_tool({"machines", "calibrate", "no_such"}).exit_code, 1);
}

TEST(CommandLine, AProgramThatIsNotThereIsSaidWithThoseThatAre) {
  const ToolRun near = run_tool({"compile", kernel_file("gemm"), "--program", "gem"});
  EXPECT_EQ(near.exit_code, 1);
  EXPECT_NE(near.err.find("error: no program `gem` in the input [invalid-option]\n  hint: did you mean `gemm`?"), std::string::npos) << near.err;
  const ToolRun far = run_tool({"compile", kernel_file("gemm"), "--program", "unrelated"});
  EXPECT_NE(far.err.find("hint: programs: gemm"), std::string::npos) << far.err;
}

TEST(CommandLine, APinBeyondTheRegistersIsRefusedWhereItStands) {
  const ToolRun run = run_tool({"compile", kernel_file("gemm"), "--machine", "x86-64-v3", "--pin", "promote(C, \"register\", after=\"j\")"});
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_TRUE(run.err.starts_with("--pin:1:1: error: C_register in kernel gemm: register arrays need 17 vector registers")) << run.err;
  EXPECT_NE(run.err.find(" of 16 [capacity]\n"), std::string::npos) << run.err;
}

// Forty updates of one array: more dependences than the proof has operations for.
TEST(CommandLine, AProofThatEndsAtALimitSaysSo) {
  const Folder folder;
  std::string text = "def many(A: f32[N], B: inout[f32[N]]):\n";
  for (int k = 0; k < 40; ++k) text += "    for i in range(" + std::to_string(k) + ", N):\n        B[i] += A[i - " + std::to_string(k) + "]\n";
  folder.write("many.tile", text);
  const ToolRun run = run_shell("tileopt-schedule compile many.tile --machine x86-64-v3 -o many.c", folder.path());
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_TRUE(run.err.starts_with("many.tile: error: program `many` is not proved: ")) << run.err;
  EXPECT_NE(run.err.find("the proof ended at a limit and found no fault"), std::string::npos) << run.err;
  EXPECT_FALSE(exists(folder / "many.c"));
}

TEST(CommandLine, MisspeltWordsGetTheNearestOne) {
  EXPECT_NE(run_tool({"chek", "x.tile"}).err.find("did you mean `check`?"), std::string::npos);
  EXPECT_NE(run_tool({"compile", "x.tile", "--machin", "zen4"}).err.find("did you mean `--machine`?"), std::string::npos);
  EXPECT_NE(run_tool({"compile", "x.tile", "--threads", "many"}).err.find("--threads"), std::string::npos);
  EXPECT_NE(run_tool({}).err.find("commands: compile, run"), std::string::npos);
}

TEST(CommandLine, ColoursAreForTerminals) {
  const Folder folder;
  folder.write("b.tile", "def broken(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i + 1]  # ^~~ error: hint:\n");
  const std::string plain = run_shell("tileopt-schedule compile b.tile", folder.path()).err;
  EXPECT_EQ(plain.find('\033'), std::string::npos);
  EXPECT_EQ(run_shell("CLICOLOR_FORCE=0 tileopt-schedule compile b.tile", folder.path()).err, plain);
  std::string forced = run_shell("CLICOLOR_FORCE=1 tileopt-schedule compile b.tile", folder.path()).err;
  for (const char* part : {": \033[1;31merror:\033[0m ", "| B[i] = A[i + 1]  # ^~~ error: hint:\n", " \033[1;31m^~~~~\033[0m\n", "\033[36m  hint:\033[0m "}) {
    const std::string text = part[0] == '|' ? std::string(part).substr(2) : part;
    EXPECT_NE(forced.find(text), std::string::npos) << forced;
  }
  for (const char* code : {"\033[1;31m", "\033[36m", "\033[0m"})
    for (std::size_t at = forced.find(code); at != std::string::npos; at = forced.find(code)) forced.erase(at, std::string(code).size());
  EXPECT_EQ(forced, plain);
}

TEST(CommandLine, MachinesListsAndPrints) {
  const ToolRun list = run_tool({"machines"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  for (const char* name : {"host", "zen4", "x86-64-v3"}) EXPECT_NE(list.out.find(name), std::string::npos) << name;
  const ToolRun one = run_tool({"machines", "zen4"});
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(one.out)["name"], "zen4");
  const ToolRun all = run_tool({"machines", "--json"});
  EXPECT_GE(nlohmann::json::parse(all.out).size(), 3u);
}

TEST(CommandLine, UnknownMachineNamesTheOnesThereAre) {
  const ToolRun run = run_tool({"compile", kernel_file("gemm"), "--machine", "zen"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("zen"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("hint:"), std::string::npos) << run.err;
}

TEST(CommandLine, PathsThatCannotBeReadAreUserErrors) {
  const Folder folder;
  for (const std::string& path : {folder / "missing.tile", folder.path()}) {
    const ToolRun run = run_tool({"compile", path});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_NE(run.err.find(path), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("hint:"), std::string::npos) << run.err;
  }
  const std::string machine = run_tool({"compile", kernel_file("gemm"), "--machine", folder / "m.json"}).err;
  EXPECT_NE(machine.find("m.json"), std::string::npos);
}

TEST(CommandLine, UnreadableFilesAreUserErrors) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads every file";
  const Folder folder;
  const std::string path = folder.write("secret.tile", good);
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  EXPECT_EQ(run_tool({"compile", path}).exit_code, 1);
}

TEST(CommandLine, OutputThatCannotBeWrittenIsAUserError) {
  const Folder folder;
  const std::string source = folder.write("scale.tile", good);
  const std::string file = folder.write("file", "");
  for (const std::string& output : {folder / "no/such/folder/x.c", file + "/x.c", folder / "x.txt", std::string("/proc/x.c")}) {
    const ToolRun run = run_tool({"compile", source, "-o", output});
    EXPECT_EQ(run.exit_code, 1) << output << run.err;
    EXPECT_NE(run.err.find("error:"), std::string::npos) << run.err;
  }
}

TEST(CommandLine, ErrorsUnderlineTheSource) {
  const Folder folder;
  const std::string path = folder.write("broken.tile", bad);
  const ToolRun run = run_tool({"compile", path});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find(path + ":3:"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("3 |         B[i] = A[i + 1]"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("^"), std::string::npos);
  EXPECT_NE(run.err.find("hint:"), std::string::npos);
}

TEST(CommandLine, OneBadProgramDoesNotStopTheOthers) {
  const Folder folder;
  folder.write("in/a.tile", good);
  folder.write("in/b.tile", bad);
  folder.write("in/deep/c.tile", "def copy(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i]\n");
  folder.write("in/readme.txt", "not a program");
  const ToolRun run = run_tool({"compile", folder / "in", "-o", folder / "out"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_EQ(files_below(folder / "out"), (std::vector<std::string>{"copy.c", "copy.h", "scale.c", "scale.h"}));
  EXPECT_NE(run.err.find("2 of 3 done, 1 failed"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("b.tile"), std::string::npos);
}

TEST(CommandLine, JsonTellsTheSame) {
  const Folder folder;
  folder.write("in/a.tile", good);
  folder.write("in/b.tile", bad);
  const ToolRun run = run_tool({"compile", folder / "in", "-o", folder / "out", "--json"});
  EXPECT_EQ(run.exit_code, 1);
  const nlohmann::json result = nlohmann::json::parse(run.out);
  EXPECT_EQ(result["format"], "tileopt-result/1");
  EXPECT_EQ(result["exit_code"], 1);
  ASSERT_EQ(result["results"].size(), 2u);
  EXPECT_EQ(result["results"][0]["status"], "done");
  EXPECT_EQ(result["results"][0]["obligations"]["refuted"], 0);
  EXPECT_GT(result["results"][0]["obligations"]["proved"].get<int>(), 3);
  EXPECT_EQ(result["results"][1]["status"], "error");
  EXPECT_EQ(result["results"][1]["diagnostics"][0]["line"], 3);
}

TEST(CommandLine, SizesAreChecked) {
  for (const char* sizes : {"M", "M=x", "M=-1", "M=1,M=2", "M=99999999999999999999", "Q=3"}) {
    const ToolRun run = run_tool({"compile", kernel_file("gemm"), "--size", sizes});
    EXPECT_EQ(run.exit_code, 1) << sizes;
    EXPECT_NE(run.err.find("hint:"), std::string::npos) << run.err;
  }
}

TEST(CommandLine, PlansThatDoNotFitAreUserErrors) {
  const Folder folder;
  ASSERT_EQ(run_tool({"compile", kernel_file("transpose"), "--dump-dir", folder / "D", "-o", folder / "t.c"}).exit_code, 0);
  const std::string plan = read_text(folder / "D/plan.json");
  const std::string whole = folder.write("whole.json", plan);
  EXPECT_EQ(run_tool({"compile", kernel_file("transpose"), "--plan", whole, "-o", folder / "u.c"}).exit_code, 0);
  EXPECT_EQ(read_text(folder / "t.c"), read_text(folder / "u.c"));

  const auto swapped = [&](const std::string& from, const std::string& to) {
    std::string text = plan;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::vector<std::string> broken = {folder.write("cut.json", plan.substr(0, plan.size() / 2)),
                                           folder.write("format.json", swapped("tileopt-plan/2", "tileopt-plan/9")),
                                           folder.write("version.json", swapped("\"0.1.0\"", "\"9.9.9\"")),
                                           folder.write("program.json", swapped("\"transpose\"", "\"gemm\"")),
                                           folder.write("empty.json", ""), folder / "missing.json"};
  for (const std::string& path : broken) {
    const ToolRun run = run_tool({"compile", kernel_file("transpose"), "--plan", path});
    EXPECT_EQ(run.exit_code, 1) << path << run.err;
    EXPECT_NE(run.err.find("error:"), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "");
  }
  EXPECT_EQ(run_tool({"compile", kernel_file("gemm"), "--plan", whole}).exit_code, 1);
}

TEST(CommandLine, CertificateIsWritten) {
  const Folder folder;
  const ToolRun run = run_tool({"compile", kernel_file("transpose"), "-o", folder / "t.c", "--certificate", folder / "t.json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json certificate = nlohmann::json::parse(read_text(folder / "t.json"));
  EXPECT_EQ(certificate["program"], "transpose");
  EXPECT_GT(certificate["obligations"].size(), 3u);
}

TEST(CommandLine, UnknownSchedulesNameTheOnesThereAre) {
  const Folder folder;
  const std::string path = folder.write("s.tile", std::string(good) + "\n@schedule(scale)\ndef fast():\n    vectorize(\"i\")\n");
  const ToolRun run = run_tool({"compile", path, "--plan", "@slow"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("@fast"), std::string::npos) << run.err;
}

TEST(CommandLine, PinsThatCannotBeHonouredAreRefusedWithTheReason) {
  const ToolRun run = run_tool({"compile", kernel_file("gemm"), "--pin", "tile(\"thread\", q=64)"});
  EXPECT_TRUE(run.exit_code == 1 || run.exit_code == 2) << run.exit_code;
  EXPECT_NE(run.err.find("q"), std::string::npos) << run.err;
  EXPECT_EQ(run_tool({"compile", kernel_file("gemm"), "--pin", "tile("}).exit_code, 1);
}

}  // namespace
}  // namespace tileopt::test
