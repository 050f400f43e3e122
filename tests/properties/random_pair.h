/// Random programs with random Plans for them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "driver/request.h"
#include "ir/dependences.h"
#include "random_plan.h"
#include "random_program.h"

namespace tileopt::testing {

/// One program and what all its Plans start from.
class RandomCase {
 public:
  /// `seed` is the program's. Nothing where isl needs more than `analysis_quota` operations for the dependences: a few programs
  /// would take as long as all others together. @throws what the frontend throws.
  static std::optional<RandomCase> make(isl::ctx ctx, std::uint64_t seed, const Machine& machine);
  static constexpr unsigned long analysis_quota = 300000;

  const std::shared_ptr<const Program>& program() const { return program_; }
  const std::shared_ptr<const Dependences>& dependences() const { return dependences_; }
  const ProgramFeatures& features() const { return features_; }

  /// Three of four Plans cut and reorder the loops as written (random_plan); the others are what resolve_plan decides, mostly with
  /// smaller radices. Those of every third few are for two threads. The same seeds give the same Plan.
  /// @throws InternalError where a base plan is infeasible: a program always has one.
  Plan plan(std::uint64_t seed, PlanFeatures* features);

 private:
  explicit RandomCase(const Machine& machine) : machine_(machine) {}
  const Plan& base(const std::string& pins, int threads, std::optional<Plan>& kept);

  const Machine& machine_;
  ProgramFeatures features_;
  std::shared_ptr<const Program> program_;
  std::shared_ptr<const Dependences> dependences_;
  PlanChoices choices_;
  std::optional<Plan> original_, one_thread_, two_threads_;
};

/// Program and plan as text, to mend what a seed shows.
std::string pair_text(const Program& program, const Plan& plan);

}  // namespace tileopt::testing
