#include "backends/cuda/runtime/device_session.h"

#include <algorithm>
#include <cstring>

#include "support/error.h"

namespace tileopt::cuda {

namespace {
constexpr std::size_t guard_bytes = 4096;
constexpr unsigned char guard_byte = 0xa5, poison_byte = 0xff;   // 0xff: NaN in every float type
constexpr std::size_t spare_bytes = std::size_t(256) << 20;      // of device memory, for the driver itself
constexpr std::int64_t most_samples = 10'000;
constexpr int warm_up_calls = 2;

/// The device says that something is wrong with the code that ran: the context is lost.
struct DeviceFailure {
  std::string text;
};

std::string mebibytes(std::size_t bytes) { return std::to_string((bytes + (std::size_t(1) << 20) - 1) >> 20) + " MiB"; }
}  // namespace

DeviceSession* DeviceSession::current = nullptr;

/// Launchers only launch: what kernels call is never called on the host.
const tileopt_emulator_calls DeviceSession::calls = {
    [](const void*, unsigned long, tileopt_emulator_access, const void*) {},
    [](const tileopt_emulator_launch_request* request) { return current->launch(*request); },
    [](tileopt_emulator_coordinate) { return 0; },
    []() -> unsigned char* { return nullptr; },
    [](const void*) {},
    [](const tileopt_emulator_warp_request*, const void*) {},
    [](void*, unsigned, tileopt_emulator_order, void (*)(void*, void*), void*, const void*) {},
    [](const void*) {},
    [](void*, const void*, unsigned, unsigned, const void*) {},
    [](const void*) {},
    [](unsigned, const void*) {},
    [](const tileopt_emulator_product*, const void*) {},
    [](tileopt_emulator_matrix_event, unsigned, const void*) {},
    [](void* map, const tileopt_emulator_tensor* tensor) { return current->map_tensor(map, *tensor); },
    [](tileopt_emulator_phase_event, void*, int, unsigned, const void*) {},
    [](const tileopt_emulator_box*, const void*) {},
    [](const char*, const char*, const void*) {},
};

struct DeviceSession::Buffers {
  DriverApi& driver;
  std::vector<Buffer> arguments;   ///< block 0: by value
  Buffer workspace;
  std::vector<void*> pointers;
  explicit Buffers(DriverApi& api) : driver(api) {}
  ~Buffers() {
    for (const Buffer& buffer : arguments)
      if (buffer.block != 0) driver.mem_free(buffer.block);
    if (workspace.block != 0) driver.mem_free(workspace.block);
  }
};

DevicePointer DeviceSession::Buffer::data() const { return block + guard_bytes; }

DeviceSession::DeviceSession(const std::string& cubin, const std::string& architecture, const emulator::LoadedObject& launcher)
    : driver_(DriverApi::open()), launcher_(launcher) {
  if (const Result error = driver_.init(0); error != 0)
    throw ToolchainError("the NVIDIA driver finds no GPU that it can use: " + driver_.error_text(error) + "\n  hint: `nvidia-smi` shows what the driver sees");
  int count = 0, version = 0, major = 0, minor = 0;
  driver_.driver_get_version(&version);
  if (driver_.device_get_count(&count) != 0 || count == 0) throw ToolchainError("the NVIDIA driver finds no GPU\n  hint: CUDA_VISIBLE_DEVICES may hide it");
  require(driver_.device_get(&device_, 0), "device");
  char name[256] = "";
  driver_.device_get_name(name, sizeof name, device_);
  driver_.device_get_attribute(&major, attribute::capability_major, device_);
  driver_.device_get_attribute(&minor, attribute::capability_minor, device_);
  const std::string own = "sm_" + std::to_string(major) + std::to_string(minor);
  if (architecture != own && architecture != own + "a")
    throw ToolchainError("the kernel is for " + architecture + ", this machine's GPU (" + name + ") is " + own + "\n  hint: choose the machine that you have, see `tileopt-schedule machines`");
  Context context = nullptr;
  require(driver_.device_primary_ctx_retain(&context, device_), "context");
  require(driver_.ctx_set_current(context), "context");
  if (const Result error = driver_.module_load_data(&module_, cubin.data()); error != 0)
    throw ToolchainError("the NVIDIA driver (" + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) +
                         ") does not load the compiled kernel: " + driver_.error_text(error) + "\n  hint: it may be older than NVRTC: update the driver");
  current = this;
  launcher_.attach(&calls);
}

void DeviceSession::require(Result result, const char* what) {
  if (result != 0) throw ToolchainError(std::string("the GPU cannot be used (") + what + "): " + driver_.error_text(result));
}

int DeviceSession::launch(const tileopt_emulator_launch_request& request) {
  Function& function = functions_[request.kernel];
  Result error = function != nullptr ? 0 : driver_.module_get_function(&function, module_, request.kernel);
  if (error == 0 && request.shared_bytes > 48u << 10)
    error = driver_.func_set_attribute(function, attribute::function_max_dynamic_shared, static_cast<int>(request.shared_bytes));
  if (error == 0)
    error = driver_.launch_kernel(function, request.grid[0], request.grid[1], request.grid[2], request.block[0], request.block[1], request.block[2],
                                  request.shared_bytes, nullptr, const_cast<void**>(request.arguments), nullptr);
  if (error != 0) launch_error_ = std::string(request.kernel) + ": " + driver_.error_text(error);
  return error;
}

/// Rows of the tensor lie behind each other without gaps; what a box leaves out is zero.
int DeviceSession::map_tensor(void* map, const tileopt_emulator_tensor& tensor) {
  if (driver_.tensor_map_encode_tiled == nullptr) {
    launch_error_ = "the NVIDIA driver is too old to copy tensors by boxes";
    return 1;
  }
  constexpr int kMostDims = 5, kSecondCacheLines = 2;  // 128 bytes at a time
  std::uint64_t extents[kMostDims] = {}, strides[kMostDims] = {};
  unsigned box[kMostDims] = {}, steps[kMostDims] = {};
  for (int d = 0; d < tensor.rank; ++d)
    if (tensor.extents[d] == 0) return 0;  // nothing is copied of it
  std::uint64_t stride = static_cast<std::uint64_t>(tensor.element_bytes);
  for (int d = 0; d < tensor.rank; ++d) {
    extents[d] = static_cast<std::uint64_t>(tensor.extents[d]);
    strides[d] = stride *= extents[d];
    box[d] = static_cast<unsigned>(tensor.box[d]);
    steps[d] = static_cast<unsigned>(tensor.apart[d]);
  }
  const int type = tensor.element_bytes == 1 ? 0 : tensor.element_bytes == 2 ? 1 : tensor.element_bytes == 4 ? 2 : 4;
  const int swizzle = tensor.swizzle == 128 ? 3 : tensor.swizzle == 64 ? 2 : tensor.swizzle == 32 ? 1 : 0;
  const Result error = driver_.tensor_map_encode_tiled(map, type, static_cast<unsigned>(tensor.rank), const_cast<void*>(tensor.first), extents, strides, box, steps, 0, swizzle, kSecondCacheLines, 0);
  if (error != 0) launch_error_ = "a tensor cannot be copied by boxes: " + driver_.error_text(error);
  return error;
}

DeviceSession::Buffer DeviceSession::allocate(std::size_t bytes, const char* what) {
  std::size_t free = 0, total = 0;
  require(driver_.mem_get_info(&free, &total), "memory");
  Buffer buffer;
  buffer.bytes = bytes;
  const std::size_t all = bytes + 2 * guard_bytes;
  if (all + spare_bytes > free || driver_.mem_alloc(&buffer.block, all) != 0)
    throw ToolchainError("too little device memory for " + std::string(what) + ": " + mebibytes(all) + " needed, " + mebibytes(free) + " of " + mebibytes(total) +
                         " free\n  hint: smaller sizes, or end other programs on the GPU");
  require(driver_.memset8(buffer.block, guard_byte, guard_bytes), "memory");
  if (bytes > 0) require(driver_.memset8(buffer.data(), poison_byte, bytes), "memory");
  require(driver_.memset8(buffer.data() + bytes, guard_byte, guard_bytes), "memory");
  return buffer;
}

void DeviceSession::upload(const Buffer& buffer, const std::string& bytes) {
  if (!bytes.empty() && driver_.memcpy_to_device(buffer.data(), bytes.data(), bytes.size()) != 0) throw DeviceFailure{"arguments cannot be copied to the device"};
}

std::string DeviceSession::download(const Buffer& buffer) {
  std::string bytes(buffer.bytes, '\0');
  if (!bytes.empty())
    if (const Result error = driver_.memcpy_to_host(bytes.data(), buffer.data(), bytes.size()); error != 0) throw DeviceFailure{driver_.error_text(error)};
  return bytes;
}

bool DeviceSession::intact(const Buffer& buffer) {
  std::vector<unsigned char> guard(guard_bytes);
  for (const DevicePointer start : {buffer.block, buffer.data() + buffer.bytes}) {
    if (const Result error = driver_.memcpy_to_host(guard.data(), start, guard_bytes); error != 0) throw DeviceFailure{driver_.error_text(error)};
    if (std::any_of(guard.begin(), guard.end(), [](unsigned char byte) { return byte != guard_byte; })) return false;
  }
  return true;
}

std::int32_t DeviceSession::call(const DeviceJob& job, Buffers& buffers) {
  launch_error_.clear();
  return launcher_.call(job.sizes.data(), buffers.pointers.data(), reinterpret_cast<void*>(buffers.workspace.data()));
}

/// What the kernel did that it must not; "" where it behaved. `ran`: it did not refuse its arguments.
std::string DeviceSession::check_results(const DeviceJob& job, Buffers& buffers, bool ran) {
  if (!intact(buffers.workspace)) return "the kernel wrote outside its workspace";
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const DeviceJob::Argument& argument = job.arguments[i];
    if (argument.by_value) continue;
    if (!intact(buffers.arguments[i])) return "the kernel wrote outside array " + argument.name;
    if ((!argument.written || !ran) && download(buffers.arguments[i]) != argument.bytes)
      return "the kernel changed array " + argument.name + (ran ? ", an input" : " though it refused to run");
  }
  return "";
}

void DeviceSession::time_calls(const DeviceJob& job, Buffers& buffers, DeviceAnswer& answer) {
  if (job.flush_cache && !flush_) {
    int bytes = 0;
    driver_.device_get_attribute(&bytes, attribute::l2_cache_bytes, device_);
    flush_ = allocate(2 * static_cast<std::size_t>(std::max(bytes, 1 << 20)), "flushing the cache");
  }
  for (std::size_t i = 0; i < job.arguments.size(); ++i)
    if (job.arguments[i].written) upload(buffers.arguments[i], job.arguments[i].bytes);
  Event from = nullptr, to = nullptr;
  require(driver_.event_create(&from, 0), "events");
  require(driver_.event_create(&to, 0), "events");
  double total = 0;
  for (std::int64_t n = -warm_up_calls; n < most_samples && (n < job.least || total < job.seconds); ++n) {
    if (flush_) driver_.memset8_async(flush_->data(), static_cast<unsigned char>(n), flush_->bytes, nullptr);
    driver_.event_record(from, nullptr);
    if (call(job, buffers) != 0) throw DeviceFailure{"a timed call fails: " + launch_error_};
    driver_.event_record(to, nullptr);
    if (const Result error = driver_.ctx_synchronize(); error != 0) throw DeviceFailure{driver_.error_text(error)};
    float milliseconds = 0;
    driver_.event_elapsed_time(&milliseconds, from, to);
    if (n < 0) continue;
    answer.samples.push_back(static_cast<double>(milliseconds) * 1e-3);
    total += answer.samples.back();
  }
  driver_.event_destroy(from);
  driver_.event_destroy(to);
}

DeviceAnswer DeviceSession::run(const DeviceJob& job) {
  DeviceAnswer answer;
  const std::int64_t workspace_bytes = launcher_.workspace(job.sizes.data());
  if (workspace_bytes < 0) {
    answer.end = DeviceAnswer::End::refused;
    answer.code = 1;
    return answer;
  }
  try {
    Buffers buffers(driver_);
    buffers.workspace = allocate(static_cast<std::size_t>(workspace_bytes), "the workspace");
    for (const DeviceJob::Argument& argument : job.arguments) {
      buffers.arguments.push_back(argument.by_value ? Buffer() : allocate(argument.bytes.size(), argument.name.c_str()));
      const Buffer& buffer = buffers.arguments.back();
      if (!argument.by_value) upload(buffer, argument.bytes);
      buffers.pointers.push_back(argument.by_value ? const_cast<char*>(argument.bytes.data()) : reinterpret_cast<void*>(buffer.data()));
    }
    const auto results = [&] {
      std::vector<std::string> all;
      for (std::size_t i = 0; i < job.arguments.size(); ++i) all.push_back(job.arguments[i].written ? download(buffers.arguments[i]) : "");
      return all;
    };
    answer.code = call(job, buffers);
    if (const Result error = driver_.ctx_synchronize(); error != 0) throw DeviceFailure{driver_.error_text(error)};
    answer.end = DeviceAnswer::End::done;
    answer.text = check_results(job, buffers, answer.code == 0);
    if (answer.text.empty() && answer.code == 0) answer.results = results();
    if (answer.text.empty() && answer.code == 0 && job.seconds > 0) {
      time_calls(job, buffers, answer);
      for (std::size_t i = 0; i < job.arguments.size(); ++i)
        if (job.arguments[i].written) upload(buffers.arguments[i], job.arguments[i].bytes);
      if (call(job, buffers) != 0 || driver_.ctx_synchronize() != 0) throw DeviceFailure{"the last call fails: " + launch_error_};
      answer.text = check_results(job, buffers, true);
      answer.last = results();
    }
    if (!answer.text.empty()) answer.end = DeviceAnswer::End::overrun;
    else if (answer.code != 0) answer.end = DeviceAnswer::End::refused;
    if (answer.code != 0 && !launch_error_.empty()) answer.text = launch_error_;
  } catch (const DeviceFailure& failure) {
    answer.end = DeviceAnswer::End::crashed;
    answer.text = failure.text;
  }
  return answer;
}

}  // namespace tileopt::cuda
