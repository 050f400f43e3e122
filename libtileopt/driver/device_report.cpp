#include "driver/device_report.h"

#include "backends/cuda/runtime/nvrtc.h"
#include "backends/cuda/runtime/ptxas_report.h"
#include "backends/hip/code_report.h"
#include "support/error.h"

namespace tileopt {

namespace {
DeviceReport report_cuda_code(const SourceText& text, const Machine& machine, bool contract) {
  const std::string architecture = cuda::architecture_of(machine);
  const cuda::Cubin cubin = cuda::compile_device_code(text.source, architecture, contract);
  return {"NVRTC for " + architecture, cuda::read_ptxas_log(cubin.log)};
}
}  // namespace

DeviceReport report_device_code(const Program& program, const SourceText& text, const Machine& machine) {
  if (!machine.has_agents())
    throw Errors(Diagnostic{ErrorCode::invalid_option, {}, "--device-report is about kernels of GPUs; machine " + machine.name + " is a processor",
                            "choose a GPU, e.g. --machine h200, or leave --device-report away", ""});
  const bool contract = program.numerics().contract;
  DeviceReport report = machine.backend == "hip" ? report_hip_code(text, machine, contract) : report_cuda_code(text, machine, contract);
  for (KernelResources& kernel : report.kernels)
    for (const PrintFacts& facts : text.facts)
      for (const PrintFacts::Launch& launch : facts.launches)
        if (launch.kernel == kernel.kernel) kernel.shared_bytes += launch.shared_bytes;
  return report;
}

std::string device_report_text(const DeviceReport& report) {
  std::string text = "  device code by " + report.compiler + "\n";
  for (const KernelResources& kernel : report.kernels)
    text += "    " + kernel.kernel + ": " + std::to_string(kernel.registers) + " registers, " + std::to_string(kernel.spilled_bytes) + " bytes spilled, " +
            std::to_string(kernel.shared_bytes) + " bytes of shared memory\n";
  return text;
}

}  // namespace tileopt
