/// Programs from text, and the reference interpreter.
#include "capi/guard.h"
#include "capi/host_memory.h"
#include "frontends/tile_text/tile_text.h"
#include "interpreter/interpreter.h"

using namespace tileopt::capi;
using tileopt::ErrorCode;

namespace {

std::unique_ptr<ProgramObject> parse(const std::shared_ptr<Session>& session, const std::string& text, const std::string& name,
                                     const tileopt::SourceTexts& texts, const char* sizes) {
  auto program = std::make_unique<ProgramObject>();
  program->session = session;
  program->texts = texts;
  tileopt::ConstantValues constants;
  if (sizes != nullptr) constants[""] = tileopt::parse_sizes(sizes, "sizes");
  program->file = tileopt::parse_tile_file(session->context.get(), text, name, constants);
  if (program->file.programs.size() != 1)
    reject(ErrorCode::unsupported, name + " declares " + std::to_string(program->file.programs.size()) + " programs, expected one",
           "parse one program at a time");
  program->program = std::make_shared<const tileopt::Program>(program->file.programs.front());
  program->hash = program->program->hash();
  for (const auto& [size, value] : constants[""])
    if (!program->file.constants[program->program->name()].contains(size))
      reject(ErrorCode::invalid_size, "program `" + program->program->name() + "` has no `const` parameter `" + size + "`",
             "sizes that the kernel takes at run time are options of tileopt_module_compile");
  return program;
}

}  // namespace

extern "C" {

tileopt_error* tileopt_program_parse_sized(tileopt_session* session, const char* text, size_t length, const char* file_name,
                                           const char* sizes, tileopt_program** out_program) {
  tileopt::SourceTexts texts;
  return guard(texts, [&] {
    const auto object = need(session, "session");
    need_pointer(out_program, "out_program");
    if (length > 0) need_pointer(text, "text");
    const std::string name = file_name == nullptr ? "<text>" : file_name;
    const std::string copy(text == nullptr ? "" : text, length);
    texts.add(name, copy);
    in_session(*object, [&] { *out_program = insert<tileopt_program>(owned(object, parse(object, copy, name, texts, sizes))); });
  });
}
tileopt_error* tileopt_program_parse(tileopt_session* session, const char* text, size_t length, const char* file_name,
                                     tileopt_program** out_program) {
  return tileopt_program_parse_sized(session, text, length, file_name, nullptr, out_program);
}
const char* tileopt_program_peek_name(const tileopt_program* program) {
  return ask(program, "", [](const ProgramObject& object) { return object.program->name().c_str(); });
}
const char* tileopt_program_peek_text(const tileopt_program* program) {
  return ask(program, "", [](const ProgramObject& object) { return object.program->text().c_str(); });
}
const char* tileopt_program_peek_hash(const tileopt_program* program) {
  return ask(program, "", [](const ProgramObject& object) { return object.hash.c_str(); });
}
tileopt_error* tileopt_program_interpret(const tileopt_program* program, const int64_t* sizes, size_t size_count, void* const* arguments,
                                         size_t argument_count) {
  return guard([&] {
    const auto object = need(program, "program");
    in_session(*object->session, [&] {
      const tileopt::Program& source = *object->program;
      const tileopt::Signature signature = tileopt::make_signature(source, {});
      const tileopt::Sizes values = size_map(signature.sizes, sizes, size_count);
      tileopt::check_sizes(source, values);
      tileopt::Arrays arrays = read_arguments(signature, values, arguments, argument_count);
      const tileopt::InterpreterResult result = tileopt::interpret(source, values, arrays);
      for (const auto& [name, array] : result.values) arrays[name] = array;
      write_results(signature, values, arrays, arguments);
    });
  });
}
void tileopt_program_free(tileopt_program* program) { erase(program); }

}  // extern "C"
