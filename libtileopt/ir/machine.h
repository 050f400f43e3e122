/// A machine as data: levels, memories, vector unit, atoms. Files: cost_models/machines/*.json
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/atom.h"
#include "support/document.h"

namespace tileopt {

/// What passes may ask of a level; its name and count are the machine file's.
enum class LevelKind { independent, barrier, lockstep, sequential, unrolled, atom };
/// When an asynchronous operation is known to be complete. CPUs: immediate.
enum class Completion { immediate, group, counted, tagged };

/// Bytes between the arrays of a block: whole lines of its memory's banks.
inline constexpr long kBlockAlignment = 128;

struct Level {
  std::string name;  ///< "thread", "simd", "serial", "unroll", "atom"; GPUs: "block", "thread", ...
  LevelKind kind;
  long count = 0;    ///< 0: unlimited
};

/// A cache or memory, nearest first. Units: bytes, bytes per second per core, bytes per line.
struct Memory {
  std::string name;  ///< "register", "L1", "L2", "L3", "DRAM"
  double capacity = 0;
  double bandwidth = 0;
  int line = 64;
  int ways = 8;
  bool shared = false;
};

/// A space promoted arrays may live in. capacity in bytes (of one owner), 0: unlimited.
struct Space {
  std::string name;  ///< "workspace", "stack", "register", "shared"
  double capacity = 0;
  std::string level = "";  ///< whose own it is: every iteration of a loop on this level has its own; "" = as the space's name says on CPUs
};

/// How fast one core of a GPU runs what it is given, and what it waits for: for the cost model alone, never for correctness. Where a machine file
/// says nothing, these cautious values stand. Units: per cycle of Machine::frequency and core, latencies in such cycles.
struct Rates {
  double issue = 1;               ///< instructions of warps
  double integer = 16;            ///< threads: integers, comparisons, minima
  double convert = 8;             ///< threads: numbers of one type to another
  double special = 4;             ///< threads: exp2, reciprocals, roots
  double doubles = 1;             ///< threads: f64 multiply-adds
  double access = 16;             ///< threads whose loads and stores start; their bytes come at the bandwidth of the nearest memory
  double shared_latency = 60;     ///< of shared memory
  double cache_latency = 500;     ///< of the last cache that all cores share
  double memory_latency = 1000;   ///< of what lies beyond it
  double barrier_latency = 100;   ///< from the last thread of a block that arrives to all that go on
  double updates = 1;             ///< atomic updates of scattered elements, of all cores together
  double read_part = 0.75;        ///< of the last memory's bandwidth that reading reaches
  double write_part = 0.7;        ///< and writing
  double matrix_part = 0.6;       ///< of the throughput of instructions on matrices that lasts: the device lowers its clock at its power limit
  double launch_seconds = 5e-6;   ///< from the start of one kernel to that of the next that does nothing
};

/// What the blocks of a kernel share on one core of a GPU, by which resident blocks are counted. Units: bytes, 32-bit registers, threads.
struct Multiprocessor {
  int warp = 32;                 ///< threads that run in lockstep
  long shared_bytes = 0;
  long registers = 65536;
  long threads = 2048;
  long blocks = 32;
  long banks = 32;               ///< of shared memory, which each give one word of `bank_bytes` at a time
  long bank_bytes = 4;
  std::optional<Rates> rates = std::nullopt;  ///< nothing: not known
};

/// An engine that runs atoms asynchronously: an instruction issues, and is done some time later. Completion::group: by groups, which
/// the issuing agent closes (commit) and waits for in order (await); counted: the bytes moved are counted by a barrier; tagged: every
/// run is an arrival at a barrier.
struct Pipe {
  std::string name;
  Completion completion = Completion::group;
  bool ordered = false;  ///< what one agent issues takes effect in the order of issue
  bool fenced = false;   ///< it sees what agents did to memory only behind a fence, and what they did to registers only behind an open
};

struct Machine {
  std::string name;
  std::string backend;                ///< "openmp", "cuda", "hip"
  std::string description;
  std::vector<std::string> flags;     ///< compiler flags, e.g. "-march=x86-64-v3"
  std::vector<std::string> features;  ///< cpuinfo names that the code needs at run time
  int cores = 1;
  double frequency = 0;               ///< Hz, sustained under vector load
  int vector_bytes = 0;               ///< 0: no vectors (plain C)
  int vector_registers = 0;
  int fma_latency = 4;                ///< cycles
  double fma_per_cycle = 2;           ///< vector FMAs per cycle
  std::vector<Level> levels;
  std::vector<Memory> memories;
  std::vector<Space> spaces;
  std::vector<Atom> atoms;
  std::vector<Pipe> pipes = {};
  std::optional<Multiprocessor> multiprocessor = std::nullopt;  ///< GPUs; `cores` counts them

  const Level* find_level(const std::string& name) const;
  const Memory* find_memory(const std::string& name) const;
  const Space* find_space(const std::string& name) const;
  const Atom* find_atom(const std::string& name) const;
  const Pipe* find_pipe(const std::string& name) const;
  /// The pipe that runs an atom asynchronously; null: it is done when the statement is.
  const Pipe* pipe_of(const std::string& atom) const;
  /// Loops on some level are run by agents that go on by themselves until a barrier: kernels are launched, and printed for devices.
  bool has_agents() const;
  /// Arrays of the space belong to a block each, whose threads share them. False where there is no such space.
  bool is_of_block(const std::string& space) const;
  /// Name of the first level of that kind; "" where there is none.
  std::string level_name(LevelKind kind) const;

  Document write() const;
  /// @throws Errors(invalid_machine) with the path of the entry.
  static Machine read(const Document& document, const std::string& file);
};

}  // namespace tileopt
