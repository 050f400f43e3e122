/// Settings by key, and pins by their parts.
#include <charconv>
#include <functional>
#include <map>

#include "capi/guard.h"
#include "support/text.h"

using namespace tileopt::capi;
using tileopt::ErrorCode;

namespace tileopt::capi {

int parse_threads(const std::string& text, const std::string& what) {
  int threads = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (failure != std::errc() || end != text.data() + text.size() || threads < 1 || threads > 4096)
    reject(ErrorCode::invalid_option, what + " `threads`: `" + text + "` is not a number of threads", "give a whole number from 1 to 4096");
  return threads;
}

bool parse_yes_or_no(const std::string& text, const std::string& what, const SourceLocation& where) {
  if (text != "yes" && text != "no") throw Errors(Diagnostic{ErrorCode::invalid_option, where, what + ": `" + text + "` is neither yes nor no", "give yes or no", ""});
  return text == "yes";
}

}  // namespace tileopt::capi

namespace {

using Values = OptionsObject::Values;
using Setter = std::function<void(Values&, const std::string&)>;

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table = {
      {"machine", [](Values& o, const std::string& value) { o.machine = value, o.machine_json.clear(), o.machine_object = nullptr; }},
      {"machine_json", [](Values& o, const std::string& value) { o.machine_json = value, o.machine_object = nullptr; }},
      {"backend", [](Values& o, const std::string& value) { tileopt::find_backend(value), o.backend = value; }},
      {"threads", [](Values& o, const std::string& value) { o.threads = parse_threads(value, "option"); }},
      {"sizes", [](Values& o, const std::string& value) { o.resolve.typical_sizes = tileopt::parse_sizes(value, "option `sizes`"); }},
      {"pin", [](Values& o, const std::string& value) { tileopt::parse_pins(value, "pin"), o.pins.push_back(value); }},
      {"pins_json", [](Values& o, const std::string& value) { read_pins_json(value), o.pins_json = value; }},
      {"schedule", [](Values& o, const std::string& value) { o.schedule = value; }},
      {"plan_json", [](Values& o, const std::string& value) { o.plan_json = value; }},
      {"rewrites", [](Values& o, const std::string& value) { o.resolve.rewrites = parse_yes_or_no(value, "option `rewrites`"); }},
  };
  return table;
}

/// A word of a pin as the tile language writes it: numbers as they are, everything else quoted. Nothing in it may end the quotes.
std::string word(const std::string& text) {
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (number) return text;
  for (const char c : text)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e)
      reject(ErrorCode::invalid_pin, "a pin's argument holds a quote, a backslash or what is not printable ASCII", "arguments are names, levels and numbers");
  return "\"" + text + "\"";
}

std::string pin_text(const char* primitive, const char* const* arguments, size_t argument_count, const char* const* keys,
                     const char* const* values, size_t key_count) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < argument_count; ++i) {
    need_pointer(arguments[i], "arguments[i]");
    parts.push_back(word(arguments[i]));
  }
  for (size_t i = 0; i < key_count; ++i) {
    need_pointer(keys[i], "keys[i]");
    need_pointer(values[i], "values[i]");
    parts.push_back(std::string(keys[i]) + "=" + word(values[i]));
  }
  return std::string(primitive) + "(" + tileopt::join(parts, ", ") + ")";
}

}  // namespace

extern "C" {

tileopt_error* tileopt_options_create(tileopt_options** out_options) {
  return guard([&] {
    need_pointer(out_options, "out_options");
    *out_options = insert<tileopt_options>(std::make_shared<OptionsObject>());
  });
}

tileopt_error* tileopt_options_set(tileopt_options* options, const char* key, const char* value) {
  tileopt::SourceTexts texts;
  return guard(texts, [&] {
    const auto object = need(options, "options");
    need_pointer(key, "key");
    need_pointer(value, "value");
    texts.add(key, value);
    const auto setter = setters().find(key);
    if (setter == setters().end()) {
      std::vector<std::string> keys;
      for (const auto& entry : setters()) keys.push_back(entry.first);
      reject(ErrorCode::invalid_option, std::string("unknown option `") + key + "`", "options: " + tileopt::join(keys, ", "));
    }
    const std::lock_guard lock(object->mutex);
    setter->second(object->values, value);
  });
}

tileopt_error* tileopt_options_set_machine(tileopt_options* options, const tileopt_machine* machine) {
  return guard([&] {
    const auto object = need(options, "options");
    const auto chosen = need(machine, "machine")->machine;
    const std::lock_guard lock(object->mutex);
    object->values.machine_object = chosen;
  });
}

tileopt_error* tileopt_options_add_pin(tileopt_options* options, const char* primitive, const char* const* arguments, size_t argument_count,
                                       const char* const* keys, const char* const* values, size_t key_count) {
  tileopt::SourceTexts texts;
  return guard(texts, [&] {
    const auto object = need(options, "options");
    need_pointer(primitive, "primitive");
    if (argument_count > 0) need_pointer(arguments, "arguments");
    if (key_count > 0) need_pointer(keys, "keys"), need_pointer(values, "values");
    if (argument_count > 1000 || key_count > 1000) reject(ErrorCode::invalid_pin, "a pin of more than 1000 words", "give the counts of `arguments` and `keys`");
    const std::string text = pin_text(primitive, arguments, argument_count, keys, values, key_count);
    texts.add("pin", text);
    if (tileopt::parse_pins(text, "pin").pins.size() != 1) reject(ErrorCode::invalid_pin, "`" + text + "` is not one pin", "call this once for each pin");
    const std::lock_guard lock(object->mutex);
    object->values.pins.push_back(text);
  });
}

void tileopt_options_free(tileopt_options* options) { erase(options); }

}  // extern "C"
