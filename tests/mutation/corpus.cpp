#include "corpus.h"

#include <algorithm>
#include <filesystem>

#include "cost_models/machines.h"
#include "driver/request.h"
#include "driver/size_vectors.h"
#include "faithful.h"
#include "frontends/tile_text/tile_text.h"
#include "rewrites/apply_rewrites.h"
#include "support/text.h"
#include "tests/collection.h"

namespace tileopt::mutation {

namespace {

const std::string root = TILEOPT_SOURCE_DIR;

// Further Plans, by kernel.
const std::vector<std::pair<std::string, std::string>> pinned = {
    {"benchmarks/kernels/gemm", "tile(\"atom\", i=2, j=8)"},
    {"benchmarks/kernels/gemm", "schedule(\"original\")"},
    {"benchmarks/kernels/gemm_int8", "tile(\"atom\", i=2, j=8)"},
    {"benchmarks/kernels/transpose", "tile(\"serial\", i=4, j=4)"},
    {"benchmarks/kernels/softmax", "schedule(\"original\")"},
    {"benchmarks/kernels/nussinov", "schedule(\"original\")"},
    // Elements that loops hold in variables, and lanes of the C compiler's that meet in one.
    {"benchmarks/kernels/layernorm", "schedule(\"original\")"},
    {"benchmarks/kernels/rmsnorm", "schedule(\"original\")"},
    {"benchmarks/kernels/row_column_sums", "schedule(\"original\")"},
    {"benchmarks/kernels/gemm_int8", "schedule(\"original\")"},
    {"benchmarks/kernels/layernorm", "atom(mean_sum1, \"scalar\")"},
    {"benchmarks/kernels/rmsnorm", "atom(square_sum1, \"scalar\")"},
    {"benchmarks/kernels/softmax", "atom(l, \"scalar\")"},
    {"benchmarks/kernels/row_column_sums", "atom(rows, \"scalar\")"},
};
const std::vector<std::string> cases = {"tests/cases/scatter_add", "tests/cases/stencil_chain", "tests/cases/causal_softmax", "tests/cases/odd_reduction"};

// Conditions on data, which the kernels have few of.
const char* const conditional_programs = R"(
def masked_copy(X: f32[N], Y: inout[f32[N]]):
    for i in range(N):
        if X[i] > 0:
            Y[i] = X[i]


def count_positive(X: i32[R, N], C: out[i32[R]]):
    for r in range(R):
        C[r] = 0
        for j in range(N):
            if X[r, j] > 0:
                C[r] += 1


def masked_rows(mask: i32[R], X: f32[R, N], Y: inout[f32[R, N]]):
    for r, j in grid(R, N):
        if mask[r] > 0:
            Y[r, j] = X[r, j] + Y[r, j]


def last_positive(X: f32[R, N], L: inout[f32[R]]):
    for r, j in grid(R, N):
        if X[r, j] > 0:
            L[r] = X[r, j]


def clipped_sum(X: i32[R, N], S: inout[i32[N]]):
    for r, j in grid(R, N):
        if X[r, j] < 3:
            S[j] += X[r, j]
)";

// Scatters on threads, by atomic updates: { program, pins }.
const std::vector<std::pair<std::string, std::string>> scattered_programs = {
    {"def count_keys(key: i32[N], C: inout[i32[B]]):\n    assume(0 <= key[:] < B)\n    for i in range(N):\n        C[key[i]] += 1\n",
     "parallel(\"i\")\natom(C, \"atomic_update\")"},
    {"def add_weights(key: i32[N], w: f32[N], W: inout[f32[B]]):\n    assume(0 <= key[:] < B)\n    for i in range(N):\n        W[key[i]] += w[i]\n",
     "parallel(\"i\")\natom(W, \"atomic_update\")"},
    {"def mark_bits(key: i32[N], m: i64[N], M: inout[i64[B]]):\n    assume(0 <= key[:] < B)\n    for i in range(N):\n        M[key[i]] |= m[i]\n",
     "parallel(\"i\")\natom(M, \"atomic_update\")"},
    {"def count_pairs(key: i32[N], C: inout[i32[B, 2]]):\n    assume(0 <= key[:] < B)\n    for i, side in grid(N, 2):\n        C[key[i], side] += 1\n",
     "parallel(\"i\")\natom(C, \"atomic_update\")"},
    {"def column_totals(X: i32[R, N], T: inout[i32[N]]):\n    for r, j in grid(R, N):\n        T[j] += X[r, j]\n",
     "schedule(\"original\")\nparallel(\"r\")\natom(T, \"atomic_update\")"},
};

std::shared_ptr<const Program> parse(isl::ctx ctx, const std::string& name) {
  const std::string file = root + "/" + name + ".tile";
  return std::make_shared<const Program>(parse_tile_file(ctx, read_file(file), file).programs.at(0));
}

Subject compile_subject(const std::string& name, std::shared_ptr<const Program> program, const std::string& pins) {
  Subject subject;
  subject.kernel = name;
  subject.plan = pins.empty() ? "default" : pins;
  subject.program = std::move(program);
  Request request;
  request.machine = subject.machine = find_machine("x86-64-v3");
  request.resolve.threads = 4;
  if (!pins.empty()) request.pins = parse_pins(pins, "pins");
  Trace trace;
  Candidate<Outcome> outcome = resolve_and_compile(subject.program, request, trace);
  if (const auto* refused = std::get_if<Infeasible>(&outcome)) throw std::runtime_error(subject.name() + ": " + to_string(*refused));
  Module& module = std::get<Outcome>(outcome).module;
  subject.program = std::get<RewrittenProgram>(apply_rewrites(subject.program, module.plan.rewrites)).program;
  subject.asts = std::move(module.asts);
  subject.facts = std::move(module.text.facts);
  return subject;
}

bool data_decides(const Program& program) {
  return std::any_of(program.statements().begin(), program.statements().end(), [](const Statement& s) { return s.conditional(); });
}

}  // namespace

std::vector<Subject> load_subjects(isl::ctx ctx, Kernels kernels) {
  if (kernels == Kernels::later) {
    std::vector<Subject> subjects;
    for (const std::string& name : test::later_kernels()) subjects.push_back(compile_subject(name, parse(ctx, "benchmarks/kernels/" + name), ""));
    return subjects;
  }
  const bool all = kernels == Kernels::all;
  const std::vector<std::string> slow = {"conv2d", "dilated_conv2d", "mamba2_chunk_scan", "batched_gemm_bias_gelu", "paged_scores"};
  std::vector<std::string> names;
  for (const std::string& name : all ? test::all_kernels() : test::suite_kernels())
    if (all || !contains(slow, name)) names.push_back("benchmarks/kernels/" + name);
  names.insert(names.end(), cases.begin(), cases.end());
  std::vector<Subject> subjects;
  for (const std::string& name : names) {
    const std::string kernel = std::filesystem::path(name).filename().string();
    subjects.push_back(compile_subject(kernel, parse(ctx, name), ""));
    for (const auto& [wanted, pins] : pinned)
      if (wanted == name) subjects.push_back(compile_subject(kernel, parse(ctx, name), pins));
  }
  for (const Program& program : parse_tile_file(ctx, conditional_programs, "conditional.tile").programs)
    subjects.push_back(compile_subject(program.name(), std::make_shared<const Program>(program), ""));
  for (const auto& [text, pins] : scattered_programs) {
    const Program program = parse_tile_file(ctx, text, "scattered.tile").programs.at(0);
    subjects.push_back(compile_subject(program.name(), std::make_shared<const Program>(program), pins));
  }
  return subjects;
}

std::vector<ProvenanceReference> references_of(const Subject& subject) {
  // Every value of an index is an instance: small sizes have many already, and counting those of large ones takes long.
  const bool conditional = data_decides(*subject.program);
  const std::vector<std::int64_t> values = conditional ? std::vector<std::int64_t>{1, 2, 3, 4, 6, 9}
                                                       : std::vector<std::int64_t>{300, 1, 257, 3, 130, 2, 97, 5, 66, 8, 50, 9, 33, 17};
  const SizeSpread spread{values, 16, 3000, 1 << 16};
  std::vector<Sizes> vectors = spread_sizes(*subject.program, spread);
  // One with all sizes alike, so that boxes are whole in every dimension at once.
  for (const std::int64_t value : {40, 33, 20, 18, 9, 5}) {
    Sizes alike;
    for (const std::string& name : subject.program->parameters()) alike[name] = value;
    if (conditional || !sizes_fit(*subject.program, alike, {{}, 1, 40'000, 1 << 18})) continue;
    vectors.push_back(alike);
    break;
  }
  std::vector<ProvenanceReference> references;
  for (const Sizes& sizes : vectors)
    for (std::uint64_t seed = 1; seed <= (conditional ? 3 : 1); ++seed)
      references.emplace_back(*subject.program, sizes, seed);
  // Cheap ones first: most mutants are found out by one of them.
  std::stable_sort(references.begin(), references.end(),
                   [](const ProvenanceReference& a, const ProvenanceReference& b) { return a.instances() < b.instances(); });
  return references;
}

std::vector<ProvenanceReference> references_at(const Subject& subject, const Sizes& sizes) {
  const SizeSpread limits{{}, 1, 300'000, 1 << 23};
  std::vector<Sizes> vectors{sizes};
  for (const auto& [kept, value] : sizes) {
    Sizes fewer = sizes;
    for (auto& [name, size] : fewer)
      if (name != kept) size = std::min<std::int64_t>(size, 2);
    vectors.push_back(fewer);
  }
  // Every value of an index is an instance of the reference, while sizes_fit counts those that have an effect.
  const auto enumerable = [&](const Sizes& vector) {
    double product = 1;
    for (const auto& [name, size] : vector) product *= double(std::max<std::int64_t>(size, 1));
    return !data_decides(*subject.program) || product <= double(limits.max_instances);
  };
  std::vector<ProvenanceReference> references;
  for (const Sizes& vector : vectors) {
    if (!enumerable(vector) || !sizes_fit(*subject.program, vector, limits)) continue;
    try {
      for (std::uint64_t seed = 1; seed <= (data_decides(*subject.program) ? 5 : 1); ++seed) references.emplace_back(*subject.program, vector, seed);
    } catch (const ProvenanceUnsupported&) {
      continue;  // too large to enumerate
    }
  }
  return references;
}

Sizes witness_sizes(const Program& program, const std::string& witness) {
  Sizes sizes;
  for (const std::string& name : program.parameters()) {
    sizes[name] = 1;
    const std::string text = " " + witness.substr(0, witness.find(':'));
    const std::size_t at = text.find(" " + name + " = ");
    if (at != std::string::npos) sizes[name] = std::atoll(text.c_str() + at + name.size() + 4);
  }
  return sizes;
}

std::vector<PrintFacts> facts_of(const Program& program, const std::vector<Ast>& asts, const Machine& machine, bool& refused) {
  refused = true;
  try {
    Candidate<SourceText> text = find_backend("openmp").print(program, asts, machine, "mutant");
    if (auto* printed = std::get_if<SourceText>(&text)) {
      refused = false;
      return std::move(printed->facts);
    }
  } catch (const std::exception&) {
    // A bug's message is a refusal too: nothing is printed.
  }
  std::vector<PrintFacts> facts;
  for (const Ast& ast : asts) facts.push_back(faithful_facts(program, ast, machine));
  return facts;
}

}  // namespace tileopt::mutation
