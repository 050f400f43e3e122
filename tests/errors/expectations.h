// What a file expects to be told about itself, in comments:
//   # expected-error@LINE:COL {{part of "message [code]"}} hint {{part of the hint}} [witness {{part of the witness}}]
// LINE is a number, or +N / -N from the line of the comment; COL may be COL-END, where END is the column after the piece.
//   # machine: zen4          then the program is also compiled, for this machine,
//   # schedule: NAME         with the pins of this @schedule function, and the refusal is expected like an error
#pragma once

#include <string>
#include <vector>

#include "support/error.h"

namespace tileopt::test {

struct Expectation {
  int line = 0, column = 0, end_column = 0;  // end 0: any
  std::string message, hint, witness;
};

struct ExpectationFile {
  std::string machine, schedule;
  std::vector<Expectation> expectations;
  std::vector<std::string> problems;  // malformed expectations
};

ExpectationFile read_expectations(const std::string& text);

std::string to_string(const Expectation& expectation);
bool meets(const Diagnostic& found, const Expectation& expected);

// What was reported though nothing expects it, and what was expected but not reported; "" where the two sets agree.
std::string differences(const std::vector<Diagnostic>& found, const std::vector<Expectation>& expected);

}  // namespace tileopt::test
