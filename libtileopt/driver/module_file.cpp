#include "driver/module_file.h"

#include <algorithm>

#include "driver/check_rewrites.h"
#include "driver/check_versions.h"
#include "driver/print_facts.h"
#include "driver/request.h"
#include "frontends/tile_text/tile_text.h"
#include "ir/ast_fields.h"
#include "support/text.h"

namespace tileopt {

namespace {

[[noreturn]] void reject(const std::string& path, const std::string& message, const std::string& hint) {
  throw Errors(Diagnostic{ErrorCode::invalid_dump, {path, 0, 0}, message, hint, ""});
}

std::shared_ptr<const Program> read_program(isl::ctx ctx, const Field& field, const std::string& path) {
  const std::string name = field["program"].text();
  for (Program& program : parse_tile_file(ctx, field["text"].text(), field["file"].text()).programs)
    if (program.name() == name) return std::make_shared<const Program>(std::move(program));
  reject(path, "entry `program`: the text declares no program `" + name + "`", "write the module again with `compile --module`");
}

/// Verdicts by obligation; several may have one name and subject.
using Claims = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

Claims claims_of(const Certificate& certificate) {
  Claims claims;
  for (const Obligation& o : certificate.obligations) {
    const std::string verdict = o.verdict == Verdict::proved ? "proved" : o.verdict == Verdict::refuted ? "refuted" : "not attempted";
    claims[{o.name, o.subject}].push_back(verdict);
  }
  for (auto& [key, verdicts] : claims) std::sort(verdicts.begin(), verdicts.end());
  return claims;
}

bool claims_nothing(const Certificate& certificate) {
  return std::all_of(certificate.obligations.begin(), certificate.obligations.end(),
                     [](const Obligation& o) { return o.verdict == Verdict::not_attempted; });
}

void compare_obligations(const Certificate& stored, const Certificate& found, std::vector<std::string>& differences) {
  if (claims_nothing(stored) && !stored.obligations.empty()) return;
  const Claims then = claims_of(stored), now = claims_of(found);
  for (const auto& [key, verdicts] : now)
    if (then.count(key) == 0) differences.push_back("the certificate does not speak of " + key.first + " of " + key.second);
  for (const auto& [key, verdicts] : then) {
    const std::string what = key.first + " of " + key.second;
    const auto again = now.find(key);
    if (again == now.end()) {
      differences.push_back("the certificate speaks of " + what + ", which is no obligation of this module");
      continue;
    }
    if (again->second == verdicts || contains(verdicts, "not attempted")) continue;
    differences.push_back(what + ": the certificate says " + join(verdicts, ", ") + ", now it is " + join(again->second, ", "));
  }
}

void compare_certificates(const ModuleFile& file, const Certificate& found, std::vector<std::string>& differences) {
  const Certificate& stored = file.certificate;
  const auto compare = [&](const std::string& what, const std::string& then, const std::string& now) {
    if (then != now) differences.push_back("the certificate is of " + what + " `" + then + "`, the module of `" + now + "`");
  };
  compare("program", stored.program, found.program);
  compare("the program text", stored.program_hash, found.program_hash);
  compare("machine", stored.machine, found.machine);
  compare("version", stored.version, file.version);
  if (stored.assumed != found.assumed) differences.push_back("the certificate assumes something else");
  if (!claims_nothing(stored) && stored.numerics != found.numerics) differences.push_back("the certificate lists other permissions of @numerics");
  compare_obligations(stored, found, differences);
}

/// The printer is deterministic: the loops of the file must give the text of the file.
void compare_text(const ModuleFile& file, const Program& program, std::vector<std::string>& differences) {
  Candidate<SourceText> again = find_backend(file.backend).print(program, file.asts, file.machine, file.version);
  if (const auto* refused = std::get_if<Infeasible>(&again)) {
    differences.push_back("the loops cannot be printed: " + refused->reason);
    return;
  }
  const SourceText& text = std::get<SourceText>(again);
  if (text.source != file.text.source) differences.push_back("the source is not what the loops are printed as");
  if (text.header != file.text.header) differences.push_back("the header is not what the program is printed as");
  const auto written = [](const std::vector<PrintFacts>& facts) {
    std::string all;
    for (const PrintFacts& kernel : facts) all += write_print_facts(kernel).dump();
    return all;
  };
  if (written(text.facts) != written(file.text.facts)) differences.push_back("the print facts are not those of the loops");
}

}  // namespace

Document write_module(const Program& program, const Machine& machine, const std::string& backend, const Module& module) {
  Document document;
  document["format"] = ModuleFile::format;
  document["version"] = TILEOPT_VERSION;
  document["backend"] = backend;
  document["program"] = program.name();
  document["file"] = program.file();
  document["text"] = program.text();
  document["machine"] = machine.write();
  document["plan"] = module.plan.write();
  document["kernels"] = Document::array();
  for (std::size_t k = 0; k < module.asts.size(); ++k)
    document["kernels"].push_back(Document{{"ast", module.asts[k].write()}, {"printed", write_print_facts(module.text.facts.at(k))}});
  document["source"] = module.text.source;
  document["header"] = module.text.header;
  document["certificate"] = module.certificate.write();
  return document;
}

ModuleFile read_module(isl::ctx ctx, const std::string& path) {
  const Document document = parse_json(read_file(path), path);
  const Field field(document, "", path);
  const std::string format = field["format"].text();
  if (format != ModuleFile::format) field["format"].fail("expected `" + std::string(ModuleFile::format) + "`, got `" + format + "`");
  field.allow_only({"format", "version", "backend", "program", "file", "text", "machine", "plan", "kernels", "source", "header", "certificate"});
  ModuleFile file;
  file.version = field["version"].text();
  if (file.version != TILEOPT_VERSION)
    field["version"].fail("the module was made by tileopt " + file.version + ", this is " TILEOPT_VERSION);
  file.backend = field["backend"].text();
  if (!contains(backend_names(), file.backend)) field["backend"].fail("unknown backend `" + file.backend + "`");
  file.program = read_program(ctx, field, path);
  for (const char* entry : {"machine", "plan", "certificate"}) (void)field[entry];
  file.machine = Machine::read(document["machine"], path);
  file.plan = Plan::read(document["plan"], path);
  const std::vector<Field> kernels = field["kernels"].items();
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    kernels[k].allow_only({"ast", "printed"});
    (void)kernels[k]["ast"];
    file.asts.push_back(Ast::read(document["kernels"][k]["ast"], path));
    file.text.facts.push_back(read_print_facts(kernels[k]["printed"]));
  }
  file.text.source = field["source"].text();
  file.text.header = field["header"].text();
  file.certificate = Certificate::read(document["certificate"], path);
  return file;
}

ModuleCheck check_module(const ModuleFile& file, const ProofOptions& proof) {
  ModuleCheck check;
  Candidate<RewrittenProgram> candidate = apply_rewrites(file.program, file.plan.rewrites);
  if (const auto* refused = std::get_if<Infeasible>(&candidate)) {
    check.differences.push_back("the plan's rewrites cannot be made: " + refused->reason);
    return check;
  }
  const RewrittenProgram& rewritten = std::get<RewrittenProgram>(candidate);
  check.certificate = verify(*rewritten.program, file.asts, file.text.facts, file.machine, file.version, proof);
  if (proof.attempt) attest_rewrites(*file.program, rewritten, check.certificate);
  if (proof.attempt) attest_versions(*rewritten.program, file.plan, file.asts, check.certificate);
  compare_certificates(file, check.certificate, check.differences);
  if (file.plan.program_hash != file.program->hash()) check.differences.push_back("the plan is for another program text");
  compare_text(file, *rewritten.program, check.differences);
  return check;
}

}  // namespace tileopt
