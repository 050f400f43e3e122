/// One attempt at one candidate: what was asked, which Plan, how it ended. Failures are records too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/document.h"

namespace tileopt {

/// What has to be equal for two measurements to be comparable.
struct RecordKey {
  std::string program;                        ///< its name, for people
  std::string program_hash;                   ///< Program::hash(): of the canonical text, so types and shapes are in it
  std::map<std::string, std::int64_t> sizes;  ///< values of the size parameters
  std::string machine;                        ///< name of the machine file
  std::string machine_hash;                   ///< of the machine file's content
  std::string processor;                      ///< what the operating system calls the device that ran it
  std::string compiler;                       ///< first line of what the compiler says of its version
  std::string flags;                          ///< as given to it
  int threads = 1;
  std::string version;                        ///< of tileopt
  int space = 1;                              ///< version of the space that the Plan was drawn from

  Document write() const;
  /// 16 hex digits; equal exactly for equal keys (but for collisions of a 64-bit hash).
  std::string hash() const;
};

/// How an attempt ended. All but `measured` are failures, and each keeps its reason.
enum class RecordOutcome {
  measured,        ///< compiled, proved, right before and after timing
  infeasible,      ///< a pass refused the Plan
  refuted,         ///< the checker refuted the kernel
  compile_failed,  ///< the C compiler refused the text, or ran out of time
  refused,         ///< the kernel returned an error code for valid arguments
  crashed,         ///< ended by a signal
  hung,            ///< ran into its time limit
  wrong,           ///< deviates from the interpreter
  overrun,         ///< wrote outside its arrays or into an input
  unstable,        ///< a later call on the same arguments gave other results
  leaking,         ///< takes more memory with every call
  implausible,     ///< faster than the machine allows, or than its process ran
};
std::string outcome_name(RecordOutcome outcome);
/// All outcomes, in enum order.
const std::vector<RecordOutcome>& all_outcomes();

struct Record {
  static constexpr const char* format = "tileopt-record/1";
  RecordKey key;
  Document plan;                  ///< a resolved Plan
  RecordOutcome outcome = RecordOutcome::measured;
  std::string detail;             ///< one line: why it failed; "" for `measured`
  double seconds = 0;             ///< median of `samples`; 0 where nothing was timed
  std::vector<double> samples;    ///< seconds of single calls, in the order in which they were made
  double noise = 0;               ///< median absolute deviation of the samples over their median
  double predicted = 0;           ///< seconds of the cost model; 0: none
  std::string source_hash;        ///< of the printed source and header; "" where nothing was printed
  std::string origin;             ///< who proposed the Plan: "resolve", "random", "neighbour", ...
  std::uint64_t seed = 0;         ///< of the arguments
  std::string time;               ///< UTC, "2026-11-30T06:00:00Z"

  /// 16 hex digits over everything but the identity itself: equal records are one record, and damage shows.
  std::string id() const;
  std::string plan_hash() const;
  /// One line without the newline.
  std::string line() const;
};

/// A line that is no record of ours: what is wrong with it.
struct BadLine {
  std::int64_t number = 0;  ///< from 1, where the reading began; 0 for a line that was read by itself
  std::string reason;
  std::string file = "";    ///< of several files: which one
};

/// `line` as a record; else the reason in `bad`, and nothing is thrown: files of records outlive what wrote them.
bool parse_record(const std::string& line, Record& record, BadLine& bad);

}  // namespace tileopt
