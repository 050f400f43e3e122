#include "frontends/tile_text/scope.h"

#include "frontends/tile_text/advice.h"
#include "support/text.h"

namespace tileopt::tile_text {

Scope::Scope(isl::ctx ctx, const syntax::Function& function, Diagnostics& diagnostics)
    : ctx_(ctx), diagnostics_(diagnostics), names_(function) {
  open_block();
}

bool Scope::is_size(const std::string& name) const { return contains(sizes_, name); }

void Scope::add_size(const std::string& name, syntax::Position where) {
  if (is_size(name)) return;
  if (claim(name, Meaning::size, where)) sizes_.push_back(name);
}

isl::space Scope::params_space() const {
  isl_space* space = isl_space_params_alloc(isl::ctx(ctx_).get(), static_cast<unsigned>(sizes_.size()));
  for (std::size_t i = 0; i < sizes_.size(); ++i)
    space = isl_space_set_dim_name(space, isl_dim_param, static_cast<unsigned>(i), sizes_[i].c_str());
  return isl::manage(space);
}

isl::space Scope::set_space(std::size_t dimensions) const {
  isl_space* space = isl_space_set_from_params(params_space().release());
  return isl::manage(isl_space_add_dims(space, isl_dim_set, static_cast<unsigned>(dimensions)));
}

bool Scope::claim(const std::string& name, Meaning meaning, syntax::Position where) {
  const std::string reason = reserved_reason(name);
  if (!reason.empty()) {
    diagnostics_.add(ErrorCode::duplicate_name, where, "`" + name + "` " + reason, "choose another name");
    return false;
  }
  const auto [found, fresh] = meanings_.emplace(name, std::make_pair(meaning, where));
  if (fresh || found->second.first == meaning) return true;
  static constexpr const char* words[] = {"a size", "a tensor", "an iterator", "a value"};
  static constexpr const char* bare_words[] = {"size", "tensor", "iterator", "value"};
  diagnostics_.add(ErrorCode::duplicate_name, where,
                   "`" + name + "` already names " + words[static_cast<int>(found->second.first)] + " (line " +
                       std::to_string(found->second.second.line) + ")",
                   std::string("choose another name for this ") + bare_words[static_cast<int>(meaning)]);
  return false;
}

TensorSymbol& Scope::declare(TensorSymbol symbol) {
  const TensorSymbol* visible = find_tensor(symbol.source_name);
  if (visible != nullptr)
    diagnostics_.add(ErrorCode::duplicate_name, symbol.where,
                     "`" + symbol.source_name + "` is already declared (line " + std::to_string(visible->where.line) + ")",
                     "choose another name, or assign to it without a type");
  else
    claim(symbol.source_name, Meaning::tensor, symbol.where);
  symbol.tensor.name = names_.tensor(symbol.source_name);
  tensors_.push_back(std::move(symbol));
  blocks_.back()[tensors_.back().source_name] = &tensors_.back();
  return tensors_.back();
}

TensorSymbol& Scope::add_unnamed(TensorSymbol symbol) {
  tensors_.push_back(std::move(symbol));
  return tensors_.back();
}

const TensorSymbol* Scope::find_tensor(const std::string& name) const {
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block)
    if (const auto found = block->find(name); found != block->end()) return found->second;
  return nullptr;
}

void Scope::bind_value(const std::string& name, ValueSymbol symbol) {
  const auto known = values_.find(name);
  if (known != values_.end())
    diagnostics_.add(ErrorCode::duplicate_name, symbol.where,
                     "`" + name + "` is already declared (line " + std::to_string(known->second.where.line) + ")",
                     "choose another name: the values of a function do not change");
  else if (claim(name, Meaning::value, symbol.where))
    values_.emplace(name, std::move(symbol));
}

const ValueSymbol* Scope::find_value(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

bool Scope::claim_iterator(const syntax::Target& target) { return claim(target.name, Meaning::iterator, target.where); }

void Scope::report_unknown(const std::string& name, syntax::Position where, const std::vector<Iterator>& iterators) {
  std::vector<std::string> candidates = sizes_;
  for (const auto& block : blocks_)
    for (const auto& [known, symbol] : block) candidates.push_back(known);
  for (const Iterator& iterator : iterators) candidates.push_back(iterator.source_name);
  for (const auto& [known, symbol] : values_) candidates.push_back(known);
  const std::string nearest = nearest_name(name, candidates);
  const auto elsewhere = meanings_.find(name);
  std::string hint = !nearest.empty() ? "did you mean `" + nearest + "`?"
                     : pure_          ? "functions with a return type see their parameters and locals only"
                                      : "declare it before, or make it a parameter";
  if (const std::string advice = advice_for_value(name); nearest.empty() && !advice.empty()) hint = advice;
  if (elsewhere != meanings_.end())
    hint = "it belongs to the block of line " + std::to_string(elsewhere->second.second.line) + " and is not visible here";
  diagnostics_.add(ErrorCode::unknown_name, where, "nothing here is called `" + name + "`", hint);
}

std::optional<std::size_t> find_iterator(const std::vector<Iterator>& iterators, const std::string& name) {
  for (std::size_t i = iterators.size(); i-- > 0;)
    if (iterators[i].source_name == name) return i;
  return std::nullopt;
}

}  // namespace tileopt::tile_text
