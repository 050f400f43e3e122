// Products of matrices that four warps compute together (wgmma): each thread computes its own part from the block's shared memory. The unit that
// does so is an agent of its own for every thread, which sees memory as the thread does where it issues, but only behind a fence of whoever wrote.
#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/gpu_common/emulator/machine.h"

namespace tileopt::emulator {

namespace {
constexpr std::uint32_t kTogether = 128, kWarp = 32;
constexpr unsigned kDepth = 16, kRowBytes = 128, kPiece = 16, kElement = 2;

float value_of(std::uint16_t bits, bool half) {
  if (!half) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16, exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float small = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -small : small;
}

/// Bytes from a matrix's first element to (across, along), swizzled as its place in shared memory says.
std::uint64_t place_of(const tileopt_emulator_matrix& matrix, bool turned, std::uint64_t first, unsigned across, unsigned along) {
  const unsigned row = turned ? along : across, column = turned ? across % (kRowBytes / kElement) : along;
  const std::uint64_t slab = turned ? static_cast<std::uint64_t>(across / (kRowBytes / kElement)) * matrix.leading : 0;
  const std::uint64_t offset = first + slab + static_cast<std::uint64_t>(row / 8) * matrix.stride + row % 8 * kRowBytes + column * kElement;
  return offset ^ (offset >> 7 & 7) << 4;
}
}  // namespace

MatrixPipe& Machine::matrices_of(Thread& thread) {
  if (thread.matrices == nullptr) thread.matrices = std::make_unique<MatrixPipe>();
  return *thread.matrices;
}

void Machine::product(const tileopt_emulator_product& request, const void* pc) {
  Thread& thread = *running_;
  const Site site = site_of(pc);
  settle(thread);
  ++progress_;
  MatrixPipe& pipe = matrices_of(thread);
  const std::string who = thread_text(thread.block->number, thread.index);
  if (threads_per_block_ % kTogether != 0) fail(make_report("warpgroup", "a product of matrices wants whole groups of 128 threads, and the block has " + std::to_string(threads_per_block_), {site}));
  if (!pipe.open) fail(make_report("warpgroup", who + " computes a product with registers that it may have touched since: no wgmma.fence stands between", {site}));
  // All threads of the group issue the same products in the same order.
  std::vector<MatrixPipe::Issue>& issues = thread.block->issues[thread.index / kTogether];
  const MatrixPipe::Issue mine = {request.left.first, request.right.first, request.columns, site};
  if (pipe.issued == issues.size()) issues.push_back(mine);
  const MatrixPipe::Issue& theirs = issues[pipe.issued];
  if (theirs.left != mine.left || theirs.right != mine.right || theirs.columns != mine.columns)
    fail(make_report("warpgroup", who + " and other threads of its group compute different products together", {site, theirs.site}));
  ++pipe.issued;
  MatrixPipe::Product product{request, {}, {}};
  const Region& shared = *thread.block->shared_region;
  std::vector<std::uint64_t> pieces;
  const std::uint32_t lane = thread.index % kWarp, row = thread.index % kTogether / kWarp * 16 + lane / 4;
  const auto first_of = [&](const tileopt_emulator_matrix& matrix) {
    const auto* at = static_cast<const std::byte*>(matrix.first);
    if (!shared.holds(at)) fail(make_report("warpgroup", who + " multiplies a matrix that does not lie in its block's shared memory", {site}));
    const auto first = static_cast<std::uint64_t>(at - shared.begin);
    if (first % kPiece != 0 || (first >> 7 & 7) != 0) fail(make_report("misaligned", who + " multiplies a matrix that starts inside of eight rows", {site}));
    return first;
  };
  const auto add = [&](std::vector<std::uint64_t>& places, const tileopt_emulator_matrix& matrix, bool turned, std::uint64_t first, unsigned across) {
    for (unsigned k = 0; k < kDepth; ++k) {
      places.push_back(place_of(matrix, turned, first, across, k));
      if (places.back() + kElement > shared.bytes) fail(make_report("out of bounds", who + " multiplies a matrix that ends behind its block's shared memory", {site}));
      pieces.push_back(places.back() / kPiece);
    }
  };
  const std::uint64_t left = first_of(request.left), right = first_of(request.right);
  for (unsigned r = 0; r < 2; ++r) add(product.left, request.left, request.left_turned != 0, left, row + 8 * r);
  for (unsigned n = 0; n < request.columns / 8; ++n)
    for (unsigned c = 0; c < 2; ++c) add(product.right, request.right, request.right_turned != 0, right, 8 * n + 2 * (lane % 4) + c);
  std::sort(pieces.begin(), pieces.end());
  pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
  const Access step{thread.agent + 2 * threads_per_block_, pipe.committed + 1, site, false};
  for (const std::uint64_t piece : pieces) read_fenced(*thread.block->shared_region, piece * kPiece, kPiece, step);
  pipe.groups.back().push_back(std::move(product));
  if (settings_.completion == Completion::early) compute(pipe.groups.back().back(), shared.begin);
}

/// Ordered, as any read; and behind a fence of the writer, which all that is ordered before this place has learnt of.
void Machine::read_fenced(Region& region, std::uint64_t offset, std::uint64_t bytes, const Access& me) {
  check(region, region.begin + offset, bytes, Use::read, me, "reads");
  Viewpoint view = viewpoint(*running_);
  view.fenced = 3 * threads_per_block_;
  const Conflict conflict = region.shadow->access(offset, bytes, Use::read, me, view);
  if (conflict.kind != Conflict::Kind::race) return;
  fail(make_report("fence", agent_text(me.agent) + " reads " + element_text(region, conflict.offset) + ", written by " + agent_text(conflict.other.agent) + " at " +
                                symbolizer_.text(conflict.other.site) + " with no fence behind that",
                   {me.site, conflict.other.site}));
}

void Machine::compute(const MatrixPipe::Product& product, const std::byte* shared) {
  const tileopt_emulator_product& request = product.request;
  const auto load = [&](std::uint64_t place) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, shared + place, sizeof bits);
    return value_of(bits, request.half != 0);
  };
  for (unsigned n = 0; n < request.columns / 8; ++n)
    for (unsigned r = 0; r < 2; ++r)
      for (unsigned c = 0; c < 2; ++c) {
        double sum = 0;
        for (unsigned k = 0; k < kDepth; ++k) sum += static_cast<double>(load(product.left[r * kDepth + k])) * static_cast<double>(load(product.right[(2 * n + c) * kDepth + k]));
        float& element = request.result[4 * n + 2 * r + c];
        element = static_cast<float>(static_cast<double>(element) + sum);
      }
}

void Machine::complete_oldest(MatrixPipe& pipe, const std::byte* shared) {
  if (settings_.completion != Completion::early)
    for (const MatrixPipe::Product& product : pipe.groups.front()) compute(product, shared);
  pipe.groups.erase(pipe.groups.begin());
  ++pipe.completed;
}

void Machine::matrix_event(tileopt_emulator_matrix_event event, unsigned pending, const void* pc) {
  Thread& thread = *running_;
  settle(thread);
  ++progress_;
  MatrixPipe& pipe = matrices_of(thread);
  switch (event) {
    case TILEOPT_MATRIX_FENCE:
      // What this thread has written until now, and what its copies have that it has waited for.
      thread.clock.learn(thread.index + 3 * threads_per_block_, thread.tick);
      if (thread.pipe != nullptr) thread.clock.learn(thread.index + 4 * threads_per_block_, thread.pipe->awaited);
      ++thread.tick;
      return;
    case TILEOPT_MATRIX_OPEN: pipe.open = true; return;
    case TILEOPT_MATRIX_COMMIT:
      ++pipe.committed;
      pipe.groups.emplace_back();
      return;
    case TILEOPT_MATRIX_WAIT: break;
  }
  (void)pc;
  pipe.open = false;
  if (pipe.committed <= pending) return;
  const Tick wanted = pipe.committed - pending;
  while (pipe.completed < wanted) complete_oldest(pipe, thread.block->shared);
  thread.clock.learn(thread.index + 2 * threads_per_block_, wanted);
}

/// At its end a thread has computed as many products as the others of its group.
void Machine::check_products(const Block& block) {
  for (const std::unique_ptr<Thread>& thread : block.threads) {
    const auto group = block.issues.find(thread->index / kTogether);
    const std::size_t all = group == block.issues.end() ? 0 : group->second.size(), own = thread->matrices == nullptr ? 0 : thread->matrices->issued;
    if (own == all) continue;
    record(make_report("warpgroup", thread_text(block.number, thread->index) + " has taken part in " + std::to_string(own) + " products of its group's " + std::to_string(all), {group->second[own].site}));
    return;
  }
}

}  // namespace tileopt::emulator
