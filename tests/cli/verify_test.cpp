// `compile --module` and `verify`: a module is proved again by another process, from its file alone.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/tool.h"
#include "tests/collection.h"

namespace tileopt::test {
namespace {

using Json = nlohmann::ordered_json;

// The module of a kernel, as JSON that a test may change.
Json module_of(const Folder& folder, const std::string& kernel) {
  const ToolRun run = run_tool({"compile", kernel_file(kernel), "--machine", "x86-64-v3", "--module", folder / "module.json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return Json::parse(read_text(folder / "module.json"));
}

ToolRun verify(const Folder& folder, const Json& module) { return run_tool({"verify", folder.write("changed.json", module.dump(1))}); }

TEST(Verify, AModuleIsProvedAgainByAnotherProcess) {
  const Folder folder;
  const Json module = module_of(folder, "softmax");
  const ToolRun run = run_tool({"verify", folder / "module.json", "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json result = Json::parse(run.out)["results"][0];
  EXPECT_EQ(result["program"], "softmax");
  EXPECT_EQ(result["obligations"]["proved"], module["certificate"]["obligations"].size());
  EXPECT_TRUE(result["differences"].empty());
  EXPECT_EQ(verify(folder, module).exit_code, 0);
}

TEST(Verify, TheModuleOfEveryKernelIsProvedAgain) {
  const Folder folder;
  std::vector<std::string> compile = {"compile", "--machine", "x86-64-v3", "-o", folder / "c", "--module", folder / "m"};
  for (const std::string& name : suite_kernels()) compile.push_back(kernel_file(name));
  ASSERT_EQ(run_tool(compile).exit_code, 0);
  const std::vector<std::string> modules = files_below(folder / "m");
  EXPECT_EQ(modules.size(), suite_kernels().size());
  std::vector<std::string> command = {"verify"};
  for (const std::string& module : modules) command.push_back(folder / "m/" + module);
  const ToolRun run = run_tool(command);
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(Verify, ChangedLoopsAreRefuted) {
  const Folder folder;
  Json module = module_of(folder, "transpose");
  std::string text = module.dump(1);
  const std::string upper = "\"upper\": \"floord(N - 1, ";
  const std::size_t at = text.find(upper);
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, upper.size(), "\"upper\": \"floord(N - 2, ");
  const ToolRun run = run_tool({"verify", folder.write("changed.json", text)});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_NE(run.err.find("never runs"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("not what the loops are printed as"), std::string::npos) << run.err;
}

TEST(Verify, ChangedFactsAreRefuted) {
  const Folder folder;
  Json module = module_of(folder, "transpose");
  module["kernels"][0]["printed"]["loops"][0]["step"] = 2;
  const ToolRun run = verify(folder, module);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_NE(run.err.find("the step of loop"), std::string::npos) << run.err;
}

TEST(Verify, AChangedSourceIsFound) {
  const Folder folder;
  Json module = module_of(folder, "transpose");
  module["source"] = module["source"].get<std::string>() + "/* more */\n";
  const ToolRun run = verify(folder, module);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_NE(run.err.find("the source is not what the loops are printed as"), std::string::npos) << run.err;
}

TEST(Verify, AChangedProgramIsFound) {
  const Folder folder;
  Json module = module_of(folder, "transpose");
  std::string text = module["text"];
  text.replace(text.find("B[j, i]"), 7, "B[j, i]");
  module["text"] = "# another text\n" + text;
  EXPECT_EQ(verify(folder, module).exit_code, 0) << "comments are not part of the program";
  text.replace(text.find("A[i, j]"), 7, "2 * A[i, j]");
  module["text"] = text;
  const ToolRun run = verify(folder, module);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_NE(run.err.find("the program text"), std::string::npos) << run.err;
}

TEST(Verify, AForgedCertificateIsFound) {
  const Folder folder;
  const Json module = module_of(folder, "transpose");
  Json dropped = module;
  dropped["certificate"]["obligations"].erase(2);
  EXPECT_EQ(verify(folder, dropped).exit_code, 3);
  Json invented = module;
  invented["certificate"]["obligations"][1]["subject"] = "nothing";
  const ToolRun run = verify(folder, invented);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_NE(run.err.find("which is no obligation of this module"), std::string::npos) << run.err;
  Json refuted = module;
  refuted["certificate"]["obligations"][1]["verdict"] = "refuted";
  EXPECT_EQ(verify(folder, refuted).exit_code, 3);
  Json foreign = module;
  foreign["certificate"]["machine"] = "zen4";
  EXPECT_EQ(verify(folder, foreign).exit_code, 3);
}

TEST(Verify, ADamagedFileIsAUserErrorWithAPosition) {
  const Folder folder;
  const Json module = module_of(folder, "transpose");
  std::string text = module.dump(1);
  const ToolRun cut = run_tool({"verify", folder.write("cut.json", text.substr(0, text.size() / 2))});
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_NE(cut.err.find("cut.json:"), std::string::npos) << cut.err;
  Json mistyped = module;
  mistyped["kernels"][0]["printed"]["loops"][0]["step"] = "one";
  const ToolRun run = verify(folder, mistyped);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("changed.json:"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("kernels[0].printed.loops[0].step"), std::string::npos) << run.err;
  Json old = module;
  old["version"] = "0.0.1";
  EXPECT_EQ(verify(folder, old).exit_code, 1);
  EXPECT_EQ(run_tool({"verify", folder / "none.json"}).exit_code, 1);
  EXPECT_EQ(run_tool({"verify", folder.write("list.json", "[]")}).exit_code, 1);
}

TEST(Verify, WithoutProofsTheCertificateSaysSoAndVerifyMakesThem) {
  const Folder folder;
  const ToolRun compiled = run_tool({"compile", kernel_file("transpose"), "--prove", "none", "--module", folder / "m.json", "--certificate", folder / "c.json"});
  EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
  EXPECT_NE(compiled.err.find("NOT PROVED"), std::string::npos) << compiled.err;
  const Json certificate = Json::parse(read_text(folder / "c.json"));
  ASSERT_EQ(certificate["obligations"].size(), 12u);
  for (const Json& obligation : certificate["obligations"]) {
    EXPECT_EQ(obligation["verdict"], "not_attempted");
    EXPECT_EQ(obligation["reason"], "asked for");
  }
  EXPECT_EQ(run_tool({"verify", folder / "m.json"}).exit_code, 0);
  EXPECT_EQ(run_tool({"compile", kernel_file("transpose"), "--prove", "some"}).exit_code, 1);
}

TEST(Verify, ManyModulesAtOnce) {
  const Folder folder;
  const ToolRun run = run_tool({"compile", kernel_file("transpose"), kernel_file("rmsnorm"), kernel_file("histogram"), "--module", folder / "modules/"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> files = files_below(folder / "modules");
  ASSERT_EQ(files.size(), 3u);
  std::vector<std::string> arguments{"verify"};
  for (const std::string& file : files) arguments.push_back(folder / "modules/" + file);
  const ToolRun again = run_tool(arguments);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("histogram: "), std::string::npos) << again.err;
}

}  // namespace
}  // namespace tileopt::test
