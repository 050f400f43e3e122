/// The obligations of a Certificate, one file each. docs/proofs.md states every one as an isl formula.
#pragma once

#include <string>
#include <vector>

#include "ir/module.h"
#include "verify/execution.h"
#include "verify/last_writers.h"
#include "verify/report.h"

namespace tileopt::proof {

struct Checker {
  const Execution& execution;
  const Machine& machine;
  const std::vector<PrintFacts>& facts;
  LastWriters& writers;
  Report& report;
  std::vector<std::string>& numerics;  ///< permissions found in use

  const Program& program() const { return *execution.program; }
};

/// An obligation still without a verdict.
Obligation obligation(std::string name, std::string subject, SourceLocation where, std::string plan_entry);
std::string kernel_entry(std::size_t kernel, const std::string& rest);  ///< "kernels[0].<rest>"

void check_values(Checker& checker);
void check_coverage(Checker& checker);
void check_order(Checker& checker);
void check_bounds(Checker& checker);
void check_padding(Checker& checker);
void check_races(Checker& checker);
void check_text(Checker& checker);
void check_capacity(Checker& checker);

}  // namespace tileopt::proof
