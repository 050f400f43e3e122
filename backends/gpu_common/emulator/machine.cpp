#include "backends/gpu_common/emulator/machine.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <new>
#include <numeric>
#include <set>
#include <utility>

namespace tileopt::emulator {

/// Itself, its asynchronous copies, its products of matrices, what fences stand behind of the first two, and the boxes that it copies.
constexpr std::uint32_t kAgentsOfThread = 6;

namespace {
constexpr std::size_t most_resident = 64;       // blocks, where some wait for others
constexpr std::uint64_t most_blocks = 1 << 24;  // of a launch
constexpr std::uint64_t most_fibres = 1 << 14;  // the system limits mappings, and each has two
constexpr std::size_t mixed_resident = 3;       // blocks that random order mixes
constexpr int patience = 1000;                  // rounds without progress
constexpr std::uint32_t most_threads_named = 6;
constexpr std::uint64_t shared_alignment = 1024;

std::string triple(const std::array<unsigned, 3>& index) {
  return "(" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," + std::to_string(index[2]) + ")";
}

std::array<unsigned, 3> unrank(std::uint64_t number, const unsigned (&extent)[3]) {
  return {static_cast<unsigned>(number % extent[0]), static_cast<unsigned>(number / extent[0] % extent[1]),
          static_cast<unsigned>(number / extent[0] / extent[1])};
}
}  // namespace

std::string settings_text(const Settings& settings) {
  std::string text;
  switch (settings.order) {
    case Order::forward: text = "forward order"; break;
    case Order::reverse: text = "reverse order"; break;
    case Order::random: text = "random order (seed " + std::to_string(settings.seed) + ")"; break;
  }
  switch (settings.completion) {
    case Completion::early: return text + ", early copies";
    case Completion::late: return text + ", late copies";
    case Completion::random: return text + ", copies at any time";
  }
  return text;
}

Machine* Machine::current = nullptr;

Machine::Machine(const Settings& settings, Symbolizer symbolizer, std::vector<std::pair<const std::byte*, std::uint64_t>> image, const std::byte* base)
    : settings_(settings), symbolizer_(std::move(symbolizer)), base_(base), random_(settings.seed) {
  for (const auto& [begin, bytes] : image) {
    auto region = std::make_unique<Region>();
    region->name = "a constant of the program";
    region->kind = Region::Kind::image;
    region->begin = begin;
    region->bytes = bytes;
    region->writable = false;
    regions_.push_back(std::move(region));
  }
  current = this;
}

Machine::~Machine() { current = nullptr; }

void Machine::add_array(const Array& array, std::byte* memory) {
  auto region = std::make_unique<Region>();
  region->name = array.name;
  region->begin = memory;
  region->bytes = array.bytes.size();
  region->element_bytes = array.element_bytes;
  region->writable = array.role != Array::Role::in;
  region->shadow = std::make_unique<Shadow>(region->bytes, array.role == Array::Role::in || array.role == Array::Role::inout, !region->writable);
  regions_.push_back(std::move(region));
}

/// 0, or 1 where CUDA would not launch either.
int Machine::launch(const tileopt_emulator_launch_request& request) {
  if (running_ != nullptr) fail(make_report("limit", "a kernel launches another one", {}));
  if (failed_) return 1;
  std::uint64_t threads = 1, blocks = 1;
  for (int d = 0; d < 3; ++d) {
    threads *= request.block[d];
    if (request.grid[d] == 0 || request.grid[d] > (d == 0 ? 0x7fffffffu : 65535u) || threads == 0 || threads > settings_.max_threads) return 1;
    blocks *= request.grid[d];
  }
  if (request.shared_bytes > settings_.max_shared_bytes) return 1;
  kernel_ = request.kernel;
  if (blocks > most_blocks || blocks > UINT32_MAX / (kAgentsOfThread * threads)) {
    record(make_report("limit", "a grid of " + std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads is too large for the emulator", {}));
    return 1;
  }
  request_ = &request;
  if (threads != threads_per_block_) drop_spare_blocks();
  threads_per_block_ = static_cast<std::uint32_t>(threads);
  agents_ = kAgentsOfThread * threads_per_block_;
  published_.clear();
  for (const std::unique_ptr<Region>& region : regions_)
    if (region->shadow != nullptr) region->shadow->forget_accesses();
  auto arguments = std::make_unique<Region>();
  arguments->name = "the launch's arguments";
  arguments->kind = Region::Kind::arguments;
  arguments->begin = static_cast<const std::byte*>(request.closure);
  arguments->bytes = request.closure_bytes;
  arguments->writable = false;
  regions_.push_back(std::move(arguments));
  run_blocks(blocks);
  if (!failed_ && uninitialised_) record(*uninitialised_);
  regions_.erase(std::find_if(regions_.begin(), regions_.end(), [](const auto& region) { return region->kind == Region::Kind::arguments; }));
  last_region_ = nullptr;
  request_ = nullptr;
  return failed_ ? 1 : 0;
}

/// Blocks enter in the order of the settings. One at a time runs to its end, unless threads wait for other blocks or the order is random.
void Machine::run_blocks(std::uint64_t blocks) {
  std::vector<std::uint32_t> order(blocks);
  std::iota(order.begin(), order.end(), 0u);
  if (settings_.order == Order::reverse) std::reverse(order.begin(), order.end());
  if (settings_.order == Order::random)
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(static_cast<std::uint32_t>(i))]);
  std::size_t next = 0, target = settings_.order == Order::random ? mixed_resident : 1;
  int idle = 0;
  while (!failed_) {
    while (resident_.size() < target && next < order.size()) admit(order[next++]);
    if (resident_.empty()) return;
    const std::uint64_t before = progress_;
    bool ran = false;
    const std::size_t first = settings_.order == Order::random ? random_.below(static_cast<std::uint32_t>(resident_.size())) : 0;
    for (std::size_t i = 0; i < resident_.size() && !failed_; ++i) ran = sweep(*resident_[(first + i) % resident_.size()]) || ran;
    if (failed_) return;
    const std::size_t alive = resident_.size();
    for (std::size_t i = resident_.size(); i-- > 0;)
      if (resident_[i]->left == threads_per_block_) retire(*resident_[i]);
    if (resident_.size() < alive) continue;
    idle = progress_ == before ? idle + 1 : 0;
    const bool more = next < order.size() && resident_.size() < std::min<std::size_t>(most_resident, most_fibres / threads_per_block_);
    if (!ran && more) ++target;
    else if (!ran) report_deadlock();
    else if (idle > 2 && more) ++target;
    else if (idle > patience) report_spinning();
  }
}

void Thread::begin(Agent number, const Clock& knows, void (*entry)()) {
  agent = number;
  state = State::ready;
  tick = 1;
  clock = knows;
  if (!released.empty()) released.clear();
  if (!acquired.empty()) acquired.clear();
  pipe.reset();
  matrices.reset();
  boxes = 0;
  doubtful.reset();
  fiber.start(stack_top, entry);
}

std::unique_ptr<Block> Machine::make_block() {
  auto block = std::make_unique<Block>();
  if (free_shared_.empty()) free_shared_.push_back(static_cast<std::byte*>(::operator new(settings_.max_shared_bytes, std::align_val_t(shared_alignment))));
  block->shared = free_shared_.back();
  free_shared_.pop_back();
  for (std::uint32_t i = 0; i < threads_per_block_; ++i) {
    auto thread = std::make_unique<Thread>();
    thread->block = block.get();
    thread->index = i;
    thread->stack_top = stacks_.take();
    block->threads.push_back(std::move(thread));
  }
  block->warps.resize((threads_per_block_ + settings_.warp_size - 1) / settings_.warp_size);
  return block;
}

void Machine::admit(std::uint64_t number) {
  std::unique_ptr<Block> block;
  if (spare_.empty()) {
    block = make_block();
  } else {
    block = std::move(spare_.back());
    spare_.pop_back();
  }
  block->number = static_cast<std::uint32_t>(number);
  block->index = unrank(number, request_->grid);
  block->left = 0;
  block->at_barrier.clear();
  const std::uint64_t shared_bytes = request_->shared_bytes;
  std::fill_n(block->shared, shared_bytes, std::byte{0xff});
  auto region = std::make_unique<Region>();
  region->name = "shared memory";
  region->kind = Region::Kind::shared;
  region->begin = block->shared;
  region->bytes = shared_bytes;
  region->shadow = std::make_unique<Shadow>(shared_bytes, false, false);
  block->shared_region = region.get();
  regions_.push_back(std::move(region));
  const Clock clock(block->number, agents_);
  for (const std::unique_ptr<Thread>& thread : block->threads) thread->begin(block->number * agents_ + thread->index, clock, &Machine::thread_entry);
  resident_.push_back(std::move(block));
  ++blocks_run_;
}

void Machine::retire(Block& block) {
  check_products(block);
  check_boxes(block);
  block.issues.clear();
  block.phases.clear();
  block.boxes.clear();
  std::erase_if(published_, [&](const auto& entry) { return block.shared_region->holds(static_cast<const std::byte*>(entry.first)); });
  regions_.erase(std::find_if(regions_.begin(), regions_.end(), [&](const auto& region) { return region.get() == block.shared_region; }));
  last_region_ = nullptr;
  const auto place = std::find_if(resident_.begin(), resident_.end(), [&](const auto& other) { return other.get() == &block; });
  spare_.push_back(std::move(*place));
  resident_.erase(place);
}

/// The next launch has blocks of another size.
void Machine::drop_spare_blocks() {
  for (const std::unique_ptr<Block>& block : spare_) {
    for (const std::unique_ptr<Thread>& thread : block->threads) stacks_.give(thread->stack_top);
    free_shared_.push_back(block->shared);
  }
  spare_.clear();
}

/// Lets every thread of the block that can go on do so once, until it waits, yields or ends. False: none could.
bool Machine::sweep(Block& block) {
  const std::uint32_t count = threads_per_block_;
  const std::uint32_t offset = settings_.order == Order::random ? random_.below(count) : 0;
  // Odd strides visit every thread once where the count is a power of two; elsewhere neighbours stay together.
  const std::uint32_t stride = settings_.order == Order::random && (count & (count - 1)) == 0 ? 2 * random_.below(count) + 1 : 1;
  bool ran = false;
  if (settings_.completion == Completion::random && !block.boxes.empty() && random_.below(4) == 0) complete_box(block, random_.below(static_cast<std::uint32_t>(block.boxes.size())));
  for (std::uint32_t i = 0; i < count && !failed_; ++i) {
    const std::uint32_t place = settings_.order == Order::reverse ? count - 1 - i : (offset + i * stride) % count;
    Thread& thread = *block.threads[place];
    if (thread.state != Thread::State::ready) continue;
    resume(thread);
    ran = true;
  }
  // What is late comes when nobody can go on without it.
  if (ran || failed_ || block.boxes.empty()) return ran;
  complete_box(block, 0);
  return true;
}

void Machine::resume(Thread& thread) {
  if (settings_.completion == Completion::random && thread.pipe != nullptr && thread.pipe->completed < thread.pipe->committed && random_.below(4) == 0)
    complete_oldest(*thread.pipe);
  if (settings_.completion == Completion::random && thread.matrices != nullptr && thread.matrices->completed < thread.matrices->committed && random_.below(4) == 0)
    complete_oldest(*thread.matrices, thread.block->shared);
  running_ = &thread;
  ++switches_;
  thread.fiber.enter();
  running_ = nullptr;
}

void Machine::yield() { running_->fiber.leave(); }

void Machine::wait(const std::string& what, Site site) {
  running_->state = Thread::State::waiting;
  running_->waits_for = what;
  running_->site = site;
  running_->fiber.leave();
}

void Machine::thread_entry() {
  Machine& machine = *current;
  machine.request_->run(machine.request_->closure);
  machine.finish(*machine.running_);
  machine.yield();
}

void Machine::finish(Thread& thread) {
  settle(thread);
  while (thread.pipe != nullptr && thread.pipe->completed < thread.pipe->committed) complete_oldest(*thread.pipe);
  while (thread.matrices != nullptr && thread.matrices->completed < thread.matrices->committed) complete_oldest(*thread.matrices, thread.block->shared);
  thread.state = Thread::State::finished;
  Block& block = *thread.block;
  ++block.left;
  ++progress_;
  if (!block.at_barrier.empty()) {
    const Thread& waiting = *block.at_barrier.front();
    fail(make_report("barrier", thread_text(block.number, thread.index) + " leaves the kernel while " + std::to_string(block.at_barrier.size()) +
                                    " threads of its block wait at the barrier",
                     {waiting.site}));
  }
  const std::uint32_t warp = thread.index / settings_.warp_size, lane = thread.index % settings_.warp_size;
  for (const Meeting& meeting : block.warps[warp])
    if ((meeting.mask >> lane & 1) != 0)
      fail(make_report("warp", thread_text(block.number, thread.index) + " (lane " + std::to_string(lane) + ") leaves the kernel while lanes of its warp wait for it",
                       {meeting.site}));
}

/// What a read of unwritten bytes led to is not the fault; a race is, since it explains such reads.
void Machine::record(Report report) {
  failed_ = true;
  if (uninitialised_ && report.kind != "race") report = *std::exchange(uninitialised_, std::nullopt);
  reports_.push_back(std::move(report));
}

/// The thread is left where it is: nothing runs after a fault.
void Machine::fail(Report report) {
  record(std::move(report));
  running_->fiber.leave();
  __builtin_unreachable();
}

std::string Machine::thread_text(std::uint32_t block, std::uint32_t index) const {
  return "thread " + triple(unrank(index, request_->block)) + " of block " + triple(unrank(block, request_->grid));
}

std::string Machine::agent_text(Agent agent) const {
  const std::uint32_t block = agent / agents_, index = agent % agents_;
  if (index < threads_per_block_) return thread_text(block, index);
  if (index < 2 * threads_per_block_) return "an asynchronous copy of " + thread_text(block, index - threads_per_block_);
  if (index >= 5 * threads_per_block_) return "a box copied by " + thread_text(block, index % threads_per_block_);
  return "a product of matrices of " + thread_text(block, index % threads_per_block_);
}

/// Also called by signal handlers: allocates nothing.
void Machine::describe_place(char* text, std::size_t bytes) const {
  if (running_ == nullptr) {
    std::snprintf(text, bytes, "the launcher");
    return;
  }
  const auto& block = running_->block->index;
  const auto thread = unrank(running_->index, request_->block);
  std::snprintf(text, bytes, "thread (%u,%u,%u) of block (%u,%u,%u)", thread[0], thread[1], thread[2], block[0], block[1], block[2]);
}

/// "line 38, thread (3,0,0) of block (0,0,0): <text>", then the printed lines.
Report Machine::make_report(const std::string& kind, const std::string& text, std::vector<Site> sites) {
  Report report;
  report.kind = kind;
  report.kernel = kernel_;
  report.text = text;
  std::set<int> shown;
  for (const Site site : sites)
    for (const int line : symbolizer_.lines(site))
      if (shown.insert(line).second) report.lines.push_back(line);
  if (sites.empty()) return report;
  report.text = symbolizer_.text(sites.front()) + ": " + text;
  for (const int line : report.lines) report.text += "\n    " + std::to_string(line) + " | " + symbolizer_.source_line(line);
  return report;
}

void Machine::report_deadlock() {
  std::map<std::pair<std::string, Site>, std::vector<std::string>> groups;
  std::map<std::pair<std::string, Site>, std::size_t> counts;
  for (const std::unique_ptr<Block>& block : resident_)
    for (const std::unique_ptr<Thread>& thread : block->threads) {
      if (thread->state != Thread::State::waiting) continue;
      const std::pair<std::string, Site> key{thread->waits_for, thread->site};
      if (counts[key]++ < most_threads_named) groups[key].push_back(thread_text(block->number, thread->index));
    }
  std::string text = "no thread can go on";
  std::vector<Site> sites;
  for (const auto& [key, threads] : groups) {
    text += "\n    " + std::to_string(counts[key]) + " wait at " + symbolizer_.text(key.second) + " for " + key.first + ":";
    for (const std::string& thread : threads) text += (&thread == &threads.front() ? " " : ", ") + thread;
    if (counts[key] > threads.size()) text += ", …";
    sites.push_back(key.second);
  }
  record(make_report("deadlock", text, std::move(sites)));
}

void Machine::report_spinning() {
  for (const std::unique_ptr<Block>& block : resident_)
    for (const std::unique_ptr<Thread>& thread : block->threads)
      if (thread->state == Thread::State::ready)
        return record(make_report("deadlock", thread_text(block->number, thread->index) + " polls for a value that none of the " + std::to_string(resident_.size()) + " running blocks writes any more",
                                  {thread->site}));
}

}  // namespace tileopt::emulator
