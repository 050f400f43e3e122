#include "ir/plan.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace tileopt {
namespace {

KernelPlan gemm_kernel() {
  KernelPlan kernel;
  kernel.name = "gemm";
  kernel.statements = {"C_init", "C"};
  kernel.members["C_init"] = {{"i", "j"}, "{ C_init[i, j] -> [(i), (j)] }"};
  kernel.members["C"] = {{"i", "j", "k"}, "{ C[i, j, k] -> [(i), (j), (k)] }"};
  kernel.digits = {{"i", {{"ic", 0, "thread"}, {"ir", 20, "serial"}, {"ii", 6, "atom"}}},
                   {"j", {{"jc", 0, "serial"}, {"jr", 64, "serial"}, {"jj", 16, "atom"}}},
                   {"k", {{"kc", 0, "serial"}, {"kk", 256, "serial"}}}};
  kernel.tree = Tree::read("jc > kc > ic > jr > ir > (C_init ; C: kk)", "test");
  kernel.atoms["C"] = {"outer_product_fma", {"ii", "jj"}, "padded"};
  kernel.atoms["C_init"] = {"vector_box", {"ii", "jj"}, "padded"};
  Promotion b;
  b.tensor = "B";
  b.array = "B_packed";
  b.after = "kc";
  b.space = "workspace";
  b.element = "f32";
  b.layout = {{1, "B_jr", 0}, {0, "B_kk", 0}, {1, "B_jj", 16}};
  b.zero_fill = true;
  Promotion c = b;
  c.tensor = "C";
  c.array = "C_tile";
  c.after = "ir";
  c.statements = {"C"};
  c.space = "register";
  c.layout = {{0, "C_ii", 0}, {1, "C_jj", 0}};
  c.zero_fill = false;
  kernel.promotions = {b, c};
  return kernel;
}

Plan gemm_plan() {
  Plan plan;
  plan.program = "gemm";
  plan.program_hash = "0123456789abcdef";
  plan.machine = "x86-64-v3";
  plan.version = TILEOPT_VERSION;
  plan.rewrites = {{"inline", {"t"}, {}}, {"split", {"C", "k"}, {{"chunk", 64}, {"parts", 4}}}};
  plan.kernels = {gemm_kernel()};
  return plan;
}

Diagnostic refusal(const Document& document) {
  try {
    Plan::read(document, "p.json");
  } catch (const Errors& errors) {
    return errors.diagnostics().at(0);
  }
  ADD_FAILURE() << "the Plan was accepted";
  return {};
}

TEST(Plan, RoundTripsByteForByte) {
  const Document document = gemm_plan().write();
  EXPECT_EQ(document.dump(2), Plan::read(document, "p").write().dump(2));
  const std::string json = document.dump(2), yaml = to_yaml(document);
  EXPECT_EQ(Plan::read(parse_json(json, "p"), "p").write().dump(2), json);
  EXPECT_EQ(to_yaml(Plan::read(parse_yaml(yaml, "p"), "p").write()), yaml);
}

TEST(Plan, KernelRoundTrips) {
  const Document document = write_kernel_plan(gemm_kernel());
  EXPECT_EQ(document.dump(), write_kernel_plan(read_kernel_plan(document, "p", "kernel")).dump());
}

TEST(Plan, FindsDigitsAndOwners) {
  const KernelPlan kernel = gemm_kernel();
  ASSERT_NE(kernel.find_digit("ir"), nullptr);
  EXPECT_EQ(kernel.find_digit("ir")->radix, 20);
  EXPECT_EQ(kernel.find_digit("zz"), nullptr);
  EXPECT_EQ(kernel.owner("kk"), "k");
  EXPECT_EQ(kernel.owner("zz"), "");
}

TEST(Plan, EveryMissingKeyIsNamed) {
  const Document whole = gemm_plan().write();
  const auto expect_missing = [&](const nlohmann::ordered_json::json_pointer& parent, const std::string& key) {
    Document document = whole;
    document[parent].erase(key);
    const Diagnostic diagnostic = refusal(document);
    EXPECT_EQ(diagnostic.code, ErrorCode::invalid_plan);
    EXPECT_EQ(diagnostic.where.file, "p.json");
    EXPECT_NE(diagnostic.message.find("`" + key + "` is missing"), std::string::npos) << diagnostic.message;
    EXPECT_FALSE(diagnostic.hint.empty());
  };
  for (const char* parent : {"", "/kernels/0", "/kernels/0/digits/i/0", "/kernels/0/atoms/C", "/kernels/0/promotions/0",
                             "/kernels/0/promotions/0/layout/1", "/kernels/0/members/C"}) {
    const nlohmann::ordered_json::json_pointer pointer(parent);
    for (const auto& [key, value] : whole[pointer].items()) expect_missing(pointer, key);
  }
}

TEST(Plan, UnknownKeysAreRefusedWithPathAndHint) {
  Document document = gemm_plan().write();
  document["kernels"][0]["digits"]["i"][1]["radixx"] = 1;
  const Diagnostic diagnostic = refusal(document);
  EXPECT_EQ(diagnostic.message, "`kernels[0].digits.i[1]`: unknown key `radixx`");
  EXPECT_EQ(diagnostic.hint, "did you mean `radix`?");
}

TEST(Plan, EveryMistypedEntryIsRefused) {
  const Document whole = gemm_plan().write();
  const auto is_free_text = [](const std::string& path) {
    return path == "/program" || path == "/program_hash" || path == "/machine" || path == "/kernels/0/members/C/map" ||
           path == "/kernels/0/members/C_init/map";
  };
  int refused = 0;
  const Document flat = whole.flatten();
  for (const auto& [path, value] : flat.items()) {
    const nlohmann::ordered_json::json_pointer pointer(path);
    for (const Document& wrong : {Document(nullptr), Document(-7), Document(2.5), Document("??"), Document::array({Document::array()})}) {
      if (wrong.is_string() && is_free_text(path)) continue;
      if (value.is_array() && value.empty() && wrong.is_array()) continue;
      Document document = whole;
      document[pointer] = wrong;
      EXPECT_THROW(Plan::read(document, "p"), Errors) << path << " = " << wrong.dump();
      ++refused;
    }
  }
  EXPECT_GT(refused, 200);
}

TEST(Plan, RefusesOtherFormatsAndVersions) {
  Document document = gemm_plan().write();
  document["format"] = "tileopt-plan/99";
  EXPECT_NE(refusal(document).hint.find("resolve the plan again"), std::string::npos);
  document["format"] = "something";
  EXPECT_NE(refusal(document).hint.find("no Plan"), std::string::npos);
  document = gemm_plan().write();
  document["version"] = "99.0.0";
  EXPECT_NE(refusal(document).message.find("99.0.0"), std::string::npos);
  EXPECT_THROW(Plan::read(Document::array(), "p"), Errors);
}

TEST(Plan, RefusesInconsistentNames) {
  const auto refuse = [](const std::function<void(Document&)>& edit, const std::string& expected) {
    Document document = gemm_plan().write();
    edit(document["kernels"][0]);
    const Diagnostic diagnostic = refusal(document);
    EXPECT_NE(diagnostic.message.find(expected), std::string::npos) << diagnostic.message;
  };
  refuse([](Document& k) { k["digits"]["j"][0]["name"] = "ic"; }, "occurs twice");
  refuse([](Document& k) { k["digits"]["i"][1]["radix"] = 0; }, "most significant");
  refuse([](Document& k) { k["digits"]["i"] = Document::array(); }, "at least one digit");
  refuse([](Document& k) { k["digits"].erase("k"); }, "`k` is no member");
  refuse([](Document& k) { k["members"].erase("C"); }, "no members for `C`");
  refuse([](Document& k) { k["members"]["D"] = k["members"]["C"]; }, "`D` is no statement");
  refuse([](Document& k) { k["atoms"]["C"]["box"][0] = "iii"; }, "`iii` is no digit");
  refuse([](Document& k) { k["atoms"]["C"]["edge"] = "round"; }, "unknown edge");
  refuse([](Document& k) { k["promotions"][0]["after"] = "kcc"; }, "`kcc` is no digit");
  refuse([](Document& k) { k["promotions"][1]["statements"][0] = "X"; }, "`X` is no statement");
  refuse([](Document& k) { k["promotions"][1]["array"] = "B_packed"; }, "occurs twice");
  refuse([](Document& k) { k["promotions"][1]["element"] = "f33"; }, "element type");
  refuse([](Document& k) { k["schedule"] = "random"; }, "unknown schedule");
  refuse([](Document& k) { k["statements"] = Document::array(); }, "at least one statement");
}

TEST(Plan, TreeErrorsNameTheEntry) {
  Document document = gemm_plan().write();
  document["kernels"][0]["tree"] = "jc > ";
  const Diagnostic diagnostic = refusal(document);
  EXPECT_EQ(diagnostic.code, ErrorCode::invalid_plan);
  EXPECT_NE(diagnostic.where.file.find("p.json: kernels[0].tree"), std::string::npos) << diagnostic.where.file;
}

}  // namespace
}  // namespace tileopt
