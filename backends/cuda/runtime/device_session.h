/// The GPU as one process uses it: context, loaded code, arrays between guards, calls of the printed launcher, timing by events.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "backends/cuda/runtime/device_job.h"
#include "backends/cuda/runtime/driver_api.h"
#include "backends/gpu_common/emulator/device/tileopt_emulator_abi.h"
#include "backends/gpu_common/emulator/isolated_run.h"

namespace tileopt::cuda {

class DeviceSession {
 public:
  /// `cubin`: code for `architecture` ("sm_90"). `launcher`: the printed text, compiled for the host.
  /// @throws ToolchainError: no driver, no GPU, or a GPU of another architecture.
  DeviceSession(const std::string& cubin, const std::string& architecture, const emulator::LoadedObject& launcher);

  /// After `crashed` the session is of no more use. @throws ToolchainError where the device has too little memory.
  DeviceAnswer run(const DeviceJob& job);

 private:
  struct Buffer {
    DevicePointer block = 0;
    std::size_t bytes = 0;
    DevicePointer data() const;
  };
  struct Buffers;

  Buffer allocate(std::size_t bytes, const char* what);
  bool intact(const Buffer& buffer);
  std::string download(const Buffer& buffer);
  void upload(const Buffer& buffer, const std::string& bytes);
  std::string check_results(const DeviceJob& job, Buffers& buffers, bool ran);
  void time_calls(const DeviceJob& job, Buffers& buffers, DeviceAnswer& answer);
  std::int32_t call(const DeviceJob& job, Buffers& buffers);
  void require(Result result, const char* what);
  int launch(const tileopt_emulator_launch_request& request);
  int map_tensor(void* map, const tileopt_emulator_tensor& tensor);

  static DeviceSession* current;
  static const tileopt_emulator_calls calls;

  DriverApi driver_;
  Device device_ = 0;
  Module module_ = nullptr;
  std::map<std::string, Function> functions_;
  const emulator::LoadedObject& launcher_;
  std::string launch_error_;
  std::optional<Buffer> flush_;
};

}  // namespace tileopt::cuda
