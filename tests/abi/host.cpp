// A host in C++: handles in smart pointers, callbacks that throw, exceptions of the host's own around calls.
#define TILEOPT_EXPERIMENTAL
#include <tileopt.h>

#include <cstdio>
#include <cstring>
#include <locale>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

template <auto free_handle>
struct Free {
  template <class Handle>
  void operator()(Handle* handle) const { free_handle(handle); }
};
using Session = std::unique_ptr<tileopt_session, Free<tileopt_session_free>>;
using Program = std::unique_ptr<tileopt_program, Free<tileopt_program_free>>;
using Options = std::unique_ptr<tileopt_options, Free<tileopt_options_free>>;
using Module = std::unique_ptr<tileopt_module, Free<tileopt_module_free>>;
using Space = std::unique_ptr<tileopt_space, Free<tileopt_space_free>>;
using Failure = std::unique_ptr<tileopt_error, Free<tileopt_error_free>>;

struct TileoptError : std::runtime_error {
  explicit TileoptError(const Failure& failure) : std::runtime_error(tileopt_error_peek_message(failure.get())), code(tileopt_error_peek_code(failure.get())) {}
  std::string code;
};
void check(tileopt_error* error) {
  if (const Failure failure(error); failure) throw TileoptError(failure);
}
void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

const std::string gemm =
    "@numerics(contract=True)\n"
    "def gemm(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):\n"
    "    for i, j in grid(M, N):\n"
    "        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))\n";

Session make_session() {
  tileopt_session* session = nullptr;
  check(tileopt_session_create(&session));
  return Session(session);
}
Program parse(const Session& session, const std::string& text) {
  tileopt_program* program = nullptr;
  check(tileopt_program_parse(session.get(), text.data(), text.size(), "host.tile", &program));
  return Program(program);
}
Options for_machine(const char* machine) {
  tileopt_options* options = nullptr;
  check(tileopt_options_create(&options));
  Options owner(options);
  check(tileopt_options_set(options, "machine", machine));
  return owner;
}
Module compile(const Program& program, const Options& options) {
  tileopt_module* module = nullptr;
  check(tileopt_module_compile(program.get(), options.get(), &module));
  return Module(module);
}

int throwing(void*, const char* stage, const char*, double) {
  if (std::strcmp(stage, "30-digits") == 0) throw std::runtime_error("the host's own");
  return 0;
}

// What the host's callback throws is an error of the call, and the session goes on.
void check_throwing_callback() {
  const Session session = make_session();
  const Program program = parse(session, gemm);
  check(tileopt_session_set_progress(session.get(), throwing, nullptr));
  try {
    compile(program, for_machine("x86-64-v3"));
    require(false, "the callback's exception was lost");
  } catch (const TileoptError& error) {
    require(std::strstr(error.what(), "the host's own") != nullptr && error.code == "cancelled", error.what());
  }
  check(tileopt_session_set_progress(session.get(), nullptr, nullptr));
  compile(program, for_machine("x86-64-v3"));
}

// A host whose numbers have points in the thousands and a comma in front of the fraction.
struct German : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

void check_locale() {
  const std::string text = "def scale(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = 1234.5625 * A[i] + 1e-30\n";
  const auto everything = [&](const char* machine) {
    const Session session = make_session();
    const Module scaled = compile(parse(session, text), for_machine(machine)), product = compile(parse(session, gemm), for_machine(machine));
    std::string all;
    for (const Module* module : {&scaled, &product})
      all += std::string(tileopt_module_peek_source(module->get())) + tileopt_module_peek_plan(module->get()) + tileopt_module_peek_header(module->get());
    return all;
  };
  for (const char* machine : {"x86-64-v3", "h100"}) {
    const std::string before = everything(machine);
    const std::locale host = std::locale::global(std::locale(std::locale::classic(), new German));
    const std::string after = everything(machine);
    require(std::locale() != std::locale::classic(), "the host's locale stays");
    std::locale::global(host);
    require(before == after, "a host's locale changes the bytes");
  }
}

// A cost model that wants small register tiles, and a search that tries the neighbours of the plan.
struct Walk {
  std::vector<std::vector<std::size_t>> points;
  std::size_t next = 0, learned = 0, asked = 0;
  double best = 1e300;
};

int propose(void* user, const tileopt_space* space, std::size_t* variant, std::size_t* values) {
  auto& walk = *static_cast<Walk*>(user);
  if (walk.next == walk.points.size()) return 0;
  require(tileopt_space_variant_count(space) > 0, "the space can be asked");
  *variant = 0;
  std::copy(walk.points[walk.next].begin(), walk.points[walk.next].end(), values);
  ++walk.next;
  return 1;
}
void learn(void* user, std::size_t, const std::size_t*, double seconds) {
  auto& walk = *static_cast<Walk*>(user);
  ++walk.learned;
  if (seconds > 0 && seconds < walk.best) walk.best = seconds;
}
double predict(void* user, const double* features, std::size_t count) {
  auto& walk = *static_cast<Walk*>(user);
  ++walk.asked;
  require(count > 10, "features are given");
  return 1 + features[11];  // "register_tile"
}

void check_search() {
  const Session session = make_session();
  const Program program = parse(session, gemm);
  const Options options = for_machine("x86-64-v3");
  tileopt_space* raw = nullptr;
  check(tileopt_space_create(program.get(), options.get(), &raw));
  const Space space(raw);
  const std::size_t choices = tileopt_space_choice_count(raw, 0);
  require(choices > 0 && tileopt_space_feature_count(raw) > 11, "the space has choices and features");
  require(std::string(tileopt_space_peek_feature(raw, 11)) == "register_tile", tileopt_space_peek_feature(raw, 11));
  std::vector<std::size_t> planned;
  for (std::size_t c = 0; c < choices; ++c) {
    require(*tileopt_space_peek_choice(raw, 0, c) != '\0' && tileopt_space_value_count(raw, 0, c) > 0, "choices have names and values");
    planned.push_back(tileopt_space_planned_value(raw, 0, c));
    require(*tileopt_space_peek_value(raw, 0, c, planned.back()) != '\0', "values have texts");
  }
  double seconds = 0;
  check(tileopt_space_score(raw, 0, planned.data(), choices, &seconds));
  require(seconds > 0, "the planned point has a cost");
  tileopt_module* module = nullptr;
  check(tileopt_space_compile(raw, 0, planned.data(), choices, &module));
  const Module own(module);
  require(std::string(tileopt_module_peek_source(module)) == tileopt_module_peek_source(compile(program, options).get()), "the planned point is the plan");

  Walk walk;
  for (std::size_t c = 0; c < choices; ++c)
    for (std::size_t v = 0; v < tileopt_space_value_count(raw, 0, c); ++v) {
      walk.points.push_back(planned);
      walk.points.back()[c] = v;
    }
  const tileopt_search search = {sizeof(tileopt_search), &walk, propose, learn};
  const tileopt_cost_model model = {sizeof(tileopt_cost_model), &walk, predict};
  tileopt_module* found = nullptr;
  check(tileopt_space_search(raw, &model, &search, 200, &found));
  const Module best(found);
  require(walk.learned == walk.points.size() && walk.asked > 0 && walk.asked <= walk.learned, "every point is learned");
  tileopt_module* built_in = nullptr;
  check(tileopt_space_search(raw, nullptr, nullptr, 30, &built_in));
  const Module other(built_in);
  try {
    const std::vector<std::size_t> wrong(choices, 1000000);
    check(tileopt_space_score(raw, 0, wrong.data(), choices, &seconds));
    require(false, "a point outside of the space was scored");
  } catch (const TileoptError& error) {
    require(error.code == "invalid-option", error.what());
  }
}

}  // namespace

int main() {
  try {
    check_throwing_callback();
    check_locale();
    check_search();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return tileopt_live_count() == 0 ? 0 : 1;
}
