#include "ir/plan.h"

#include <algorithm>
#include <set>

#include "ir/types.h"
#include "support/document_reader.h"
#include "support/text.h"

namespace tileopt {
namespace {

constexpr long kMaxRadix = 1L << 31;

bool is_identifier(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || name.size() > 200 || !letter(name[0])) return false;
  for (const char c : name) {
    if (!letter(c) && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

std::string identifier(const DocumentReader& entry) {
  const std::string name = entry.text();
  if (!is_identifier(name)) entry.fail("`" + name + "` is no name", "names are letters, digits and `_`, no digit first");
  return name;
}

std::vector<std::string> identifiers(const DocumentReader& list) {
  std::vector<std::string> names;
  for (const DocumentReader& item : list.items()) {
    names.push_back(identifier(item));
    if (std::count(names.begin(), names.end(), names.back()) > 1) {
      item.fail("`" + names.back() + "` occurs twice", "remove one of the two");
    }
  }
  return names;
}

void require_known(const DocumentReader& entry, const std::string& name, const std::vector<std::string>& known,
                   const std::string& what) {
  if (contains(known, name)) return;
  const std::string near = nearest_name(name, known);
  entry.fail("`" + name + "` is no " + what + " of this kernel",
             near.empty() ? "there are " + join(known, ", ") : "did you mean `" + near + "`?");
}

Document write_digits(const std::vector<Digit>& digits) {
  Document list = Document::array();
  for (const Digit& digit : digits) list.push_back({{"name", digit.name}, {"radix", digit.radix}, {"level", digit.level}});
  return list;
}

Document write_promotion(const Promotion& promotion) {
  Document layout = Document::array();
  for (const BufferDim& dim : promotion.layout) {
    layout.push_back({{"name", dim.name}, {"tensor_dim", dim.tensor_dim}, {"radix", dim.radix}});
    if (!dim.level.empty()) layout.back()["level"] = dim.level;
    if (dim.weight > 0) layout.back()["weight"] = dim.weight;
  }
  Document document = {{"tensor", promotion.tensor},
          {"array", promotion.array},
          {"after", promotion.after},
          {"statements", promotion.statements},
          {"space", promotion.space},
          {"element", promotion.element},
          {"layout", layout},
          {"zero_fill", promotion.zero_fill}};
  if (promotion.stream) document["stream"] = true;
  if (promotion.pad != 0) document["pad"] = promotion.pad;
  if (!promotion.copy_order.empty()) document["copy_order"] = promotion.copy_order;
  if (!promotion.swizzle_along.empty()) document["swizzle"] = {{"along", promotion.swizzle_along}, {"by", promotion.swizzle_by}};
  return document;
}

std::vector<Digit> read_digits(const DocumentReader& list, std::set<std::string>& names) {
  std::vector<Digit> digits;
  for (const DocumentReader& entry : list.items()) {
    entry.expect_object({"name", "radix", "level"});
    Digit digit{identifier(entry.at("name")), entry.integer("radix", 0, kMaxRadix), identifier(entry.at("level"))};
    if (digit.radix == 0 && !digits.empty()) {
      entry.at("radix").fail("only the most significant digit of a member may be unbounded", "give a radix of at least 1");
    }
    if (!names.insert(digit.name).second) entry.at("name").fail("the digit `" + digit.name + "` occurs twice", "rename one");
    digits.push_back(std::move(digit));
  }
  if (digits.empty()) list.fail("a member needs at least one digit", "add an unbounded digit, radix 0");
  return digits;
}

StatementMembers read_members(const DocumentReader& entry) {
  entry.expect_object({"members", "map"});
  return {identifiers(entry.at("members")), entry.text("map")};
}

AtomChoice read_atom_choice(const DocumentReader& entry) {
  entry.expect_object({"atom", "box", "edge", "stream", "prefetch", "whole"});
  AtomChoice choice{entry.text("atom"), identifiers(entry.at("box")), entry.text("edge")};
  if (entry.has("stream")) choice.stream = entry.at("stream").flag();
  choice.prefetch = entry.text("prefetch", "");
  if (entry.has("whole")) choice.whole = identifiers(entry.at("whole"));
  if (!choice.atom.empty()) identifier(entry.at("atom"));
  if (choice.edge != "padded" && choice.edge != "extents") {
    entry.at("edge").fail("unknown edge `" + choice.edge + "`", "write `padded` or `extents`");
  }
  return choice;
}

Promotion read_promotion(const DocumentReader& entry) {
  entry.expect_object({"tensor", "array", "after", "statements", "space", "element", "layout", "zero_fill", "stream", "pad", "copy_order", "swizzle"});
  Promotion promotion;
  promotion.tensor = identifier(entry.at("tensor"));
  promotion.array = identifier(entry.at("array"));
  promotion.after = entry.text("after");
  promotion.statements = identifiers(entry.at("statements"));
  promotion.space = identifier(entry.at("space"));
  promotion.element = entry.text("element");
  if (!parse_type(promotion.element)) {
    entry.at("element").fail("unknown element type `" + promotion.element + "`", "e.g. f32, f64, bf16, i32");
  }
  std::set<std::string> names;
  for (const DocumentReader& item : entry.at("layout").items()) {
    item.expect_object({"name", "tensor_dim", "radix", "level", "weight"});
    BufferDim dim;
    dim.name = identifier(item.at("name"));
    dim.tensor_dim = static_cast<int>(item.integer("tensor_dim", 0, 63));
    dim.radix = item.integer("radix", 0, kMaxRadix);
    if (!names.insert(dim.name).second) item.at("name").fail("the name `" + dim.name + "` occurs twice", "rename one");
    if (item.has("level")) dim.level = item.text("level");
    if (item.has("weight")) dim.weight = item.integer("weight", 1, kMaxRadix);
    promotion.layout.push_back(std::move(dim));
  }
  promotion.zero_fill = entry.at("zero_fill").flag();
  if (entry.has("stream")) promotion.stream = entry.at("stream").flag();
  if (entry.has("pad")) promotion.pad = entry.integer("pad", 0, kMaxRadix);
  if (entry.has("copy_order")) {
    promotion.copy_order = identifiers(entry.at("copy_order"));
    for (const std::string& name : promotion.copy_order)
      if (names.count(name) == 0) entry.at("copy_order").fail("the layout has no dimension `" + name + "`", "list the layout's dimensions, outermost loop first");
    if (std::set<std::string>(promotion.copy_order.begin(), promotion.copy_order.end()).size() != names.size() || promotion.copy_order.size() != names.size())
      entry.at("copy_order").fail("it lists " + std::to_string(promotion.copy_order.size()) + " of the layout's " + std::to_string(names.size()) + " dimensions", "list each dimension once");
  }
  if (entry.has("swizzle")) {
    const DocumentReader swizzle = entry.at("swizzle");
    swizzle.expect_object({"along", "by"});
    promotion.swizzle_along = identifier(swizzle.at("along"));
    promotion.swizzle_by = identifier(swizzle.at("by"));
    for (const std::string& name : {promotion.swizzle_along, promotion.swizzle_by})
      if (names.count(name) == 0) swizzle.fail("the layout has no dimension `" + name + "`", "name two of the layout's dimensions");
    if (promotion.swizzle_along == promotion.swizzle_by) swizzle.fail("both dimensions are `" + promotion.swizzle_by + "`", "name two different ones");
  }
  return promotion;
}

Document write_pipelining(const Pipelining& pipelining) {
  Document copies = Document::array();
  for (const Pipelining::Copy& copy : pipelining.copies) copies.push_back({{"array", copy.array}, {"atom", copy.atom}});
  Document document = {{"after", pipelining.after}, {"slots", pipelining.slots}, {"copies", copies}};
  if (pipelining.distance > 0) document["distance"] = pipelining.distance;
  return document;
}

Pipelining read_pipelining(const DocumentReader& entry) {
  entry.expect_object({"after", "slots", "distance", "copies"});
  Pipelining pipelining;
  pipelining.after = identifier(entry.at("after"));
  pipelining.slots = entry.integer("slots", 2, kMostSlots);
  if (entry.has("distance")) pipelining.distance = entry.integer("distance", 1, kMostSlots);
  if (pipelining.distance >= pipelining.slots)
    entry.at("distance").fail("copies run " + std::to_string(pipelining.distance) + " iterations ahead with " + std::to_string(pipelining.slots) + " slots",
                              "the iteration that computes has a slot too: give at least " + std::to_string(pipelining.distance + 1) + " slots, or a shorter distance");
  for (const DocumentReader& item : entry.at("copies").items()) {
    item.expect_object({"array", "atom"});
    pipelining.copies.push_back({identifier(item.at("array")), item.text("atom", "")});
  }
  if (pipelining.copies.empty()) entry.at("copies").fail("nothing is copied ahead", "list the arrays, or remove the entry");
  return pipelining;
}

/// Names that refer to other entries of the kernel must exist there.
void check_references(const DocumentReader& entry, const KernelPlan& kernel) {
  std::vector<std::string> members, digits;
  for (const auto& [member, list] : kernel.digits) {
    members.push_back(member);
    for (const Digit& digit : list) digits.push_back(digit.name);
  }
  for (const auto& [statement, entry_members] : kernel.members) {
    const DocumentReader at = entry.at("members").at(statement);
    require_known(at, statement, kernel.statements, "statement");
    for (const std::string& member : entry_members.members) require_known(at, member, members, "member with digits");
  }
  for (const std::string& statement : kernel.statements) {
    if (!kernel.members.count(statement)) entry.at("members").fail("no members for `" + statement + "`", "every statement needs them");
  }
  for (const auto& [statement, choice] : kernel.atoms) {
    const DocumentReader at = entry.at("atoms").at(statement);
    require_known(at, statement, kernel.statements, "statement");
    for (const std::string& digit : choice.box) require_known(at, digit, digits, "digit");
  }
  for (std::size_t i = 0; i < kernel.promotions.size(); ++i) {
    const DocumentReader at = entry.at("promotions").items()[i];
    if (!kernel.promotions[i].after.empty()) require_known(at, kernel.promotions[i].after, digits, "digit");
    for (const std::string& statement : kernel.promotions[i].statements) require_known(at, statement, kernel.statements, "statement");
  }
  std::vector<std::string> promoted, ahead, loops;
  for (const Promotion& promotion : kernel.promotions) promoted.push_back(promotion.array);
  for (std::size_t i = 0; i < kernel.pipelines.size(); ++i) {
    const DocumentReader at = entry.at("pipelines").items()[i];
    require_known(at, kernel.pipelines[i].after, digits, "digit");
    if (contains(loops, kernel.pipelines[i].after)) at.fail("the loop `" + kernel.pipelines[i].after + "` has two pipelines", "list all its copies in one");
    loops.push_back(kernel.pipelines[i].after);
    for (const Pipelining::Copy& copy : kernel.pipelines[i].copies) {
      require_known(at, copy.array, promoted, "promoted array");
      if (contains(ahead, copy.array)) at.fail("the array `" + copy.array + "` is copied ahead twice", "list it once");
      ahead.push_back(copy.array);
    }
  }
}

KernelPlan read_kernel(const DocumentReader& entry, const std::string& file) {
  entry.expect_object({"name", "statements", "schedule", "members", "digits", "tree", "atoms", "promotions", "pipelines", "when"});
  KernelPlan kernel;
  kernel.name = identifier(entry.at("name"));
  kernel.statements = identifiers(entry.at("statements"));
  if (kernel.statements.empty()) entry.at("statements").fail("a kernel holds at least one statement", "remove the kernel");
  kernel.schedule = entry.text("schedule");
  if (!contains({"isl", "wavefront", "original", "pinned"}, kernel.schedule)) {
    entry.at("schedule").fail("unknown schedule `" + kernel.schedule + "`", "write isl, wavefront, original or pinned");
  }
  for (const auto& [statement, members] : entry.at("members").entries()) kernel.members[statement] = read_members(members);
  std::set<std::string> names;
  for (const auto& [member, digits] : entry.at("digits").entries()) {
    if (!is_identifier(member)) digits.fail("`" + member + "` is no name", "names are letters, digits and `_`");
    kernel.digits.emplace_back(member, read_digits(digits, names));
  }
  kernel.tree = Tree::read(entry.text("tree"), file + ": " + entry.at("tree").path());
  for (const auto& [statement, choice] : entry.at("atoms").entries()) kernel.atoms[statement] = read_atom_choice(choice);
  std::set<std::string> arrays;
  for (const DocumentReader& item : entry.at("promotions").items()) {
    kernel.promotions.push_back(read_promotion(item));
    if (!arrays.insert(kernel.promotions.back().array).second) {
      item.at("array").fail("the array `" + kernel.promotions.back().array + "` occurs twice", "rename one");
    }
  }
  if (entry.has("pipelines"))
    for (const DocumentReader& item : entry.at("pipelines").items()) kernel.pipelines.push_back(read_pipelining(item));
  kernel.when = entry.text("when", "");
  check_references(entry, kernel);
  return kernel;
}

std::vector<Rewriting> read_rewrites(const DocumentReader& list) {
  std::vector<Rewriting> rewrites;
  for (const DocumentReader& entry : list.items()) {
    entry.expect_object({"name", "arguments", "sizes"});
    Rewriting rewriting{identifier(entry.at("name")), {}, {}};
    for (const DocumentReader& argument : entry.at("arguments").items()) rewriting.arguments.push_back(identifier(argument));
    for (const auto& [name, size] : entry.at("sizes").entries()) rewriting.sizes[name] = size.integer(1, kMaxRadix);
    rewrites.push_back(std::move(rewriting));
  }
  return rewrites;
}

void check_format(const DocumentReader& top) {
  const std::string format = top.text("format");
  if (format == Plan::format) return;
  const bool other_version = format.rfind("tileopt-plan/", 0) == 0;
  top.at("format").fail("expected `" + std::string(Plan::format) + "`, found `" + format + "`",
                        other_version ? "resolve the plan again with this version of tileopt" : "this file is no Plan");
}

}  // namespace

const Digit* KernelPlan::find_digit(const std::string& digit) const {
  for (const auto& [member, list] : digits) {
    for (const Digit& candidate : list) {
      if (candidate.name == digit) return &candidate;
    }
  }
  return nullptr;
}

std::string KernelPlan::owner(const std::string& digit) const {
  for (const auto& [member, list] : digits) {
    for (const Digit& candidate : list) {
      if (candidate.name == digit) return member;
    }
  }
  return "";
}

Document write_kernel_plan(const KernelPlan& kernel) {
  Document document = {{"name", kernel.name}, {"statements", kernel.statements}, {"schedule", kernel.schedule}};
  if (!kernel.when.empty()) document["when"] = kernel.when;
  document["members"] = Document::object();
  for (const auto& [statement, members] : kernel.members) {
    document["members"][statement] = {{"members", members.members}, {"map", members.map}};
  }
  document["digits"] = Document::object();
  for (const auto& [member, digits] : kernel.digits) document["digits"][member] = write_digits(digits);
  document["tree"] = kernel.tree.write();
  document["atoms"] = Document::object();
  for (const auto& [statement, choice] : kernel.atoms) {
    Document& entry = document["atoms"][statement];
    entry = {{"atom", choice.atom}, {"box", choice.box}, {"edge", choice.edge}};
    if (choice.stream) entry["stream"] = true;
    if (!choice.prefetch.empty()) entry["prefetch"] = choice.prefetch;
    if (!choice.whole.empty()) entry["whole"] = choice.whole;
  }
  document["promotions"] = Document::array();
  for (const Promotion& promotion : kernel.promotions) document["promotions"].push_back(write_promotion(promotion));
  if (kernel.pipelines.empty()) return document;
  document["pipelines"] = Document::array();
  for (const Pipelining& pipelining : kernel.pipelines) document["pipelines"].push_back(write_pipelining(pipelining));
  return document;
}

KernelPlan read_kernel_plan(const Document& document, const std::string& file, const std::string& path) {
  return read_kernel(DocumentReader(document, file, ErrorCode::invalid_plan, path), file);
}

std::string to_string(const Rewriting& rewriting) {
  std::vector<std::string> arguments;
  for (const std::string& argument : rewriting.arguments) arguments.push_back("\"" + argument + "\"");
  for (const auto& [name, size] : rewriting.sizes) arguments.push_back(name + "=" + std::to_string(size));
  return rewriting.name + "(" + join(arguments, ", ") + ")";
}

Document write_rewrites(const std::vector<Rewriting>& rewrites) {
  Document list = Document::array();
  for (const Rewriting& rewriting : rewrites) {
    Document sizes = Document::object();
    for (const auto& [name, size] : rewriting.sizes) sizes[name] = size;
    list.push_back({{"name", rewriting.name}, {"arguments", rewriting.arguments}, {"sizes", sizes}});
  }
  return list;
}

Document Plan::write() const {
  Document document = {{"format", format},   {"program", program},        {"program_hash", program_hash}, {"machine", machine},
                       {"version", version}, {"rewrites", write_rewrites(rewrites)}, {"kernels", Document::array()}};
  for (const KernelPlan& kernel : kernels) document["kernels"].push_back(write_kernel_plan(kernel));
  return document;
}

Plan Plan::read(const Document& document, const std::string& file) {
  const DocumentReader top(document, file, ErrorCode::invalid_plan);
  top.expect_object({"format", "program", "program_hash", "machine", "version", "rewrites", "kernels"});
  check_format(top);
  Plan plan;
  plan.program = top.text("program");
  plan.program_hash = top.text("program_hash");
  plan.machine = top.text("machine");
  plan.version = top.text("version");
  if (!plan.version.empty() && plan.version != TILEOPT_VERSION) {
    top.at("version").fail("the Plan is of tileopt " + plan.version + ", this is " TILEOPT_VERSION,
                           "resolve the plan again with this version: the same Plan may give other code");
  }
  plan.rewrites = read_rewrites(top.at("rewrites"));
  std::set<std::string> names;
  for (const DocumentReader& entry : top.at("kernels").items()) {
    plan.kernels.push_back(read_kernel(entry, file));
    if (!names.insert(plan.kernels.back().name).second) {
      entry.at("name").fail("the kernel `" + plan.kernels.back().name + "` occurs twice", "rename one");
    }
  }
  return plan;
}

}  // namespace tileopt
