#include "rewrites/scan_blocks.h"

#include <algorithm>

#include "rewrites/order_edit.h"
#include "support/text.h"

namespace tileopt {

std::optional<Infeasible> ScanBlocks::find() {
  const auto recurrence = find_scan_recurrence(program_, rewriting_, statement_);
  if (const auto* refused = std::get_if<Infeasible>(&recurrence)) return *refused;
  const ScanRecurrence& found = std::get<ScanRecurrence>(recurrence);
  carry_ = found.carry;
  outer_ = found.along;
  group_ = found.group;
  if (outer_ + 1 != carry_->iterators.size()) return condition_fails(rewriting_, "loops stand inside of " + carry_->iterators[outer_], carry_->where, "take block_scan");
  const auto steps = find_scan_steps(program_, rewriting_, statement_, found);
  if (const auto* refused = std::get_if<Infeasible>(&steps)) return *refused;
  start_ = std::get<ScanSteps>(steps).start;
  terms_ = std::get<ScanSteps>(steps).terms;
  elements_ = std::get<ScanSteps>(steps).elements;
  return std::nullopt;
}

isl::pw_multi_aff ScanBlocks::function(const std::string& from, std::size_t inputs, const std::string& to, const Names& values) const {
  Names all;
  for (std::size_t d = 0; d < outer_; ++d) all.push_back("d" + std::to_string(d));
  all.insert(all.end(), values.begin(), values.end());
  return tuple_function(program_.ctx(), from, inputs, to, all);
}

isl::set ScanBlocks::blocks() const {
  return elements_.apply(function("", outer_ + 1, "", {"floor(" + at(0) + " / " + std::to_string(block_) + ")"}).as_map()).coalesce();
}

Statement ScanBlocks::make(const std::string& name, const Names& loops, const isl::set& domain, const std::string& tensor, const Names& values) const {
  Statement s;
  s.name = name;
  s.where = statement_.where;
  s.iterators.assign(carry_->iterators.begin(), carry_->iterators.begin() + static_cast<std::ptrdiff_t>(outer_));
  s.iterators.insert(s.iterators.end(), loops.begin(), loops.end());
  s.domain = isl::manage(isl_set_set_tuple_name(domain.copy(), name.c_str()));
  s.write = access(s, tensor, values);
  return s;
}

Access ScanBlocks::access(const Statement& s, const std::string& tensor, const Names& values) const {
  return {tensor, function(s.name, s.iterators.size(), tensor, values).intersect_domain(s.domain), statement_.write.where};
}

Access ScanBlocks::of_step(const Statement& s, const Statement& old, const Access& read, const std::string& step) const {
  const isl::pw_multi_aff place = function(s.name, s.iterators.size(), "", {step}).intersect_domain(s.domain);
  return {read.tensor, scan_access(program_, old, read).pullback(place).coalesce(), read.where};
}

void ScanBlocks::copy(Statement& s, const std::string& tensor, const Names& values) const {
  s.reads = {access(s, tensor, values)};
  s.body = make_expr(statement_.body->type, Read{0});
}

void ScanBlocks::combine(Statement& s) const {
  s.combine = statement_.combine;
  s.monoid = statement_.monoid;
}

void ScanBlocks::accumulate(Statement& s, const std::string& tensor, const Names& values) const {
  copy(s, tensor, values);
  combine(s);
}

void ScanBlocks::add_term(Statement& s, const std::string& step) const {
  combine(s);
  s.body = statement_.body;
  for (const Access& read : statement_.reads) s.reads.push_back(of_step(s, statement_, read, step));
  const isl::pw_multi_aff place = function(s.name, s.iterators.size(), "", {step}).intersect_domain(s.domain);
  for (const isl::pw_aff& index : statement_.indices) {
    const isl::pw_aff value = isl::manage(isl_pw_aff_gist(index.copy(), domain_of(program_, statement_).release()));
    s.indices.push_back(isl::manage(isl_pw_aff_reset_tuple_id(value.copy(), isl_dim_in)).pullback(place).coalesce());
  }
}

void ScanBlocks::add_local(ProgramParts& parts, const std::string& name, const std::vector<isl::pw_aff>& further) const {
  Tensor tensor = program_.tensor(carry_->write.tensor);
  tensor.name = name;
  tensor.role = TensorRole::local;
  tensor.facts = {};
  tensor.layout = {};
  tensor.shape.clear();
  for (std::size_t d = 0; d < outer_; ++d) tensor.shape.push_back(scan_extent(elements_, d));
  tensor.shape.insert(tensor.shape.end(), further.begin(), further.end());
  parts.tensors.push_back(std::move(tensor));
}

Rewritten ScanBlocks::replaced(ProgramParts parts, const std::vector<Statement>& made, const std::vector<Tree::Branch>& pieces) const {
  parts.order = replace_loop(program_, carry_->name, carry_->iterators[outer_], pieces);
  const std::size_t position = parts.position(group_.front());
  std::erase_if(parts.statements, [&](const Statement& s) { return contains(group_, s.name); });
  parts.statements.insert(parts.statements.begin() + static_cast<std::ptrdiff_t>(std::min(position, parts.statements.size())), made.begin(), made.end());
  const bool exact = regroups_exactly(program_, statement_);
  return Rewritten{put_together(program_, std::move(parts)), exact, exact ? Names{} : Names{"reassociate"}};
}

}  // namespace tileopt
