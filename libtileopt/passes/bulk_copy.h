/// Copies of whole boxes of a tensor by an engine that is told of the tensor's extents and of the distances between its rows (PTX ISA,
/// "Tensors": tensor maps).
#pragma once

#include <optional>
#include <string>

#include "ir/program.h"
#include "ir/tensor_map.h"

namespace tileopt {

/// What keeps an engine from taking a tensor.
struct BoxObstacle {
  std::string reason;
  std::optional<isl::pw_aff> excess = std::nullopt;  ///< [params] -> { [(K mod 8)] }: never negative, and 0 exactly for the sizes without the obstacle;
                                                     ///< empty: it stands for all of them
};

/// What keeps the engine from taking the tensor for every size of the context: it wants dense rows that start at multiples of `bytes`,
/// once the tensor does, which is tested where the kernel is launched.
std::optional<BoxObstacle> find_box_obstacle(const Program& program, const Tensor& tensor, long bytes);

}  // namespace tileopt
