// Tools for writers: fmt, new, completion, man.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/cli/tool.h"

namespace tileopt::test {
namespace {

const char* const loose = "def scale( A:f32[N],B:out[f32[N]] ): # twice\n  for i in range(N): B[i]=2*A[i]\n";
const char* const tidy = "def scale(A: f32[N], B: out[f32[N]]):  # twice\n    for i in range(N):\n        B[i] = 2 * A[i]\n";

TEST(Fmt, FormatsFilesAndFoldersInPlace) {
  const Folder folder;
  const std::string a = folder.write("a.tile", loose), b = folder.write("below/b.tile", tidy);
  const ToolRun run = run_tool({"fmt", folder.path()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, a + "\n");
  EXPECT_EQ(read_text(a), tidy);
  EXPECT_EQ(read_text(b), tidy);
  EXPECT_EQ(files_below(folder.path()).size(), 2u) << "no temporary is left";
  EXPECT_EQ(run_tool({"fmt", a}).out, "");
}

TEST(Fmt, KeepsTheModeOfAFileAndLeavesTidyOnesUntouched) {
  const Folder folder;
  const std::string a = folder.write("a.tile", tidy);
  struct stat before {}, after {};
  ASSERT_EQ(stat(a.c_str(), &before), 0);
  EXPECT_EQ(run_tool({"fmt", a}).exit_code, 0);
  ASSERT_EQ(stat(a.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST(Fmt, CheckWritesNothingAndListsTheFiles) {
  const Folder folder;
  const std::string a = folder.write("a.tile", loose);
  folder.write("b.tile", tidy);
  const ToolRun run = run_tool({"fmt", "--check", folder.path()});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, a + "\n");
  EXPECT_EQ(read_text(a), loose);
  EXPECT_EQ(run_tool({"fmt", "--check", folder / "b.tile"}).exit_code, 0);
}

TEST(Fmt, StandardInputToStandardOutput) {
  const Folder folder;
  folder.write("a.tile", loose);
  const ToolRun run = run_shell("tileopt-schedule fmt - < a.tile", folder.path());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, tidy);
  EXPECT_EQ(run_shell("tileopt-schedule fmt --check - < a.tile", folder.path()).exit_code, 1);
  const ToolRun broken = run_shell("echo 'def f(' | tileopt-schedule fmt -", folder.path());
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_NE(broken.err.find("<stdin>:1:6: error: "), std::string::npos) << broken.err;
}

TEST(Fmt, BrokenFilesAreReportedAndLeftAlone) {
  const Folder folder;
  const std::string a = folder.write("a.tile", "def f(:\n"), b = folder.write("b.tile", loose);
  const ToolRun run = run_tool({"fmt", a, b});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(read_text(a), "def f(:\n");
  EXPECT_EQ(read_text(b), tidy);
  EXPECT_NE(run.err.find(a + ":1:6: error: "), std::string::npos) << run.err;
}

std::vector<std::string> kinds() {
  std::vector<std::string> kinds;
  std::istringstream in(run_tool({"new", "--list"}).out);
  for (std::string line; std::getline(in, line);) kinds.push_back(line.substr(0, line.find(' ')));
  return kinds;
}

TEST(New, EveryKindIsFormattedCommentedAndChecks) {
  const Folder folder;
  const std::vector<std::string> all = kinds();
  EXPECT_GE(all.size(), 10u);
  for (const std::string& kind : all) {
    const std::string file = folder / (kind + ".tile");
    const ToolRun made = run_tool({"new", kind, "my_" + kind, "-o", file});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const std::string text = read_text(file);
    EXPECT_TRUE(text.starts_with("# my_" + kind + ": ")) << text;
    EXPECT_NE(text.find("def my_" + kind + "("), std::string::npos) << text;
    EXPECT_EQ(run_tool({"fmt", "--check", file}).exit_code, 0) << kind << " is not formatted";
    const ToolRun checked = run_tool({"check", file, "--machine", "x86-64-v3"});
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
  }
}

TEST(New, TheSchedulesOfTemplatesCanBeUsed) {
  const Folder folder;
  const std::string file = folder / "m.tile";
  ASSERT_EQ(run_tool({"new", "matmul", "product", "-o", file}).exit_code, 0);
  const ToolRun run = run_tool({"compile", file, "--plan", "@product_threads", "--machine", "zen4", "-o", folder / "m.c"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(New, MistakesAreUserErrors) {
  const Folder folder;
  const std::string taken = folder.write("taken.tile", "mine");
  const auto hint_of = [](const std::vector<std::string>& arguments) {
    const ToolRun run = run_tool(arguments);
    EXPECT_EQ(run.exit_code, 1) << run.out;
    const std::size_t hint = run.err.find("hint: ");
    return hint == std::string::npos ? run.err : run.err.substr(hint);
  };
  EXPECT_NE(hint_of({"new", "matmull"}).find("did you mean `matmul`?"), std::string::npos);
  EXPECT_NE(hint_of({"new"}).find("elementwise"), std::string::npos);
  EXPECT_NE(hint_of({"new", "scan", "for"}).find("name"), std::string::npos);
  EXPECT_NE(hint_of({"new", "scan", "a-b"}), "");
  EXPECT_NE(hint_of({"new", "scan", "-o", taken}).find("another"), std::string::npos);
  EXPECT_EQ(read_text(taken), "mine");
}

// Names of the subcommands and their options, from --help.
std::map<std::string, std::set<std::string>> options_of_help() {
  std::map<std::string, std::set<std::string>> commands;
  const std::string help = run_tool({"--help"}).out;
  std::istringstream in(help.substr(help.find("Subcommands:")));
  std::string line;
  std::getline(in, line);
  const std::regex name(R"(--?[a-z][a-z-]*)");
  while (std::getline(in, line) && line.starts_with("  ")) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start != 2) continue;
    const std::string command = line.substr(2, line.find(' ', 2) - 2);
    std::istringstream page(run_tool({command, "--help"}).out);
    for (std::string row; std::getline(page, row) && row != "Examples:";) {
      if (!row.starts_with("  -")) continue;
      const std::string head = row.substr(2, row.find(' ', 2) - 2);
      for (std::sregex_iterator match(head.begin(), head.end(), name), end; match != end; ++match) commands[command].insert(match->str());
    }
  }
  return commands;
}

TEST(Completion, KnowsEverySubcommandAndOption) {
  const auto commands = options_of_help();
  ASSERT_GE(commands.size(), 9u);
  EXPECT_TRUE(commands.at("compile").contains("--stop-after"));
  const std::string bash = run_tool({"completion", "bash"}).out, zsh = run_tool({"completion", "zsh"}).out, fish = run_tool({"completion", "fish"}).out;
  for (const auto& [command, options] : commands) {
    EXPECT_NE(bash.find("    " + command + ")\n"), std::string::npos) << command;
    EXPECT_NE(zsh.find("        " + command + ") _arguments"), std::string::npos) << command;
    EXPECT_NE(fish.find("-n __fish_use_subcommand -a " + command + " "), std::string::npos) << command;
    for (const std::string& option : options) {
      const bool longer = option.starts_with("--");
      EXPECT_NE(bash.find(" " + option), std::string::npos) << command << " " << option;
      EXPECT_NE(zsh.find(option + "["), std::string::npos) << command << " " << option;
      EXPECT_NE(fish.find((longer ? " -l " : " -s ") + option.substr(longer ? 2 : 1)), std::string::npos) << command << " " << option;
    }
  }
  EXPECT_EQ(run_tool({"completion", "tcsh"}).exit_code, 1);
}

// The candidates of bash for a command line, whose last word is what is being completed.
std::string bash_completes(const std::vector<std::string>& words) {
  const Folder folder;
  std::string script = "if ! command -v bash > /dev/null; then echo no-bash; exit; fi\ntileopt-schedule completion bash > c\nbash -c 'source ./c; COMP_WORDS=(";
  for (const std::string& word : words) script += "\"" + word + "\" ";
  script += "); COMP_CWORD=" + std::to_string(words.size() - 1) + "; _tileopt_schedule; echo \"${COMPREPLY[@]}\"'\n";
  const ToolRun run = run_shell(script, folder.path());
  EXPECT_EQ(run.err, "");
  return run.out;
}

TEST(Completion, BashOffersWhatFits) {
  if (bash_completes({"tileopt-schedule", ""}) == "no-bash\n") GTEST_SKIP() << "no bash";
  EXPECT_EQ(bash_completes({"tileopt-schedule", "comp"}), "compile completion\n");
  EXPECT_EQ(bash_completes({"tileopt-schedule", "compile", "--stop-after", "30"}), "30-digits\n");
  EXPECT_EQ(bash_completes({"tileopt-schedule", "compile", "x.tile", "--cert"}), "--certificate\n");
  EXPECT_EQ(bash_completes({"tileopt-schedule", "new", "mat"}), "matmul\n");
  EXPECT_EQ(bash_completes({"tileopt-schedule", "check", "-m", "zen"}), "zen4\n");
  EXPECT_EQ(bash_completes({"tileopt-schedule", "explain-error", "out-of-b"}), "out-of-bounds\n");
}

TEST(Completion, FishOffersWhatFits) {
  const Folder folder;
  const auto completes = [&](const std::string& line) {
    return run_shell("command -v fish > /dev/null || { echo no-fish; exit; }\ntileopt-schedule completion fish > c\nHOME=. fish -c 'source ./c; complete -C \"" +
                         line + "\"'\n", folder.path()).out;
  };
  if (completes("tileopt-schedule ") == "no-fish\n") GTEST_SKIP() << "no fish";
  EXPECT_EQ(completes("tileopt-schedule expl"),
            "explain\tSay what was decided and why, and what was proved\nexplain-error\tExplain the code of an error; without a code, list them\n");
  EXPECT_NE(completes("tileopt-schedule compile x.tile --stop-after 30").find("30-digits"), std::string::npos);
  EXPECT_NE(completes("tileopt-schedule fmt --c").find("--check"), std::string::npos);
  EXPECT_EQ(completes("tileopt-schedule fmt --mach"), "");
}

TEST(Completion, ScriptsAreSoundForTheirShells) {
  const Folder folder;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const ToolRun run = run_shell("command -v " + shell + " > /dev/null || exit 0\ntileopt-schedule completion " + shell + " > c\n" + shell + " -n c\n", folder.path());
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
}

TEST(Man, KnowsEverySubcommandAndOption) {
  std::string page = run_tool({"man"}).out;
  EXPECT_TRUE(page.starts_with(".\\\" Generated")) << page.substr(0, 80);
  for (const char* section : {".SH NAME", ".SH SYNOPSIS", ".SH COMMANDS", ".SH ENVIRONMENT"}) EXPECT_NE(page.find(section), std::string::npos) << section;
  page = std::regex_replace(page, std::regex(R"(\\-)"), "-");
  for (const auto& [command, options] : options_of_help()) {
    const std::size_t start = page.find(".SS " + command + "\n");
    ASSERT_NE(start, std::string::npos) << command;
    const std::string part = page.substr(start, page.find(".S", start + 3) - start);
    for (const std::string& option : options) EXPECT_NE(part.find("\\fB" + option + "\\fR"), std::string::npos) << command << " " << option;
  }
}

}  // namespace
}  // namespace tileopt::test
