#include "frontends/cli/device_text.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "frontends/cli/space_text.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return fixed(bytes / 1e9, 2) + " GB";
  if (bytes >= 1e6) return fixed(bytes / 1e6, 1) + " MB";
  if (bytes >= 1e3) return fixed(bytes / 1e3, 1) + " KB";
  return fixed(bytes, 0) + " B";
}

std::string launch_text(const LaunchCost& cost, const Machine& machine) {
  const LaunchCounts& c = cost.counts;
  const Multiprocessor& m = *machine.multiprocessor;
  std::ostringstream text;
  text << "    kernel " << c.kernel << (c.launches > 1 ? ", " + count_text(c.launches) + " times" : "") << ": " << milliseconds_text(cost.seconds) << ", bound by "
       << resource_name(cost.binding) << "\n";
  text << "      " << count_text(c.blocks) << " blocks of " << c.threads << " threads, " << fixed(cost.resident, 0) << " a multiprocessor ("
       << fixed(100 * cost.resident * double(c.threads) / double(m.threads), 0) << " % of its threads; about " << fixed(c.registers, 0) << " registers a thread, "
       << bytes_text(double(c.shared_bytes)) << " shared), " << fixed(cost.waves, 2) << " rounds\n";
  text << "      memory: " << bytes_text(c.read_bytes) << " read, " << bytes_text(c.written_bytes) << " written; asked of L2: " << bytes_text(c.cache_bytes);
  if (c.cache_bytes > 0 && c.asked_bytes > 0 && c.asked_bytes < 0.9 * c.cache_bytes) text << ", of which " << fixed(100 * c.asked_bytes / c.cache_bytes, 0) << " % are used";
  text << "; in flight about " << bytes_text(c.in_flight * cost.resident) << " a multiprocessor\n";
  text << "      instructions of warps: " << count_text(c.instructions);
  if (c.shared_rounds > 0) text << "; rounds of shared memory: " << count_text(c.shared_rounds) << ", " << fixed(c.shared_rounds / std::max(1.0, c.shared_accesses), 1) << " times those without conflicts";
  if (c.updates > 0) text << "; atomic updates: " << count_text(c.updates);
  text << "\n";
  return text.str();
}

}  // namespace

std::string device_summary(const DeviceCost& cost) {
  std::vector<std::pair<Resource, double>> parts;
  for (const auto& [resource, seconds] : cost.parts())
    if (seconds > 0.05 * cost.seconds) parts.emplace_back(resource, seconds);
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  for (const auto& [resource, seconds] : parts) texts.push_back(resource_name(resource) + " " + fixed(100 * seconds / std::max(cost.seconds, 1e-12), 0) + " %");
  return milliseconds_text(cost.seconds) + ": " + join(texts, ", ") + ", bound by " + resource_name(cost.binding());
}

std::string device_cost_text(const DeviceCost& cost, const Machine& machine) {
  std::string text = device_summary(cost) + "\n";
  for (const LaunchCost& launch : cost.launches) text += launch_text(launch, machine);
  if (!machine.multiprocessor->rates) text += "    the machine file has no `rates`: cautious values stand for them\n";
  return text;
}

std::string device_advice(const DeviceCost& cost) {
  const auto longest = std::max_element(cost.launches.begin(), cost.launches.end(), [](const LaunchCost& a, const LaunchCost& b) { return a.seconds < b.seconds; });
  if (longest == cost.launches.end()) return "";
  const LaunchCounts& c = longest->counts;
  switch (longest->binding) {
    case Resource::memory:
      return c.cache_bytes > 0 && c.asked_bytes < 0.7 * c.cache_bytes ? "threads beside each other touch elements apart: order(...), or promote(..., \"shared\"), so that they lie side by side"
                                                                       : "every byte is moved at the memory's rate: only moving fewer (fuse(...), narrower types) helps";
    case Resource::cache: return "blocks ask L2 for the same data again: larger tiles of a block, tile(\"block\", ...) or tile(\"serial\", ...)";
    case Resource::issue:
    case Resource::arithmetic: return "instructions bind: @numerics(approx_ulp=...) for functions, wider accesses, larger tiles of a thread";
    case Resource::access: return "loads and stores bind: neighbours moved at once (atom(..., \"vector_box\")), or tiles kept in registers";
    case Resource::shared:
      return c.shared_rounds > 1.5 * c.shared_accesses ? "banks of shared memory are asked for several rows at once: another tile of threads" : "shared memory binds: larger tiles in registers, tile(\"atom\", ...)";
    case Resource::matrix: return "the matrix units bind: nothing but fewer products helps";
    case Resource::updates: return "atomic updates bind: rewrite(\"split\", ...) gives each block a sum of its own";
    case Resource::latency:
      return longest->waves < 1 ? "fewer blocks than the device holds, each a long chain: smaller tiles of a block, or rewrite(\"split\", ...)"
                                : "blocks wait more than they work: more of them beside each other (fewer registers, less shared memory), or pipeline(...)";
    case Resource::launch: return "the launch takes longest: larger sizes, or fuse(...)";
  }
  return "";
}

Document device_cost_document(const DeviceCost& cost) {
  Document d = {{"seconds", cost.seconds}, {"binding", resource_name(cost.binding())}, {"breakdown", Document::object()}, {"launches", Document::array()}};
  for (const auto& [resource, seconds] : cost.parts()) d["breakdown"][resource_name(resource)] = seconds;
  for (const LaunchCost& launch : cost.launches) {
    const LaunchCounts& c = launch.counts;
    Document l = {{"kernel", c.kernel}, {"times", c.launches}, {"seconds", launch.seconds}, {"binding", resource_name(launch.binding)}, {"blocks", c.blocks},
                  {"threads", c.threads}, {"registers", c.registers}, {"shared_bytes", c.shared_bytes}, {"resident_blocks", launch.resident}, {"waves", launch.waves},
                  {"read_bytes", c.read_bytes}, {"written_bytes", c.written_bytes}, {"l2_bytes", c.cache_bytes}, {"instructions", c.instructions},
                  {"accesses", c.accesses}, {"cache_lines", c.cache_lines}, {"shared_rounds", c.shared_rounds}, {"shared_accesses", c.shared_accesses},
                  {"matrix_cycles", c.matrix_cycles}, {"matrix_bytes", c.matrix_bytes}, {"atomic_updates", c.updates}, {"barriers", c.barriers},
                  {"instructions_by_unit", {{"multiply_add", c.multiply_add}, {"integer", c.integer}, {"convert", c.convert}, {"special", c.special}, {"doubles", c.doubles}}},
                  {"chain", {{"cycles", c.chain_cycles}, {"waits", c.chain_waits}, {"hidden_waits", c.hidden_waits}}}, {"breakdown", Document::object()}};
    for (const auto& [resource, seconds] : launch.parts) l["breakdown"][resource_name(resource)] = seconds;
    d["launches"].push_back(std::move(l));
  }
  return d;
}

}  // namespace tileopt::cli
