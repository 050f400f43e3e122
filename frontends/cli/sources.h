/// The inputs of a command line, read and parsed, and the items that they become.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontends/cli/items.h"
#include "frontends/cli/options.h"

namespace tileopt::cli {

/// One input with its own isl context, which outlives all that was parsed in it.
struct Source {
  std::string path;
  std::string text;
  std::unique_ptr<poly::Context> context = std::make_unique<poly::Context>();
  TileFile parsed;
  std::optional<Errors> errors;
  std::optional<Resumed> resumed;
};

/// One --size: "M=64,N=32", or "gemm:M=64,N=32" for one program among several.
struct SizeOption {
  std::string program;  ///< "" = every program that has these sizes
  std::map<std::string, std::int64_t> sizes;
};

/// What all items of one command line share, read once.
struct Shared {
  std::optional<Plan> plan;
  Machine machine;
  Pins pins;
  ResolveOptions resolve;
  std::vector<SizeOption> sizes;
};

/// A tile file; what is wrong with it is in `errors`. @throws Errors(invalid_size) for a malformed --size.
Source load_source(const Options& options, const std::string& path);
/// All inputs, or the dump of --start-from. @throws Errors(invalid_option, invalid_size)
std::vector<Source> load_sources(const Options& options);

/// @throws Errors as find_machine, Plan::read, parse_pins and parse_sizes do.
Shared read_shared(const Options& options);
Shared shared_of_dump(const Source& source, const Options& options);

/// The programs of a source that are asked for; a resumed dump has one.
std::vector<std::shared_ptr<const Program>> programs_of(const Source& source, const Options& options);

/// Every --size must be meant for something: a program, and a size that it has. Files with errors may have declared anything.
/// @throws Errors(invalid_size)
void check_size_options(const std::vector<Source>& sources, const std::vector<SizeOption>& options);

/// What positions may point into: the tile file, the pins of the command line, and files on disk.
SourceTexts source_texts(const Options& options, const Source* source);

/// The program with all that is asked of it, but for where its results go. @throws Errors(invalid_pin) for --plan @NAME.
Item make_item(const Source& source, std::shared_ptr<const Program> program, const Options& options, const Shared& shared);

}  // namespace tileopt::cli
