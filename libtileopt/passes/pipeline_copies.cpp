/// Moves copies ahead of their use. On machines whose copies complete immediately nothing asks for slots: the tree stays.
#include "passes/passes.h"

namespace tileopt {

Candidate<PipelinedSchedule> PipelinedSchedule::create(PromotedSchedule promoted) { return PipelinedSchedule(std::move(promoted)); }

Document PipelinedSchedule::write() const {
  Document d;
  d["kernel"] = promoted_.plan().name;
  d["slots"] = Document::object();
  d["tree"] = promoted_.tree().write();
  return d;
}

Candidate<PipelinedSchedule> pipeline_copies(const PromotedSchedule& promoted) { return PipelinedSchedule::create(promoted); }

}  // namespace tileopt
