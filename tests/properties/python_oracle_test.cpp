/// The tile language is Python syntax: random programs run by Python itself give what the interpreter gives, bit by bit.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "frontends/tile_text/tile_text.h"
#include "interpreter/interpreter.h"
#include "random_program.h"
#include "support/document.h"

namespace tileopt {
namespace {
using namespace testing;

std::string hex_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return std::signbit(value) ? "-0x0.0p+0" : "0x0.0p+0";
  int exponent;
  const double mantissa = 2 * std::frexp(std::fabs(value), &exponent);
  const int shown = std::max(exponent - 1, -1022);
  const double scaled = std::ldexp(mantissa, exponent - 1 - shown);
  char buffer[64];
  const auto fraction = static_cast<std::uint64_t>(std::ldexp(scaled - std::floor(scaled), 52));
  std::snprintf(buffer, sizeof buffer, "%s0x%d.%013llxp%+d", value < 0 ? "-" : "", static_cast<int>(scaled),
                static_cast<unsigned long long>(fraction), shown);
  return buffer;
}

Document array_document(const HostArray& array) {
  Document values = Document::array();
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    if (is_float(array.type)) values.push_back(hex_text(array.get(i)));
    else values.push_back(std::to_string(array.get_integer(i)));
  }
  return Document{{"type", type_name(array.type)}, {"shape", array.shape}, {"values", std::move(values)}};
}

Document arrays_document(const Arrays& arrays) {
  Document document = Document::object();
  for (const auto& [name, array] : arrays) document[name] = array_document(array);
  return document;
}

/// The sizes of the Python run are smaller: it takes microseconds an operation.
constexpr std::int64_t most_instances = 3000;

TEST(PythonOracle, AgreesOnRandomPrograms) {
  if (std::system("python3 -c 'import ast, json' > /dev/null 2>&1") != 0) GTEST_SKIP() << "python3 is not installed";
  Document cases = Document::array();
  for (std::uint64_t seed = 1000; seed < 1300; ++seed) {
    const std::string source = random_program(seed);
    SCOPED_TRACE(source);
    poly::Context context;
    const Program program = parse_tile_file(context.get(), source, "random.tile").programs.front();
    for (const Sizes& sizes : random_sizes(seed, program.parameters())) {
      if (count_instances(program, sizes) > most_instances) continue;
      const Fill fill = seed % 2 == 0 ? Fill::integers : Fill::uniform;
      const Arrays arguments = make_arguments(program, sizes, seed, fill);
      const InterpreterResult result = interpret(program, sizes, arguments);
      cases.push_back({{"source", source}, {"sizes", sizes}, {"arguments", arrays_document(arguments)}, {"results", arrays_document(result.values)}});
    }
  }
  ASSERT_GT(cases.size(), 300u);
  const std::filesystem::path file = std::filesystem::temp_directory_path() / ("python_oracle_" + std::to_string(::getpid()) + ".json");
  write_file(file.string(), cases.dump());
  const std::string command = std::string("python3 ") + TILEOPT_SOURCE_DIR + "/tests/properties/python_oracle.py " + file.string();
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace tileopt
