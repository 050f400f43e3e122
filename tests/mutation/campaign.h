// Runs mutation operators over the corpus and judges every mutant twice: by `verify`, and by enumeration.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/certificate.h"
#include "operators.h"

namespace tileopt::mutation {

enum class Judgement {
  refuted,        // by an expected obligation
  equivalent,     // proved, and right at every size tried
  unsure,         // not proved and not refuted: verify cannot read it, or gives up
  conservative,   // refuted, and right at every size tried
  hole,           // proved, but wrong: the worst
  unexpected,     // refuted by no expected obligation, and wrong
};
std::string judgement_name(Judgement judgement);

struct Judged {
  std::string op, subject, change;
  Judgement judgement = Judgement::unsure;
  std::string refuted_by;  // obligations, joined
  std::string reason;      // of the first
  std::string fault;       // what enumeration found; "" = nothing
  bool print_refused = false;
  double seconds = 0;
  std::string text() const;
};

class Campaign {
 public:
  explicit Campaign(std::vector<Subject> subjects) : subjects_(std::move(subjects)) {}
  const std::vector<Subject>& subjects() const { return subjects_; }

  // Up to `each` mutants of `op` from every one of at most `most` subjects, drawn by `seed`.
  std::vector<Judged> run(const Operator& op, std::size_t most, std::size_t each, std::uint64_t seed);
  Judged judge(const Operator& op, const Subject& subject, const Change& change);
  // What enumeration finds wrong at some size; nothing where it finds nothing.
  std::optional<ProvenanceFault> enumerate(const Subject& subject, const std::vector<Ast>& asts, const std::vector<PrintFacts>& facts);

 private:
  // At the sizes of the witnesses that `verify` gives: a refutation that holds only for large ones.
  std::optional<ProvenanceFault> enumerate_witnesses(const Subject& subject, const std::vector<Ast>& asts, const std::vector<PrintFacts>& facts,
                                                     const Certificate& certificate);

  std::vector<Subject> subjects_;
  std::map<std::string, std::vector<ProvenanceReference>> references_;  ///< kernel and its statements -> at all sizes
};

// One line an operator: what it does, and which obligations may refute it. Markdown; docs/mutation.md holds it.
std::string expectations(const std::vector<Operator>& operators);

// One line an operator: counts by judgement, kernels, obligations. Markdown.
std::string table(const std::vector<Operator>& operators, const std::vector<Judged>& all);

}  // namespace tileopt::mutation
