/// The process that holds the GPU: started when it is first asked, asked again as long as it lives, replaced after a crash or a time-out.
/// A kernel that does not end, or that ruins its context, costs that process only.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "backends/cuda/runtime/device_job.h"
#include "backends/gpu_common/emulator/isolated_run.h"

namespace tileopt::cuda {

class DeviceProcess {
 public:
  /// As DeviceSession; `launcher` outlives this.
  DeviceProcess(std::string cubin, std::string architecture, const emulator::LoadedObject& launcher);
  ~DeviceProcess();
  DeviceProcess(const DeviceProcess&) = delete;
  DeviceProcess& operator=(const DeviceProcess&) = delete;

  /// False where the answer did not come in time. @throws ToolchainError where no process can be started, or the GPU cannot be used.
  bool ask(const DeviceJob& job, double timeout_seconds, DeviceAnswer& answer);

 private:
  void start();
  void stop(bool at_once);
  std::string cubin_, architecture_;
  const emulator::LoadedObject& launcher_;
  pid_t child_ = -1;
  int socket_ = -1;
};

}  // namespace tileopt::cuda
