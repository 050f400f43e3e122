/// Partial Plans as JSON: the pins of schedule primitives as data.
#include "capi/guard.h"
#include "support/document.h"
#include "support/text.h"

namespace tileopt::capi {

namespace {

std::string pin_word(const Document& value) {
  if (value.is_number_integer()) return value.dump();
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (!value.is_string()) reject(ErrorCode::invalid_pin, "a pin's argument is neither text nor a whole number", "write [{\"primitive\": \"tile\", \"arguments\": [\"thread\"], \"keywords\": {\"i\": 64}}]");
  const std::string text = value.get<std::string>();
  for (const char c : text)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e)
      reject(ErrorCode::invalid_pin, "a pin's argument holds a quote, a backslash or what is not printable ASCII", "arguments are names, levels and numbers");
  return "\"" + text + "\"";
}

std::string pin_call(const Document& pin) {
  const std::string form = "write [{\"primitive\": \"tile\", \"arguments\": [\"thread\"], \"keywords\": {\"i\": 64}}]";
  if (!pin.is_object() || !pin.contains("primitive") || !pin["primitive"].is_string()) reject(ErrorCode::invalid_pin, "a pin names no primitive", form);
  std::vector<std::string> parts;
  for (const auto& [key, value] : pin.items()) {
    if (key == "primitive") continue;
    if (key == "arguments" && value.is_array()) {
      for (const Document& argument : value) parts.push_back(pin_word(argument));
    } else if (key != "keywords" || !value.is_object()) {
      reject(ErrorCode::invalid_pin, "a pin has an entry `" + key + "` that is unknown or of another type", form);
    }
  }
  if (pin.contains("keywords"))
    for (const auto& [key, value] : pin["keywords"].items()) parts.push_back(key + "=" + pin_word(value));
  return pin["primitive"].get<std::string>() + "(" + join(parts, ", ") + ")";
}

}  // namespace

Pins read_pins_json(const std::string& text) {
  const Document document = parse_json(text, "pins_json");
  if (!document.is_array()) reject(ErrorCode::invalid_pin, "pins_json is no list", "write [{\"primitive\": \"tile\", \"arguments\": [\"thread\"], \"keywords\": {\"i\": 64}}]");
  Pins pins;
  for (const Document& entry : document) {
    const Pins one = parse_pins(pin_call(entry), "pin");
    pins.pins.insert(pins.pins.end(), one.pins.begin(), one.pins.end());
  }
  return pins;
}

}  // namespace tileopt::capi
