#include "cost_models/launch_walk.h"

#include <algorithm>
#include <cmath>

#include "cost_models/warp_walk.h"

namespace tileopt {
namespace {

constexpr double kOtherRegisters = 24;    ///< of a thread: addresses, counters, operands
constexpr double kNearShare = 0.75;        ///< of the nearest cache that data stay in
constexpr double kCacheShare = 0.5;        ///< of a shared cache that data stay in: ways, other data

long most_agents(const AstNodePtr& node) {
  if (node == nullptr) return 1;
  if (const auto* loop = std::get_if<AstFor>(&node->node); loop && loop->agents > 0) return loop->agents * std::max(1L, agents_below(loop->body));
  long most = 1;
  for (const AstNodePtr& child : nodes_below(node)) most = std::max(most, most_agents(child));
  return most;
}

class LaunchWalk : private WarpWalk {
 public:
  using WarpWalk::WarpWalk;

  std::vector<LaunchCounts> run() {
    for (const Ring& ring : ast_.rings) most_slots_ = std::max(most_slots_, ring.slots);
    walk_host(ast_.root, 1);
    return std::move(launches_);
  }

 private:
  void walk_host(const AstNodePtr& node, double times) {
    if (node == nullptr) return;
    if (const auto* loop = std::get_if<AstFor>(&node->node)) {
      if (loop->level == independent_) return walk_launch(node, times);
      const long first = scope_.evaluate(loop->lower)[0], trips = (scope_.evaluate(loop->upper)[0] - first) / loop->step + 1;
      if (trips < 1) return;
      scope_.push(loop->variable, all_lanes(first + trips / 2 * loop->step));
      walk_host(loop->body, times * double(trips));
      return scope_.pop();
    }
    if (const auto* branch = std::get_if<AstIf>(&node->node))
      return walk_host(scope_.evaluate(branch->condition)[0] != 0 ? branch->then_body : branch->else_body, times);
    for (const AstNodePtr& child : nodes_below(node)) walk_host(child, times);
  }

  void walk_launch(const AstNodePtr& root, double times) {
    counts_ = LaunchCounts();
    counts_.kernel = ast_.kernel;
    counts_.launches = times;
    counts_.threads = most_agents(root);
    tensors_.clear();
    grid_ = BlockGrid();
    block_loops_.clear();
    shared_ = 0;
    registers_ = 0;
    for (const Array& array : ast_.arrays) registers_ += registers_of(array, root);
    walk_blocks(root, 1, true);
    if (counts_.blocks < 1) return;
    counts_.shared_bytes = shared_;
    counts_.registers = std::min(std::ceil((kOtherRegisters + registers_ + facts_.fragment_registers()) / 8) * 8, most_registers());
    finish();
    launches_.push_back(counts_);
  }

  double most_registers() const {
    const Multiprocessor& m = *machine_.multiprocessor;
    return std::max(32.0, std::min(255.0, std::floor(double(m.registers) / double(std::max(1L, counts_.threads)) / 8) * 8));
  }

  static double registers_of(const Array& array, const AstNodePtr& root) {
    if (array.space != "register" && array.space != "stack") return 0;
    const bool here = any_below(root, [&](const AstNode& node) {
      const auto* allocate = std::get_if<AstAllocate>(&node.node);
      return allocate && std::find(allocate->arrays.begin(), allocate->arrays.end(), array.name) != allocate->arrays.end();
    });
    return here ? std::ceil(double(array.agent_elements()) * size_bytes(array.element) / 4) : 0;
  }

  /// The loops over blocks: the middle block of each stands for all but the last one. `typical`: so far the middle ones.
  void walk_blocks(const AstNodePtr& node, double weight, bool typical) {
    const auto* loop = node ? std::get_if<AstFor>(&node->node) : nullptr;
    const bool more = any_below(node, [&](const AstNode& n) { const auto* f = std::get_if<AstFor>(&n.node); return f && f->level == independent_; });
    if (!more) return run_block(node, weight, typical);
    if (loop == nullptr || loop->level != independent_) {
      if (const auto* branch = std::get_if<AstIf>(&node->node))
        return walk_blocks(scope_.evaluate(branch->condition)[0] != 0 ? branch->then_body : branch->else_body, weight, typical);
      for (const AstNodePtr& child : nodes_below(node)) walk_blocks(child, weight, typical);
      return;
    }
    const long first = scope_.evaluate(loop->lower)[0], trips = (scope_.evaluate(loop->upper)[0] - first) / loop->step + 1;
    if (trips < 1) return;
    if (typical) grid_.trips.push_back(double(trips));
    block_loops_.push_back({loop->variable, loop->step, trips > 1});
    std::vector<std::pair<long, double>> samples = {{trips / 2, double(std::max(1L, trips - 1))}};
    if (trips == 2) samples = {{0, 1}};
    if (trips > 1) samples.emplace_back(trips - 1, 1);
    for (const auto& [t, share] : samples) {
      scope_.push(loop->variable, all_lanes(first + t * loop->step));
      walk_blocks(loop->body, weight * share, typical && t == samples.front().first);
      scope_.pop();
    }
    block_loops_.pop_back();
  }

  void run_block(const AstNodePtr& body, double weight, bool typical) {
    counts_.blocks += weight;
    block_weight_ = weight;
    recording_ = typical ? Recording::typical : Recording::none;
    const Chain chain = run_warps(body, weight);
    const double cycles = chain.cycles + matrix_time(chain.matrix);
    if (typical) {
      counts_.chain_cycles = cycles;
      counts_.chain_waits = chain.waits;
      counts_.hidden_waits = chain.hidden;
    }
    if (!typical) return;
    // The same block, one further along each loop: how the boxes move.
    const std::vector<BlockLoop> loops = block_loops_;
    const LaunchCounts kept = counts_;
    for (std::size_t l = 0; l < loops.size(); ++l) {
      for (auto& [name, tensor] : tensors_) tensor.moved.resize(l + 1);
      if (!loops[l].several) continue;
      Lanes* value = scope_.find(loops[l].variable);
      const Lanes before = *value;
      // Towards the middle of the grid, where nothing is cut.
      for (long& v : *value) v -= v >= loops[l].step ? loops[l].step : -loops[l].step;
      recording_ = Recording::moved;
      moved_loop_ = l;
      run_warps(body, 0);
      *scope_.find(loops[l].variable) = before;
    }
    counts_ = kept;
    recording_ = Recording::none;
  }

  /// The first and last warps, and one between for all the others. The slowest one's chain.
  Chain run_warps(const AstNodePtr& body, double weight) {
    const long warps = (counts_.threads + long(lanes_) - 1) / long(lanes_);
    Chain slowest;
    for (const auto& [warp, share] : sample_trips(warps)) {
      warp_weight_ = weight * share;
      for (std::size_t lane = 0; lane < kMostLanes; ++lane) {
        thread_[lane] = warp * long(lanes_) + long(lane);
        active_[lane] = lane < lanes_ && thread_[lane] < counts_.threads;
      }
      agent_depth_ = 0;
      const Chain chain = walk(body, 1);
      if (chain.cycles + chain.waits * rates_.memory_latency + chain.matrix > slowest.cycles + slowest.waits * rates_.memory_latency + slowest.matrix) slowest = chain;
    }
    return slowest;
  }

  void finish() {
    const double resident = resident_blocks(counts_, machine_);
    grid_.together = std::min(counts_.blocks, resident * double(machine_.cores));
    double capacity = 0, near = 0;
    for (const Memory& memory : machine_.memories) {
      if (memory.shared && &memory != &machine_.memories.back()) capacity = std::max(capacity, memory.capacity);
      if (!memory.shared) near = memory.capacity;
    }
    // What a block reads again and again stays in the nearest cache where it fits, beside what the other blocks there read; what the innermost
    // loop over blocks does not move stays for the next block, too.
    const auto is_shared = [&](const TensorFootprint& tensor) { return !grid_.trips.empty() && !moves_with(tensor, grid_.trips.size() - 1); };
    double footprint = 0;
    for (const auto& [name, tensor] : tensors_)
      if (tensor.read && !tensor.by_engine) footprint += union_bytes(tensor, {}) * (is_shared(tensor) ? 1 : resident);
    const double room = (near - double(counts_.shared_bytes) * resident) * kNearShare;
    for (auto& [name, tensor] : tensors_) {
      if (!tensor.scattered && !tensor.by_engine && footprint <= room) {
        double fills = counts_.blocks;
        if (is_shared(tensor) && !tensor.written) fills = std::min(fills, fills / grid_.trips.back() * double(machine_.cores));
        tensor.asked_bytes = std::min(tensor.asked_bytes, union_bytes(tensor, {}) * fills);
      }
      counts_.cache_bytes += tensor.asked_bytes;
    }
    const DeepTraffic traffic = traffic_beyond(tensors_, grid_, capacity * kCacheShare);
    counts_.read_bytes = traffic.read;
    counts_.written_bytes = traffic.written;
    if (counts_.hidden_waits > 0) counts_.chain_waits += 1;  // of the first iteration
    const double waits = std::max(1.0, counts_.chain_waits + counts_.hidden_waits);
    counts_.in_flight = in_flight_ / waits;
    in_flight_ = 0;
    reserved_.clear();
  }
};

}  // namespace

std::vector<LaunchCounts> count_launches(const Program& program, const Ast& ast, const PrintFacts& facts, const Machine& machine, const Sizes& sizes) {
  if (!machine.multiprocessor) return {};
  return LaunchWalk(program, ast, facts, machine, sizes).run();
}

double resident_blocks(const LaunchCounts& counts, const Machine& machine) {
  if (!machine.multiprocessor) return 1;
  const Multiprocessor& m = *machine.multiprocessor;
  double blocks = std::min(double(m.blocks), std::floor(double(m.threads) / double(std::max(1L, counts.threads))));
  if (counts.shared_bytes > 0) blocks = std::min(blocks, std::floor(double(m.shared_bytes) / double(counts.shared_bytes + 1024)));
  if (counts.registers > 0) blocks = std::min(blocks, std::floor(double(m.registers) / (counts.registers * double(counts.threads))));
  return std::max(1.0, blocks);
}

}  // namespace tileopt
