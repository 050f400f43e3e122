/// What a search needs of measuring: Plans become records. The real one compiles and times; tests write scripts.
#pragma once

#include <memory>
#include <string>

#include "ir/plan.h"
#include "records/record.h"

namespace tileopt {

/// A Plan on its way to being timed.
class Build {
 public:
  virtual ~Build() = default;
  /// Waits until nothing compiles for it any more.
  virtual void settle() = 0;
};

class Trials {
 public:
  virtual ~Trials() = default;
  /// Of all records that it makes.
  virtual const RecordKey& key() const = 0;
  /// Begins to build; the compiler may go on beside the caller.
  virtual std::unique_ptr<Build> begin(const Plan& plan, const std::string& origin) = 0;
  /// Settles, checks and times. A kernel that crashes, hangs or lies costs its record only.
  virtual Record time(Build& build) = 0;
  /// Times once more what `time` has measured, as long or shorter: one turn among several builds.
  virtual Record time_again(Build& build) = 0;
};

}  // namespace tileopt
