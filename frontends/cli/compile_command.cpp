#include <iostream>

#include "driver/module_file.h"
#include "frontends/cli/commands.h"
#include "frontends/cli/compile_one.h"
#include "frontends/cli/items.h"
#include "frontends/cli/outputs.h"
#include "support/json_text.h"

namespace tileopt::cli {

namespace {

void check_output(const std::string& path, const std::string& extension) {
  if (path.empty() || path.ends_with(extension)) return;
  throw Errors(Diagnostic{ErrorCode::invalid_option, {path, 0, 0}, "the output file does not end in " + extension,
                          "give a " + extension + " file (the header is written beside it) or a folder, e.g. -o out/", ""});
}

std::string summary_text(const Compiled& compiled, const std::string& output) {
  const Document counts = certificate_summary(compiled.module->certificate);
  const std::size_t kernels = compiled.module->plan.kernels.size();
  const std::string proofs = compiled.module->certificate.proved() ? counts["proved"].dump() + " obligations proved, " : "NOT PROVED (--prove none), ";
  return std::to_string(kernels) + (kernels == 1 ? " kernel, " : " kernels, ") + proofs +
         std::to_string(static_cast<long>(compiled.milliseconds + 0.5)) + " ms" + (output.empty() ? "" : " -> " + output);
}

}  // namespace

ItemResult compile_one(const Item& item, bool json) {
  check_output(item.output, find_backend(item.request.backend).extension());
  Compiled compiled = compile_item(item);
  if (!compiled.module) return compiled.failed;
  const Module& module = *compiled.module;
  ItemResult result;
  result.summary = summary_text(compiled, item.output);
  result.details["machine"] = item.request.machine.name;
  result.details["milliseconds"] = compiled.milliseconds;
  result.details["kernels"] = module.plan.kernels.size();
  result.details["obligations"] = certificate_summary(module.certificate);
  if (!item.module.empty()) {
    write_file(item.module, json_text(write_module(*item.program, item.request.machine, item.request.backend, module), 1) + "\n");
    result.details["module_file"] = item.module;
  }
  if (!item.output.empty()) {
    const std::string header = header_path(item.output);
    write_file(item.output, module.text.source);
    write_file(header, module.text.header);
    result.details["source_file"] = item.output;
    result.details["header_file"] = header;
  } else if (!item.module.empty()) {
    // The module holds the source.
  } else if (json) {
    result.details["source"] = module.text.source;
    result.details["header"] = module.text.header;
    result.details["plan"] = module.plan.write();
  } else {
    std::cout << module.text.source;
  }
  return result;
}

int run_compile(const Options& options) {
  if (!options.machines.empty()) return run_batch(options);
  return run_items(options, [&](const Item& item) { return compile_one(item, options.json); });
}

}  // namespace tileopt::cli
