#include "rewrites/apply_rewrites.h"

namespace tileopt {

std::shared_ptr<const Program> apply_rewrites(std::shared_ptr<const Program> program, const Plan&) { return program; }

}  // namespace tileopt
