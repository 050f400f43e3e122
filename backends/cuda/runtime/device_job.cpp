#include "backends/cuda/runtime/device_job.h"

#include "support/wire.h"

namespace tileopt::cuda {

namespace {
void put_list(WireWriter& wire, const std::vector<std::string>& list) {
  wire.put(static_cast<std::int64_t>(list.size()));
  for (const std::string& text : list) wire.put(text);
}

std::vector<std::string> list_of(WireReader& wire) {
  std::vector<std::string> list;
  const std::int64_t count = wire.integer();
  for (std::int64_t i = 0; i < count && wire.good(); ++i) list.push_back(wire.string());
  return list;
}
}  // namespace

std::string DeviceJob::write() const {
  WireWriter wire;
  wire.put(static_cast<std::int64_t>(sizes.size()));
  for (const std::int64_t size : sizes) wire.put(size);
  wire.put(static_cast<std::int64_t>(arguments.size()));
  for (const Argument& argument : arguments) {
    wire.put(argument.name);
    wire.put(std::int64_t(argument.written));
    wire.put(std::int64_t(argument.by_value));
    wire.put(argument.bytes);
  }
  wire.put(seconds);
  wire.put(least);
  wire.put(std::int64_t(flush_cache));
  return wire.text();
}

bool DeviceJob::read(const std::string& text, DeviceJob& job) {
  WireReader wire(text);
  const std::int64_t sizes = wire.integer();
  for (std::int64_t i = 0; i < sizes && wire.good(); ++i) job.sizes.push_back(wire.integer());
  const std::int64_t arguments = wire.integer();
  for (std::int64_t i = 0; i < arguments && wire.good(); ++i) {
    Argument argument;
    argument.name = wire.string();
    argument.written = wire.integer() != 0;
    argument.by_value = wire.integer() != 0;
    argument.bytes = wire.string();
    job.arguments.push_back(std::move(argument));
  }
  job.seconds = wire.number();
  job.least = wire.integer();
  job.flush_cache = wire.integer() != 0;
  return wire.at_end();
}

std::string DeviceAnswer::write() const {
  WireWriter wire;
  wire.put(static_cast<std::int64_t>(end));
  wire.put(code);
  wire.put(text);
  put_list(wire, results);
  put_list(wire, last);
  wire.put(static_cast<std::int64_t>(samples.size()));
  for (const double sample : samples) wire.put(sample);
  return wire.text();
}

bool DeviceAnswer::read(const std::string& text, DeviceAnswer& answer) {
  WireReader wire(text);
  answer.end = static_cast<End>(wire.integer());
  answer.code = wire.integer();
  answer.text = wire.string();
  answer.results = list_of(wire);
  answer.last = list_of(wire);
  const std::int64_t samples = wire.integer();
  for (std::int64_t i = 0; i < samples && wire.good(); ++i) answer.samples.push_back(wire.number());
  return wire.at_end();
}

}  // namespace tileopt::cuda
