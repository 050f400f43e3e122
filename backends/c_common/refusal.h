/// How the printer's parts hand an Infeasible up to OpenMpBackend::print, which returns it as a value.
#pragma once

#include <string>

#include "support/error.h"

namespace tileopt {

struct Refusal {
  Infeasible reason;
};

[[noreturn]] inline void refuse(const std::string& code, const std::string& plan_entry, const std::string& reason) {
  throw Refusal{Infeasible{code, "print", "", plan_entry, reason}};
}

}  // namespace tileopt
