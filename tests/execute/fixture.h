/// Tile text compiled under several plans, run beside the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/openmp/runner.h"
#include "cost_models/machines.h"
#include "driver/check_kernel.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"

namespace tileopt::test {

class Execute : public ::testing::Test {
 protected:
  void compile(const std::string& text, const std::vector<std::string>& pins = {"", "schedule(\"original\")"}) {
    program_ = std::make_shared<const Program>(parse_tile_file(context_.get(), text, "test.tile").programs.at(0));
    for (const std::string& pin : pins)
      for (const int threads : {1, 2}) {
        Request request;
        request.machine = find_machine("host");
        request.resolve.threads = threads;
        if (!pin.empty()) request.pins = parse_pins(pin, "pins");
        Trace trace;
        Candidate<Outcome> outcome = resolve_and_compile(program_, request, trace);
        ASSERT_FALSE(std::holds_alternative<Infeasible>(outcome)) << to_string(std::get<Infeasible>(outcome));
        const Module module = std::move(std::get<Outcome>(outcome).module);
        EXPECT_EQ(unproved_text(module.certificate), "");
        kernels_.push_back(CompiledKernel::compile(*program_, module.text, request.machine, {"", {"-Wall", "-Werror", "-Wno-unused-function"}}));
      }
  }

  Arrays arguments(const Sizes& sizes) const { return make_arguments(*program_, sizes, 5, Fill::integers); }

  /// Runs every kernel; hands the results to `check`, and those of the interpreter too.
  template <class Check>
  void run(const Sizes& sizes, const Arrays& arguments, Check&& check) const {
    check(interpret(*program_, sizes, arguments).values);
    for (const CompiledKernel& kernel : kernels_) {
      Arrays copy = arguments;
      ASSERT_EQ(kernel.run(sizes, copy), 0);
      check(copy);
    }
  }

  bool is_infeasible(const std::string& text, const std::string& pin) {
    program_ = std::make_shared<const Program>(parse_tile_file(context_.get(), text, "test.tile").programs.at(0));
    Request request;
    request.machine = find_machine("host");
    request.pins = parse_pins(pin, "pins");
    Trace trace;
    return std::holds_alternative<Infeasible>(resolve_and_compile(program_, request, trace));
  }

  /// Against the interpreter within its bounds, at many sizes.
  void check_sizes(const SizeSpread& spread) const {
    std::vector<const IsolatedKernel*> pointers;
    for (const CompiledKernel& kernel : kernels_) pointers.push_back(&kernel);
    const CheckReport report = check_kernels(*program_, pointers, spread_sizes(*program_, spread), 3, 1 << 16);
    EXPECT_EQ(report.failure, "");
    EXPECT_GT(report.runs, 0);
  }

  poly::Context context_;
  std::shared_ptr<const Program> program_;
  std::vector<CompiledKernel> kernels_;
};

}  // namespace tileopt::test
