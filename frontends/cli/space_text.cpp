#include "frontends/cli/space_text.h"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "search/pins.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

std::string values_text(const Choice& choice) {
  std::vector<std::string> values;
  for (std::size_t v = 0; v < choice.values.size(); ++v)
    values.push_back(v == choice.planned ? "[" + choice.values[v].text + "]" : choice.values[v].text);
  constexpr std::size_t most = 24;
  if (values.size() > most) {
    const std::size_t left = values.size() - most;
    values.resize(most);
    values.push_back("... " + std::to_string(left) + " more");
  }
  return join(values, ", ");
}

}  // namespace

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string count_text(double count) {
  if (count >= 1e15) {
    std::ostringstream text;
    text << std::setprecision(3) << count;
    return text.str();
  }
  std::string digits = std::to_string(static_cast<long long>(count));
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string milliseconds_text(double seconds) {
  return fixed(seconds * 1e3, seconds < 1e-3 ? 4 : seconds < 1e-1 ? 3 : 1) + " ms";
}

std::string cost_text(const Cost& cost, const std::vector<std::string>& memories) {
  std::vector<std::string> parts;
  for (const auto& [name, seconds] : breakdown(cost, memories)) {
    if (cost.seconds > 0 && seconds > 0.005 * cost.seconds)
      parts.push_back(name + " " + fixed(100 * seconds / cost.seconds, 0) + " %");
  }
  return milliseconds_text(cost.seconds) + ": " + join(parts, ", ") + ", bound by " + binding_name(cost, memories);
}

Document cost_document(const Cost& cost, const std::vector<std::string>& memories) {
  Document d = {{"seconds", cost.seconds}, {"binding", binding_name(cost, memories)}, {"breakdown", Document::object()}};
  for (const auto& [name, seconds] : breakdown(cost, memories)) d["breakdown"][name] = seconds;
  return d;
}

Document features_document(const Features& features) {
  Document d = {{"version", features_version}, {"values", Document::object()}};
  for (const auto& [name, value] : features) d["values"][name] = value;
  return d;
}

Document quality_document(const RankQuality& quality) {
  return {{"plans", quality.plans},
          {"kendall_tau", quality.tau},
          {"kendall_tau_fastest_quarter", quality.tau_fastest},
          {"top_one", quality.top_one}};
}

std::vector<std::string> pin_calls(const PlanSpace& space, const Point& point) {
  std::vector<std::string> calls;
  for (const Pin& pin : space.pins(point).pins) {
    if (pin.where.file.empty()) calls.push_back(pin_call(pin));
  }
  return calls;
}

Document point_document(const PlanSpace& space, const Point& point, double seconds) {
  const Variant& variant = space.variants()[point.variant];
  Document d = {
      {"key", space.key(point)}, {"structure", variant.name}, {"seconds", seconds}, {"decisions", Document::object()}};
  for (std::size_t c = 0; c < variant.choices.size(); ++c)
    d["decisions"][variant.choices[c].name] = variant.choices[c].values[point.values[c]].text;
  d["pins"] = pin_calls(space, point);
  return d;
}

Document space_document(const PlanSpace& space, const SpaceCount& count) {
  Document d = {{"version", space_version},
                {"points", count.points},
                {"exact", count.exact},
                {"without_constraints", count.raw},
                {"pruned", Document::object()}};
  for (const auto& [name, points] : count.pruned) d["pruned"][name] = points;
  d["structures"] = Document::array();
  for (const Variant& variant : space.variants()) {
    Document v = {{"name", variant.name},
                  {"choices", Document::array()},
                  {"constraints", Document::array()},
                  {"left_out", Document::array()}};
    for (const Choice& choice : variant.choices) {
      Document values = Document::array();
      for (const ChoiceValue& value : choice.values) values.push_back(value.text);
      v["choices"].push_back({{"name", choice.name},
                              {"kind", choice_kind_name(choice.kind)},
                              {"values", values},
                              {"planned", choice.values[choice.planned].text}});
    }
    for (const Constraint& constraint : variant.constraints)
      v["constraints"].push_back(
          {{"kind", constraint_kind_name(constraint.kind)}, {"name", constraint.name}, {"reason", constraint.reason}});
    for (const Excluded& excluded : variant.excluded)
      v["left_out"].push_back(
          {{"kind", constraint_kind_name(excluded.kind)}, {"what", excluded.what}, {"reason", excluded.reason}});
    d["structures"].push_back(std::move(v));
  }
  d["refused"] = Document::array();
  for (const RefusedVariant& refused : space.refused())
    d["refused"].push_back({{"name", refused.name}, {"code", refused.refused.code}, {"reason", refused.refused.reason}});
  return d;
}

std::string space_text(const PlanSpace& space, const SpaceCount& count) {
  std::ostringstream text;
  text << "  " << (count.exact ? "" : "at most ") << count_text(count.points) << " points in " << space.variants().size()
       << " structures (" << count_text(count.raw) << " without the constraints; version " << space_version
       << " of the space)\n";
  for (const auto& [name, points] : count.pruned) text << "    " << count_text(points) << " ruled out by " << name << "\n";
  for (const Variant& variant : space.variants()) {
    text << "  structure `" << variant.name << "`\n";
    for (const Choice& choice : variant.choices) text << "    " << choice.name << ": " << values_text(choice) << "\n";
    for (const Constraint& constraint : variant.constraints)
      text << "    " << constraint_kind_name(constraint.kind) << ": " << constraint.name << ": " << constraint.reason << "\n";
    for (const Excluded& excluded : variant.excluded)
      text << "    left out (" << constraint_kind_name(excluded.kind) << "): " << excluded.what << ": " << excluded.reason
           << "\n";
  }
  for (const RefusedVariant& refused : space.refused())
    text << "  refused structure `" << refused.name << "`: " << refused.refused.reason << " [" << refused.refused.code << "]\n";
  return text.str();
}

std::string output_for(const Item& item, const std::string& path, const std::string& extension) {
  const bool folder = item.several || path.ends_with('/') || std::filesystem::is_directory(path);
  if (path.empty() || !folder) return path;
  std::filesystem::create_directories(path);
  return (std::filesystem::path(path) / (item.program->name() + extension)).string();
}

}  // namespace tileopt::cli
