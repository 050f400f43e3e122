#include "campaign.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <set>

#include "support/text.h"
#include "verify/verify.h"

namespace tileopt::mutation {

std::string judgement_name(Judgement judgement) {
  switch (judgement) {
    case Judgement::refuted: return "refuted";
    case Judgement::equivalent: return "equivalent";
    case Judgement::unsure: return "not attempted";
    case Judgement::conservative: return "conservative";
    case Judgement::hole: return "HOLE";
    case Judgement::unexpected: return "UNEXPECTED";
  }
  return "";
}

std::string Judged::text() const {
  return judgement_name(judgement) + ": " + op + " of " + subject + " (" + change + ")" + (refuted_by.empty() ? "" : "; refuted by " + refuted_by) + (reason.empty() ? "" : ": " + reason) +
         (fault.empty() ? "" : "; enumeration: " + fault);
}

std::optional<ProvenanceFault> Campaign::enumerate(const Subject& subject, const std::vector<Ast>& asts, const std::vector<PrintFacts>& facts) {
  // Pins may keep a rewrite away: another program of the same kernel.
  std::string program = subject.kernel;
  for (const Statement& s : subject.program->statements()) program += " " + s.name;
  auto found = references_.find(program);
  if (found == references_.end()) found = references_.emplace(program, references_of(subject)).first;
  for (const ProvenanceReference& reference : found->second)
    if (auto fault = enumerate_kernels(reference, asts, facts, subject.machine)) return fault;
  return std::nullopt;
}

std::optional<ProvenanceFault> Campaign::enumerate_witnesses(const Subject& subject, const std::vector<Ast>& asts, const std::vector<PrintFacts>& facts,
                                                             const Certificate& certificate) {
  std::set<Sizes> tried;
  for (const Obligation& o : certificate.obligations) {
    if (o.verdict != Verdict::refuted || tried.size() >= 4) continue;
    const Sizes sizes = witness_sizes(*subject.program, o.witness);
    if (!tried.insert(sizes).second) continue;
    for (const ProvenanceReference& reference : references_at(subject, sizes))
      if (auto fault = enumerate_kernels(reference, asts, facts, subject.machine)) return fault;
  }
  return std::nullopt;
}

Judged Campaign::judge(const Operator& op, const Subject& subject, const Change& change) {
  const auto start = std::chrono::steady_clock::now();
  Judged result;
  result.op = op.name;
  result.subject = subject.name();
  result.change = change.text;
  std::vector<Ast> asts = subject.asts;
  std::vector<PrintFacts> facts = subject.facts;
  change.apply(asts, facts);
  if (!op.printed) facts = facts_of(*subject.program, asts, subject.machine, result.print_refused);
  const Certificate certificate = verify(*subject.program, asts, facts, subject.machine, "mutant");
  std::set<std::string> names;
  bool expected = false, undecided = false;
  for (const Obligation& o : certificate.obligations) {
    undecided = undecided || o.verdict == Verdict::not_attempted;
    if (o.verdict == Verdict::not_attempted && result.reason.empty()) result.reason = o.reason;
    if (o.verdict != Verdict::refuted) continue;
    if (names.empty()) result.reason = o.subject + ": " + o.reason;
    names.insert(o.name);
    expected = expected || contains(op.expected, o.name);
  }
  result.refuted_by = join(std::vector<std::string>(names.begin(), names.end()), ", ");
  std::optional<ProvenanceFault> fault = enumerate(subject, asts, facts);
  if (!fault && !names.empty()) fault = enumerate_witnesses(subject, asts, facts, certificate);
  if (fault) result.fault = fault->obligation + ": " + fault->text;
  const bool wrong = !result.fault.empty();
  if (!names.empty()) result.judgement = !wrong ? Judgement::conservative : expected ? Judgement::refuted : Judgement::unexpected;
  else if (undecided) result.judgement = Judgement::unsure;
  else result.judgement = wrong ? Judgement::hole : Judgement::equivalent;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::vector<Judged> Campaign::run(const Operator& op, std::size_t most, std::size_t each, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const char c : op.name) random.seed(random() ^ static_cast<std::uint64_t>(c));
  std::vector<std::pair<const Subject*, std::vector<Change>>> possible;
  for (const Subject& subject : subjects_) {
    std::vector<Change> changes = op.changes(subject);
    if (!changes.empty()) possible.emplace_back(&subject, std::move(changes));
  }
  for (std::size_t i = possible.size(); i > 1; --i) std::swap(possible[i - 1], possible[random() % i]);
  // Other kernels before other Plans of the same one.
  std::set<std::string> kernels;
  std::stable_partition(possible.begin(), possible.end(), [&](const auto& entry) { return kernels.insert(entry.first->kernel).second; });
  if (possible.size() > most) possible.resize(most);
  std::vector<Judged> judged;
  for (auto& [subject, changes] : possible)
    for (std::size_t n = 0; n < each && !changes.empty(); ++n) {
      const std::size_t drawn = random() % changes.size();
      judged.push_back(judge(op, *subject, changes[drawn]));
      changes.erase(changes.begin() + static_cast<long>(drawn));
    }
  return judged;
}

std::string expectations(const std::vector<Operator>& operators) {
  std::string text = "| operator | fault | refuted by |\n| --- | --- | --- |\n";
  for (const Operator& op : operators) text += "| " + op.name + " | " + op.what + " | " + join(op.expected, ", ") + " |\n";
  return text;
}

std::string table(const std::vector<Operator>& operators, const std::vector<Judged>& all) {
  std::string text = "| operator | mutants | kernels | refuted | equivalent | conservative | not attempted | other | refuted by |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Operator& op : operators) {
    std::map<Judgement, int> counts;
    std::set<std::string> kernels, by;
    int mutants = 0;
    for (const Judged& judged : all) {
      if (judged.op != op.name) continue;
      ++mutants;
      ++counts[judged.judgement];
      kernels.insert(judged.subject.substr(0, judged.subject.find(' ')));
      for (const std::string& name : op.expected)
        if (judged.refuted_by.find(name) != std::string::npos) by.insert(name);
    }
    text += "| " + op.name + " | " + std::to_string(mutants) + " | " + std::to_string(kernels.size());
    for (const Judgement j : {Judgement::refuted, Judgement::equivalent, Judgement::conservative, Judgement::unsure})
      text += " | " + std::to_string(counts[j]);
    text += " | " + std::to_string(counts[Judgement::hole] + counts[Judgement::unexpected]) + " | " +
            join(std::vector<std::string>(by.begin(), by.end()), ", ") + " |\n";
  }
  return text;
}

}  // namespace tileopt::mutation
