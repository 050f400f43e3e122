/// `@numerics(...)` -> Numerics, and the refusal of other decorators.
#include "frontends/tile_text/kinds.h"
#include "frontends/tile_text/printer.h"
#include "frontends/tile_text/signature.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {

class NumericsReader {
 public:
  explicit NumericsReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void read(const syntax::Call& call, Numerics& numerics) {
    if (!call.arguments.empty())
      report(ErrorCode::type_mismatch, call.arguments.front()->where, "`@numerics` takes keyword arguments only",
             "write `@numerics(contract=True)`");
    std::vector<std::string> seen;
    for (const syntax::Keyword& keyword : call.keywords) {
      for (const std::string& name : seen)
        if (name == keyword.name)
          report(ErrorCode::duplicate_name, keyword.where, "`" + keyword.name + "` is given twice", "keep one of them");
      seen.push_back(keyword.name);
      read_keyword(keyword, numerics);
    }
  }

 private:
  void report(ErrorCode code, syntax::Position where, const std::string& message, const std::string& hint) {
    diagnostics_.add(code, where, message, hint);
  }

  void read_keyword(const syntax::Keyword& keyword, Numerics& numerics) {
    if (keyword.name == "reassociate") return read_flag(keyword, numerics.reassociate);
    if (keyword.name == "contract") return read_flag(keyword, numerics.contract);
    if (keyword.name == "flush_subnormals") return read_flag(keyword, numerics.flush_subnormals);
    if (keyword.name == "operand_rounding") return read_rounding(keyword, numerics);
    if (keyword.name == "approx_ulp") return read_ulp(keyword, numerics);
    if (keyword.name == "min_accumulator_bits") {
      if (syntax::as<syntax::NoneLiteral>(keyword.value)) return;
      return report(ErrorCode::unsupported, keyword.where, "`min_accumulator_bits` is not supported yet", "remove it");
    }
    const std::string nearest = nearest_name(keyword.name, {"reassociate", "contract", "flush_subnormals", "operand_rounding", "approx_ulp"});
    report(ErrorCode::unknown_name, keyword.where, "`@numerics` has no `" + keyword.name + "`",
           nearest.empty() ? "use reassociate, contract, flush_subnormals, operand_rounding or approx_ulp" : "did you mean `" + nearest + "`?");
  }
  void read_flag(const syntax::Keyword& keyword, bool& flag) {
    const auto* value = syntax::as<syntax::BoolLiteral>(keyword.value);
    if (value == nullptr)
      return report(ErrorCode::type_mismatch, keyword.value->where, "`" + keyword.name + "` is True or False",
                    "write True or False");
    flag = value->value;
  }
  void read_rounding(const syntax::Keyword& keyword, Numerics& numerics) {
    if (syntax::as<syntax::NoneLiteral>(keyword.value)) return;
    const auto* name = syntax::as<syntax::Name>(keyword.value);
    const std::optional<ElementType> type = name ? parse_type(name->name) : std::nullopt;
    if (type && is_float(*type)) {
      numerics.operand_rounding = type;
      return;
    }
    report(ErrorCode::type_mismatch, keyword.value->where,
           "`" + print(keyword.value) + "` is no float type to round operands to", "write bf16, f16, f32 or None");
  }
  void read_ulp(const syntax::Keyword& keyword, Numerics& numerics) {
    const auto* value = syntax::as<syntax::IntegerLiteral>(keyword.value);
    constexpr std::uint64_t most = 1u << 20;
    if (value == nullptr || value->value > most)
      return report(ErrorCode::type_mismatch, keyword.value->where,
                    "`approx_ulp` is a number of units in the last place from 0 to 1048576", "write e.g. approx_ulp=4");
    numerics.approx_ulp = static_cast<int>(value->value);
  }

  Diagnostics& diagnostics_;
};

}  // namespace

Numerics read_numerics(const syntax::Function& function, Diagnostics& diagnostics) {
  Numerics numerics;
  bool seen = false;
  for (const syntax::Decorator& decorator : function.decorators) {
    const auto* call = syntax::as<syntax::Call>(decorator.expression);
    const auto* bare = syntax::as<syntax::Name>(decorator.expression);
    const std::string name = call ? callee_name(*call) : bare ? bare->name : "";
    if (name == "numerics" && call != nullptr) {
      if (seen) diagnostics.add(ErrorCode::duplicate_name, decorator.where, "`@numerics` is given twice", "merge the two");
      seen = true;
      NumericsReader(diagnostics).read(*call, numerics);
    } else if (name == "numerics") {
      diagnostics.add(ErrorCode::type_mismatch, decorator.where, "`@numerics` needs its arguments",
                      "write `@numerics(contract=True)`");
    } else {
      diagnostics.add(ErrorCode::unknown_name, decorator.where, "there is no decorator `@" + print(decorator.expression) + "`",
                      "use `@numerics(...)` or `@schedule(...)`");
    }
  }
  return numerics;
}

}  // namespace tileopt::tile_text
