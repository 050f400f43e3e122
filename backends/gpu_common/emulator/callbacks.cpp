// The table that a loaded kernel calls. No exception leaves it: the frames above belong to the kernel.
#include <new>

#include "backends/gpu_common/emulator/machine.h"

namespace tileopt::emulator {

namespace {
Machine& machine() { return *Machine::current; }
const std::byte* bytes_at(const void* address) { return static_cast<const std::byte*>(address); }
std::byte* bytes_at(void* address) { return static_cast<std::byte*>(address); }

/// Out of memory is the end of the run, told as such; of a launch, which is outside of threads: its failure.
template <class Call>
auto guarded(Call&& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    machine().out_of_memory();
    return decltype(call())();
  }
}
}  // namespace

const tileopt_emulator_calls Machine::calls = {
    [](const void* address, unsigned long bytes, tileopt_emulator_access kind, const void* pc) {
      guarded([&] { machine().access(bytes_at(address), bytes, kind, pc); });
    },
    [](const tileopt_emulator_launch_request* request) { return guarded([&] { return machine().launch(*request); }) != 0 || machine().failed() ? 1 : 0; },
    [](tileopt_emulator_coordinate which) { return machine().index(which); },
    [] { return machine().shared_memory(); },
    [](const void* pc) { guarded([&] { machine().block_barrier(pc); }); },
    [](const tileopt_emulator_warp_request* request, const void* pc) { guarded([&] { machine().warp(*request, pc); }); },
    [](void* address, unsigned bytes, tileopt_emulator_order order, void (*apply)(void*, void*), void* operands, const void* pc) {
      guarded([&] { machine().atomic(bytes_at(address), bytes, order, apply, operands, pc); });
    },
    [](const void*) { guarded([&] { machine().device_fence(); }); },
    [](void* shared, const void* global, unsigned bytes, unsigned source_bytes, const void* pc) {
      guarded([&] { machine().async_copy(bytes_at(shared), bytes_at(global), bytes, source_bytes, pc); });
    },
    [](const void*) { guarded([&] { machine().async_commit(); }); },
    [](unsigned pending, const void*) { guarded([&] { machine().async_wait(pending); }); },
    [](const tileopt_emulator_product* request, const void* pc) { guarded([&] { machine().product(*request, pc); }); },
    [](tileopt_emulator_matrix_event event, unsigned pending, const void* pc) { guarded([&] { machine().matrix_event(event, pending, pc); }); },
    [](void* map, const tileopt_emulator_tensor* tensor) { return Machine::map_tensor(map, *tensor); },
    [](tileopt_emulator_phase_event event, void* phase, int slots, unsigned value, const void* pc) { guarded([&] { machine().phase(event, bytes_at(phase), slots, value, pc); }); },
    [](const tileopt_emulator_box* request, const void* pc) { guarded([&] { machine().copy_box(*request, pc); }); },
    [](const char* kind, const char* what, const void* pc) { guarded([&] { machine().undefined(kind, what, pc); }); },
};

void Machine::out_of_memory() {
  Report report;
  report.kind = "limit";
  report.kernel = kernel_;
  report.text = "the emulator needs more memory than it may use";
  if (running_ != nullptr) fail(std::move(report));
  record(std::move(report));
}

int Machine::index(tileopt_emulator_coordinate which) const {
  const Thread& thread = *running_;
  const unsigned* const extent = request_->block;
  switch (which) {
    case TILEOPT_THREAD_INDEX_X: return static_cast<int>(thread.index % extent[0]);
    case TILEOPT_THREAD_INDEX_Y: return static_cast<int>(thread.index / extent[0] % extent[1]);
    case TILEOPT_THREAD_INDEX_Z: return static_cast<int>(thread.index / extent[0] / extent[1]);
    case TILEOPT_BLOCK_INDEX_X: return static_cast<int>(thread.block->index[0]);
    case TILEOPT_BLOCK_INDEX_Y: return static_cast<int>(thread.block->index[1]);
    case TILEOPT_BLOCK_INDEX_Z: return static_cast<int>(thread.block->index[2]);
    case TILEOPT_GRID_SIZE_X: return static_cast<int>(request_->grid[0]);
    case TILEOPT_GRID_SIZE_Y: return static_cast<int>(request_->grid[1]);
    case TILEOPT_GRID_SIZE_Z: return static_cast<int>(request_->grid[2]);
    case TILEOPT_LANE_INDEX: return static_cast<int>(thread.index % settings_.warp_size);
    case TILEOPT_WARP_SIZE_INDEX: return static_cast<int>(settings_.warp_size);
  }
  return 0;
}

unsigned char* Machine::shared_memory() { return reinterpret_cast<unsigned char*>(running_->block->shared); }

}  // namespace tileopt::emulator
