/// compile(): the driver is the architecture diagram.
#pragma once

#include <memory>
#include <vector>

#include "backends/backend.h"
#include "driver/resume.h"
#include "driver/trace.h"
#include "ir/machine.h"
#include "ir/module.h"
#include "ir/program.h"
#include "ir/stages.h"
#include "search/resolve_plan.h"
#include "verify/verify.h"

namespace tileopt {

/// All stages of one kernel: each holds those before it.
struct KernelStages {
  SynchronizedSchedule synchronized;
  Ast ast;
  const PipelinedSchedule& pipelined() const { return synchronized.pipelined(); }
  const PromotedSchedule& promoted() const { return synchronized.promoted(); }
  const FittedSchedule& fitted() const { return promoted().fitted(); }
  const DigitSchedule& digits() const { return fitted().digits(); }
  const Schedule& schedule() const { return digits().schedule(); }
};

/// The stages of all kernels in launch order, as compile() makes them; nothing is printed or proved.
/// `known`: the dependences of `source`, where the caller has them already; else they are analysed.
/// @throws Errors(invalid_plan) as compile() does.
Candidate<std::vector<KernelStages>> compile_stages(std::shared_ptr<const Program> source, const Plan& plan, const Machine& machine,
                                                    Trace& trace, const EditedAsts& edited = {},
                                                    std::shared_ptr<const Dependences> known = nullptr);

/// Decides nothing: `plan` is resolved (see resolve_plan), so the same inputs give the same bytes.
/// `edited` replaces the Ast of a kernel (resume from 60-ast); it is printed and verified like any other. `proof`: how much is
/// proved; the certificate says what was not. `planned`: what planning has already made of kernels (resolve_plan), in this process and of this
/// program; where a trace writes its stages down, they are made again, so that it times them.
/// @throws Errors(invalid_plan) where `plan` is for another program, machine or version.
Candidate<Module> compile(std::shared_ptr<const Program> source, const Plan& plan, const Machine& machine,
                          const Backend& backend, Trace& trace, const EditedAsts& edited = {}, const ProofOptions& proof = {}, const std::vector<PlannedStages>& planned = {});

}  // namespace tileopt
