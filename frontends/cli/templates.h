/// Small commented programs that writers start from (`tileopt-schedule new`).
#pragma once

#include <string>
#include <vector>

namespace tileopt::cli {

struct Template {
  std::string kind;
  std::string summary;  ///< one line, for --list
  std::string text;     ///< tile text, formatted; `NAME` stands for the program's name
};

const std::vector<Template>& templates();
std::vector<std::string> template_kinds();

}  // namespace tileopt::cli
