/// Owners of isl's objects that isl/cpp.h has no classes for: what throws in between, as everything may where isl is stopped, leaves nothing behind.
#pragma once

#include <memory>

#include "poly/isl.h"

namespace tileopt::poly {

template <auto free>
struct Frees {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};

using OwnedConstraint = std::unique_ptr<isl_constraint, Frees<isl_constraint_free>>;
using OwnedConstraintList = std::unique_ptr<isl_constraint_list, Frees<isl_constraint_list_free>>;

}  // namespace tileopt::poly
