/// Copies of whole boxes of a tensor by an engine that is told of the tensor's extents and of the distances between its rows (PTX ISA,
/// "Tensors": tensor maps).
#pragma once

#include <string>

#include "ir/program.h"
#include "ir/tensor_map.h"

namespace tileopt {

/// What keeps the engine from taking the tensor for every size of the context: it wants dense rows that start at multiples of `bytes`,
/// once the tensor does, which is tested where the kernel is launched. "" where nothing does.
std::string why_not_boxes(const Program& program, const Tensor& tensor, long bytes);

}  // namespace tileopt
