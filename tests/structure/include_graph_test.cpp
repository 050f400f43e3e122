// The layers of docs/architecture.md as a fact: reads every `#include` of the sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path root = TILEOPT_SOURCE_DIR;

// A folder may include itself and folders of a lower rank; equal ranks do not know each other.
const std::map<std::string, int> ranks = {
    {"libtileopt/support", 0},
    {"libtileopt/poly", 1},
    {"libtileopt/ir", 2},
    {"libtileopt/interpreter", 3},
    {"libtileopt/rewrites", 3},
    {"libtileopt/passes", 3},
    {"libtileopt/verify", 3},
    {"frontends/tile_text", 4},
    {"backends", 4},
    {"backends/c_common", 5},
    {"backends/openmp", 7},
    {"backends/gpu_common/emulator", 5},
    {"backends/runner", 6},
    {"backends/gpu_common/emulator/device", 4},
    {"backends/cuda/runtime", 7},
    {"backends/gpu_common", 6},
    {"backends/cuda", 7},
    {"backends/hip", 7},
    {"cost_models", 6},
    {"libtileopt/records", 6},
    {"libtileopt/search", 7},
    {"libtileopt/driver", 8},
    {"libtileopt/space", 8},
    {"libtileopt/include", 0},
    {"libtileopt/measure", 9},
    {"libtileopt/capi", 9},
    {"libtileopt/explore", 10},
    {"frontends/cli", 11},
};

struct Include {
  std::string file;    // relative to the root
  int line;
  std::string target;  // as written
  bool angled;
};

std::string folder_of(const std::string& file) { return fs::path(file).parent_path().generic_string(); }

std::vector<std::string> source_files() {
  std::vector<std::string> files;
  for (const char* top : {"libtileopt", "frontends", "backends", "cost_models"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".h" || extension == ".cpp" || extension == ".c") files.push_back(fs::relative(entry.path(), root).generic_string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Include> includes_of(const std::string& file) {
  std::vector<Include> includes;
  std::ifstream in(root / file);
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    const std::size_t start = text.find_first_not_of(" \t");
    if (start == std::string::npos || text[start] != '#') continue;
    const std::size_t word = text.find_first_not_of(" \t", start + 1);
    if (word == std::string::npos || text.compare(word, 7, "include") != 0) continue;
    const std::size_t open = text.find_first_of("\"<", word);
    if (open == std::string::npos) continue;
    const std::size_t close = text.find(text[open] == '<' ? '>' : '"', open + 1);
    if (close == std::string::npos) continue;
    includes.push_back({file, line, text.substr(open + 1, close - open - 1), text[open] == '<'});
  }
  return includes;
}

std::vector<Include> all_includes() {
  std::vector<Include> all;
  for (const std::string& file : source_files())
    for (Include& include : includes_of(file)) all.push_back(std::move(include));
  return all;
}

// The file that a quoted include names, relative to the root; "" where there is none. (Printed GPU text includes the emulator's header.)
std::string resolve(const Include& include) {
  for (const fs::path& base : {root / "libtileopt", root, root / "libtileopt/include", root / "backends/gpu_common/emulator/device", root / folder_of(include.file)})
    if (fs::is_regular_file(base / include.target)) return fs::relative(fs::canonical(base / include.target), fs::canonical(root)).generic_string();
  return "";
}

std::string place(const Include& include) { return include.file + ":" + std::to_string(include.line); }

TEST(IncludeGraph, EveryFolderOfSourcesHasALayer) {
  ASSERT_GT(source_files().size(), 30u);
  for (const std::string& file : source_files()) EXPECT_TRUE(ranks.contains(folder_of(file))) << file;
}

TEST(IncludeGraph, EveryQuotedIncludeIsAFileOfOurs) {
  for (const Include& include : all_includes()) {
    if (!include.angled) {
      EXPECT_NE(resolve(include), "") << place(include) << ": " << include.target;
    }
  }
}

TEST(IncludeGraph, LayersOnlyIncludeLowerLayers) {
  int edges = 0;
  for (const Include& include : all_includes()) {
    if (include.angled) continue;
    const std::string from = folder_of(include.file), to = folder_of(resolve(include));
    if (from == to || !ranks.contains(from) || !ranks.contains(to)) continue;
    ++edges;
    EXPECT_LT(ranks.at(to), ranks.at(from)) << place(include) << ": layer " << from << " may not include " << to;
  }
  EXPECT_GT(edges, 50);
}

TEST(IncludeGraph, FilesFormNoCycle) {
  std::map<std::string, std::set<std::string>> edges;
  for (const Include& include : all_includes())
    if (!include.angled) edges[include.file].insert(resolve(include));
  std::map<std::string, int> state;  // 1: on the way, 2: done
  std::vector<std::string> path;
  const auto visit = [&](const auto& self, const std::string& file) -> void {
    state[file] = 1;
    path.push_back(file);
    for (const std::string& next : edges[file]) {
      if (state[next] == 1) {
        std::ostringstream cycle;
        for (const std::string& step : path) cycle << step << " -> ";
        ADD_FAILURE() << "include cycle: " << cycle.str() << next;
      } else if (state[next] == 0) {
        self(self, next);
      }
    }
    path.pop_back();
    state[file] = 2;
  };
  for (const std::string& file : source_files())
    if (state[file] == 0) visit(visit, file);
}

TEST(IncludeGraph, OnlyPolyIncludesIsl) {
  for (const Include& include : all_includes()) {
    if (include.target.starts_with("isl/")) {
      EXPECT_EQ(folder_of(include.file), "libtileopt/poly") << place(include);
    }
  }
}

TEST(IncludeGraph, VerifySharesNoCodeWithWhatItChecks) {
  for (const Include& include : all_includes()) {
    if (include.angled || folder_of(include.file) != "libtileopt/verify") continue;
    const std::string target = resolve(include);
    const std::string folder = folder_of(target);
    EXPECT_TRUE(folder == "libtileopt/verify" || folder == "libtileopt/support" || folder == "libtileopt/ir" ||
                target == "libtileopt/poly/isl.h")
        << place(include) << ": " << target;
    EXPECT_NE(target, "libtileopt/ir/stages.h") << place(include) << ": the checker reads Asts, not what the passes derived";
  }
}

TEST(IncludeGraph, OnlyTheCommandLineKnowsCli11) {
  for (const Include& include : all_includes()) {
    if (include.target.starts_with("CLI/")) {
      EXPECT_EQ(folder_of(include.file), "frontends/cli") << place(include);
    }
  }
}

}  // namespace
