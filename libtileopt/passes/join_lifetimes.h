/// One lifetime an array and loop iteration.
#pragma once

#include "ir/ast.h"

namespace tileopt {

/// isl may split what lies under a mark into several pieces that run one after the other (a band of one value is no loop, so
/// its statements part before the mark): then the copy-in would fill one array and the computation read another. Pieces of
/// one lifetime that are siblings, under conditions or not, are joined; pieces inside different loops are whole by themselves.
AstNodePtr join_lifetimes(const AstNodePtr& node);

}  // namespace tileopt
