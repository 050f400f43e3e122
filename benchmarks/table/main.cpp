// One row of the comparison in one process: tileopt-table ROW. `benchmarks/table.sh` runs all.
#include <omp.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "row.h"
#include "support/error.h"

int main(int argc, char** argv) {
  CLI::App app{"tileopt beside its peers, interleaved, in one process"};
  std::string name, file;
  bool list = false;
  int repetitions = 9;
  double seconds = 0.2;
  app.add_option("row", name, "the row to run");
  app.add_flag("--list", list, "names of all rows");
  app.add_option("--repetitions", repetitions, "of every contender, in random order")->check(CLI::Range(1, 1000));
  app.add_option("--seconds", seconds, "a repetition takes at least this long")->check(CLI::PositiveNumber);
  app.add_option("--append", file, "append a line of JSON to this file");
  CLI11_PARSE(app, argc, argv);
  const std::vector<tileopt::table::Row> rows = tileopt::table::all_rows();
  if (list) {
    for (const auto& row : rows) std::cout << row.name << "\n";
    return 0;
  }
  for (const auto& row : rows) {
    if (row.name != name) continue;
    try {
      omp_set_num_threads(row.threads);
      const tileopt::table::Instance instance = row.make();
      if (const std::string wrong = tileopt::table::check(instance); !wrong.empty()) {
        std::cerr << name << ": " << wrong << "\n";
        return 3;
      }
      tileopt::table::report(row, tileopt::table::measure(instance, repetitions, seconds), file);
      return 0;
    } catch (const std::exception& error) {
      std::cerr << name << ": " << error.what() << "\n";
      return 1;
    }
  }
  std::cerr << "no row is called `" << name << "`; --list names them\n";
  return 1;
}

namespace tileopt::table {

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  add_gemm_rows(rows);
  add_conv_rows(rows);
  add_rowwise_rows(rows);
  add_memory_rows(rows);
  add_stencil_rows(rows);
  return rows;
}

}  // namespace tileopt::table
