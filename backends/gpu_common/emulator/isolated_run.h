/// One run of a loaded object in a forked process: a crash or a hang costs that process only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/gpu_common/emulator/settings.h"

struct tileopt_emulator_calls;

namespace tileopt::emulator {

struct LoadedObject {
  using Call = std::int32_t (*)(const std::int64_t* sizes, void** arguments, void* workspace);
  using Workspace = std::int64_t (*)(const std::int64_t* sizes);
  using Attach = void (*)(const tileopt_emulator_calls* calls);
  std::string path, source;   ///< of the object and of the printed text
  void* handle = nullptr;
  Call call = nullptr;
  Workspace workspace = nullptr;
  Attach attach = nullptr;
};

/// As Module::run.
Outcome run_isolated(const LoadedObject& object, const std::vector<std::int64_t>& sizes, std::vector<Array>& arguments, const Settings& settings);

}  // namespace tileopt::emulator
