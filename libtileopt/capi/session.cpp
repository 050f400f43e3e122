/// Sessions and programs.
#include "capi/handles.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"

using tileopt::ErrorCode;
using tileopt::capi::guard;
using tileopt::capi::reject;

extern "C" {

tileopt_error* tileopt_session_create(tileopt_session** out_session) {
  return guard([&] {
    if (out_session == nullptr) reject(ErrorCode::invalid_option, "out_session is NULL", "give the address of a tileopt_session *");
    *out_session = new tileopt_session{std::make_shared<tileopt::poly::Context>()};
  });
}
void tileopt_session_free(tileopt_session* session) { delete session; }

tileopt_error* tileopt_program_parse_sized(tileopt_session* session, const char* text, size_t length, const char* file_name,
                                           const char* sizes, tileopt_program** out_program) {
  tileopt::SourceTexts texts;
  return guard(texts, [&] {
    if (session == nullptr || out_program == nullptr || (text == nullptr && length > 0))
      reject(ErrorCode::invalid_option, "session, text or out_program is NULL", "give all three");
    auto program = std::make_unique<tileopt_program>();
    const std::string name = file_name == nullptr ? "<text>" : file_name;
    const std::string copy(text == nullptr ? "" : text, length);
    texts.add(name, copy);
    program->texts = texts;
    program->context = session->context;
    tileopt::ConstantValues constants;
    if (sizes != nullptr) constants[""] = tileopt::parse_sizes(sizes, "sizes");
    program->file = tileopt::parse_tile_file(program->context->get(), copy, name, constants);
    if (program->file.programs.size() != 1)
      reject(ErrorCode::unsupported, name + " declares " + std::to_string(program->file.programs.size()) + " programs, expected one",
             "parse one program at a time");
    program->program = std::make_shared<const tileopt::Program>(program->file.programs.front());
    for (const auto& [size, value] : constants[""])
      if (!program->file.constants[program->program->name()].contains(size))
        reject(ErrorCode::invalid_size, "program `" + program->program->name() + "` has no `const` parameter `" + size + "`",
               "sizes that the kernel takes at run time are options of tileopt_module_compile");
    *out_program = program.release();
  });
}
tileopt_error* tileopt_program_parse(tileopt_session* session, const char* text, size_t length, const char* file_name,
                                     tileopt_program** out_program) {
  return tileopt_program_parse_sized(session, text, length, file_name, nullptr, out_program);
}
const char* tileopt_program_peek_name(const tileopt_program* program) { return program->program->name().c_str(); }
const char* tileopt_program_peek_text(const tileopt_program* program) { return program->program->text().c_str(); }
void tileopt_program_free(tileopt_program* program) { delete program; }

}  // extern "C"
