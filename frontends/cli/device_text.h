/// Predicted costs of GPU kernels for people and for --json.
#pragma once

#include <string>

#include "cost_models/device_cost.h"
#include "support/document.h"

namespace tileopt::cli {

/// "0.137 ms: memory 93 %, instructions 60 %, ..., bound by memory", then a few lines a launch: blocks, occupancy, what it moves and what it waits for.
std::string device_cost_text(const DeviceCost& cost, const Machine& machine);
/// The line alone.
std::string device_summary(const DeviceCost& cost);
/// What may be done about the resource that binds the longest launch; "" where nothing general can be said.
std::string device_advice(const DeviceCost& cost);
Document device_cost_document(const DeviceCost& cost);

}  // namespace tileopt::cli
