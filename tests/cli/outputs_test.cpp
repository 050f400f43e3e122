// Where results go, and what is refused so that nothing is lost or left unsaid.
#include <gtest/gtest.h>

#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

const char* const scale = "def scale(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = f32(2) * A[i]\n";
const char* const shift = "def shift(A: f32[M], B: out[f32[M]]):\n    for i in range(M):\n        B[i] = f32(2) + A[i]\n";

void expect_refused(const std::vector<std::string>& arguments, const std::string& message, const std::string& hint) {
  const ToolRun run = run_tool(arguments);
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("  hint: " + hint), std::string::npos) << run.err;
  EXPECT_EQ(run.out, "");
}

TEST(Outputs, NoResultReplacesAnInput) {
  const Folder folder;
  const std::string program = folder.write("in/scale.tile", scale);
  const std::string header = folder.write("in/scale.h", shift);
  const std::string link = folder / "link.c";
  ASSERT_EQ(run_shell("ln -s in/scale.tile link.c", folder.path()).exit_code, 0);
  const std::string refusal = "the result would replace an input";
  expect_refused({"compile", program, "--certificate", program}, refusal, "write it elsewhere");
  expect_refused({"compile", program, "--certificate", folder / "in/../in/scale.tile"}, refusal, "write it elsewhere");
  expect_refused({"compile", program, "-o", link}, refusal, "write it elsewhere");
  expect_refused({"compile", header, "-o", folder / "in/scale.c"}, refusal, "write it elsewhere");
  expect_refused({"compile", program, header, "-o", folder / "in"}, refusal, "write it elsewhere");
  expect_refused({"compile", program, "-o", folder / "a.c", "--certificate", folder / "a.h"}, "the certificate would replace the C",
                 "give -o and --certificate different files");
  ASSERT_EQ(run_tool({"compile", program, "--dump-dir", folder / "D", "-o", folder / "s.c"}).exit_code, 0);
  expect_refused({"compile", program, "--plan", folder / "D/plan.json", "--certificate", folder / "D/plan.json"}, refusal, "write it elsewhere");
  expect_refused({"compile", folder / "D/00-program.tile", "--dump-dir", folder / "D"}, refusal, "write it elsewhere");
  expect_refused({"compile", "--start-from", folder / "D/70-source.c", "-o", folder / "D/70-source.c"}, "", "");
  EXPECT_EQ(read_text(program), scale);
  EXPECT_EQ(read_text(header), shift);
}

TEST(Outputs, AMissingInputDoesNotStopTheOthers) {
  const Folder folder;
  folder.write("scale.tile", scale);
  folder.write("empty/readme.txt", "");
  const ToolRun run = run_shell("tileopt-schedule compile nowhere.tile scale.tile empty -o out", folder.path());
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("nowhere.tile: error: no such file or folder"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("empty: error: the folder holds no *.tile file"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("1 of 3 done, 2 failed:"), std::string::npos) << run.err;
  EXPECT_TRUE(exists(folder / "out/scale.c"));
  const ToolRun formatted = run_shell("tileopt-schedule fmt nowhere.tile scale.tile", folder.path());
  EXPECT_EQ(formatted.exit_code, 1);
  EXPECT_NE(formatted.err.find("no such file or folder"), std::string::npos) << formatted.err;
}

// File names are bytes; what cannot be said in JSON becomes U+FFFD.
TEST(Outputs, FileNamesNeedNotBeUtf8) {
  const Folder folder;
  folder.write("g\xff.tile", scale);
  const ToolRun run = run_shell("tileopt-schedule compile *.tile --json -o o.c --certificate c.json --module m.json && tileopt-schedule verify m.json --json", folder.path());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("g\xef\xbf\xbd.tile"), std::string::npos) << run.out;
  EXPECT_NE(read_text(folder / "c.json").find("\xef\xbf\xbd"), std::string::npos);
  EXPECT_EQ(run_shell("tileopt-schedule compile *.tile --json --plan $(printf 'p\\377.json')", folder.path()).exit_code, 1);
}

TEST(Outputs, AFileLimitLeavesNothingBehind) {
  const Folder folder;
  folder.write("scale.tile", scale);
  const ToolRun run = run_shell("ulimit -f 1; tileopt-schedule compile scale.tile -o s.c", folder.path());
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.err.find("error:"), std::string::npos) << run.err;
  EXPECT_EQ(files_below(folder.path()), (std::vector<std::string>{"scale.tile"}));
}

TEST(Outputs, SeveralProgramsNeedAFolder) {
  const Folder folder;
  const std::string both = folder.write("both.tile", std::string(scale) + "\n" + shift);
  expect_refused({"compile", both, "-o", folder / "x.c"}, "several programs cannot share one file", "give a folder, e.g. -o out/");
  expect_refused({"compile", both, "--certificate", folder / "x.json"}, "several programs cannot share one file", "give a folder, e.g. --certificate out/");
  EXPECT_FALSE(exists(folder / "x.c"));
  EXPECT_EQ(run_tool({"compile", both, "-o", folder / "x.c", "--program", "shift"}).exit_code, 0);
  EXPECT_EQ(run_tool({"compile", both, "-o", folder / "new"}).exit_code, 0);
  EXPECT_TRUE(exists(folder / "new/scale.c") && exists(folder / "new/shift.h"));
}

TEST(Outputs, DumpsInsideAFolderAreNoInputs) {
  const Folder folder;
  folder.write("in/scale.tile", scale);
  folder.write("in/shift.tile", shift);
  for (int round = 0; round < 2; ++round) {
    const ToolRun run = run_tool({"compile", folder / "in", "--dump-dir", folder / "in/dumps", "-o", folder / "in/out"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
  EXPECT_TRUE(exists(folder / "in/dumps/scale/00-program.tile"));
  EXPECT_EQ(run_tool({"fmt", "--check", folder / "in"}).err, "0 to format, 2 as they should be\n");
  EXPECT_EQ(run_tool({"compile", folder / "in/dumps/scale/00-program.tile"}).exit_code, 0);
}

TEST(Outputs, SizesAndSeedsAreMeantForSomething) {
  const Folder folder;
  const std::string both = folder.write("both.tile", std::string(scale) + "\n" + shift);
  expect_refused({"compile", both, "--size", "scael:N=4"}, "there is no program `scael`", "did you mean `scale`?");
  expect_refused({"compile", both, "--size", "gemm:N=4"}, "there is no program `gemm`", "programs: scale, shift");
  expect_refused({"compile", both, "--size", "Q=4"}, "no program has a size `Q`", "sizes: N, M");
  expect_refused({"compile", both, "--size", "scale:M=4"}, "program `scale` has no size `M`", "sizes: N");
  for (const char* empty : {"", ",", "scale:"}) expect_refused({"compile", both, "--size", empty}, "no size is given", "write sizes as M=1024,N=512");
  expect_refused({"check", both, "--seed", "-1"}, "seeds start at 0", "");
  EXPECT_EQ(run_tool({"compile", both, "--size", "M=4", "--size", "scale:N=4", "-o", folder / "out"}).exit_code, 0);
}

TEST(Constants, AreGivenWithTheSizes) {
  const Folder folder;
  const std::string file = folder.write("g.tile",
                                        "def g(A: f32[N * G], B: out[f32[N]], G: const):\n    for n in range(N):\n"
                                        "        B[n] = sum(A[G * n + i] for i in range(G))\n");
  expect_refused({"compile", file}, "g.tile:1:38: error: `G` is fixed at compile time, and has no value [invalid-size]", "give it: --size G=64");
  ASSERT_EQ(run_tool({"compile", file, "--size", "G=3", "--dump-dir", folder / "D", "-o", folder / "g.c"}).exit_code, 0);
  EXPECT_NE(read_text(folder / "g.h").find("g(int64_t N, const float* A, float* B, void* workspace)"), std::string::npos) << read_text(folder / "g.h");
  EXPECT_NE(read_text(folder / "D/00-program.tile").find("G: const = 3"), std::string::npos);
  ASSERT_EQ(run_tool({"compile", "--start-from", folder / "D/g/30-digits.yaml", "-o", folder / "again.c"}).exit_code, 0);
  EXPECT_EQ(read_text(folder / "again.c"), read_text(folder / "g.c"));
  expect_refused({"compile", "--start-from", folder / "D/g/30-digits.yaml", "--size", "G=4"}, "program `g` has no size `G`", "sizes: N");
  expect_refused({"compile", file, "--size", "G=4", "--plan", folder / "D/plan.json"}, "another text of program `g`", "");
  EXPECT_EQ(run_tool({"check", file, "--size", "g:G=5"}).exit_code, 0);
}

TEST(Outputs, SeveralPinsAreNumbered) {
  const ToolRun run = run_tool({"compile", kernel_file("gemm"), "--pin", "tile(\"thread\", i=64)", "--pin", "tile(\"serial\", zz=4)"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(run.err.starts_with("--pin 2:1:1: error: ")) << run.err;
}

}  // namespace
}  // namespace tileopt::test
