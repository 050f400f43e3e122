#include "interpreter/stage_steps.h"

#include <algorithm>

#include "support/error.h"

namespace tileopt {

namespace {
/// False where the function has no value at the point. `values` holds `count` inputs and room for the floor terms.
bool evaluate(const FlatFunction& function, std::int64_t* values, std::size_t count, std::int64_t* results) {
  const FlatFunction::Piece* piece = function.find(values, count);
  if (piece == nullptr) return false;
  for (std::size_t i = 0; i < piece->outputs.size(); ++i) results[i] = piece->outputs[i].value(values, count);
  return true;
}

/// Operands through the program's own accesses, at an instance that a stage arrives at.
class ProgramStep : public StageStep {
 public:
  ProgramStep(const Statement& statement, const isl::set& instances, const Sizes& sizes)
      : count_(statement.iterators.size()), write_(flatten_function(statement.write.index, instances, sizes)) {
    std::size_t divs = count_divs(write_);
    for (const Access& read : statement.reads) {
      reads_.push_back(flatten_function(read.index, instances, sizes));
      divs = std::max(divs, count_divs(reads_.back()));
    }
    for (const isl::pw_aff& index : statement.indices) {
      indices_.push_back(flatten_function(index, instances, sizes));
      divs = std::max(divs, count_divs(indices_.back()));
    }
    iterators_.resize(count_ + divs + 1);
  }

  bool write(std::int64_t* subscripts) override { return defined_ && evaluate(write_, iterators_.data(), count_, subscripts); }
  bool read(std::size_t access, std::int64_t* subscripts) override {
    return defined_ && evaluate(reads_[access], iterators_.data(), count_, subscripts);
  }
  bool index(std::size_t number, std::int64_t* value) override {
    return defined_ && evaluate(indices_[number], iterators_.data(), count_, value);
  }
  bool extent(std::size_t, std::int64_t*) override { return false; }
  bool limited() const override { return false; }
  bool instance(std::int64_t* iterators) override {
    std::copy_n(iterators_.begin(), count_, iterators);
    return defined_;
  }

 protected:
  std::size_t count_;
  std::vector<std::int64_t> iterators_;
  bool defined_ = false;  ///< the stage arrived at an instance

 private:
  FlatFunction write_;
  std::vector<FlatFunction> reads_, indices_;
};

class MembersStep : public ProgramStep {
 public:
  MembersStep(const Statement& statement, const isl::map& members, const isl::set& domain, const Sizes& sizes)
      : ProgramStep(statement, domain, sizes) {
    const isl::map restricted = members.intersect_domain(domain);  // { S[iterators] -> [members] }
    const isl::map back = restricted.reverse();
    members_ = flatten_function(poly::as_function(restricted), domain, sizes);
    back_ = flatten_function(poly::as_function(back), back.domain(), sizes);
    const int outputs = isl_map_dim(restricted.get(), isl_dim_out);
    member_values_.resize(static_cast<std::size_t>(outputs) + count_divs(back_) + 1);
    member_count_ = static_cast<std::size_t>(outputs);
  }
  bool begin(std::int64_t* point) override {
    defined_ = evaluate(members_, point, count_, member_values_.data()) &&
               evaluate(back_, member_values_.data(), member_count_, iterators_.data());
    return true;
  }
  std::size_t slots() const override { return count_divs(members_); }

 private:
  FlatFunction members_, back_;
  std::vector<std::int64_t> member_values_;
  std::size_t member_count_ = 0;
};

class DigitsStep : public ProgramStep {
 public:
  DigitsStep(const Statement& statement, const StatementSpace& space, const isl::set& domain, const isl::set& instances, const Sizes& sizes)
      : ProgramStep(statement, instances, sizes), digits_(space.dims.size()),
        to_program_(flatten_function(poly::as_function(space.to_program), domain, sizes)) {}
  bool begin(std::int64_t* point) override {
    defined_ = evaluate(to_program_, point, digits_, iterators_.data());
    return true;
  }
  std::size_t slots() const override { return count_divs(to_program_); }

 protected:
  std::size_t digits_;
  FlatFunction to_program_;
};

class BoxedStep : public DigitsStep {
 public:
  BoxedStep(const Statement& statement, const StatementSpace& space, const isl::set& domain, const isl::set& instances,
            const BoxSpace& outer, const Sizes& sizes)
      : DigitsStep(statement, space, domain, instances, sizes), outer_(outer), domain_(flatten_set(domain)),
        box_(outer.radices.size()), point_(digits_ + std::max(count_divs(domain_), count_divs(to_program_)) + 1) {}
  bool begin(std::int64_t* point) override {
    for (std::size_t d = 0; d < outer_.positions.size(); ++d) point_[outer_.positions[d]] = point[d];
    std::fill(box_.begin(), box_.end(), 0);
    return settle();
  }
  bool next() override { return advance() && settle(); }
  std::size_t slots() const override { return 0; }

 private:
  /// The first point of the domain from here on.
  bool settle() {
    do {
      for (std::size_t b = 0; b < box_.size(); ++b) point_[outer_.box_positions[b]] = box_[b];
      if (!domain_.contains(point_.data(), digits_)) continue;
      defined_ = evaluate(to_program_, point_.data(), digits_, iterators_.data());
      return true;
    } while (advance());
    return false;
  }
  bool advance() {
    std::size_t b = box_.size();
    while (b > 0 && ++box_[b - 1] == outer_.radices[b - 1]) box_[--b] = 0;
    return b > 0;
  }
  BoxSpace outer_;
  FlatSet domain_;
  std::vector<long> box_;
  std::vector<std::int64_t> point_;
};

class LeafFunctionsStep : public StageStep {
 public:
  LeafFunctionsStep(const LeafStatement& leaf, const isl::set& domain, const Sizes& sizes) : dims_(leaf.dims.size()) {
    write_ = keep(flatten_function(leaf.write.index, domain, sizes));
    for (const LeafAccess& read : leaf.reads) reads_.push_back(keep(flatten_function(read.index, domain, sizes)));
    for (const isl::pw_aff& index : leaf.indices) indices_.push_back(keep(flatten_function(index, domain, sizes)));
    for (const isl::pw_aff& extent : leaf.extents) extents_.push_back(keep(flatten_function(extent, domain, sizes)));
    if (leaf.kind == LeafKind::compute) instance_ = keep(flatten_function(leaf.instance, domain, sizes));
  }
  bool begin(std::int64_t* point) override {
    point_ = point;
    return true;
  }
  std::size_t slots() const override { return slots_; }

  bool write(std::int64_t* subscripts) override { return evaluate(write_, point_, dims_, subscripts); }
  bool read(std::size_t access, std::int64_t* subscripts) override { return evaluate(reads_[access], point_, dims_, subscripts); }
  bool index(std::size_t number, std::int64_t* value) override { return evaluate(indices_[number], point_, dims_, value); }
  bool extent(std::size_t digit, std::int64_t* value) override { return evaluate(extents_[digit], point_, dims_, value); }
  bool limited() const override { return !extents_.empty(); }
  bool instance(std::int64_t* iterators) override { return evaluate(instance_, point_, dims_, iterators); }

 private:
  FlatFunction keep(FlatFunction function) {
    slots_ = std::max(slots_, count_divs(function));
    return function;
  }
  std::size_t dims_;
  std::size_t slots_ = 0;
  FlatFunction write_, instance_;
  std::vector<FlatFunction> reads_, indices_, extents_;
  std::int64_t* point_ = nullptr;
};
}  // namespace

std::unique_ptr<StageStep> members_step(const Statement& statement, const isl::map& members, const isl::set& domain, const Sizes& sizes) {
  return std::make_unique<MembersStep>(statement, members, domain, sizes);
}

std::unique_ptr<StageStep> digits_step(const Statement& statement, const StatementSpace& space, const isl::set& domain,
                                       const isl::set& instances, const Sizes& sizes) {
  return std::make_unique<DigitsStep>(statement, space, domain, instances, sizes);
}

BoxSpace without_box(const StatementSpace& space, const isl::set& domain, const std::vector<FittedSchedule::BoxDigit>& box) {
  BoxSpace outer;
  isl_set* projected = domain.copy();
  for (std::size_t d = space.dims.size(); d-- > 0;) {
    const auto in_box = std::any_of(box.begin(), box.end(), [&](const auto& digit) { return digit.name == space.dims[d]; });
    if (in_box) projected = isl_set_project_out(projected, isl_dim_set, static_cast<unsigned>(d), 1);
  }
  // Projecting dimensions out takes the tuple's name with them.
  projected = isl_set_set_tuple_name(projected, space.name.c_str());
  outer.domain = isl::manage(isl_set_coalesce(projected));
  for (std::size_t d = 0; d < space.dims.size(); ++d) {
    if (std::any_of(box.begin(), box.end(), [&](const auto& digit) { return digit.name == space.dims[d]; })) continue;
    outer.dims.push_back(space.dims[d]);
    outer.positions.push_back(d);
  }
  for (const FittedSchedule::BoxDigit& digit : box) {
    const auto found = std::find(space.dims.begin(), space.dims.end(), digit.name);
    TILEOPT_CHECK(found != space.dims.end(), "statement " + space.name + " has no digit " + digit.name);
    outer.box_positions.push_back(static_cast<std::size_t>(found - space.dims.begin()));
    outer.radices.push_back(digit.radix);
  }
  return outer;
}

std::unique_ptr<StageStep> boxed_step(const Statement& statement, const StatementSpace& space, const isl::set& domain,
                                      const isl::set& instances, const BoxSpace& outer, const Sizes& sizes) {
  return std::make_unique<BoxedStep>(statement, space, domain, instances, outer, sizes);
}

std::unique_ptr<StageStep> leaf_step(const LeafStatement& leaf, const isl::set& domain, const Sizes& sizes) {
  return std::make_unique<LeafFunctionsStep>(leaf, domain, sizes);
}

}  // namespace tileopt
