/// What can be asked of a module.
#include "backends/c_common/integer_c.h"
#include "capi/guard.h"
#include "capi/host_memory.h"
#include "capi/module_report.h"
#include "interpreter/flat_affine.h"
#include "interpreter/interpreter.h"

using namespace tileopt::capi;
using tileopt::ErrorCode;

namespace {

const char* text_of(const tileopt_module* module, std::string ModuleObject::*member) noexcept {
  return ask(module, "", [&](const ModuleObject& object) { return (object.*member).c_str(); });
}

template <class Answer, class Read>
Answer of_argument(const tileopt_module* module, size_t at, Answer fallback, Read&& read) noexcept {
  return ask(module, fallback, [&](const ModuleObject& object) { return entry(object.signature.arguments, at, fallback, read); });
}
template <class Answer, class Read>
Answer of_launch(const tileopt_module* module, size_t at, Answer fallback, Read&& read) noexcept {
  return ask(module, fallback, [&](const ModuleObject& object) { return entry(object.launches, at, fallback, read); });
}
template <class Answer, class Read>
Answer of_kernel(const tileopt_module* module, size_t at, Answer fallback, Read&& read) noexcept {
  return ask(module, fallback, [&](const ModuleObject& object) { return entry(object.kernels, at, fallback, read); });
}
const char* c_text(const std::string& text) { return text.c_str(); }

/// Sizes that the program allows. In the session's turn: isl is asked.
tileopt::Sizes allowed_sizes(const ModuleObject& module, const int64_t* values, size_t count) {
  tileopt::Sizes sizes = size_map(module.signature.sizes, values, count);
  in_session(*module.session, [&] { tileopt::check_sizes(*module.program, sizes); });
  return sizes;
}

[[noreturn]] void no_such(const char* what, size_t index, size_t count) {
  reject(ErrorCode::invalid_option, "the module has " + std::to_string(count) + " " + what + ", none of number " + std::to_string(index), "count from 0");
}

}  // namespace

extern "C" {

const char* tileopt_module_peek_name(const tileopt_module* module) { return text_of(module, &ModuleObject::name); }
const char* tileopt_module_peek_source(const tileopt_module* module) { return text_of(module, &ModuleObject::source); }
const char* tileopt_module_peek_header(const tileopt_module* module) { return text_of(module, &ModuleObject::header); }
const char* tileopt_module_peek_extension(const tileopt_module* module) { return text_of(module, &ModuleObject::extension); }
const char* tileopt_module_peek_flags(const tileopt_module* module) { return text_of(module, &ModuleObject::flags); }
const char* tileopt_module_peek_certificate(const tileopt_module* module) { return text_of(module, &ModuleObject::certificate); }
const char* tileopt_module_peek_plan(const tileopt_module* module) { return text_of(module, &ModuleObject::plan); }
const char* tileopt_module_peek_reasons(const tileopt_module* module) { return text_of(module, &ModuleObject::reasons); }
const char* tileopt_module_peek_function(const tileopt_module* module) {
  return ask(module, "", [](const ModuleObject& object) { return object.signature.function.c_str(); });
}

size_t tileopt_module_size_count(const tileopt_module* module) {
  return ask(module, size_t(0), [](const ModuleObject& object) { return object.signature.sizes.size(); });
}
const char* tileopt_module_peek_size(const tileopt_module* module, size_t size) {
  return ask(module, "", [&](const ModuleObject& object) { return entry(object.signature.sizes, size, "", c_text); });
}

size_t tileopt_module_argument_count(const tileopt_module* module) {
  return ask(module, size_t(0), [](const ModuleObject& object) { return object.signature.arguments.size(); });
}
const char* tileopt_module_peek_argument(const tileopt_module* module, size_t argument) {
  return of_argument(module, argument, "", [](const tileopt::TensorArgument& a) { return a.tensor.c_str(); });
}
const char* tileopt_module_peek_argument_type(const tileopt_module* module, size_t argument) {
  return ask(module, "", [&](const ModuleObject& object) {
    return entry(object.arguments, argument, "", [](const ModuleObject::ArgumentText& a) { return a.type.c_str(); });
  });
}
tileopt_role tileopt_module_argument_role(const tileopt_module* module, size_t argument) {
  return of_argument(module, argument, TILEOPT_IN, [](const tileopt::TensorArgument& a) {
    switch (a.role) {
      case tileopt::TensorRole::in: return TILEOPT_IN;
      case tileopt::TensorRole::out: return TILEOPT_OUT;
      case tileopt::TensorRole::inout: return TILEOPT_INOUT;
      case tileopt::TensorRole::local: return TILEOPT_LOCAL;
    }
    return TILEOPT_IN;
  });
}
size_t tileopt_module_argument_rank(const tileopt_module* module, size_t argument) {
  return of_argument(module, argument, size_t(0), [](const tileopt::TensorArgument& a) { return a.shape.size(); });
}
int tileopt_module_argument_by_value(const tileopt_module* module, size_t argument) {
  return of_argument(module, argument, 0, [](const tileopt::TensorArgument& a) { return a.by_value ? 1 : 0; });
}
int tileopt_module_argument_packed(const tileopt_module* module, size_t argument) {
  return of_argument(module, argument, 0, [](const tileopt::TensorArgument& a) { return a.packed ? 1 : 0; });
}
const char* tileopt_module_peek_argument_extent(const tileopt_module* module, size_t argument, size_t dimension) {
  return ask(module, "", [&](const ModuleObject& object) {
    return entry(object.arguments, argument, "", [&](const ModuleObject::ArgumentText& a) { return entry(a.extents, dimension, "", c_text); });
  });
}
const char* tileopt_module_peek_argument_stride(const tileopt_module* module, size_t argument, size_t dimension) {
  return ask(module, "", [&](const ModuleObject& object) {
    return entry(object.arguments, argument, "", [&](const ModuleObject::ArgumentText& a) { return entry(a.strides, dimension, "", c_text); });
  });
}
tileopt_error* tileopt_module_evaluate_argument(const tileopt_module* module, size_t argument, const int64_t* sizes, size_t size_count,
                                                int64_t* out_extents, int64_t* out_strides, int64_t* out_bytes) {
  return guard([&] {
    const auto object = need(module, "module");
    const auto& all = object->signature.arguments;
    if (argument >= all.size()) no_such("arguments", argument, all.size());
    const tileopt::Sizes values = allowed_sizes(*object, sizes, size_count);
    const std::int64_t bytes = argument_bytes(all[argument], values);
    const std::vector<tileopt::AstExprPtr> strides = tileopt::element_strides(all[argument]);
    for (std::size_t d = 0; d < strides.size(); ++d) {
      if (out_extents != nullptr) out_extents[d] = tileopt::evaluate(all[argument].shape[d], values);
      if (out_strides != nullptr) out_strides[d] = tileopt::evaluate(strides[d], values);
    }
    if (out_bytes != nullptr) *out_bytes = bytes;
  });
}
tileopt_error* tileopt_module_evaluate_workspace(const tileopt_module* module, const int64_t* sizes, size_t size_count, int64_t* out_bytes) {
  return guard([&] {
    const auto object = need(module, "module");
    need_pointer(out_bytes, "out_bytes");
    *out_bytes = workspace_bytes(*object, allowed_sizes(*object, sizes, size_count));
  });
}

size_t tileopt_module_kernel_count(const tileopt_module* module) {
  return ask(module, size_t(0), [](const ModuleObject& object) { return object.kernels.size(); });
}
const char* tileopt_module_peek_kernel(const tileopt_module* module, size_t kernel) {
  return of_kernel(module, kernel, "", [](const ModuleKernel& k) { return k.name.c_str(); });
}
const char* tileopt_module_peek_kernel_statements(const tileopt_module* module, size_t kernel) {
  return of_kernel(module, kernel, "", [](const ModuleKernel& k) { return k.statements_text.c_str(); });
}
int64_t tileopt_module_kernel_workspace(const tileopt_module* module, size_t kernel) {
  return of_kernel(module, kernel, int64_t(0), [](const ModuleKernel& k) { return k.workspace_bytes; });
}
const char* tileopt_module_peek_kernel_when(const tileopt_module* module, size_t kernel) {
  return of_kernel(module, kernel, "", [](const ModuleKernel& k) { return k.when.c_str(); });
}
tileopt_error* tileopt_module_evaluate_kernel(const tileopt_module* module, size_t kernel, const int64_t* sizes, size_t size_count, int* out_runs) {
  return guard([&] {
    const auto object = need(module, "module");
    need_pointer(out_runs, "out_runs");
    if (kernel >= object->kernels.size()) no_such("kernels", kernel, object->kernels.size());
    const tileopt::Sizes values = allowed_sizes(*object, sizes, size_count);
    const ModuleKernel& asked = object->kernels[kernel];
    in_session(*object->session, [&] {
      *out_runs = asked.when.empty() || !tileopt::fix_parameters(tileopt::read_when(*object->program, asked.when, asked.name), values).is_empty() ? 1 : 0;
    });
  });
}

size_t tileopt_module_launch_count(const tileopt_module* module) {
  return ask(module, size_t(0), [](const ModuleObject& object) { return object.launches.size(); });
}
const char* tileopt_module_peek_launch(const tileopt_module* module, size_t launch) {
  return of_launch(module, launch, "", [](const Launch& l) { return l.name.c_str(); });
}
size_t tileopt_module_launch_kernel(const tileopt_module* module, size_t launch) {
  return of_launch(module, launch, size_t(0), [](const Launch& l) { return l.kernel; });
}
int64_t tileopt_module_launch_threads(const tileopt_module* module, size_t launch) {
  return of_launch(module, launch, int64_t(0), [](const Launch& l) { return l.threads; });
}
int64_t tileopt_module_launch_shared_bytes(const tileopt_module* module, size_t launch) {
  return of_launch(module, launch, int64_t(0), [](const Launch& l) { return l.shared_bytes; });
}
const char* tileopt_module_peek_launch_blocks(const tileopt_module* module, size_t launch) {
  return of_launch(module, launch, "", [](const Launch& l) { return l.blocks_text.c_str(); });
}
const char* tileopt_module_peek_launch_loops(const tileopt_module* module, size_t launch) {
  return of_launch(module, launch, "", [](const Launch& l) { return l.host_text.c_str(); });
}
tileopt_error* tileopt_module_evaluate_launch(const tileopt_module* module, size_t launch, const int64_t* sizes, size_t size_count,
                                              int64_t* out_launches, int64_t* out_blocks) {
  return guard([&] {
    const auto object = need(module, "module");
    need_pointer(out_launches, "out_launches");
    need_pointer(out_blocks, "out_blocks");
    if (launch >= object->launches.size()) no_such("launches", launch, object->launches.size());
    const auto [launches, blocks] = launch_counts(object->launches[launch], allowed_sizes(*object, sizes, size_count));
    *out_launches = launches;
    *out_blocks = blocks;
  });
}

double tileopt_module_cost(const tileopt_module* module) {
  return ask(module, 0.0, [](const ModuleObject& object) { return object.cost ? object.cost->seconds : 0.0; });
}
size_t tileopt_module_cost_part_count(const tileopt_module* module) {
  return ask(module, size_t(0), [](const ModuleObject& object) { return object.cost ? object.cost->parts.size() : 0; });
}
const char* tileopt_module_peek_cost_part(const tileopt_module* module, size_t part) {
  return ask(module, "", [&](const ModuleObject& object) {
    return object.cost ? entry(object.cost->parts, part, "", [](const auto& p) { return p.first.c_str(); }) : "";
  });
}
double tileopt_module_cost_part(const tileopt_module* module, size_t part) {
  return ask(module, 0.0, [&](const ModuleObject& object) {
    return object.cost ? entry(object.cost->parts, part, 0.0, [](const auto& p) { return p.second; }) : 0.0;
  });
}
const char* tileopt_module_peek_cost_binding(const tileopt_module* module) {
  return ask(module, "", [](const ModuleObject& object) { return object.cost ? object.cost->binding.c_str() : ""; });
}

}  // extern "C"
