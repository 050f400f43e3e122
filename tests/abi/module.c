/* What a module tells of itself, on a CPU and on a GPU machine; machines, options, pins; stale and foreign handles. */
#include "check.h"

#include <stdlib.h>

static tileopt_session *session;

static const char softmax[] =
    "def softmax(X: f32[M, N], Y: out[f32[M, N]]):\n"
    "    for i in range(M):\n"
    "        m: f32 = max(X[i, j] for j in range(N))\n"
    "        l: f32 = sum(exp(X[i, j] - m) for j in range(N))\n"
    "        for j in range(N):\n"
    "            Y[i, j] = exp(X[i, j] - m) / l\n";
static const char gemm[] =
    "@numerics(contract=True)\n"
    "def gemm(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):\n"
    "    for i, j in grid(M, N):\n"
    "        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))\n";
static const char product[] =
    "@numerics(contract=True, flush_subnormals=True)\n"
    "def product(A: bf16[M, K], B: bf16[N, K], C: out[bf16[M, N]]):\n"
    "    for i, j in grid(M, N):\n"
    "        acc: f32 = sum(f32(A[i, k]) * f32(B[j, k]) for k in range(K))\n"
    "        C[i, j] = bf16(acc)\n";
static const char steps[] =
    "def steps(A: inout[f32[N]], B: inout[f32[N]], T: size):\n"
    "    for t in range(T):\n"
    "        for i in range(1, N - 1):\n"
    "            B[i] = A[i - 1] + A[i + 1]\n"
    "        for i in range(1, N - 1):\n"
    "            A[i] = B[i - 1] + B[i + 1]\n";

static tileopt_program *parse(const char *text) {
  tileopt_program *program = NULL;
  OK(tileopt_program_parse(session, text, strlen(text), "module.tile", &program));
  return program;
}

static tileopt_module *compile(const tileopt_program *program, const char *machine, const char *key, const char *value) {
  tileopt_options *options = NULL;
  tileopt_module *module = NULL;
  OK(tileopt_options_create(&options));
  OK(tileopt_options_set(options, "machine", machine));
  if (key != NULL) OK(tileopt_options_set(options, key, value));
  OK(tileopt_module_compile(program, options, &module));
  tileopt_options_free(options);
  return module;
}

static void check_arguments(void) {
  tileopt_program *program = parse(gemm);
  tileopt_module *module = compile(program, "x86-64-v3", "sizes", "M=512,N=512,K=512");
  CHECK(strcmp(tileopt_module_peek_name(module), "gemm") == 0);
  CHECK(strcmp(tileopt_module_peek_function(module), "gemm") == 0);
  CHECK(strcmp(tileopt_module_peek_extension(module), ".c") == 0);
  CHECK(strstr(tileopt_module_peek_flags(module), "-ffp-contract=fast") != NULL && strstr(tileopt_module_peek_flags(module), "-march=x86-64-v3") != NULL);
  CHECK(strstr(tileopt_module_peek_reasons(module), "gemm") != NULL);
  CHECK(tileopt_module_size_count(module) == 3);
  CHECK(strcmp(tileopt_module_peek_size(module, 1), "K") == 0);
  CHECK(strcmp(tileopt_module_peek_size(module, 3), "") == 0);
  CHECK(tileopt_module_argument_count(module) == 3);
  CHECK(strcmp(tileopt_module_peek_argument(module, 2), "C") == 0);
  CHECK(strcmp(tileopt_module_peek_argument_type(module, 2), "f32") == 0);
  CHECK(tileopt_module_argument_role(module, 2) == TILEOPT_OUT);
  CHECK(tileopt_module_argument_role(module, 0) == TILEOPT_IN);
  CHECK(tileopt_module_argument_rank(module, 0) == 2);
  CHECK(tileopt_module_argument_by_value(module, 0) == 0 && tileopt_module_argument_packed(module, 0) == 0);
  CHECK(strcmp(tileopt_module_peek_argument_extent(module, 0, 1), "K") == 0);
  CHECK(strcmp(tileopt_module_peek_argument_stride(module, 0, 0), "K") == 0);
  CHECK(strcmp(tileopt_module_peek_argument_stride(module, 0, 2), "") == 0);
  const int64_t sizes[3] = {100, 30, 7}, negative[3] = {100, -1, 7};
  int64_t extents[2] = {0, 0}, strides[2] = {0, 0}, bytes = 0, workspace = -1;
  OK(tileopt_module_evaluate_argument(module, 0, sizes, 3, extents, strides, &bytes));
  CHECK(extents[0] == 100 && extents[1] == 30 && strides[0] == 30 && strides[1] == 1 && bytes == 100 * 30 * 4);
  OK(tileopt_module_evaluate_argument(module, 0, sizes, 3, NULL, NULL, NULL));
  FAILS(tileopt_module_evaluate_argument(module, 3, sizes, 3, extents, strides, &bytes), "invalid-option", 0);
  FAILS(tileopt_module_evaluate_argument(module, 0, sizes, 2, extents, strides, &bytes), "invalid-size", 0);
  FAILS(tileopt_module_evaluate_argument(module, 0, NULL, 3, extents, strides, &bytes), "invalid-option", 0);
  tileopt_error *error = tileopt_module_evaluate_argument(module, 0, negative, 3, extents, strides, &bytes);
  CHECK(error != NULL && strcmp(tileopt_error_peek_code(error), "invalid-size") == 0);
  tileopt_error_free(error);
  OK(tileopt_module_evaluate_workspace(module, sizes, 3, &workspace));
  CHECK(workspace >= 0 && workspace % 256 == 0 && workspace >= tileopt_module_kernel_workspace(module, 0));
  CHECK(tileopt_module_kernel_count(module) == 1);
  CHECK(strcmp(tileopt_module_peek_kernel(module, 0), "gemm") == 0);
  CHECK(strstr(tileopt_module_peek_kernel_statements(module, 0), "C") != NULL);
  int runs = 0;
  CHECK(strcmp(tileopt_module_peek_kernel_when(module, 0), "") == 0);
  OK(tileopt_module_evaluate_kernel(module, 0, sizes, 3, &runs));
  CHECK(runs == 1);
  FAILS(tileopt_module_evaluate_kernel(module, 1, sizes, 3, &runs), "invalid-option", 0);
  FAILS(tileopt_module_evaluate_kernel(module, 0, sizes, 2, &runs), "invalid-size", 0);
  FAILS(tileopt_module_evaluate_kernel(module, 0, sizes, 3, NULL), "invalid-option", 0);
  CHECK(tileopt_module_launch_count(module) == 0);
  CHECK(tileopt_module_cost(module) > 0);
  CHECK(tileopt_module_cost_part_count(module) >= 3);
  CHECK(strcmp(tileopt_module_peek_cost_part(module, 0), "compute") == 0 && tileopt_module_cost_part(module, 0) > 0);
  CHECK(*tileopt_module_peek_cost_binding(module) != '\0');
  tileopt_module_free(module);
  tileopt_program_free(program);
}

static void check_launches(void) {
  tileopt_program *program = parse(gemm);
  tileopt_module *module = compile(program, "h100", NULL, NULL);
  const int64_t sizes[3] = {1000, 64, 500};
  int64_t launches = 0, blocks = 0;
  CHECK(strcmp(tileopt_module_peek_extension(module), ".cu") == 0);
  CHECK(tileopt_module_launch_count(module) == 1);
  CHECK(strstr(tileopt_module_peek_source(module), tileopt_module_peek_launch(module, 0)) != NULL);
  CHECK(tileopt_module_launch_threads(module, 0) >= 32 && tileopt_module_launch_kernel(module, 0) == 0);
  CHECK(tileopt_module_launch_shared_bytes(module, 0) > 0);
  CHECK(strstr(tileopt_module_peek_launch_blocks(module, 0), "M") != NULL);
  CHECK(strcmp(tileopt_module_peek_launch_loops(module, 0), "") == 0);
  OK(tileopt_module_evaluate_launch(module, 0, sizes, 3, &launches, &blocks));
  CHECK(launches == 1 && blocks > 1 && blocks < 1000 * 500);
  FAILS(tileopt_module_evaluate_launch(module, 1, sizes, 3, &launches, &blocks), "invalid-option", 0);
  tileopt_module_free(module);
  tileopt_program_free(program);

  program = parse(steps);
  module = compile(program, "h100", NULL, NULL);
  const int64_t more[2] = {5000, 12};
  const int first_is_size = strcmp(tileopt_module_peek_size(module, 0), "N") == 0;
  const int64_t swapped[2] = {12, 5000};
  CHECK(tileopt_module_launch_count(module) == 2);
  CHECK(strstr(tileopt_module_peek_launch_loops(module, 0), "T") != NULL);
  OK(tileopt_module_evaluate_launch(module, 1, first_is_size ? more : swapped, 2, &launches, &blocks));
  CHECK(launches == 12 && blocks >= 1);
  tileopt_module_free(module);
  tileopt_program_free(program);
}

/* Of two versions the sizes choose one; the other is not launched. */
static void check_versions(void) {
  tileopt_program *program = parse(product);
  tileopt_module *module = compile(program, "h200", NULL, NULL);
  int64_t sizes[3], launches = -1, blocks = -1;
  CHECK(tileopt_module_kernel_count(module) == 2 && tileopt_module_launch_count(module) == 2);
  CHECK(strcmp(tileopt_module_peek_kernel_statements(module, 0), tileopt_module_peek_kernel_statements(module, 1)) == 0);
  CHECK(strstr(tileopt_module_peek_kernel_when(module, 0), "mod 8 = 0") != NULL && *tileopt_module_peek_kernel_when(module, 1) != '\0');
  for (int whole = 0; whole < 2; ++whole) {
    for (size_t s = 0; s < 3; ++s) sizes[s] = strcmp(tileopt_module_peek_size(module, s), "K") == 0 ? (whole ? 136 : 133) : 300;
    for (size_t kernel = 0; kernel < 2; ++kernel) {
      const int expected = (kernel == 0) == (whole == 1);
      int runs = -1;
      OK(tileopt_module_evaluate_kernel(module, kernel, sizes, 3, &runs));
      CHECK(runs == expected);
      CHECK(tileopt_module_launch_kernel(module, kernel) == kernel);
      OK(tileopt_module_evaluate_launch(module, kernel, sizes, 3, &launches, &blocks));
      CHECK(launches == expected && (blocks > 0) == (expected == 1));
    }
  }
  tileopt_module_free(module);
  tileopt_program_free(program);
}

/* What is computed here is what the printed function says, and kernels run on the arrays themselves. */
static void check_run(void) {
  tileopt_program *program = parse(softmax);
  static const char *const machines[2] = {"x86-64-v3", "h100"}, *const wheres[2] = {"native", "emulator"};
#ifdef TILEOPT_NO_EMULATOR
  enum { places = 1 };
#else
  enum { places = 2 };
#endif
  for (int m = 0; m < places; ++m) {
    tileopt_module *module = compile(program, machines[m], NULL, NULL);
    tileopt_kernel *kernel = NULL;
    OK(tileopt_kernel_create(module, wheres[m], &kernel));
    CHECK((*tileopt_kernel_peek_object(kernel) != '\0') == (m == 0));
    const int64_t sizes[2] = {3, 5}, wrong[2] = {-3, 5};
    float x[15], y[15];
    for (int i = 0; i < 15; ++i) x[i] = (float)i / 4, y[i] = -1;
    void *arguments[2] = {x, y}, *missing[2] = {x, NULL};
    OK(tileopt_kernel_run(kernel, sizes, 2, arguments, 2));
    for (int i = 0; i < 3; ++i) {
      float total = 0;
      for (int j = 0; j < 5; ++j) total += y[5 * i + j];
      CHECK(total > 0.9999f && total < 1.0001f);
    }
    FAILS(tileopt_kernel_run(kernel, sizes, 2, missing, 2), "invalid-option", 0);
    FAILS(tileopt_kernel_run(kernel, sizes, 2, arguments, 1), "invalid-option", 0);
    FAILS(tileopt_kernel_run(kernel, sizes, 1, arguments, 2), "invalid-size", 0);
    tileopt_error *error = tileopt_kernel_run(kernel, wrong, 2, arguments, 2);
    CHECK(error != NULL && strcmp(tileopt_error_peek_code(error), "invalid-size") == 0);
    tileopt_error_free(error);
    tileopt_kernel_free(kernel);
    FAILS(tileopt_kernel_run(kernel, sizes, 2, arguments, 2), "invalid-handle", 0);
    FAILS(tileopt_kernel_create(module, "moon", &kernel), "invalid-option", 0);
    tileopt_module_free(module);
  }
  tileopt_program_free(program);
}

static void check_machines(void) {
  tileopt_machine *machine = NULL, *copy = NULL;
  tileopt_options *options = NULL;
  tileopt_module *module = NULL;
  tileopt_program *program = parse(gemm);
  int found = 0;
  for (size_t i = 0; i < tileopt_builtin_machine_count(); ++i) found += strcmp(tileopt_peek_builtin_machine(i), "h100") == 0;
  CHECK(found == 1);
  CHECK(strcmp(tileopt_peek_builtin_machine(10000), "") == 0);
  OK(tileopt_machine_create("mi300x", &machine));
  CHECK(strcmp(tileopt_machine_peek_name(machine), "mi300x") == 0);
  CHECK(strcmp(tileopt_machine_peek_backend(machine), "hip") == 0);
  CHECK(tileopt_machine_cores(machine) > 100 && *tileopt_machine_peek_description(machine) != '\0');
  const char *json = tileopt_machine_peek_json(machine);
  OK(tileopt_machine_parse(json, strlen(json), NULL, &copy));
  CHECK(strcmp(json, tileopt_machine_peek_json(copy)) == 0);
  FAILS(tileopt_machine_create("z80", &machine), "unknown-machine", 0);
  FAILS(tileopt_machine_create("/nowhere/x.json", &machine), "file-access", 0);
  FAILS(tileopt_machine_parse("{", 1, "m.json", &machine), "invalid-dump", 1);
  OK(tileopt_options_create(&options));
  OK(tileopt_options_set_machine(options, copy));
  OK(tileopt_module_compile(program, options, &module));
  CHECK(strcmp(tileopt_module_peek_extension(module), ".hip") == 0);
  tileopt_module_free(module);
  FAILS(tileopt_options_set(options, "backend", "fortran"), "invalid-option", 0);
  OK(tileopt_options_set(options, "backend", "openmp"));
  FAILS(tileopt_module_compile(program, options, &module), "invalid-option", 0);
  tileopt_options_free(options);
  tileopt_machine_free(machine);
  tileopt_machine_free(copy);
  tileopt_program_free(program);
}

/* One pin three ways gives one plan; a pin that cannot be honoured says why. */
static void check_pins(void) {
  tileopt_program *program = parse(gemm);
  tileopt_module *modules[3] = {NULL, NULL, NULL}, *none = NULL;
  for (int way = 0; way < 3; ++way) {
    tileopt_options *options = NULL;
    OK(tileopt_options_create(&options));
    OK(tileopt_options_set(options, "machine", "x86-64-v3"));
    const char *arguments[1] = {"serial"}, *keys[1] = {"k"}, *values[1] = {"64"};
    if (way == 0) OK(tileopt_options_set(options, "pin", "tile(\"serial\", k=64)"));
    if (way == 1) OK(tileopt_options_set(options, "pins_json", "[{\"primitive\": \"tile\", \"arguments\": [\"serial\"], \"keywords\": {\"k\": 64}}]"));
    if (way == 2) OK(tileopt_options_add_pin(options, "tile", arguments, 1, keys, values, 1));
    OK(tileopt_module_compile(program, options, &modules[way]));
    tileopt_options_free(options);
  }
  CHECK(strcmp(tileopt_module_peek_plan(modules[0]), tileopt_module_peek_plan(modules[1])) == 0);
  CHECK(strcmp(tileopt_module_peek_plan(modules[0]), tileopt_module_peek_plan(modules[2])) == 0);
  for (int way = 0; way < 3; ++way) tileopt_module_free(modules[way]);
  tileopt_options *options = NULL;
  OK(tileopt_options_create(&options));
  const char *evil[1] = {"a\") tile(\"b"}, *null[1] = {NULL};
  FAILS(tileopt_options_add_pin(options, "tile", evil, 1, NULL, NULL, 0), "invalid-pin", 0);
  FAILS(tileopt_options_add_pin(options, "tile", null, 1, NULL, NULL, 0), "invalid-option", 0);
  FAILS(tileopt_options_add_pin(options, "tile", NULL, 1, NULL, NULL, 0), "invalid-option", 0);
  FAILS(tileopt_options_add_pin(options, NULL, NULL, 0, NULL, NULL, 0), "invalid-option", 0);
  FAILS(tileopt_options_set(options, "pins_json", "{}"), "invalid-pin", 0);
  FAILS(tileopt_options_set(options, "pins_json", "[{\"primitive\": 3}]"), "invalid-pin", 0);
  FAILS(tileopt_options_set(options, "rewrites", "some"), "invalid-option", 0);
  OK(tileopt_options_set(options, "machine", "x86-64-v3"));
  OK(tileopt_options_set(options, "pin", "tile(\"serial\", nothing=64)"));
  FAILS(tileopt_module_compile(program, options, &none), "invalid-pin", 1);
  CHECK(none == NULL);
  tileopt_options_free(options);
  tileopt_program_free(program);
}

static void check_handles(void) {
  tileopt_program *program = parse(gemm);
  tileopt_options *options = NULL;
  tileopt_module *module = NULL;
  OK(tileopt_options_create(&options));
  tileopt_options_free(options);
  FAILS(tileopt_options_set(options, "threads", "2"), "invalid-handle", 0);
  FAILS(tileopt_module_compile(program, options, &module), "invalid-handle", 0);
  FAILS(tileopt_module_compile((tileopt_program *)session, NULL, &module), "invalid-handle", 0);
  FAILS(tileopt_module_compile((tileopt_program *)&module, NULL, &module), "invalid-handle", 0);
  FAILS(tileopt_module_compile(program, NULL, NULL), "invalid-option", 0);
  FAILS(tileopt_program_parse(NULL, gemm, strlen(gemm), NULL, &program), "invalid-handle", 0);
  tileopt_program_free(program);
  tileopt_program_free(program); /* a second time: nothing happens */
  tileopt_program_free((tileopt_program *)session);
  FAILS(tileopt_module_compile(program, NULL, &module), "invalid-handle", 0);
  CHECK(strcmp(tileopt_program_peek_name(program), "") == 0);
  CHECK(strcmp(tileopt_module_peek_source(NULL), "") == 0);
  CHECK(tileopt_module_size_count((tileopt_module *)session) == 0);
  tileopt_error *error = tileopt_session_create(NULL);
  tileopt_error_free(error);
  CHECK(strcmp(tileopt_error_peek_message(error), "") == 0 && tileopt_error_line(error) == 0);
  CHECK(tileopt_error_status(NULL) == TILEOPT_INTERNAL);
}

/* Every fault of an error by itself; the page of its code. */
static void check_errors(void) {
  static const char text[] =
      "def f(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i + 1]\n        B[j] = 0.0\n";
  tileopt_program *program = NULL;
  tileopt_error *error = tileopt_program_parse(session, text, strlen(text), NULL, &program), *part = NULL;
  CHECK(error != NULL && tileopt_error_count(error) == 2);
  CHECK(strstr(tileopt_error_peek_witness(error), "i = ") != NULL);
  OK(tileopt_error_copy(error, 1, &part));
  CHECK(strcmp(tileopt_error_peek_code(part), "unknown-name") == 0 && tileopt_error_line(part) == 4);
  FAILS(tileopt_error_copy(error, 2, &part), "invalid-option", 0);
  tileopt_error_free(error);
  CHECK(strcmp(tileopt_error_peek_code(part), "unknown-name") == 0);
  tileopt_error_free(part);
  static const char *const codes[] = {"out-of-bounds", "invalid-handle", "busy", "cancelled", "time-limit", "out-of-memory", "not-proved"};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; ++i) CHECK(strstr(tileopt_peek_error_page(codes[i]), codes[i]) != NULL);
  CHECK(strcmp(tileopt_peek_error_page("nonsense"), "") == 0 && strcmp(tileopt_peek_error_page(NULL), "") == 0);
}

int main(void) {
  OK(tileopt_session_create(&session));
  check_arguments();
  check_launches();
  check_versions();
  check_run();
  check_machines();
  check_pins();
  check_handles();
  check_errors();
  tileopt_session_free(session);
  CHECK(tileopt_live_count() == 0);
  return failures == 0 ? 0 : 1;
}
