/// Where the results of a command line are written, and that they overwrite nothing that it reads.
#pragma once

#include <string>
#include <vector>

#include "frontends/cli/options.h"

namespace tileopt::cli {

/// The files of one program; "" = not asked for.
struct Outputs {
  std::string source;       ///< C file; its header lies beside it
  std::string certificate;  ///< JSON file
  std::string module;       ///< likewise, of `compile --module`
  std::string dump_dir;
};

/// Several programs share folders, in which their names tell them apart; a single one may name its files.
Outputs outputs_of(const Options& options, const std::string& program, bool several);

/// Extension of the printed source for the options' machine, with the dot. @throws Errors as find_machine and find_backend.
std::string source_extension(const Options& options);
/// "out/gemm.c" -> "out/gemm.h"
std::string header_path(const std::string& source);

/// Refuses, before anything is written: a file where several programs need a folder, one file for two results, and a result that
/// would replace something the command line reads. `inputs`: the files that were read. @throws Errors
void check_outputs(const Options& options, const std::vector<std::string>& programs, const std::vector<std::string>& inputs);

/// Makes the folders of `-o`, `--certificate` and `--module`. @throws Errors(file_access)
void make_folders(const Options& options, bool several);

}  // namespace tileopt::cli
