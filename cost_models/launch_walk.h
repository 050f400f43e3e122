/// What the launches of a finished kernel ask of a GPU, counted by running a few warps of a few blocks on paper.
///
/// Blocks, warps and iterations are alike but for the edges: of each loop the middle iterations stand for all between the ends. Subscripts,
/// guards and bounds are evaluated for every lane, so sectors, conflicts of banks and idle lanes are those of the kernel.
#pragma once

#include <string>
#include <vector>

#include "interpreter/host_array.h"
#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"

namespace tileopt {

/// Of one launch. Counts are of all its blocks; cycles are those of one core.
struct LaunchCounts {
  std::string kernel;
  double launches = 1;       ///< how often the host starts it
  double blocks = 0;         ///< that have work
  long threads = 1;          ///< of a block
  long shared_bytes = 0;     ///< of a block
  double registers = 0;      ///< of a thread, estimated

  double instructions = 0;   ///< of warps, all kinds
  double multiply_add = 0, integer = 0, convert = 0, special = 0, doubles = 0;  ///< of warps, by unit
  double accesses = 0;       ///< of warps, to memory of any kind
  double shared_rounds = 0;  ///< rounds of the banks of shared memory
  double shared_accesses = 0;  ///< the rounds that these would be without conflicts
  double cache_lines = 0;    ///< lines that the nearest cache looks up
  double matrix_cycles = 0;  ///< of the units for matrices, at the atoms' throughput
  double matrix_bytes = 0;   ///< that they and bulk copies move from and to shared memory
  double updates = 0;        ///< atomic, in memory: sectors of each access of a warp
  double barriers = 0;       ///< of blocks

  double cache_bytes = 0;    ///< asked of the cache that all cores share, in sectors
  double asked_bytes = 0;    ///< the same without what sectors hold beside
  double read_bytes = 0;     ///< from the memory beyond it
  double written_bytes = 0;

  double chain_cycles = 0;   ///< of the slowest warp of a block: instructions and short latencies, one after the other
  double chain_waits = 0;    ///< and times that it waits for memory
  double hidden_waits = 0;   ///< times that an iteration of a loop waits for what is copied ahead, beside everything else
  double in_flight = 0;      ///< bytes that a block asks of memory in one such wait, about
};

/// `facts`: what the printer made of `ast`. Sizes of all parameters. Nothing where the Ast has no launch.
std::vector<LaunchCounts> count_launches(const Program& program, const Ast& ast, const PrintFacts& facts, const Machine& machine, const Sizes& sizes);

/// Blocks of it that are on one core at a time; at least one.
double resident_blocks(const LaunchCounts& counts, const Machine& machine);

}  // namespace tileopt
