// The runtime for NVIDIA GPUs: on a driver that plays a GPU, and on none; code by NVRTC where it is installed; the cache of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "backends/cuda/runtime/cubin_cache.h"
#include "backends/cuda/runtime/device_process.h"
#include "backends/cuda/runtime/nvrtc.h"
#include "backends/gpu_common/emulator/module.h"
#include "support/error.h"
#include "support/process.h"

namespace tileopt::cuda {
namespace {

const char* const text = R"(
#if defined(TILEOPT_EMULATE)
#include "tileopt_emulator.h"
#else
typedef long long int64_t;
typedef int int32_t;
#endif
#define KERNEL(name) extern "C" __global__ void name(const int64_t N, int32_t* Y)
KERNEL(fill) {
  for (int64_t i = 0; i < N; ++i) Y[i] = 7;
}
#if defined(TILEOPT_EMULATE)
KERNEL(overrun) {}
KERNEL(hang) {}
KERNEL(broken) {}
KERNEL(missing) {}
extern "C" int64_t tileopt_workspace(const int64_t* sizes) { return sizes[0] < 0 ? -1 : 16; }
extern "C" int32_t tileopt_call(const int64_t* sizes, void** arrays, void* workspace) {
  if (workspace == nullptr || *(const int64_t*)arrays[1] != 42) return 5;
  const int64_t N = sizes[0];
  int32_t* Y = (int32_t*)arrays[0];
  if (sizes[1] == 0) return TILEOPT_LAUNCH(fill, dim3((unsigned)sizes[2]), dim3(32), (unsigned)sizes[3], nullptr, N, Y) ? 6 : 0;
  if (sizes[1] == 1) return TILEOPT_LAUNCH(overrun, dim3(1), dim3(32), 0, nullptr, N, Y) ? 6 : 0;
  if (sizes[1] == 2) return TILEOPT_LAUNCH(hang, dim3(1), dim3(32), 0, nullptr, N, Y) ? 6 : 0;
  if (sizes[1] == 3) return TILEOPT_LAUNCH(broken, dim3(1), dim3(32), 0, nullptr, N, Y) ? 6 : 0;
  return TILEOPT_LAUNCH(missing, dim3(1), dim3(32), 0, nullptr, N, Y) ? 6 : 0;
}
#endif
)";

/// Sets variables of the environment for its life.
class Environment {
 public:
  explicit Environment(const std::vector<std::pair<std::string, std::string>>& values) {
    for (const auto& [name, value] : values) {
      const char* before = std::getenv(name.c_str());
      before_.emplace_back(name, before == nullptr ? std::optional<std::string>() : before);
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~Environment() {
    for (const auto& [name, value] : before_) value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

std::string bytes_of(std::int32_t value, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  return bytes;
}

enum Kernel { fill, overrun, hang, broken, missing };

DeviceJob job(Kernel kernel, std::int64_t n = 5, std::int64_t blocks = 1, std::int64_t shared_bytes = 0) {
  const std::int64_t value = 42;
  DeviceJob result;
  result.sizes = {n, kernel, blocks, shared_bytes};
  result.arguments = {{"Y", true, false, bytes_of(1, 5)}, {"alpha", false, true, std::string(reinterpret_cast<const char*>(&value), sizeof value)}};
  return result;
}

class FakeDevice : public testing::Test {
 protected:
  static const emulator::LoadedObject& launcher() {
    static const emulator::Module module = emulator::Module::compile_launcher(text, "");
    return module.object();
  }
  Environment driver_{std::vector<std::pair<std::string, std::string>>{{"TILEOPT_LIBCUDA", TILEOPT_FAKE_DRIVER}}};
  DeviceProcess process_{"code", "sm_90", launcher()};
  DeviceAnswer answer_;
};

TEST_F(FakeDevice, RunsTheLauncherAndBringsResultsBack) {
  for (int call = 0; call < 2; ++call) {
    ASSERT_TRUE(process_.ask(job(fill), 20, answer_));
    ASSERT_EQ(answer_.end, DeviceAnswer::End::done) << answer_.text;
    EXPECT_EQ(answer_.results, (std::vector<std::string>{bytes_of(7, 5), ""}));
  }
}

TEST_F(FakeDevice, LeavesElementsThatAreNotWritten) {
  ASSERT_TRUE(process_.ask(job(fill, 3), 20, answer_));
  EXPECT_EQ(answer_.results.at(0), bytes_of(7, 3) + bytes_of(1, 2));
}

TEST_F(FakeDevice, TimesCallsOnTheSameArguments) {
  DeviceJob timed = job(fill);
  timed.seconds = 1e-9;
  timed.least = 4;
  ASSERT_TRUE(process_.ask(timed, 20, answer_));
  ASSERT_EQ(answer_.end, DeviceAnswer::End::done) << answer_.text;
  EXPECT_EQ(answer_.samples.size(), 4u);
  for (const double sample : answer_.samples) EXPECT_GT(sample, 0);
  EXPECT_EQ(answer_.last, answer_.results);
}

TEST_F(FakeDevice, TellsRefusalsAndLaunchesThatFail) {
  ASSERT_TRUE(process_.ask(job(fill, -1), 20, answer_));
  EXPECT_EQ(answer_.end, DeviceAnswer::End::refused);
  EXPECT_EQ(answer_.code, 1);
  ASSERT_TRUE(process_.ask(job(fill, 5, 0), 20, answer_));
  EXPECT_EQ(answer_.end, DeviceAnswer::End::refused);
  EXPECT_EQ(answer_.code, 6);
  ASSERT_TRUE(process_.ask(job(fill, 5, 1, 1 << 20), 20, answer_));
  EXPECT_EQ(answer_.code, 6);
  ASSERT_TRUE(process_.ask(job(missing), 20, answer_));
  EXPECT_EQ(answer_.code, 6);
  EXPECT_NE(answer_.text.find("missing: named symbol not found (500)"), std::string::npos) << answer_.text;
}

TEST_F(FakeDevice, SeesWritesOutsideOfArrays) {
  ASSERT_TRUE(process_.ask(job(overrun), 20, answer_));
  EXPECT_EQ(answer_.end, DeviceAnswer::End::overrun);
  EXPECT_EQ(answer_.text, "the kernel wrote outside array Y");
}

TEST_F(FakeDevice, StartsAgainAfterCrashesAndTimeOuts) {
  ASSERT_TRUE(process_.ask(job(broken), 20, answer_));
  EXPECT_EQ(answer_.end, DeviceAnswer::End::crashed);
  EXPECT_NE(answer_.text.find("illegal memory access"), std::string::npos) << answer_.text;
  EXPECT_FALSE(process_.ask(job(hang), 0.5, answer_));
  ASSERT_TRUE(process_.ask(job(fill), 20, answer_));
  EXPECT_EQ(answer_.end, DeviceAnswer::End::done) << answer_.text;
}

/// The message of the ToolchainError that asking gives.
std::string refusal(DeviceProcess& process, const DeviceJob& job) {
  DeviceAnswer answer;
  try {
    process.ask(job, 20, answer);
  } catch (const ToolchainError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(FakeDevice, ReasonsWhyItCannotBeUsed) {
  const auto reason = [&](const char* variable, const char* value, const char* cubin = "code", const char* architecture = "sm_90") {
    const Environment setting(std::vector<std::pair<std::string, std::string>>{{variable, value}});
    DeviceProcess process(cubin, architecture, launcher());
    return refusal(process, job(fill));
  };
  EXPECT_NE(reason("FAKE_GPUS", "0").find("no CUDA-capable device is detected (100)"), std::string::npos);
  EXPECT_NE(reason("FAKE_CAPABILITY", "80").find("the kernel is for sm_90, this machine's GPU (fake GPU) is sm_80"), std::string::npos);
  EXPECT_NE(reason("FAKE_MEMORY", "1000000").find("too little device memory for the workspace"), std::string::npos);
  EXPECT_NE(reason("FAKE_GPUS", "1", "bad!").find("the NVIDIA driver (12.4) does not load the compiled kernel"), std::string::npos);
  EXPECT_NE(reason("TILEOPT_LIBCUDA", "/nowhere/libcuda.so.1").find("no NVIDIA driver: "), std::string::npos);
  EXPECT_NE(reason("TILEOPT_LIBCUDA", "libm.so.6").find("too old: it has no cuInit"), std::string::npos);
  EXPECT_EQ(reason("FAKE_CAPABILITY", "90", "code", "sm_90a"), "no error");
}

TEST(CubinCache, FindsWhatWasStoredAndNothingElse) {
  const TemporaryDirectory folder;
  const CubinCache cache(folder.path() + "/below");
  std::string image, log;
  EXPECT_FALSE(cache.find("key", image, log));
  cache.store("key", std::string("a\0b", 3), "log");
  ASSERT_TRUE(cache.find("key", image, log));
  EXPECT_EQ(image, std::string("a\0b", 3));
  EXPECT_EQ(log, "log");
  EXPECT_FALSE(cache.find("other key", image, log));
  std::filesystem::copy_file(cache.path_of("key"), cache.path_of("other key"));
  EXPECT_FALSE(cache.find("other key", image, log)) << "an entry under the name of another key";
  std::filesystem::resize_file(cache.path_of("key"), 40);
  EXPECT_FALSE(cache.find("key", image, log)) << "half an entry";
  cache.store("key", "new", "");
  EXPECT_TRUE(cache.find("key", image, log));
  EXPECT_FALSE(CubinCache("").find("key", image, log));
}

TEST(Nvrtc, CompilesForTheArchitectureAndRemembers) {
  const TemporaryDirectory folder;
  const Environment cache(std::vector<std::pair<std::string, std::string>>{{"TILEOPT_CACHE", folder.path()}});
  Cubin first;
  try {
    first = compile_device_code(text, "sm_90", false);
  } catch (const ToolchainError& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_FALSE(first.cached);
  EXPECT_EQ(first.image.substr(1, 3), "ELF");
  EXPECT_NE(first.log.find("fill"), std::string::npos) << first.log;
  const Cubin second = compile_device_code(text, "sm_90", false);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(second.image, first.image);
  EXPECT_FALSE(compile_device_code(text, "sm_80", false).cached);
  try {
    compile_device_code("__global__ void broken(", "sm_90", false);
    ADD_FAILURE() << "compiled";
  } catch (const ToolchainError& error) {
    EXPECT_NE(std::string(error.what()).find("kernel.cu(1)"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tileopt::cuda
