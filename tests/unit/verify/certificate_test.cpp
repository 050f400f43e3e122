#include "ir/certificate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/document.h"
#include "support/error.h"

namespace tileopt {
namespace {

Certificate example() {
  Certificate certificate;
  certificate.program = "gemm";
  certificate.program_hash = "0123456789abcdef";
  certificate.machine = "zen4";
  certificate.version = "0.1.0";
  certificate.obligations.push_back({"values", "C reads A", Verdict::proved, "", "", {"gemm.tile", 3, 7}, "kernels[0].tree", 12.5});
  certificate.obligations.push_back({"races", "loop ic", Verdict::refuted, "two iterations \"meet\"", "M = 3:\nC[0, 0]", {}, "", 0});
  certificate.obligations.push_back({"text", "loops", Verdict::not_attempted, "no print facts", "", {}, "", 0.125});
  certificate.assumed = {"the compiler is right"};
  certificate.numerics = {"reassociate: C"};
  return certificate;
}

TEST(Certificate, WriteReadWriteIsTheIdentity) {
  const std::string json = example().write().dump(2);
  const Certificate again = Certificate::read(parse_json(json, "certificate.json"), "certificate.json");
  EXPECT_EQ(again.write().dump(2), json);
  EXPECT_EQ(again.obligations[1].verdict, Verdict::refuted);
  EXPECT_EQ(again.obligations[0].where.line, 3);
  const std::string yaml = to_yaml(example().write());
  EXPECT_EQ(to_yaml(Certificate::read(parse_yaml(yaml, "c.yaml"), "c.yaml").write()), yaml);
}

TEST(Certificate, IsProvedOnlyWhereEverythingIs) {
  Certificate certificate = example();
  EXPECT_FALSE(certificate.proved());
  EXPECT_TRUE(certificate.refuted());
  certificate.obligations.erase(certificate.obligations.begin() + 1);
  EXPECT_FALSE(certificate.proved());
  EXPECT_FALSE(certificate.refuted());
  certificate.obligations.pop_back();
  EXPECT_TRUE(certificate.proved());
  certificate.obligations.clear();
  EXPECT_FALSE(certificate.proved());
}

TEST(Certificate, RefusesDamagedDocuments) {
  const auto damaged = [](auto&& damage) {
    Document document = example().write();
    damage(document);
    EXPECT_THROW(Certificate::read(document, "c.json"), Errors);
  };
  damaged([](Document& d) { d["format"] = "tileopt-certificate/2"; });
  damaged([](Document& d) { d.erase("obligations"); });
  damaged([](Document& d) { d["extra"] = 1; });
  damaged([](Document& d) { d["obligations"][0]["verdict"] = "believed"; });
  damaged([](Document& d) { d["obligations"][0]["milliseconds"] = "fast"; });
  damaged([](Document& d) { d["obligations"][0]["where"] = "here"; });
  damaged([](Document& d) { d["assumed"] = 3; });
  damaged([](Document& d) { d["device"] = {{"compiler", "clang"}}; });
}

std::vector<std::string> keys(const Document& object) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : object.items()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Certificate, SchemaNamesExactlyTheKeysWritten) {
  const std::string file = std::string(TILEOPT_SOURCE_DIR) + "/docs/schemas/certificate.json";
  const Document schema = parse_json(read_file(file), file);
  Certificate certificate = example();
  certificate.device = DeviceReport{"clang", {{"tileopt_kernel_0_0_a", 34, 20, 24, 512}}};
  const Document written = certificate.write();
  EXPECT_EQ(keys(schema["properties"]), keys(written));
  EXPECT_EQ(keys(schema["$defs"]["resources"]["properties"]), keys(written["device"]["kernels"][0]));
  EXPECT_EQ(schema["properties"]["format"]["const"], written["format"]);
  const Document& obligation = schema["$defs"]["obligation"]["properties"];
  EXPECT_EQ(keys(obligation), keys(written["obligations"][0]));
  EXPECT_EQ(keys(obligation["where"]["properties"]), keys(written["obligations"][0]["where"]));
  for (const Document& o : written["obligations"]) {
    const auto& verdicts = obligation["verdict"]["enum"];
    EXPECT_NE(std::find(verdicts.begin(), verdicts.end(), o["verdict"]), verdicts.end());
    const auto& names = obligation["name"]["enum"];
    EXPECT_NE(std::find(names.begin(), names.end(), o["name"]), names.end());
  }
}

}  // namespace
}  // namespace tileopt
