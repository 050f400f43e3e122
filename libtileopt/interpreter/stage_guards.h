/// Guards of a statement at a stage, known where the band of their iterator starts: that band then runs one value.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interpreter/flat_affine.h"
#include "interpreter/stage_leaf.h"
#include "ir/program.h"

namespace tileopt {

/// What a guard's value reads, as functions of the dimensions outside the band of its iterator. Nothing else is known there.
class StageGuard : public LeafCorner {
 public:
  std::size_t dimension = 0;  ///< the band's, among the statement's dimensions
  std::size_t guard = 0;      ///< number among the statement's guards

  /// Takes the outer dimensions from a point of the walk.
  LeafCorner& at(const std::int64_t* point);
  bool write(std::int64_t*) override { return false; }
  bool read(std::size_t access, std::int64_t* subscripts) override;
  bool index(std::size_t number, std::int64_t* value) override;
  bool extent(std::size_t, std::int64_t*) override { return false; }
  bool limited() const override { return false; }
  bool instance(std::int64_t*) override { return false; }

 private:
  friend std::vector<std::unique_ptr<StageGuard>> known_guards(const Statement&, const std::vector<std::string>&, const std::vector<std::string>&,
                                                               const isl::map&, const Sizes&);
  std::vector<std::size_t> outer_;            ///< dimensions outside the band
  std::vector<FlatFunction> reads_, indices_; ///< by number; without pieces where the guard does not need it
  std::vector<std::int64_t> values_;
};

/// The guards of `statement` whose iterator is one of `dims`, and whose value depends on dimensions before it in `path` alone.
/// to_program: { X[dims] -> S[iterators] }, parameters fixed.
std::vector<std::unique_ptr<StageGuard>> known_guards(const Statement& statement, const std::vector<std::string>& dims,
                                                      const std::vector<std::string>& path, const isl::map& to_program, const Sizes& sizes);

}  // namespace tileopt
