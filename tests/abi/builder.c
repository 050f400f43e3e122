/* Programs built piece by piece: compiled, proved, run beside the interpreter; and every kind of mistake. */
#include "check.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

static tileopt_session *session;

static tileopt_expr *read_of(tileopt_builder *b, const char *access) {
  tileopt_expr *expr = NULL;
  OK(tileopt_expr_create_read(b, access, &expr));
  return expr;
}
static tileopt_expr *real(tileopt_builder *b, const char *type, double value) {
  tileopt_expr *expr = NULL;
  OK(tileopt_expr_create_real(b, type, value, &expr));
  return expr;
}
/* Takes its operands. */
static tileopt_expr *call(tileopt_builder *b, const char *op, tileopt_expr *x, tileopt_expr *y) {
  const tileopt_expr *operands[2] = {x, y};
  tileopt_expr *expr = NULL;
  OK(tileopt_expr_create_call(b, op, operands, y == NULL ? 1 : 2, &expr));
  tileopt_expr_free(x);
  tileopt_expr_free(y);
  return expr;
}
static void statement(tileopt_builder *b, const char *domain, const char *write, const char *combine, tileopt_expr *value) {
  OK(tileopt_builder_add_statement(b, domain, write, combine, value));
  tileopt_expr_free(value);
}
static void matrix(tileopt_builder *b, const char *name, tileopt_role role, const char *rows, const char *columns) {
  const char *shape[2] = {rows, columns};
  OK(tileopt_builder_add_tensor(b, name, "f32", role, 2, shape, NULL, NULL));
}

static tileopt_builder *new_builder(const char *name) {
  tileopt_builder *b = NULL;
  OK(tileopt_builder_create(session, name, &b));
  return b;
}

/* Compiles, runs natively and in the interpreter on the same arguments, compares argument `result`. */
static void check_program(tileopt_builder *b, const char *machine, const char *where, const int64_t *sizes, size_t size_count,
                          void **arguments, size_t count, size_t result, size_t elements) {
  tileopt_program *program = NULL;
  tileopt_options *options = NULL;
  tileopt_module *module = NULL;
  tileopt_kernel *kernel = NULL;
  OK(tileopt_program_create(b, &program));
  OK(tileopt_options_create(&options));
  OK(tileopt_options_set(options, "machine", machine));
  OK(tileopt_module_compile(program, options, &module));
  CHECK(tileopt_module_argument_count(module) == count);
  OK(tileopt_kernel_create(module, where, &kernel));
  const size_t bytes = elements * sizeof(float);
  float *got = arguments[result], *expected = malloc(bytes ? bytes : 1);
  memcpy(expected, got, bytes);
  OK(tileopt_kernel_run(kernel, sizes, size_count, arguments, count));
  arguments[result] = expected;
  OK(tileopt_program_interpret(program, sizes, size_count, arguments, count));
  arguments[result] = got;
  int wrong = 0;
  for (size_t i = 0; i < elements; ++i)
    if (!(fabsf(got[i] - expected[i]) <= 1e-4f * (1 + fabsf(expected[i])))) ++wrong;
  CHECK(wrong == 0);
  free(expected);
  tileopt_program_free(program); /* the rest keeps what it needs */
  tileopt_module_free(module);
  OK(tileopt_kernel_run(kernel, sizes, size_count, arguments, count));
  tileopt_kernel_free(kernel);
  tileopt_options_free(options);
}

static float *numbers(size_t count) {
  float *values = malloc(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) values[i] = (float)((i * 37 + 11) % 23) / 8 - 1;
  return values;
}

static tileopt_builder *gemm(void) {
  tileopt_builder *b = new_builder("built_gemm");
  OK(tileopt_builder_add_parameter(b, "M"));
  OK(tileopt_builder_add_parameter(b, "N"));
  OK(tileopt_builder_add_parameter(b, "K"));
  matrix(b, "A", TILEOPT_IN, "M", "K");
  matrix(b, "B", TILEOPT_IN, "K", "N");
  matrix(b, "C", TILEOPT_OUT, "M", "N");
  OK(tileopt_builder_set_numerics(b, "contract", "yes"));
  OK(tileopt_builder_open_loop(b, "i"));
  OK(tileopt_builder_open_loop(b, "j"));
  statement(b, "{ C_init[i,j] : 0 <= i < M and 0 <= j < N }", "{ C_init[i,j] -> C[i,j] }", "assign", real(b, "f32", 0));
  statement(b, "{ C_sum[i,j,k] : 0 <= i < M and 0 <= j < N and 0 <= k < K }", "{ C_sum[i,j,k] -> C[i,j] }", "sum",
            call(b, "mul", read_of(b, "{ C_sum[i,j,k] -> A[i,k] }"), read_of(b, "{ C_sum[i,j,k] -> B[k,j] }")));
  OK(tileopt_builder_close_loop(b));
  OK(tileopt_builder_close_loop(b));
  return b;
}

static void check_gemm(void) {
  tileopt_builder *b = gemm(), *again = gemm();
  const int64_t sizes[3] = {33, 47, 29};
  void *arguments[3] = {numbers(33 * 29), numbers(29 * 47), numbers(33 * 47)};
  check_program(b, "x86-64-v3", NULL, sizes, 3, arguments, 3, 2, 33 * 47);
#ifndef TILEOPT_NO_EMULATOR
  check_program(b, "h100", "emulator", sizes, 3, arguments, 3, 2, 33 * 47);
#endif
  for (int i = 0; i < 3; ++i) free(arguments[i]);

  /* The same calls are the same program. */
  tileopt_program *one = NULL, *two = NULL;
  OK(tileopt_program_create(b, &one));
  OK(tileopt_program_create(again, &two));
  CHECK(strlen(tileopt_program_peek_hash(one)) == 16);
  CHECK(strcmp(tileopt_program_peek_hash(one), tileopt_program_peek_hash(two)) == 0);
  CHECK(strstr(tileopt_program_peek_text(one), "add_parameter(\"M\")") != NULL);
  tileopt_program_free(one);
  tileopt_program_free(two);
  tileopt_builder_free(b);
  tileopt_builder_free(again);
}

/* Strides and order: A is column-major with gaps, B is read reversed. */
static void check_strides(void) {
  tileopt_builder *b = new_builder("strided");
  OK(tileopt_builder_add_parameter(b, "N"));
  OK(tileopt_builder_add_parameter(b, "LD"));
  OK(tileopt_builder_add_context(b, "{ : LD >= N }"));
  const char *shape[2] = {"N", "N"}, *strides[2] = {"1", "LD"};
  const size_t order[2] = {1, 0};
  OK(tileopt_builder_add_tensor(b, "A", "f32", TILEOPT_IN, 2, shape, order, strides));
  matrix(b, "B", TILEOPT_INOUT, "N", "N");
  statement(b, "{ S[i,j] : 0 <= i < N and 0 <= j < N }", "{ S[i,j] -> B[i,j] }", "assign",
            call(b, "sub", read_of(b, "{ S[i,j] -> A[i,N-1-j] }"), call(b, "abs", read_of(b, "{ S[i,j] -> B[i,j] }"), NULL)));
  const int64_t sizes[2] = {9, 12};
  void *arguments[2] = {numbers(9 * 12), numbers(81)};
  float *a = arguments[0], *before = numbers(81);
  check_program(b, "x86-64-v3", NULL, sizes, 2, arguments, 2, 1, 81);
  memcpy(arguments[1], before, 81 * sizeof(float));
  tileopt_program *program = NULL;
  OK(tileopt_program_create(b, &program));
  OK(tileopt_program_interpret(program, sizes, 2, arguments, 2));
  const float *got = arguments[1];
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) CHECK(got[9 * i + j] == a[i + 12 * (8 - j)] - fabsf(before[9 * i + j]));
  tileopt_program_free(program);
  free(arguments[0]);
  free(arguments[1]);
  free(before);
  tileopt_builder_free(b);
}

/* A wavefront given as an isl schedule: skewed time, two ways to write it. */
static void check_schedules(void) {
  static const char *const schedules[2] = {
      "{ S[i,j] -> [i + j, i] }",
      "domain: \"[N] -> { S[i,j] : 1 <= i < N and 1 <= j < N }\"\nchild:\n  schedule: \"[N] -> [{ S[i,j] -> [(i + j)] }, { S[i,j] -> [(i)] }]\"\n"};
  for (int s = 0; s < 2; ++s) {
    tileopt_builder *b = new_builder("skewed");
    OK(tileopt_builder_add_parameter(b, "N"));
    matrix(b, "A", TILEOPT_INOUT, "N", "N");
    statement(b, "{ S[i,j] : 1 <= i < N and 1 <= j < N }", "{ S[i,j] -> A[i,j] }", "assign",
              call(b, "sub", read_of(b, "{ S[i,j] -> A[i-1,j] }"), read_of(b, "{ S[i,j] -> A[i,j-1] }")));
    OK(tileopt_builder_set_schedule(b, schedules[s]));
    const int64_t sizes[1] = {14};
    void *arguments[1] = {numbers(14 * 14)};
    check_program(b, "x86-64-v3", NULL, sizes, 1, arguments, 1, 0, 14 * 14);
    free(arguments[0]);
    tileopt_builder_free(b);
  }
}

/* Two statements interleaved by constants of time; a local; a predicate; an index value; a select. */
static void check_statements(void) {
  tileopt_builder *b = new_builder("several");
  OK(tileopt_builder_add_parameter(b, "N"));
  const char *shape[1] = {"N"};
  OK(tileopt_builder_add_tensor(b, "X", "f32", TILEOPT_IN, 1, shape, NULL, NULL));
  OK(tileopt_builder_add_tensor(b, "Y", "f32", TILEOPT_INOUT, 1, shape, NULL, NULL));
  OK(tileopt_builder_add_tensor(b, "t", "f32", TILEOPT_LOCAL, 1, shape, NULL, NULL));
  tileopt_expr *place = NULL, *weight = NULL;
  OK(tileopt_expr_create_index(b, "{ T[i] -> [2*i + N] }", "i32", &place));
  OK(tileopt_expr_create_cast(b, "f32", place, &weight));
  CHECK(strcmp(tileopt_expr_peek_type(weight), "f32") == 0);
  tileopt_expr_free(place);
  statement(b, "{ T[i] : 0 <= i < N }", "{ T[i] -> t[i] }", "assign", call(b, "mul", weight, read_of(b, "{ T[i] -> X[i] }")));
  tileopt_expr *condition = call(b, "gt", read_of(b, "{ U[i] -> t[i] }"), real(b, "f32", 0));
  tileopt_expr *choice[3] = {condition, read_of(b, "{ U[i] -> t[i] }"), real(b, "f32", -1)}, *chosen = NULL;
  OK(tileopt_expr_create_call(b, "select", (const tileopt_expr *const *)choice, 3, &chosen));
  for (int i = 0; i < 3; ++i) tileopt_expr_free(choice[i]);
  statement(b, "{ U[i] : 0 <= i < N }", "{ U[i] -> Y[i] }", "max", chosen);
  tileopt_expr *positive = call(b, "ge", read_of(b, "{ U[i] -> X[i] }"), real(b, "f32", 0));
  OK(tileopt_builder_add_predicate(b, "U", positive));
  FAILS(tileopt_builder_add_predicate(b, "U", positive), "duplicate-name", 8);
  tileopt_expr_free(positive);
  OK(tileopt_builder_set_schedule(b, "{ T[i] -> [i, 0]; U[i] -> [i, 1] }"));
  const int64_t sizes[1] = {21};
  void *arguments[2] = {numbers(21), numbers(21)};
  check_program(b, "x86-64-v3", NULL, sizes, 1, arguments, 2, 1, 21);
  free(arguments[0]);
  free(arguments[1]);
  tileopt_builder_free(b);
}

/* A gather through an index that is read: a guard. */
static void check_guard(void) {
  tileopt_builder *b = new_builder("gather");
  OK(tileopt_builder_add_parameter(b, "N"));
  OK(tileopt_builder_add_parameter(b, "M"));
  const char *n[1] = {"N"}, *m[1] = {"M"};
  OK(tileopt_builder_add_tensor(b, "X", "f32", TILEOPT_IN, 1, n, NULL, NULL));
  OK(tileopt_builder_add_tensor(b, "at", "i64", TILEOPT_IN, 1, m, NULL, NULL));
  OK(tileopt_builder_add_tensor(b, "Y", "f32", TILEOPT_INOUT, 1, m, NULL, NULL));
  statement(b, "{ G[i,p] : 0 <= i < M and 0 <= p < N }", "{ G[i,p] -> Y[i] }", "assign", read_of(b, "{ G[i,p] -> X[p] }"));
  tileopt_expr *index = read_of(b, "{ G[i,p] -> at[i] }"), *later = NULL;
  OK(tileopt_expr_create_index(b, "{ G[i,p] -> [p] }", "i64", &later));
  FAILS(tileopt_builder_add_guard(b, "G", "p", later), "unsupported", 7);
  OK(tileopt_builder_add_guard(b, "G", "p", index));
  tileopt_expr_free(index);
  tileopt_expr_free(later);
  const int64_t sizes[2] = {10, 6};
  int64_t at[6] = {3, 9, 0, 3, -5, 40}; /* the last two name nothing: they have no effect */
  void *arguments[3] = {numbers(10), at, numbers(6)};
  check_program(b, "x86-64-v3", NULL, sizes, 2, arguments, 3, 2, 6);
  CHECK(((float *)arguments[2])[1] == ((float *)arguments[0])[9]);
  free(arguments[0]);
  free(arguments[2]);
  tileopt_builder_free(b);
}

/* A monoid of tuples: the largest value and the number of values. */
static void check_monoid(void) {
  tileopt_builder *b = new_builder("peak");
  OK(tileopt_builder_add_parameter(b, "N"));
  const char *shape[1] = {"N"};
  OK(tileopt_builder_add_tensor(b, "X", "f32", TILEOPT_IN, 1, shape, NULL, NULL));
  OK(tileopt_builder_add_tensor(b, "Y", "f32", TILEOPT_OUT, 0, NULL, NULL, NULL));
  OK(tileopt_builder_add_tensor(b, "state", "tuple[f32, i64]", TILEOPT_LOCAL, 0, NULL, NULL, NULL));
  tileopt_expr *x = NULL, *y = NULL, *part[4], *most, *count, *one = NULL, *zero = NULL, *identity = NULL, *combine = NULL;
  OK(tileopt_expr_create_operand(b, "tuple[f32, i64]", 0, &x));
  OK(tileopt_expr_create_operand(b, "tuple[f32, i64]", 1, &y));
  OK(tileopt_expr_create_component(b, x, 0, &part[0]));
  OK(tileopt_expr_create_component(b, y, 0, &part[1]));
  OK(tileopt_expr_create_component(b, x, 1, &part[2]));
  OK(tileopt_expr_create_component(b, y, 1, &part[3]));
  most = call(b, "max", part[0], part[1]);
  count = call(b, "add", part[2], part[3]);
  combine = call(b, "tuple", most, count);
  OK(tileopt_expr_create_integer(b, "i64", 0, &zero));
  identity = call(b, "tuple", real(b, "f32", -INFINITY), zero);
  OK(tileopt_builder_add_monoid(b, "peaks", "tuple[f32, i64]", 1, identity, combine));
  FAILS(tileopt_builder_add_monoid(b, "wrong", "tuple[f32, i64]", 1, identity, identity), "false-claim", 6);
  statement(b, "{ I[] }", "{ I[] -> state[] }", "assign", identity);
  OK(tileopt_expr_create_integer(b, "i64", 1, &one));
  statement(b, "{ P[i] : 0 <= i < N }", "{ P[i] -> state[] }", "peaks", call(b, "tuple", read_of(b, "{ P[i] -> X[i] }"), one));
  tileopt_expr *state = read_of(b, "{ R[] -> state[] }"), *value = NULL;
  OK(tileopt_expr_create_component(b, state, 0, &value));
  statement(b, "{ R[] }", "{ R[] -> Y[] }", "assign", value);
  tileopt_expr_free(state);
  tileopt_expr_free(combine);
  tileopt_expr_free(x);
  tileopt_expr_free(y);
  const int64_t sizes[1] = {19};
  float result = 0;
  void *arguments[2] = {numbers(19), &result};
  ((float *)arguments[0])[7] = 50;
  check_program(b, "x86-64-v3", NULL, sizes, 1, arguments, 2, 1, 1);
  CHECK(result == 50);
  free(arguments[0]);
  tileopt_builder_free(b);
}

static void check_mistakes(void) {
  tileopt_builder *b = new_builder("mistakes"), *other = new_builder("other");
  tileopt_expr *x = NULL, *i64 = NULL, *foreign = NULL;
  tileopt_program *program = NULL;
  const char *shape[1] = {"N"}, *bad[1] = {"N*N"}, *null_shape[1] = {NULL};
  FAILS(tileopt_builder_create(session, "exp", &other), "duplicate-name", 0);
  FAILS(tileopt_builder_create(session, "no name", &other), "syntax", 0);
  FAILS(tileopt_program_create(b, &program), "unsupported", 0);
  OK(tileopt_builder_add_parameter(b, "N"));
  FAILS(tileopt_builder_add_parameter(b, "N"), "duplicate-name", 2);
  FAILS(tileopt_builder_add_parameter(b, "int"), "duplicate-name", 2);
  FAILS(tileopt_builder_add_parameter(b, NULL), "invalid-option", 0);
  FAILS(tileopt_builder_add_context(b, "{ : N >= }"), "syntax", 2);
  FAILS(tileopt_builder_add_context(b, "{ : K >= 1 }"), "syntax", 2);
  FAILS(tileopt_builder_add_context(b, "[K] -> { : K >= 1 }"), "unknown-name", 2);
  FAILS(tileopt_builder_add_context(b, "{ : N >= 1 and N <= 0 }"), "contradictory-assume", 2);
  FAILS(tileopt_builder_add_tensor(b, "X", "f33", TILEOPT_IN, 1, shape, NULL, NULL), "unknown-name", 2);
  FAILS(tileopt_builder_add_tensor(b, "X", "f32", TILEOPT_IN, 1, bad, NULL, NULL), "not-affine", 2);
  FAILS(tileopt_builder_add_tensor(b, "X", "f32", TILEOPT_IN, 1, null_shape, NULL, NULL), "invalid-option", 0);
  FAILS(tileopt_builder_add_tensor(b, "X", "f32", TILEOPT_IN, 1, NULL, NULL, NULL), "invalid-option", 0);
  FAILS(tileopt_builder_add_tensor(b, "X", "f32", (tileopt_role)9, 1, shape, NULL, NULL), "invalid-option", 2);
  FAILS(tileopt_builder_add_tensor(b, "X", "i4", TILEOPT_OUT, 1, shape, NULL, NULL), "unsupported", 2);
  OK(tileopt_builder_add_tensor(b, "X", "f32", TILEOPT_IN, 1, shape, NULL, NULL));
  OK(tileopt_builder_add_tensor(b, "Y", "f32", TILEOPT_OUT, 1, shape, NULL, NULL));
  OK(tileopt_expr_create_read(b, "{ S[i] -> X[i] }", &x));
  OK(tileopt_expr_create_integer(b, "i64", 7, &i64));
  OK(tileopt_expr_create_real(other, "f32", 1, &foreign));
  FAILS(tileopt_expr_create_read(b, "{ S[i] -> Z[i] }", &foreign), "unknown-name", 4);
  FAILS(tileopt_expr_create_read(b, "{ S[i] -> X[i,i] }", &foreign), "shape-mismatch", 4);
  FAILS(tileopt_expr_create_integer(b, "i8", 1000, &foreign), "type-mismatch", 4);
  FAILS(tileopt_expr_create_real(b, "i8", 1, &foreign), "type-mismatch", 4);
  const tileopt_expr *mixed[2] = {x, i64}, *strange[2] = {x, foreign}, *null[2] = {x, NULL};
  tileopt_expr *none = NULL;
  FAILS(tileopt_expr_create_call(b, "add", mixed, 2, &none), "type-mismatch", 4);
  FAILS(tileopt_expr_create_call(b, "plus", mixed, 2, &none), "unknown-name", 4);
  FAILS(tileopt_expr_create_call(b, "add", strange, 2, &none), "invalid-option", 4);
  FAILS(tileopt_expr_create_call(b, "add", null, 2, &none), "invalid-handle", 0);
  CHECK(none == NULL);
  FAILS(tileopt_builder_add_statement(b, "{ S[i] : 0 <= i < N }", "{ S[i] -> X[i] }", "assign", x), "invalid-write", 4);
  FAILS(tileopt_builder_add_statement(b, "{ S[i] : 0 <= i <= N }", "{ S[i] -> Y[i] }", "assign", x), "out-of-bounds", 4);
  FAILS(tileopt_builder_add_statement(b, "{ S[i] : 0 <= i }", "{ S[i] -> Y[i] }", "assign", x), "unsupported", 4);
  FAILS(tileopt_builder_add_statement(b, "{ S[i] : 0 <= i < N }", "{ S[i] -> Y[i] }", "assign", i64), "type-mismatch", 4);
  FAILS(tileopt_builder_add_statement(b, "{ S[i] : 0 <= i < N }", "{ S[i] -> Y[i] }", "any", x), "type-mismatch", 4);
  FAILS(tileopt_builder_add_statement(b, "{ S[i] : 0 <= i < N }", "{ S[i] -> Y[i] }", "mystery", x), "unknown-name", 4);
  FAILS(tileopt_builder_add_statement(b, "{ T[i] : 0 <= i < N }", "{ T[i] -> Y[i] }", "assign", x), "unknown-name", 4);
  FAILS(tileopt_builder_add_statement(b, "{ [i] : 0 <= i < N }", "{ [i] -> Y[i] }", "assign", x), "syntax", 4);
  FAILS(tileopt_builder_add_statement(b, "{ S[i] : 0 <= i < N }", "{ S[i] -> Y[i] }", "sum", NULL), "invalid-handle", 0);
  FAILS(tileopt_builder_add_statement(b, "{ S[Y] : 0 <= Y < N }", "{ S[Y] -> Y[Y] }", "assign", x), "duplicate-name", 4);
  FAILS(tileopt_builder_open_loop(b, "N"), "duplicate-name", 4);
  FAILS(tileopt_builder_close_loop(b), "invalid-option", 4);
  OK(tileopt_builder_open_loop(b, "j"));
  FAILS(tileopt_builder_open_loop(b, "j"), "duplicate-name", 5);
  FAILS(tileopt_builder_add_statement(b, "{ S[i] : 0 <= i < N }", "{ S[i] -> Y[i] }", "assign", x), "shape-mismatch", 5);
  OK(tileopt_builder_close_loop(b));
  OK(tileopt_builder_add_statement(b, "{ S[i] : 0 <= i < N }", "{ S[i] -> Y[i] }", "sum", x));
  FAILS(tileopt_builder_add_tensor(b, "i", "f32", TILEOPT_IN, 1, shape, NULL, NULL), "duplicate-name", 7);
  FAILS(tileopt_builder_add_parameter(b, "i"), "duplicate-name", 7);
  FAILS(tileopt_program_create(b, &program), "uninitialised-read", 6);
  FAILS(tileopt_builder_set_schedule(b, "{ S[i] -> }"), "syntax", 7);
  OK(tileopt_builder_set_schedule(b, "{ S[i] -> [0] }"));
  FAILS(tileopt_program_create(b, &program), "unsupported", 7);
  FAILS(tileopt_builder_set_numerics(b, "contract", "maybe"), "invalid-option", 8);
  FAILS(tileopt_builder_set_numerics(b, "colour", "red"), "invalid-option", 8);
  CHECK(program == NULL);
  tileopt_error *error = tileopt_builder_add_statement(b, "{ T[i] : 0 <= i < N }", "{ T[i] -> Y[i + 1] }", "assign", foreign);
  CHECK(error != NULL && strstr(tileopt_error_peek_rendered(error), "add_statement") != NULL);
  tileopt_error_free(error);
  tileopt_expr_free(x);
  tileopt_expr_free(i64);
  tileopt_expr_free(foreign);
  tileopt_builder_free(b);
  tileopt_builder_free(other);
}

static int with_commas;

static int on_stage(void *user, const char *stage, const char *kernel, double seconds) {
  (void)user, (void)stage, (void)kernel, (void)seconds;
  char text[16];
  snprintf(text, sizeof text, "%.1f", 1.5);
  with_commas += strcmp(text, "1,5") == 0;
  return 0;
}

/* The same calls under a locale that writes 1,5: the same program, and callbacks see the host's locale. */
static void check_locale(void) {
  char hash[17] = "";
  for (int round = 0; round < 2; ++round) {
    tileopt_builder *b = new_builder("halves");
    tileopt_program *program = NULL;
    tileopt_module *module = NULL;
    const char *shape[1] = {"N"};
    OK(tileopt_builder_add_parameter(b, "N"));
    OK(tileopt_builder_add_tensor(b, "Y", "f32", TILEOPT_OUT, 1, shape, NULL, NULL));
    statement(b, "{ S[i] : 0 <= i < N }", "{ S[i] -> Y[i] }", "assign", real(b, "f32", 1.5));
    OK(tileopt_program_create(b, &program));
    if (round == 0) {
      snprintf(hash, sizeof hash, "%s", tileopt_program_peek_hash(program));
      if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) round = 2;
    } else {
      CHECK(strcmp(hash, tileopt_program_peek_hash(program)) == 0);
      OK(tileopt_session_set_progress(session, on_stage, NULL));
      OK(tileopt_module_compile(program, NULL, &module));
      OK(tileopt_session_set_progress(session, NULL, NULL));
      CHECK(with_commas >= 12);
      CHECK(strcmp(localeconv()->decimal_point, ",") == 0);
      setlocale(LC_ALL, "C");
    }
    tileopt_module_free(module);
    tileopt_program_free(program);
    tileopt_builder_free(b);
  }
}

int main(void) {
  OK(tileopt_session_create(&session));
  check_gemm();
  check_strides();
  check_schedules();
  check_statements();
  check_guard();
  check_monoid();
  check_mistakes();
  check_locale();
  tileopt_session_free(session);
  CHECK(tileopt_live_count() == 0);
  return failures == 0 ? 0 : 1;
}
