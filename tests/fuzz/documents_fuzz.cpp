// Any bytes as a dump, a Plan or a machine file: a value, or errors.
#include <cstddef>
#include <cstdint>
#include <string>

#include "driver/stage_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto attempt = [](const auto& read) {
    try {
      read();
    } catch (const tileopt::Errors&) {
    }
  };
  attempt([&] { tileopt::StageDump::read(text, "fuzz.yaml"); });
  attempt([&] { tileopt::Plan::read(tileopt::parse_yaml(text, "fuzz.yaml"), "fuzz.yaml"); });
  attempt([&] { tileopt::Machine::read(tileopt::parse_json(text, "fuzz.json"), "fuzz.json"); });
  attempt([&] { tileopt::Ast::read(tileopt::parse_yaml(text, "fuzz.yaml"), "fuzz.yaml"); });
  return 0;
}
