#include <algorithm>
#include <ctime>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "backends/openmp/runner.h"
#include "row.h"
#include "support/error.h"

namespace tileopt::table {

namespace {

std::string first_line(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) {
      const std::size_t colon = line.find(": ");
      return colon == std::string::npos ? line : line.substr(colon + 2);
    }
  return "";
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

void report(const Row& row, const std::vector<Timing>& timings, const std::string& file) {
  double own = 0, best = 0;
  std::string best_peer;
  nlohmann::ordered_json speeds = nlohmann::ordered_json::object(), spread = speeds;
  std::ostringstream line;
  line << row.name;
  for (const Timing& timing : timings) {
    const double seconds = median(timing.seconds), speed = seconds > 0 ? row.work / seconds * 1e-9 : 0;
    const auto [low, high] = std::minmax_element(timing.seconds.begin(), timing.seconds.end());
    speeds[timing.contender] = speed;
    if (!timing.seconds.empty()) spread[timing.contender] = (*high - *low) / seconds;
    line << "  " << timing.contender << " " << speed;
    const bool peer = timing.contender != "tileopt" && (row.peers.empty() || std::find(row.peers.begin(), row.peers.end(), timing.contender) != row.peers.end());
    if (timing.contender == "tileopt") own = speed;
    else if (peer && speed > best) best = speed, best_peer = timing.contender;
  }
  const double ratio = best > 0 ? own / best : 0;
  line << "  " << row.unit << "  " << (best > 0 ? std::to_string(ratio).substr(0, 5) + " of " + best_peer : "no peer is installed") << ", target " << row.target;
  std::cout << line.str() << (best > 0 && ratio >= row.target ? "  met" : "  NOT MET") << std::endl;
  if (file.empty()) return;
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  nlohmann::ordered_json record = {{"date", date}, {"commit", environment("TILEOPT_COMMIT")}, {"cpu", first_line("/proc/cpuinfo", "model name")},
                                   {"load", first_line("/proc/loadavg", "")}, {"row", row.name}, {"threads", row.threads}, {"unit", row.unit},
                                   {"median", speeds}, {"spread", spread}, {"peer", best_peer}, {"ratio", ratio}, {"target", row.target}};
  std::ofstream out(file, std::ios::app);
  out << record.dump() << "\n";
  if (!out.flush()) throw std::runtime_error("cannot append to " + file);
}

}  // namespace tileopt::table
