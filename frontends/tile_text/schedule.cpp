#include "frontends/tile_text/schedule.h"

#include <array>
#include <optional>
#include <string_view>

#include "frontends/tile_text/kinds.h"
#include "frontends/tile_text/printer.h"

namespace tileopt::tile_text {

using syntax::ExpressionPtr;

namespace {

/// The shape of one primitive.
struct Primitive {
  std::string_view name;
  std::size_t least, most;  ///< positional arguments
  std::size_t names;        ///< of them, how many leading ones name a tensor or statement (printed without quotes)
  bool sizes;               ///< keywords are `loop=size`; they count as arguments
  std::string_view example;
};
constexpr std::size_t any_number = 64;
constexpr std::array<Primitive, 12> primitives = {{
    {"tile", 1, any_number, 0, true, "tile(\"thread\", i=64, j=128)"},
    {"order", 2, any_number, 0, false, "order(\"i\", \"j\", \"k\")"},
    {"promote", 2, 2, 1, false, "promote(A, \"stack\")"},
    {"pipeline", 1, 1, 0, false, "pipeline(\"k\", slots=4)"},
    {"parallel", 1, any_number, 0, false, "parallel(\"i\")"},
    {"vectorize", 1, any_number, 0, false, "vectorize(\"j\")"},
    {"unroll", 0, any_number, 0, true, "unroll(\"k\") or unroll(k=4)"},
    {"atom", 2, 2, 1, false, "atom(C, \"scalar\")"},
    {"schedule", 1, 1, 0, false, "schedule(\"original\")"},
    {"fuse", 2, any_number, any_number, false, "fuse(m, l, Y)"},
    {"rewrite", 1, any_number, 0, false, "rewrite(\"split\", C, \"k\", chunk=256)"},
    {"versions", 1, 1, 0, false, "versions(\"off\")"},
}};

const Primitive* find_primitive(const std::string& name) {
  for (const Primitive& primitive : primitives)
    if (primitive.name == name) return &primitive;
  return nullptr;
}

std::vector<std::string> primitive_names() {
  std::vector<std::string> names;
  for (const Primitive& primitive : primitives) names.emplace_back(primitive.name);
  return names;
}

/// Names, strings, integers, True and False as text.
std::optional<std::string> argument_text(const ExpressionPtr& expression) {
  if (const auto* name = syntax::as<syntax::Name>(expression)) return name->name;
  if (const auto* text = syntax::as<syntax::StringLiteral>(expression))
    return text->value.empty() ? std::nullopt : std::optional<std::string>(text->value);
  if (const auto* number = syntax::as<syntax::IntegerLiteral>(expression)) return std::to_string(number->value);
  if (const auto* flag = syntax::as<syntax::BoolLiteral>(expression)) return flag->value ? "True" : "False";
  return std::nullopt;
}

bool is_number(const std::string& text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos; }

class PrimitiveReader {
 public:
  PrimitiveReader(Pins& pins, Diagnostics& diagnostics) : pins_(pins), diagnostics_(diagnostics) {}

  void read(const syntax::Statement& statement) {
    if (std::get_if<syntax::Pass>(&statement.node)) return;
    const auto* evaluate = std::get_if<syntax::Evaluate>(&statement.node);
    const auto* call = evaluate ? syntax::as<syntax::Call>(evaluate->expression) : nullptr;
    const std::string name = call ? callee_name(*call) : "";
    if (name.empty())
      return report(ErrorCode::invalid_pin, statement.where, "a schedule holds primitives only",
                    "write one primitive a line, e.g. tile(\"thread\", i=64)");
    const Primitive* primitive = find_primitive(name);
    if (primitive == nullptr) {
      const std::string nearest = nearest_name(name, primitive_names());
      return report(ErrorCode::unknown_name, statement.where, "there is no schedule primitive `" + name + "`",
                    nearest.empty() ? "use tile, order, promote, pipeline, parallel, vectorize, unroll, atom, schedule, fuse, rewrite or versions"
                                    : "did you mean `" + nearest + "`?");
    }
    read_call(*primitive, *call, statement.where);
  }

 private:
  void report(ErrorCode code, syntax::Position where, const std::string& message, const std::string& hint) {
    diagnostics_.add(code, where, message, hint);
  }

  void read_call(const Primitive& primitive, const syntax::Call& call, syntax::Position where) {
    const std::string hint = "write e.g. " + std::string(primitive.example);
    const std::string name(primitive.name);
    if (call.arguments.size() < primitive.least || call.arguments.size() > primitive.most)
      return report(ErrorCode::invalid_pin, where,
                    "`" + name + "` takes " + count_text(primitive) + ", not " + std::to_string(call.arguments.size()), hint);
    if (primitive.sizes && call.keywords.empty() && call.arguments.size() < (name == "tile" ? 3 : 1))
      return report(ErrorCode::invalid_pin, where, "`" + name + "` names no loop", hint);
    Pin pin;
    pin.primitive = name;
    pin.where = diagnostics_.locate(where);
    for (const ExpressionPtr& argument : call.arguments) {
      const std::optional<std::string> text = argument_text(argument);
      if (!text)
        return report(ErrorCode::invalid_pin, argument->where,
                      "`" + print(argument) + "` is neither a name, a string nor an integer", hint);
      pin.arguments.push_back(*text);
    }
    for (const syntax::Keyword& keyword : call.keywords) {
      const std::optional<std::string> text = argument_text(keyword.value);
      if (!text)
        return report(ErrorCode::invalid_pin, keyword.value->where,
                      "`" + print(keyword.value) + "` is neither a name, a string nor an integer", hint);
      const auto* number = syntax::as<syntax::IntegerLiteral>(keyword.value);
      const std::uint64_t least = name == "tile" ? 0 : 1;  // 0: the loop is not cut
      const bool fits = number != nullptr && number->value >= least && number->value <= largest_number;
      if ((primitive.sizes || number != nullptr) && !fits)
        return report(ErrorCode::invalid_pin, keyword.value->where,
                      "`" + keyword.name + "` must be an integer from " + std::to_string(least) + " to 1073741824", hint);
      for (const auto& [known, value] : pin.keywords)
        if (known == keyword.name)
          return report(ErrorCode::duplicate_name, keyword.where, "`" + keyword.name + "` is given twice", "keep one of them");
      pin.keywords.emplace_back(keyword.name, *text);
    }
    pins_.pins.push_back(std::move(pin));
  }

  static std::string count_text(const Primitive& primitive) {
    if (primitive.least == primitive.most)
      return std::to_string(primitive.least) + (primitive.least == 1 ? " argument" : " arguments");
    if (primitive.most == any_number)
      return "at least " + std::to_string(primitive.least) + (primitive.least == 1 ? " argument" : " arguments");
    return std::to_string(primitive.least) + " or " + std::to_string(primitive.most) + " arguments";
  }

  static constexpr std::uint64_t largest_number = std::uint64_t(1) << 30;
  Pins& pins_;
  Diagnostics& diagnostics_;
};

bool is_identifier(const std::string& text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text)
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
  return true;
}

std::string quote(const std::string& text) {
  const char mark = text.find('"') == std::string::npos ? '"' : '\'';
  return mark + text + mark;
}

std::string pin_text(const Pin& pin) {
  const Primitive* primitive = find_primitive(pin.primitive);
  const std::size_t names = primitive ? primitive->names : 0;
  std::string text = pin.primitive + "(";
  const char* separator = "";
  for (std::size_t i = 0; i < pin.arguments.size(); ++i) {
    const std::string& argument = pin.arguments[i];
    text += separator + (is_number(argument) || (i < names && is_identifier(argument)) ? argument : quote(argument));
    separator = ", ";
  }
  for (const auto& [name, value] : pin.keywords) {
    text += separator + name + "=" + (is_number(value) || value == "True" || value == "False" ? value : quote(value));
    separator = ", ";
  }
  return text + ")";
}

const syntax::Call* schedule_call(const syntax::Decorator& decorator) {
  const auto* call = syntax::as<syntax::Call>(decorator.expression);
  return call != nullptr && callee_name(*call) == "schedule" ? call : nullptr;
}

void read_head(const syntax::Decorator& decorator, Pins& pins, Diagnostics& diagnostics) {
  const std::string hint = "write `@schedule(program)` or `@schedule(program, machine=\"zen4\")`";
  const syntax::Call* call = schedule_call(decorator);
  if (call == nullptr) {
    diagnostics.add(ErrorCode::invalid_pin, decorator.where, "a schedule has no decorator but `@schedule`", hint);
    return;
  }
  if (call->arguments.size() > 1)
    diagnostics.add(ErrorCode::invalid_pin, call->arguments[1]->where, "a schedule belongs to one program", hint);
  if (!call->arguments.empty()) {
    const auto* program = syntax::as<syntax::Name>(call->arguments.front());
    if (program != nullptr)
      pins.program = program->name;
    else
      diagnostics.add(ErrorCode::invalid_pin, call->arguments.front()->where, "the program of a schedule is a name", hint);
  }
  for (const syntax::Keyword& keyword : call->keywords) {
    const auto* machine = syntax::as<syntax::StringLiteral>(keyword.value);
    if (keyword.name != "machine")
      diagnostics.add(ErrorCode::unknown_name, keyword.where, "`@schedule` has no `" + keyword.name + "`", hint);
    else if (machine == nullptr || machine->value.empty())
      diagnostics.add(ErrorCode::invalid_pin, keyword.value->where, "`machine` is the name of a machine, in quotes", hint);
    else
      pins.machine = machine->value;
  }
}

}  // namespace

bool is_schedule(const syntax::Function& function) {
  for (const syntax::Decorator& decorator : function.decorators) {
    const auto* bare = syntax::as<syntax::Name>(decorator.expression);
    if (schedule_call(decorator) != nullptr || (bare != nullptr && bare->name == "schedule")) return true;
  }
  return false;
}

void read_primitives(const syntax::Block& block, Pins& pins, Diagnostics& diagnostics) {
  PrimitiveReader reader(pins, diagnostics);
  for (const syntax::StatementPtr& statement : block) reader.read(*statement);
}

Pins read_schedule(const syntax::Function& function, Diagnostics& diagnostics) {
  Pins pins;
  pins.name = function.name == "_" ? "" : function.name;
  for (const syntax::Decorator& decorator : function.decorators) read_head(decorator, pins, diagnostics);
  if (!function.parameters.empty())
    diagnostics.add(ErrorCode::invalid_pin, function.parameters.front().where, "a schedule has no parameters",
                    "write `def " + function.name + "():`");
  read_primitives(function.body, pins, diagnostics);
  return pins;
}

std::string print_schedule(const Pins& pins) {
  std::string lines;
  const bool bare = pins.name.empty() && pins.program.empty() && pins.machine.empty();
  const std::string indent = bare ? "" : "    ";
  for (const Pin& pin : pins.pins) lines += indent + pin_text(pin) + "\n";
  if (bare) return lines;
  std::string head = pins.program;
  if (!pins.machine.empty()) head += (head.empty() ? "" : ", ") + ("machine=" + quote(pins.machine));
  return "@schedule(" + head + ")\ndef " + (pins.name.empty() ? "_" : pins.name) + "():\n" +
         (lines.empty() ? "    pass\n" : lines);
}

}  // namespace tileopt::tile_text
