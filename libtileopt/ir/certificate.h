/// What was proved about a module. JSON with a published schema (docs/schemas/certificate.json).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/document.h"
#include "support/error.h"

namespace tileopt {

enum class Verdict { proved, refuted, not_attempted };

struct Obligation {
  std::string name;     ///< "values", "coverage", "order", "bounds", "padding", "races", "collectives", "slots", "waits",
                        ///< "lifetimes", "text", "capacity"
  std::string subject;  ///< kernel, statement, array or access it is about
  Verdict verdict = Verdict::not_attempted;
  std::string reason;   ///< not attempted: why; refuted: what fails
  std::string witness;  ///< refuted: instance (pair) with parameter values
  SourceLocation where; ///< statement or access in the user's source
  std::string plan_entry;
  double milliseconds = 0;
};

/// What one printed kernel takes of a GPU.
struct KernelResources {
  std::string kernel;      ///< name of the printed function
  long registers = 0;      ///< of a thread
  long spilled_bytes = 0;  ///< of a thread: in memory for want of registers
  long stack_bytes = 0;    ///< of a thread, spilled ones included
  long shared_bytes = 0;   ///< of a block
};

/// What the device's own compiler reported; it was asked for, and no part of the proof.
struct DeviceReport {
  std::string compiler;    ///< "clang 19.1.7 for gfx942"
  std::vector<KernelResources> kernels;
};

struct Certificate {
  static constexpr const char* format = "tileopt-certificate/1";
  std::string program, program_hash, machine, version;
  std::vector<Obligation> obligations;
  std::vector<std::string> assumed;   ///< what isl cannot prove (floating point, compiler, instruction semantics)
  std::vector<std::string> numerics;  ///< permissions used
  std::optional<DeviceReport> device = std::nullopt;

  bool proved() const;   ///< every obligation proved
  bool refuted() const;  ///< at least one refuted
  Document write() const;
  static Certificate read(const Document& document, const std::string& file);
};

}  // namespace tileopt
