// Updates whose element only data knows, on several threads: atomic, proved as such, and refuted where they are not.
#include <gtest/gtest.h>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "interpreter/provenance.h"
#include "verify/verify.h"

namespace tileopt {
namespace {

const char* const histogram =
    "def f(key: i32[N], w: f32[N], H: inout[i32[B]], S: inout[f32[B]]):\n"
    "    assume(0 <= key[:] < B)\n"
    "    for i in range(N):\n"
    "        H[key[i]] += 1\n"
    "        S[key[i]] += w[i]\n";
const char* const atomic_pins = "parallel(\"i\")\natom(H, \"atomic_update\")\natom(S, \"atomic_update\")";

class AtomicUpdates : public ::testing::Test {
 protected:
  Candidate<Outcome> resolve(const std::string& text, const std::string& pins) {
    program_ = std::make_shared<const Program>(parse_tile_file(context_.get(), text, "test.tile").programs.at(0));
    Request request;
    request.machine = machine_;
    request.resolve.threads = 2;
    request.pins = parse_pins(pins, "pins");
    Trace trace;
    return resolve_and_compile(program_, request, trace);
  }
  Module compile(const std::string& text, const std::string& pins) {
    Candidate<Outcome> outcome = resolve(text, pins);
    if (const auto* refused = std::get_if<Infeasible>(&outcome)) {
      ADD_FAILURE() << to_string(*refused);
      return {};
    }
    return std::move(std::get<Outcome>(outcome).module);
  }
  std::string refusal(const std::string& text, const std::string& pins) {
    Candidate<Outcome> outcome = resolve(text, pins);
    const auto* refused = std::get_if<Infeasible>(&outcome);
    return refused != nullptr ? to_string(*refused) : "accepted";
  }
  Obligation refuted(const std::vector<Ast>& asts, const std::vector<PrintFacts>& facts) {
    const Certificate certificate = verify(*program_, asts, facts, machine_, "test");
    for (const Obligation& o : certificate.obligations)
      if (o.verdict == Verdict::refuted) return o;
    ADD_FAILURE() << "nothing is refuted";
    return {};
  }

  poly::Context context_;
  std::shared_ptr<const Program> program_;
  Machine machine_ = find_machine("x86-64-v3");
};

TEST_F(AtomicUpdates, AreProvedOnThreads) {
  const Module module = compile(histogram, atomic_pins);
  EXPECT_TRUE(module.certificate.proved());
  EXPECT_NE(module.text.source.find("#pragma omp parallel for"), std::string::npos) << module.text.source;
  EXPECT_NE(module.text.source.find("#pragma omp atomic\n"), std::string::npos);
  EXPECT_NE(module.text.source.find("*(uint32_t*)&H[key_at] += (uint32_t)"), std::string::npos) << module.text.source;
  EXPECT_EQ(module.certificate.numerics, (std::vector<std::string>{"reassociate: S"}));
}

TEST_F(AtomicUpdates, WithoutThemThreadsRace) {
  EXPECT_NE(refusal(histogram, "parallel(\"i\")"), "accepted");
  EXPECT_NE(refusal(histogram, "parallel(\"i\")\natom(H, \"atomic_update\")"), "accepted") << "S is none";
  Module module = compile(histogram, atomic_pins);
  for (auto& [name, statement] : module.asts.at(0).statements) statement.atom = name == "S" ? "" : statement.atom;
  const Obligation o = refuted(module.asts, {});
  EXPECT_EQ(o.name, "races");
  EXPECT_NE(o.reason.find("S writes and S writes the same element of S"), std::string::npos) << o.reason;
  EXPECT_FALSE(o.witness.empty());
}

TEST_F(AtomicUpdates, APrintedUpdateMustBeAtomicExactlyWhereTheAstSaysSo) {
  const Module module = compile(histogram, atomic_pins);
  std::vector<PrintFacts> facts = module.text.facts;
  ASSERT_EQ(facts.at(0).leaves.size(), 2u);
  EXPECT_EQ(facts[0].leaves[0].tested, (std::vector<std::string>{"atomic"}));
  facts[0].leaves[0].tested.clear();
  const Obligation o = refuted(module.asts, facts);
  EXPECT_EQ(o.name, "text");
  EXPECT_NE(o.reason.find("what H tests"), std::string::npos) << o.reason;
}

TEST_F(AtomicUpdates, EnumerationSaysTheSame) {
  Module module = compile(histogram, atomic_pins);
  const ProvenanceReference reference(*program_, {{"N", 20}, {"B", 3}}, 1);
  EXPECT_FALSE(enumerate_kernels(reference, module.asts, module.text.facts, machine_).has_value());
  EXPECT_FALSE(enumerate_kernels(reference, module.asts, {}, machine_).has_value());
  std::vector<PrintFacts> facts = module.text.facts;
  facts.at(0).leaves.at(1).tested.clear();
  const auto printed = enumerate_kernels(reference, module.asts, facts, machine_);
  ASSERT_TRUE(printed.has_value());
  EXPECT_EQ(printed->obligation, "races");
  for (auto& [name, statement] : module.asts.at(0).statements) statement.atom = name == "S" ? "" : statement.atom;
  const auto plain = enumerate_kernels(reference, module.asts, {}, machine_);
  ASSERT_TRUE(plain.has_value());
  EXPECT_NE(plain->text.find("of S"), std::string::npos) << plain->text;
}

TEST_F(AtomicUpdates, NobodyElseMayTouchTheElements) {
  const std::string reads =
      "def f(key: i32[N], other: i32[N], H: inout[i32[B]], seen: out[i32[N]]):\n"
      "    assume(0 <= key[:] < B and 0 <= other[:] < B)\n"
      "    for i in range(N):\n"
      "        H[key[i]] += 1\n"
      "        seen[i] = H[other[i]]\n";
  EXPECT_NE(refusal(reads, "parallel(\"i\")\natom(H, \"atomic_update\")"), "accepted");
  Module module = compile(reads, "atom(H, \"atomic_update\")");
  EXPECT_TRUE(module.certificate.proved());
  Ast& ast = module.asts.at(0);
  AstFor loop = std::get<AstFor>(ast.root->node);
  loop.level = "thread";
  ast.root = make_node(loop);
  EXPECT_EQ(refuted(module.asts, {}).name, "races");
  const std::string two =
      "def f(key: i32[N], H: inout[i32[B]]):\n"
      "    assume(0 <= key[:] < B)\n"
      "    for i in range(N):\n"
      "        H[key[i]] += 1\n"
      "        H[key[i]] |= 4\n";
  EXPECT_NE(refusal(two, "parallel(\"i\")\natom(H, \"atomic_update\")\natom(H_2, \"atomic_update\")"), "accepted");
}

TEST_F(AtomicUpdates, OnlyWhatOneInstructionDoesInAnyOrder) {
  const auto program = [](const std::string& decorator, const std::string& type, const std::string& update) {
    return decorator + "def f(key: i32[N], w: " + type + "[N], H: inout[" + type + "[B]]):\n"
           "    assume(0 <= key[:] < B)\n"
           "    for i in range(N):\n"
           "        " + update + "\n";
  };
  const std::string pin = "atom(H, \"atomic_update\")";
  EXPECT_NE(refusal(program("@numerics(reassociate=False)\n", "f32", "H[key[i]] += w[i]"), pin).find("index order"), std::string::npos);
  EXPECT_NE(refusal(program("", "f16", "H[key[i]] += w[i]"), pin).find("rounded on every store"), std::string::npos);
  const std::string nibbles =
      "def f(key: i32[N], C: out[i32[B]]):\n"
      "    assume(0 <= key[:] < B)\n"
      "    T: i4[B]\n"
      "    for b in range(B):\n"
      "        T[b] = 0\n"
      "    for i in range(N):\n"
      "        T[key[i]] += 1\n"
      "    for b in range(B):\n"
      "        C[b] = i32(T[b])\n";
  const std::string small = refusal(nibbles, "atom(T_2, \"atomic_update\")");
  EXPECT_NE(small.find("less than a byte"), std::string::npos) << small;
  EXPECT_NE(refusal(program("", "f32", "H[key[i]] *= w[i]"), pin).find("only sums"), std::string::npos);
  EXPECT_NE(refusal(program("", "f32", "H[key[i]] = w[i]"), pin).find("only sums"), std::string::npos);
  for (const char* update : {"H[key[i]] |= w[i]", "H[key[i]] &= w[i]", "H[key[i]] ^= w[i]", "H[key[i]] += w[i]"})
    EXPECT_TRUE(compile(program("", "i64", update), "parallel(\"i\")\n" + pin).certificate.proved()) << update;
}

}  // namespace
}  // namespace tileopt
