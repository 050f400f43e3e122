/* Random sequences of calls, right and wrong: handles that are NULL, freed, of another type or never were one, texts that are nonsense. Every
 * answer must be a success or an error that explains itself, never `internal`; at the end nothing may be alive.
 *   abi_calls SECONDS [SEED [stop]]
 * With `stop` calls are cancelled and run out of time, too; what isl loses by itself then is listed in isl_leaks.supp.
 * Built with TILEOPT_LIBFUZZER the bytes of a fuzzer take the place of the random numbers. */
#define TILEOPT_EXPERIMENTAL
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tileopt.h>
#include <time.h>

/* ---- Where choices come from. */

static const uint8_t *bytes;
static size_t byte_count;
static uint64_t state;

static unsigned draw(unsigned below) {
  if (bytes != NULL) {
    if (byte_count == 0) return 0;
    --byte_count;
    return *bytes++ % below;
  }
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}
#define PICK(list) list[draw((unsigned)(sizeof list / sizeof *list))]

/* ---- Handles of all types in one pool, so that foreign ones are handed over too. */

enum { session_kind, machine_kind, builder_kind, expr_kind, program_kind, options_kind, module_kind, kernel_kind, error_kind, space_kind, kinds };
enum { room = 24 };
static void *pool[kinds][room];
static unsigned wrong_percent = 4;
static int stopping;

static void free_handle(int kind, void *handle) {
  switch (kind) {
    case session_kind: tileopt_session_free(handle); break;
    case machine_kind: tileopt_machine_free(handle); break;
    case builder_kind: tileopt_builder_free(handle); break;
    case expr_kind: tileopt_expr_free(handle); break;
    case program_kind: tileopt_program_free(handle); break;
    case options_kind: tileopt_options_free(handle); break;
    case module_kind: tileopt_module_free(handle); break;
    case kernel_kind: tileopt_kernel_free(handle); break;
    case error_kind: tileopt_error_free(handle); break;
    case space_kind: tileopt_space_free(handle); break;
  }
}
/* Freed handles stay in the pool now and then: they are stale from there on. */
static void keep(int kind, void *handle) {
  void **slot = &pool[kind][draw(room)];
  free_handle(kind, *slot);
  *slot = handle;
}
static void *any(int kind) {
  if (draw(100) < wrong_percent) {
    static int local;
    switch (draw(4)) {
      case 0: return NULL;
      case 1: return &local;
      case 2: return (void *)(uintptr_t)(draw(256) * 0x0101010101010101u);
      default: return pool[draw(kinds)][draw(room)];
    }
  }
  for (int tries = 0; tries < room; ++tries) {
    void *handle = pool[kind][draw(room)];
    if (handle != NULL) return handle;
  }
  return NULL;
}

/* ---- Texts. */

static const char *const names[] = {"M", "N", "K", "A", "B", "C", "t", "S", "T", "i", "j", "k", "gemm", "f", "int", "exp", "", "no name", "_Z", "tileopt_x", "sum"};
static const char *const types[] = {"f32", "f64", "bf16", "i32", "i64", "i4", "bool", "tuple[f32, i64]", "f33", "", "tuple[", "u8"};
static const char *const extents[] = {"N", "M", "K", "2*N + 1", "4", "0", "-1", "N*N", "}", "", "N - 3"};
static const char *const contexts[] = {"{ : N >= 1 }", "{ : M >= 1 and K >= M }", "{ : N >= 1 and N <= 0 }", "{ [i] : i > 0 }", "{", "", "[Q] -> { : Q > 0 }"};
static const char *const domains[] = {
    "{ S[i,j] : 0 <= i < M and 0 <= j < N }", "{ T[i] : 0 <= i < N }", "{ U[i,j,k] : 0 <= i < M and 0 <= j < N and 0 <= k < K }", "{ V[] }",
    "{ S[i] : 0 <= i }", "{ S[i] : exists e : i = 2e and 0 <= i < N }", "{ [i] : 0 <= i < N }", "{ S[i,i] : 0 <= i < N }", "{ S[i] : i >= }", "{ [S[i] -> T[j]] }",
    "{ W[i] : false }", "S", ""};
static const char *const accesses[] = {
    "{ S[i,j] -> A[i,j] }", "{ S[i,j] -> B[i] }", "{ S[i,j] -> C[i,j] }", "{ T[i] -> B[i] }", "{ T[i] -> A[i,0] }", "{ T[i] -> B[N-1-i] }", "{ U[i,j,k] -> A[i,k] }",
    "{ U[i,j,k] -> C[i,j] }", "{ U[i,j,k] -> B[k] }", "{ V[] -> t[] }", "{ T[i] -> t[] }", "{ T[i] -> B[i+1] }", "{ S[i,j] -> A[x,y] }", "{ S[i] -> }", "{ T[i] -> Z[i] }", "",
    "{ W[i] -> B[i] }", "{ T[i] -> B[floor(i/2)] }"};
static const char *const affines[] = {"{ S[i,j] -> [i + j] }", "{ T[i] -> [2*i - N] }", "{ T[i] -> [i*i] }", "{ T[i] -> [i, i] }", "{", "", "{ U[i,j,k] -> [k mod 3] }"};
static const char *const schedules[] = {"{ S[i,j] -> [i + j, i]; T[i] -> [i, 0]; U[i,j,k] -> [i, j, k]; V[] -> [0] }", "{ T[i] -> [0] }", "{ T[i] -> [-i] }", "domain: \"{ T[i] }\"", "{", ""};
static const char *const combines[] = {"assign", "sum", "max", "any", "bit_or", "mono", "", "assign"};
static const char *const ops[] = {"add", "sub", "mul", "divide", "max", "lt", "and", "not", "exp", "select", "tuple", "negate", "mod", "nonsense", ""};
static const char *const texts[] = {
    "def f(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = 2.0 * A[i]\n",
    "def g(A: f32[M, N], B: out[f32[M]]):\n    for i in range(M):\n        B[i] = sum(A[i, j] for j in range(N))\n",
    "def h(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i + 1]\n", "def (", "", "\xff\xfe", "@schedule(f)\ndef s():\n    tile(\"serial\", i=4)\n"};
static const char *const keys[] = {"machine", "machine_json", "backend", "threads", "sizes", "pin", "pins_json", "schedule", "plan_json", "rewrites", "colour", ""};
static const char *const values[] = {"x86-64-v3", "h100", "c11", "openmp", "2", "N=64", "tile(\"serial\", i=16)", "[{\"primitive\": \"unroll\", \"keywords\": {\"i\": 2}}]", "{}", "no", "yes", "", "-1", "host"};
static const char *const machines[] = {"x86-64-v3", "c11", "h100", "mi300x", "z80", "", "/nowhere.json"};
static const char *const settings[] = {"seconds", "threads", "x"};
static const char *const setting_values[] = {"0.5", "0.001", "2", "x"};
static const char *const numerics[] = {"reassociate", "contract", "operand_rounding", "approx_ulp", "x"};
static const char *const numeric_values[] = {"yes", "no", "bf16", "2", ""};
static const char *const wheres[] = {NULL, "native", "moon"};

/* A text, or NULL. */
#define TEXT(list) (draw(100) < wrong_percent ? NULL : PICK(list))

/* ---- Calls. */

static int failures;
static unsigned long calls, errors;
static const char *last_call;

static void judge(tileopt_error *error) {
  ++calls;
  if (error == NULL) return;
  ++errors;
  const char *code = tileopt_error_peek_code(error);
  const int explained = *code && *tileopt_error_peek_message(error) && *tileopt_error_peek_rendered(error) &&
                        (tileopt_error_status(error) != TILEOPT_USER_ERROR || *tileopt_error_peek_hint(error));
  if (!explained || strcmp(code, "internal") == 0 || *tileopt_peek_error_page(code) == '\0') {
    fprintf(stderr, "%s: %s\n", last_call, tileopt_error_peek_rendered(error));
    ++failures;
  }
  keep(error_kind, error);
}
#define DO(call) (last_call = #call, judge(call))
/* A call that makes an object. */
#define MAKE(kind, type, function, ...)                                         \
  do {                                                                          \
    type *made = NULL;                                                          \
    DO(function(__VA_ARGS__, draw(100) < wrong_percent ? NULL : &made));        \
    if (made != NULL) keep(kind, made);                                         \
  } while (0)

static int on_stage(void *user, const char *stage, const char *kernel, double seconds) {
  (void)user, (void)stage, (void)kernel, (void)seconds;
  return draw(64) == 1;
}

static void ask_module(const tileopt_module *module) {
  const size_t at = draw(6);
  const int64_t sizes[3] = {draw(20), draw(20), (int64_t)draw(20) - 2};
  int64_t out[16], more[16], total;
  unsigned long length = strlen(tileopt_module_peek_source(module)) + strlen(tileopt_module_peek_argument(module, at)) +
                         strlen(tileopt_module_peek_argument_extent(module, at, draw(4))) + strlen(tileopt_module_peek_argument_stride(module, draw(4), at)) +
                         strlen(tileopt_module_peek_kernel(module, at)) + strlen(tileopt_module_peek_launch_blocks(module, at)) +
                         strlen(tileopt_module_peek_cost_part(module, at)) + strlen(tileopt_module_peek_flags(module)) + strlen(tileopt_module_peek_plan(module));
  length += (unsigned long)tileopt_module_argument_rank(module, at) + tileopt_module_kernel_count(module);
  if (length == 12345678) puts("long");
  DO(tileopt_module_evaluate_argument(module, at, sizes, draw(4), out, more, &total));
  DO(tileopt_module_evaluate_workspace(module, sizes, tileopt_module_size_count(module), &total));
  DO(tileopt_module_evaluate_launch(module, at, sizes, tileopt_module_size_count(module), out, more));
}

/* Arguments that are large enough for sizes below 20. */
static void run(const void *handle, int interpret) {
  static double memory[4][4096];
  void *arguments[4];
  int64_t sizes[3];
  for (int a = 0; a < 4; ++a) arguments[a] = draw(100) < wrong_percent ? NULL : memory[a];
  for (int s = 0; s < 3; ++s) sizes[s] = (int64_t)draw(18) - (draw(10) == 0);
  const size_t size_count = draw(4), argument_count = 1 + draw(3);
  if (interpret) DO(tileopt_program_interpret(handle, sizes, size_count, arguments, argument_count));
  else DO(tileopt_kernel_run(handle, sizes, size_count, arguments, argument_count));
}

static void build_something(tileopt_builder *b) {
  const char *shape[3] = {PICK(extents), PICK(extents), TEXT(extents)};
  const size_t order[3] = {draw(3), draw(3), draw(3)};
  const tileopt_expr *operands[3] = {any(expr_kind), any(expr_kind), any(expr_kind)};
  switch (draw(20)) {
    case 0: DO(tileopt_builder_add_parameter(b, TEXT(names))); break;
    case 1: DO(tileopt_builder_add_context(b, TEXT(contexts))); break;
    case 2:
      DO(tileopt_builder_add_tensor(b, TEXT(names), TEXT(types), (tileopt_role)draw(5), draw(3), draw(20) ? shape : NULL, draw(4) ? NULL : order, draw(6) ? NULL : shape));
      break;
    case 3: DO(tileopt_builder_open_loop(b, TEXT(names))); break;
    case 4: DO(tileopt_builder_close_loop(b)); break;
    case 5: case 6: case 7: DO(tileopt_builder_add_statement(b, TEXT(domains), TEXT(accesses), TEXT(combines), any(expr_kind))); break;
    case 8: DO(tileopt_builder_add_predicate(b, TEXT(names), any(expr_kind))); break;
    case 9: DO(tileopt_builder_add_guard(b, TEXT(names), TEXT(names), any(expr_kind))); break;
    case 10: DO(tileopt_builder_set_schedule(b, TEXT(schedules))); break;
    case 11: DO(tileopt_builder_set_numerics(b, TEXT(numerics), TEXT(numeric_values))); break;
    case 12: DO(tileopt_builder_add_monoid(b, "mono", TEXT(types), (int)draw(2), any(expr_kind), any(expr_kind))); break;
    case 13: MAKE(expr_kind, tileopt_expr, tileopt_expr_create_real, b, TEXT(types), (double)draw(9) - 4.5); break;
    case 14: MAKE(expr_kind, tileopt_expr, tileopt_expr_create_integer, b, TEXT(types), (int64_t)draw(300) - 3); break;
    case 15: MAKE(expr_kind, tileopt_expr, tileopt_expr_create_read, b, TEXT(accesses)); break;
    case 16: MAKE(expr_kind, tileopt_expr, tileopt_expr_create_index, b, TEXT(affines), TEXT(types)); break;
    case 17: MAKE(expr_kind, tileopt_expr, tileopt_expr_create_call, b, TEXT(ops), draw(30) ? operands : NULL, draw(4)); break;
    case 18: MAKE(expr_kind, tileopt_expr, tileopt_expr_create_cast, b, TEXT(types), operands[0]); break;
    case 19:
      if (draw(2)) MAKE(expr_kind, tileopt_expr, tileopt_expr_create_operand, b, TEXT(types), (int)draw(3));
      else MAKE(expr_kind, tileopt_expr, tileopt_expr_create_component, b, operands[0], draw(3));
      break;
  }
}

/* A builder that already has what the texts speak of. */
static void start_builder(void) {
  tileopt_builder *b = NULL;
  const char *two[2] = {"M", "N"}, *one[1] = {"N"};
  DO(tileopt_builder_create(any(session_kind), TEXT(names), &b));
  if (b == NULL) return;
  keep(builder_kind, b);
  if (draw(4) == 0) return;
  DO(tileopt_builder_add_parameter(b, "M"));
  DO(tileopt_builder_add_parameter(b, "N"));
  DO(tileopt_builder_add_parameter(b, "K"));
  DO(tileopt_builder_add_tensor(b, "A", "f32", TILEOPT_IN, 2, two, NULL, NULL));
  DO(tileopt_builder_add_tensor(b, "B", "f32", draw(2) ? TILEOPT_INOUT : TILEOPT_OUT, 1, one, NULL, NULL));
  DO(tileopt_builder_add_tensor(b, "C", "f32", TILEOPT_OUT, 2, two, NULL, NULL));
}

static void one_call(void) {
  const char *words[2] = {TEXT(names), TEXT(names)};
  const size_t point[8] = {draw(3), draw(3), draw(3), draw(3), draw(3), draw(3), draw(3), draw(3)};
  double seconds;
  switch (draw(40)) {
    case 0: {
      tileopt_session *session = NULL;
      DO(tileopt_session_create(&session));
      if (session == NULL) return;
      keep(session_kind, session);
      if (stopping) DO(tileopt_session_set(session, "seconds", "0.5"));
      return;
    }
    case 1: DO(tileopt_session_set(any(session_kind), stopping ? TEXT(settings) : "threads", TEXT(setting_values))); return;
    case 2: DO(draw(3) || !stopping ? tileopt_session_resume(any(session_kind)) : tileopt_session_cancel(any(session_kind))); return;
    case 3: DO(tileopt_session_set_progress(any(session_kind), draw(2) ? on_stage : NULL, NULL)); return;
    case 4: MAKE(machine_kind, tileopt_machine, tileopt_machine_create, TEXT(machines)); return;
    case 5: {
      const char *json = PICK(values);
      MAKE(machine_kind, tileopt_machine, tileopt_machine_parse, json, strlen(json), TEXT(names));
      return;
    }
    case 6: start_builder(); return;
    case 7: case 8: MAKE(program_kind, tileopt_program, tileopt_program_create, any(builder_kind)); return;
    case 9: {
      const char *text = TEXT(texts);
      MAKE(program_kind, tileopt_program, tileopt_program_parse, any(session_kind), text, text == NULL ? draw(9) : strlen(text), TEXT(names));
      return;
    }
    case 10: {
      tileopt_options *options = NULL;
      DO(tileopt_options_create(draw(100) < wrong_percent ? NULL : &options));
      if (options != NULL) keep(options_kind, options);
      return;
    }
    case 11: DO(tileopt_options_set(any(options_kind), TEXT(keys), TEXT(values))); return;
    case 12: DO(tileopt_options_set_machine(any(options_kind), any(machine_kind))); return;
    case 13: DO(tileopt_options_add_pin(any(options_kind), TEXT(keys), words, draw(3), words, words, draw(3))); return;
    case 14: MAKE(module_kind, tileopt_module, tileopt_module_compile, any(program_kind), draw(2) ? NULL : any(options_kind)); return;
    case 15: case 16: ask_module(any(module_kind)); return;
    case 17:
      if (draw(4) == 0) MAKE(kernel_kind, tileopt_kernel, tileopt_kernel_create, any(module_kind), PICK(wheres));
      return;
    case 18: run(any(kernel_kind), 0); return;
    case 19: run(any(program_kind), 1); return;
    case 20: MAKE(error_kind, tileopt_error, tileopt_error_copy, any(error_kind), draw(2)); return;
    case 21:
      if (draw(4) == 0) MAKE(space_kind, tileopt_space, tileopt_space_create, any(program_kind), any(options_kind));
      return;
    case 22: DO(tileopt_space_score(any(space_kind), draw(2), point, draw(9), &seconds)); return;
    case 23: MAKE(module_kind, tileopt_module, tileopt_space_search, any(space_kind), NULL, NULL, draw(4)); return;
    case 24: case 25: {
      const int kind = (int)draw(kinds);
      void **slot = &pool[kind][draw(room)];
      free_handle(kind, *slot);
      if (draw(2)) *slot = NULL;
      return;
    }
    default: build_something(any(builder_kind)); return;
  }
}

static int finish(void) {
  for (int kind = 0; kind < kinds; ++kind)
    for (int slot = 0; slot < room; ++slot) {
      free_handle(kind, pool[kind][slot]);
      pool[kind][slot] = NULL;
    }
  if (tileopt_live_count() != 0) {
    fprintf(stderr, "%zu objects are alive\n", tileopt_live_count());
    ++failures;
  }
  return failures;
}

#ifdef TILEOPT_LIBFUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bytes = data;
  byte_count = size;
  while (byte_count > 0) one_call();
  if (finish() != 0) abort();
  return 0;
}
#else
int main(int count, char **words) {
  const double seconds = count > 1 ? atof(words[1]) : 5;
  const time_t end = time(NULL) + (time_t)seconds;
  stopping = count > 3 && strcmp(words[3], "stop") == 0;
  uint64_t seed = count > 2 ? strtoull(words[2], NULL, 10) : 1;
  while (time(NULL) < end && failures == 0) {
    state = seed++;
    for (int call = 0; call < 3000 && time(NULL) < end && failures == 0; ++call) one_call();
    finish();
    if (failures != 0) fprintf(stderr, "with seed %llu\n", (unsigned long long)seed - 1);
  }
  printf("%lu calls, %lu of them refused\n", calls, errors);
  return failures != 0 || calls < 100 || errors == calls;
}
#endif
