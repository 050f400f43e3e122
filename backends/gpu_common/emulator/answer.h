/// Outcomes as text, from the process that ran the kernel to the one that asked.
#pragma once

#include <string>

#include "backends/gpu_common/emulator/settings.h"

namespace tileopt::emulator {

std::string write_answer(const Outcome& outcome);
/// False where `text` is no whole answer.
bool read_answer(const std::string& text, Outcome& outcome);

}  // namespace tileopt::emulator
