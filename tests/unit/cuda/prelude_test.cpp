// What stands before every printed text.
#include "backends/cuda/prelude.h"

#include <gtest/gtest.h>

namespace tileopt {
namespace {

/// NVRTC has no stdint.h: what helpers that saturate mention is defined for it.
TEST(CudaPrelude, KnowsTheLimitsOfIntegers) {
  const std::string prelude = cuda_prelude({});
  for (const char* bits : {"8", "16", "32", "64"})
    for (const std::string& name : {std::string("INT") + bits + "_MIN", std::string("INT") + bits + "_MAX", std::string("UINT") + bits + "_MAX"})
      EXPECT_NE(prelude.find("#define " + name + " "), std::string::npos) << name;
}

}  // namespace
}  // namespace tileopt
