/// The emulated GPU of one process: memory, blocks and threads, their scheduling, and the first fault, which ends the run.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/gpu_common/emulator/clock.h"
#include "backends/gpu_common/emulator/device/tileopt_emulator_abi.h"
#include "backends/gpu_common/emulator/fiber.h"
#include "backends/gpu_common/emulator/random.h"
#include "backends/gpu_common/emulator/settings.h"
#include "backends/gpu_common/emulator/shadow.h"
#include "backends/gpu_common/emulator/symbolizer.h"

namespace tileopt::emulator {

/// A piece of memory that kernels may touch.
struct Region {
  enum class Kind { tensor, shared, arguments, image };
  std::string name;
  Kind kind = Kind::tensor;
  const std::byte* begin = nullptr;
  std::uint64_t bytes = 0;
  std::int64_t element_bytes = 1;
  bool writable = true;
  std::unique_ptr<Shadow> shadow;   ///< null: arguments and image, which are only read
  bool holds(const std::byte* address) const { return address >= begin && address < begin + bytes; }
};

/// Copies of one thread that were issued asynchronously, oldest group first; the last group is open.
struct CopyPipe {
  struct Copy {
    std::byte* shared;
    const std::byte* global;
    unsigned bytes, source_bytes;
  };
  std::vector<std::vector<Copy>> groups{1};   ///< from the first that is not complete
  Tick committed = 0, completed = 0;
  Tick awaited = 0;   ///< groups that the thread knows to be complete
};

/// Products of matrices that one thread takes part in, oldest group first; the last group is open.
struct MatrixPipe {
  struct Product {
    tileopt_emulator_product request;
    std::vector<std::uint64_t> left, right;   ///< places of the elements in shared memory, [row or column][term]
  };
  /// What all threads of a group issue alike.
  struct Issue {
    const void *left, *right;
    unsigned columns;
    Site site;
  };
  std::vector<std::vector<Product>> groups{1};
  Tick committed = 0, completed = 0;
  std::size_t issued = 0;
  bool open = false;   ///< registers are ready for products
};

struct Block;
struct Thread;

/// A barrier in memory. Its phase is complete when its arrivals were made, and the bytes that were announced have come.
struct Phase {
  unsigned arrivals = 1, pending = 1;
  std::int64_t bytes = 0;            ///< announced and not there yet; below 0: they came first
  unsigned parity = 0;               ///< of the phase that is not complete
  std::uint32_t maker = 0;           ///< thread that has made it ready, and when
  Tick made = 0;
  TicksOfBlocks arrived, published;  ///< by who has arrived in this phase; in all that are complete
  std::vector<Thread*> waiting;
};

/// A box on its way into shared memory: bytes that lie side by side on both sides, or zeros.
struct Box {
  struct Row {
    std::uint64_t to;        ///< in the block's shared memory
    const std::byte* from;   ///< null: zeros
    unsigned bytes;
  };
  std::vector<Row> rows;
  const std::byte* phase = nullptr;
  std::int64_t bytes = 0;
  std::uint32_t agent = 0;   ///< in the block
  Tick tick = 0;
  Site site = 0;
};

struct Thread {
  enum class State { ready, waiting, finished };
  Fiber fiber;
  char* stack_top = nullptr;
  Block* block = nullptr;
  std::uint32_t index = 0;           ///< in the block
  Agent agent = 0;
  State state = State::ready;
  Tick tick = 1;
  Clock clock;
  std::string waits_for;             ///< of a waiting thread
  Site site = 0;                     ///< where it waits, or left
  TicksOfBlocks released, acquired;  ///< at its last fence; by atomic operations since
  std::unique_ptr<CopyPipe> pipe;    ///< of a thread that has copied asynchronously
  std::unique_ptr<MatrixPipe> matrices;   ///< of a thread that has multiplied matrices
  Tick boxes = 0;                    ///< that it has copied
  /// A write that races unless it leaves every byte as it was.
  struct Doubtful {
    const std::byte* address;
    std::vector<std::byte> before;
    Report report;
  };
  std::optional<Doubtful> doubtful;

  /// Ready to run another kernel's thread of the same index, on the same stack.
  void begin(Agent number, const Clock& knows, void (*entry)());
  bool on_stack(const void* address) const {
    return address < stack_top && address >= stack_top - StackPool::bytes;
  }
};

/// A collective of some lanes of a warp that not all have reached yet.
struct Meeting {
  tileopt_emulator_meeting kind;
  std::uint64_t mask = 0, arrived = 0;
  Site site = 0;
  std::vector<std::pair<Thread*, const tileopt_emulator_warp_request*>> lanes;   ///< in order of arrival
};

struct Block {
  std::uint32_t number = 0;
  std::array<unsigned, 3> index{};
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<std::vector<Meeting>> warps;
  std::vector<Thread*> at_barrier;
  std::unordered_map<std::uint32_t, std::vector<MatrixPipe::Issue>> issues;   ///< products, by group of threads
  std::unordered_map<const std::byte*, Phase> phases;
  std::vector<Box> boxes;            ///< on their way, in order of issue
  std::uint32_t left = 0;            ///< threads that have finished
  std::byte* shared = nullptr;
  Region* shared_region = nullptr;
};

class Machine {
 public:
  /// `image`: where the loaded object lies, so that its constants can be read and its addresses named.
  Machine(const Settings& settings, Symbolizer symbolizer, std::vector<std::pair<const std::byte*, std::uint64_t>> image, const std::byte* base);
  ~Machine();

  void add_array(const Array& array, std::byte* memory);

  /// The running machine; callbacks reach it here. One per process at a time.
  static Machine* current;
  static const tileopt_emulator_calls calls;

  bool failed() const { return failed_; }
  const std::vector<Report>& reports() const { return reports_; }
  std::int64_t accesses() const { return accesses_; }
  std::int64_t switches() const { return switches_; }
  std::int64_t blocks() const { return blocks_run_; }
  /// Where execution is, for a report about a signal: "thread (3,0,0) of block (0,0,0)", or "the launcher".
  void describe_place(char* text, std::size_t bytes) const;
  const std::string& kernel() const { return kernel_; }
  Site last_site() const { return last_site_; }   ///< of the last access
  void out_of_memory();

  // What kernels call.
  int launch(const tileopt_emulator_launch_request& request);
  int index(tileopt_emulator_coordinate which) const;
  unsigned char* shared_memory();
  void access(const std::byte* address, std::uint64_t bytes, tileopt_emulator_access kind, const void* pc);
  void block_barrier(const void* pc);
  void warp(const tileopt_emulator_warp_request& request, const void* pc);
  void atomic(std::byte* address, unsigned bytes, tileopt_emulator_order order, void (*apply)(void*, void*), void* operands, const void* pc);
  void device_fence();
  void async_copy(std::byte* shared, const std::byte* global, unsigned bytes, unsigned source_bytes, const void* pc);
  void async_commit();
  void async_wait(unsigned pending);
  void product(const tileopt_emulator_product& request, const void* pc);
  void matrix_event(tileopt_emulator_matrix_event event, unsigned pending, const void* pc);
  static int map_tensor(void* map, const tileopt_emulator_tensor& tensor);
  void phase(tileopt_emulator_phase_event event, std::byte* phase, int slots, unsigned value, const void* pc);
  void copy_box(const tileopt_emulator_box& request, const void* pc);
  void undefined(const char* kind, const char* what, const void* pc);

 private:
  // scheduling (machine.cpp)
  void run_blocks(std::uint64_t blocks);
  void admit(std::uint64_t number);
  std::unique_ptr<Block> make_block();
  void retire(Block& block);
  void drop_spare_blocks();
  bool sweep(Block& block);
  void resume(Thread& thread);
  void yield();
  void wait(const std::string& what, Site site);
  static void thread_entry();
  void finish(Thread& thread);
  [[noreturn]] void fail(Report report);
  void record(Report report);
  void report_deadlock();
  void report_spinning();

  // memory (accesses.cpp)
  Region* find(const std::byte* address);
  Region& region_for(const std::byte* address, std::uint64_t bytes, const char* verb, Site site);
  void check(Region& region, const std::byte* address, std::uint64_t bytes, Use use, const Access& me, const char* verb);
  void settle(Thread& thread);
  Report conflict_report(const Region& region, const Conflict& conflict, Use use, const Access& me, const char* verb);
  std::string element_text(const Region& region, std::uint64_t offset) const;
  Viewpoint viewpoint(const Thread& thread) const { return {&thread.clock, thread.block->number, agents_, thread.agent}; }

  // collectives (collectives.cpp)
  void release_barrier(Block& block);
  void join_warp(Meeting& meeting);
  void complete(Meeting& meeting, Block& block);
  std::uint64_t existing_lanes(const Block& block, std::uint32_t warp) const;
  void require_same_place(const char* what, Site mine, const Thread& other, Site theirs);

  // asynchronous copies (asynchronous.cpp)
  CopyPipe& pipe_of(Thread& thread);
  void complete_oldest(CopyPipe& pipe);

  // products of matrices (matrices.cpp)
  MatrixPipe& matrices_of(Thread& thread);
  void read_fenced(Region& region, std::uint64_t offset, std::uint64_t bytes, const Access& me);
  void compute(const MatrixPipe::Product& product, const std::byte* shared);
  void complete_oldest(MatrixPipe& pipe, const std::byte* shared);
  void check_products(const Block& block);

  // boxes of tensors (boxes.cpp)
  Phase& phase_at(const std::byte* address, Site site);
  void complete_if_done(Phase& phase);
  void complete_box(Block& block, std::size_t number);
  void check_boxes(const Block& block);

  Site site_of(const void* pc) const { return static_cast<Site>(static_cast<const std::byte*>(pc) - base_); }
  std::string agent_text(Agent agent) const;
  std::string thread_text(std::uint32_t block, std::uint32_t index) const;
  Report make_report(const std::string& kind, const std::string& text, std::vector<Site> sites);

  Settings settings_;
  Symbolizer symbolizer_;
  const std::byte* base_;
  Random random_;
  std::vector<std::unique_ptr<Region>> regions_;   ///< by address
  Region* last_region_ = nullptr;
  StackPool stacks_;

  // the launch that runs
  std::string kernel_;
  const tileopt_emulator_launch_request* request_ = nullptr;
  std::uint32_t threads_per_block_ = 0, agents_ = 0;
  std::vector<std::unique_ptr<Block>> resident_, spare_;   ///< spare: of blocks that have ended, with stacks and shared memory
  std::vector<std::byte*> free_shared_;                    ///< of earlier launches
  Thread* running_ = nullptr;
  Site last_site_ = 0;
  bool in_atomic_ = false, failed_ = false;
  std::unordered_map<const void*, TicksOfBlocks> published_;   ///< by atomic operations, at their addresses

  std::vector<Report> reports_;
  std::optional<Report> uninitialised_;   ///< the first such read of the launch
  std::int64_t accesses_ = 0, switches_ = 0, blocks_run_ = 0;
  std::uint64_t progress_ = 0;   ///< grows with every step that can make a waiting thread go on
};

}  // namespace tileopt::emulator
