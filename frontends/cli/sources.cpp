#include "frontends/cli/sources.h"

#include <algorithm>

#include "cost_models/machines.h"
#include "frontends/cli/inputs.h"
#include "support/document_reader.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

[[noreturn]] void reject_option(const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{ErrorCode::invalid_option, {}, message, hint, ""});
}

std::vector<SizeOption> read_sizes(const Options& options) {
  std::vector<SizeOption> all;
  for (const std::string& text : options.sizes) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) all.push_back({"", parse_sizes(text, "--size")});
    else all.push_back({text.substr(0, colon), parse_sizes(text.substr(colon + 1), "--size")});
  }
  return all;
}

/// All sizes that are given: a `const` parameter takes its own.
ConstantValues constants_of(const std::vector<SizeOption>& options) {
  ConstantValues values;
  for (const SizeOption& option : options)
    for (const auto& [name, value] : option.sizes) values[option.program][name] = value;
  return values;
}

Source load_dump(const std::string& path) {
  Source source;
  source.path = path;
  source.resumed = resume_from(source.context->get(), path);
  return source;
}

/// The sizes of one program.
std::map<std::string, std::int64_t> sizes_for(const Program& program, const std::vector<SizeOption>& options) {
  std::map<std::string, std::int64_t> sizes;
  for (const SizeOption& option : options) {
    if (!option.program.empty() && option.program != program.name()) continue;
    for (const auto& [name, value] : option.sizes)
      if (contains(program.parameters(), name)) sizes[name] = value;
  }
  return sizes;
}

/// The "file" of a pin's positions.
std::string pin_origin(const Options& options, std::size_t index) {
  return options.pins.size() == 1 ? "--pin" : "--pin " + std::to_string(index + 1);
}

Source load_with(const std::string& path, const ConstantValues& constants) {
  Source source;
  source.path = path;
  try {
    source.text = read_file(path);
    source.parsed = parse_tile_file(source.context->get(), source.text, path, constants);
  } catch (const Errors& errors) {
    source.errors = errors;
  }
  return source;
}

}  // namespace

Source load_source(const Options& options, const std::string& path) { return load_with(path, constants_of(read_sizes(options))); }

std::vector<Source> load_sources(const Options& options) {
  std::vector<Source> sources;
  if (!options.start_from.empty()) {
    if (!options.inputs.empty()) reject_option("--start-from replaces the tile files", "drop the tile files, or --start-from");
    if (!options.plan.empty() || !options.pins.empty() || !options.machine.empty())
      reject_option("a dump brings its own machine, plan and decisions", "edit the dump's `decisions`; drop --machine, --plan and --pin");
    sources.push_back(load_dump(options.start_from));
    return sources;
  }
  if (options.inputs.empty()) reject_option("no input", "give tile files or folders, e.g. tileopt-schedule compile gemm.tile");
  const ConstantValues constants = constants_of(read_sizes(options));
  for (const Input& input : collect_inputs(options.inputs)) {
    Source missing;
    missing.path = input.path;
    missing.errors = input.errors;
    sources.push_back(input.errors ? std::move(missing) : load_with(input.path, constants));
  }
  return sources;
}

SourceTexts source_texts(const Options& options, const Source* source) {
  SourceTexts texts;
  texts.read_missing_files(true);
  for (std::size_t i = 0; i < options.pins.size(); ++i) texts.add(pin_origin(options, i), options.pins[i]);
  if (source != nullptr && !source->text.empty()) texts.add(source->path, source->text);
  return texts;
}

Shared read_shared(const Options& options) {
  Shared shared;
  if (!options.plan.empty() && options.plan[0] != '@') shared.plan = Plan::read(parse_json(read_file(options.plan), options.plan), options.plan);
  const std::string machine = !options.machine.empty() ? options.machine : shared.plan ? shared.plan->machine : "host";
  shared.machine = find_machine(machine);
  for (std::size_t i = 0; i < options.pins.size(); ++i) {
    const Pins parsed = parse_pins(options.pins[i], pin_origin(options, i));
    shared.pins.pins.insert(shared.pins.pins.end(), parsed.pins.begin(), parsed.pins.end());
  }
  shared.resolve.threads = options.threads;
  shared.sizes = read_sizes(options);
  return shared;
}

Shared shared_of_dump(const Source& source, const Options& options) {
  Shared shared;
  shared.machine = source.resumed->machine;
  shared.plan = source.resumed->plan;
  shared.resolve.threads = options.threads;
  shared.sizes = read_sizes(options);
  return shared;
}

std::vector<std::shared_ptr<const Program>> programs_of(const Source& source, const Options& options) {
  if (source.resumed) return {source.resumed->program};
  std::vector<std::shared_ptr<const Program>> programs;
  for (const Program& program : source.parsed.programs)
    if (options.program.empty() || program.name() == options.program) programs.push_back(std::make_shared<const Program>(program));
  return programs;
}

void check_size_options(const std::vector<Source>& sources, const std::vector<SizeOption>& options) {
  std::map<std::string, std::vector<std::string>> sizes;  // by program; "" = of any
  std::vector<std::string> programs;
  for (const Source& source : sources) {
    if (source.errors) return;
    for (const std::shared_ptr<const Program>& program : programs_of(source, Options())) {
      programs.push_back(program->name());
      std::vector<std::string> known = program->parameters();
      if (const auto constants = source.parsed.constants.find(program->name()); constants != source.parsed.constants.end())
        for (const auto& [name, value] : constants->second) known.push_back(name);
      for (const std::string& of : {program->name(), std::string()}) sizes[of].insert(sizes[of].end(), known.begin(), known.end());
    }
  }
  const auto reject = [](const std::string& message, const std::string& name, const std::vector<std::string>& known, const std::string& what) {
    const std::string near = name.size() > 1 ? nearest_name(name, known) : "";
    throw Errors(Diagnostic{ErrorCode::invalid_size, {}, message + " `" + name + "`",
                            !near.empty() ? "did you mean `" + near + "`?" : known.empty() ? "it has none" : what + ": " + join(known, ", "), ""});
  };
  for (const SizeOption& option : options) {
    if (!option.program.empty() && !contains(programs, option.program)) reject("--size: there is no program", option.program, programs, "programs");
    const std::string whose = !option.program.empty() ? "program `" + option.program + "` has no" : programs.size() == 1 ? "program `" + programs.front() + "` has no" : "no program has a";
    for (const auto& [name, value] : option.sizes)
      if (!contains(sizes[option.program], name)) reject(whose + " size", name, sizes[option.program], "sizes");
  }
}

Item make_item(const Source& source, std::shared_ptr<const Program> program, const Options& options, const Shared& shared) {
  Item item;
  item.file = source.path;
  item.texts = source_texts(options, &source);
  item.program = std::move(program);
  item.request = {shared.machine, options.backend.empty() ? shared.machine.backend : options.backend, shared.pins, shared.plan, shared.resolve, {}};
  item.request.proof.attempt = options.prove != "none";
  item.sizes = sizes_for(*item.program, shared.sizes);
  item.request.resolve.typical_sizes = item.sizes;
  for (const Pins& schedule : source.parsed.schedules) {
    if (schedule.program == item.program->name() && (schedule.machine.empty() || schedule.machine == shared.machine.name)) item.schedules.push_back(schedule);
  }
  if (options.plan.starts_with("@")) {
    Pins pins = find_schedule(source.parsed, item.program->name(), options.plan.substr(1), shared.machine.name);
    pins.pins.insert(pins.pins.end(), shared.pins.pins.begin(), shared.pins.pins.end());
    item.request.pins = std::move(pins);
  }
  return item;
}

}  // namespace tileopt::cli
