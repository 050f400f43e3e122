// A row of the comparison: one piece of work, done by several contenders on the same arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tileopt::table {

// One way to do the work of a row. `run` is called many times, and writes the same output each time.
struct Contender {
  std::string name;
  std::function<void()> run;
  bool checked = true;  // false: does other work (a copy loop), so its output is not compared
};

// A row with its arguments allocated and its kernels compiled.
struct Instance {
  std::vector<Contender> contenders;            // "tileopt" among them
  std::function<std::vector<float>()> output;   // what the last run wrote
  double tolerance = 1e-4;                      // relative to the largest magnitude of the output
  std::vector<std::shared_ptr<const void>> arguments = {};  // what the contenders point to
};

struct Row {
  std::string name;
  std::string unit;     // "GFLOP/s" or "GB/s"
  double work = 0;      // floating point operations, or bytes that must move, a run
  int threads = 1;
  // tileopt's speed is at least `target` times that of the fastest of `peers` (empty: of all others that are checked).
  double target = 1;
  std::vector<std::string> peers;
  std::function<Instance()> make;
};

// One file a family.
void add_gemm_rows(std::vector<Row>& rows);
void add_conv_rows(std::vector<Row>& rows);
void add_rowwise_rows(std::vector<Row>& rows);
void add_memory_rows(std::vector<Row>& rows);
void add_stencil_rows(std::vector<Row>& rows);

std::vector<Row> all_rows();

// What one contender took.
struct Timing {
  std::string contender;
  std::vector<double> seconds;  // of every repetition
};

// Runs all contenders once and compares what they wrote with the first one's. Returns what differs, "" where nothing does.
std::string check(const Instance& instance);
// Google Benchmark, repetitions of all contenders in random order.
std::vector<Timing> measure(const Instance& instance, int repetitions, double seconds);
// A line for people on stdout, a line of JSON at the end of `file` ("" : none).
void report(const Row& row, const std::vector<Timing>& timings, const std::string& file);

}  // namespace tileopt::table
