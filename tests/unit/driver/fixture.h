// Programs compiled for a machine file, so that results do not depend on the host.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"

namespace tileopt::test {

class DriverTest : public ::testing::Test {
 protected:
  DriverTest() : folder_(std::filesystem::temp_directory_path() / ("tileopt_driver_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~DriverTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::shared_ptr<const Program> parse(const std::string& text) {
    return std::make_shared<const Program>(parse_tile_file(context_.get(), text, "test.tile").programs.at(0));
  }
  std::shared_ptr<const Program> kernel(const std::string& name) {
    const std::string file = std::string(TILEOPT_SOURCE_DIR) + "/benchmarks/kernels/" + name + ".tile";
    return std::make_shared<const Program>(parse_tile_file(context_.get(), read_file(file), name + ".tile").programs.at(0));
  }
  Request request() const {
    Request request;
    request.machine = find_machine("x86-64-v3");
    return request;
  }
  // Compiles, dumps into `folder` of this test, and fails the test where that is refused.
  Module compile_or_fail(const std::shared_ptr<const Program>& program, const Request& request, const std::string& dump = "",
                         const EditedAsts& edited = {}) {
    Trace trace({dump.empty() ? "" : path(dump), ""});
    Candidate<Outcome> outcome = resolve_and_compile(program, request, trace, edited);
    if (auto* refused = std::get_if<Infeasible>(&outcome)) {
      ADD_FAILURE() << to_string(*refused);
      return {};
    }
    EXPECT_EQ(unproved_text(std::get<Outcome>(outcome).module.certificate), "");
    return std::move(std::get<Outcome>(outcome).module);
  }
  Module resume_or_fail(const std::string& dump, const std::string& folder) {
    Resumed resumed = resume_from(context_.get(), dump);
    Request request;
    request.machine = resumed.machine;
    request.plan = resumed.plan;
    return compile_or_fail(resumed.program, request, folder, resumed.asts);
  }

  poly::Context context_;
  std::filesystem::path folder_;
};

}  // namespace tileopt::test
