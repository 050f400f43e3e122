/// Settings by key.
#include <charconv>
#include <functional>
#include <map>

#include "capi/handles.h"
#include "support/text.h"

using tileopt::ErrorCode;
using tileopt::capi::guard;
using tileopt::capi::reject;

namespace {

int parse_threads(const std::string& text) {
  int threads = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (failure != std::errc() || end != text.data() + text.size() || threads < 1 || threads > 4096)
    reject(ErrorCode::invalid_option, "option `threads`: `" + text + "` is not a number of threads", "give a whole number from 1 to 4096");
  return threads;
}

using Setter = std::function<void(tileopt_options&, const std::string&)>;

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table = {
      {"machine", [](tileopt_options& o, const std::string& value) { o.machine = value; }},
      {"machine_json", [](tileopt_options& o, const std::string& value) { o.machine_json = value; }},
      {"backend", [](tileopt_options& o, const std::string& value) { tileopt::find_backend(value), o.backend = value; }},
      {"threads", [](tileopt_options& o, const std::string& value) { o.resolve.threads = parse_threads(value); }},
      {"sizes", [](tileopt_options& o, const std::string& value) { o.resolve.typical_sizes = tileopt::parse_sizes(value, "option `sizes`"); }},
      {"pin", [](tileopt_options& o, const std::string& value) { tileopt::parse_pins(value, "pin"), o.pins.push_back(value); }},
      {"schedule", [](tileopt_options& o, const std::string& value) { o.schedule = value; }},
      {"plan_json", [](tileopt_options& o, const std::string& value) { o.plan_json = value; }},
  };
  return table;
}

}  // namespace

extern "C" {

tileopt_error* tileopt_options_create(tileopt_options** out_options) {
  return guard([&] {
    if (out_options == nullptr) reject(ErrorCode::invalid_option, "out_options is NULL", "give the address of a tileopt_options *");
    *out_options = new tileopt_options;
  });
}

tileopt_error* tileopt_options_set(tileopt_options* options, const char* key, const char* value) {
  tileopt::SourceTexts texts;
  return guard(texts, [&] {
    if (options == nullptr || key == nullptr || value == nullptr)
      reject(ErrorCode::invalid_option, "options, key or value is NULL", "give all three");
    texts.add(key, value);
    const auto setter = setters().find(key);
    if (setter == setters().end()) {
      std::vector<std::string> keys;
      for (const auto& entry : setters()) keys.push_back(entry.first);
      reject(ErrorCode::invalid_option, std::string("unknown option `") + key + "`", "options: " + tileopt::join(keys, ", "));
    }
    setter->second(*options, value);
  });
}

void tileopt_options_free(tileopt_options* options) { delete options; }

}  // extern "C"
