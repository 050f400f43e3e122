// The kernels that mutants are made of: Programs, the loops that a Plan gives them, and what the printer says of those.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interpreter/provenance.h"
#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"

namespace tileopt::mutation {

struct Subject {
  std::string kernel;  // name of its file
  std::string plan;    // "default", or the pins
  std::shared_ptr<const Program> program;
  Machine machine;
  std::vector<Ast> asts;
  std::vector<PrintFacts> facts;
  std::string name() const { return plan == "default" ? kernel : kernel + " " + plan; }
};

// Every program of benchmarks/kernels by its default Plan for four threads, some by pinned Plans too (small tiles, so that small
// sizes cross many of them), and the cases with an index from memory.
// `all`: also the few whose boxes and panels take long to enumerate. `later`: the later kernels of the collection, by their default Plans alone.
enum class Kernels { suite, all, later };
std::vector<Subject> load_subjects(isl::ctx ctx, Kernels kernels);

// Runs of a subject's Program at several sizes, on the data of several seeds where data decides what runs.
std::vector<ProvenanceReference> references_of(const Subject& subject);

// One run at these sizes, the others as small as the program allows where the whole is too much; nothing where even that is too much.
std::vector<ProvenanceReference> references_at(const Subject& subject, const Sizes& sizes);
// The sizes that a witness names ("M = 3, N = 1024: ..."); a size that it leaves out is 1.
Sizes witness_sizes(const Program& program, const std::string& witness);

// The facts of a faithful printer: the backend's own, or where it refuses the loops, what they say themselves.
std::vector<PrintFacts> facts_of(const Program& program, const std::vector<Ast>& asts, const Machine& machine, bool& refused);

}  // namespace tileopt::mutation
