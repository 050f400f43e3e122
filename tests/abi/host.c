/* A host in plain C: parses, compiles and reads back, provokes every kind of error, and frees in any order. Built a second
 * time behind libLLVM, whose own isl must stay out of our calls. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "check.h"

static const char gemm[] =
    "@numerics(contract=True)\n"
    "def gemm(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):\n"
    "    for i, j in grid(M, N):\n"
    "        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))\n";

static const char broken[] =
    "def broken(A: f32[M], C: out[f32[M]]):\n"
    "    for i in range(M):\n"
    "        C[i] = A[i + 1]\n";

static void check_versions(void) {
  CHECK(tileopt_abi_version() == TILEOPT_ABI_VERSION);
  CHECK(strchr(tileopt_version(), '.') != NULL);
  CHECK(strncmp(tileopt_isl_version(), "isl-0.25", 8) == 0);
  CHECK(strstr(tileopt_isl_version(), "GMP") != NULL);
#ifdef TILEOPT_EXPECT_FOREIGN_ISL
  const char *(*foreign)(void);
  void *symbol = dlsym(RTLD_DEFAULT, "isl_version");
  CHECK(symbol != NULL);
  memcpy(&foreign, &symbol, sizeof foreign);
  if (symbol != NULL) CHECK(strstr(foreign(), "GMP") == NULL);
#else
  CHECK(dlsym(RTLD_DEFAULT, "isl_version") == NULL);
#endif
}

static const char blocked[] =
    "def blocked(A: f32[N * G], B: out[f32[N]], G: const):\n"
    "    for n in range(N):\n"
    "        B[n] = A[G * n + G - 1]\n";

static void check_constants(tileopt_session *session) {
  tileopt_program *program = NULL;
  tileopt_module *module = NULL;
  tileopt_error *error = tileopt_program_parse(session, blocked, strlen(blocked), "blocked.tile", &program);
  CHECK(error != NULL && program == NULL);
  if (error) CHECK(strcmp(tileopt_error_peek_code(error), "invalid-size") == 0);
  tileopt_error_free(error);
  error = tileopt_program_parse_sized(session, blocked, strlen(blocked), "blocked.tile", "G=8,N=4", &program);
  CHECK(error != NULL && program == NULL);
  tileopt_error_free(error);
  error = tileopt_program_parse_sized(session, blocked, strlen(blocked), "blocked.tile", "G=8", &program);
  CHECK(error == NULL && program != NULL);
  if (program == NULL) return;
  CHECK(strstr(tileopt_program_peek_text(program), "G: const = 8") != NULL);
  CHECK(tileopt_module_compile(program, NULL, &module) == NULL && module != NULL);
  if (module) CHECK(strstr(tileopt_module_peek_header(module), "blocked(int64_t N, const float* A, float* B") != NULL);
  tileopt_module_free(module);
  tileopt_program_free(program);
}

static void check_compile(tileopt_session *session) {
  tileopt_program *program = NULL;
  tileopt_options *options = NULL;
  tileopt_module *module = NULL, *again = NULL;
  tileopt_error *error = tileopt_program_parse(session, gemm, strlen(gemm), "gemm.tile", &program);
  if (error) fprintf(stderr, "%s\n", tileopt_error_peek_message(error));
  CHECK(error == NULL && program != NULL);
  if (error) return;
  CHECK(strcmp(tileopt_program_peek_name(program), "gemm") == 0);
  CHECK(strstr(tileopt_program_peek_text(program), "def gemm") != NULL);
  CHECK(tileopt_options_create(&options) == NULL);
  CHECK(tileopt_options_set(options, "machine", "x86-64-v3") == NULL);
  CHECK(tileopt_options_set(options, "sizes", "M=512,N=512,K=512") == NULL);
  error = tileopt_module_compile(program, options, &module);
  if (error) fprintf(stderr, "%s\n", tileopt_error_peek_message(error));
  CHECK(error == NULL && module != NULL);
  if (error) return;
  CHECK(strstr(tileopt_module_peek_source(module), "gemm") != NULL);
  CHECK(strstr(tileopt_module_peek_header(module), "int32_t gemm") != NULL);
  CHECK(strstr(tileopt_module_peek_certificate(module), "proved") != NULL);

  /* The plan that comes out goes in again and gives the same bytes. */
  CHECK(tileopt_options_set(options, "plan_json", tileopt_module_peek_plan(module)) == NULL);
  error = tileopt_module_compile(program, options, &again);
  CHECK(error == NULL);
  if (error == NULL) CHECK(strcmp(tileopt_module_peek_source(module), tileopt_module_peek_source(again)) == 0);
  tileopt_program_free(program);
  CHECK(strstr(tileopt_module_peek_source(module), "gemm") != NULL);
  tileopt_module_free(module);
  tileopt_module_free(again);
  tileopt_options_free(options);
}

static void expect_error(tileopt_error *error, tileopt_status status, int line) {
  CHECK(error != NULL);
  if (error == NULL) return;
  CHECK(tileopt_error_status(error) == status);
  CHECK(tileopt_error_peek_message(error)[0] != '\0');
  CHECK(tileopt_error_peek_rendered(error)[0] != '\0');
  CHECK(tileopt_error_peek_code(error)[0] != '\0');
  if (status == TILEOPT_USER_ERROR) CHECK(tileopt_error_peek_hint(error)[0] != '\0');
  CHECK(tileopt_error_line(error) == line);
  tileopt_error_free(error);
}

/* Rendered text shows the line, the piece underlined and the hint; positions and the code come apart, too. */
static void check_rendered(tileopt_session *session) {
  static const char text[] = "def f(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = A[i + 1]\n";
  static const char shown[] = "\n  3 |         B[i] = A[i + 1]\n    |                  ^~~~~\n";
  tileopt_program *untouched = NULL;
  tileopt_error *error = tileopt_program_parse(session, text, strlen(text), "f.tile", &untouched);
  CHECK(error != NULL);
  if (error == NULL) return;
  CHECK(strstr(tileopt_error_peek_rendered(error), shown) != NULL);
  CHECK(strstr(tileopt_error_peek_rendered(error), "\n  hint: ") != NULL);
  CHECK(strcmp(tileopt_error_peek_code(error), "out-of-bounds") == 0);
  CHECK(tileopt_error_line(error) == 3 && tileopt_error_column(error) == 18);
  CHECK(tileopt_error_end_line(error) == 3 && tileopt_error_end_column(error) == 23);
  tileopt_error_free(error);
}

static void check_errors(tileopt_session *session) {
  tileopt_program *untouched = NULL;
  tileopt_options *options = NULL;
  expect_error(tileopt_program_parse(session, broken, strlen(broken), "broken.tile", &untouched), TILEOPT_USER_ERROR, 3);
  expect_error(tileopt_program_parse(session, "def (", 5, NULL, &untouched), TILEOPT_USER_ERROR, 1);
  expect_error(tileopt_program_parse(session, NULL, 0, NULL, &untouched), TILEOPT_USER_ERROR, 1);
  expect_error(tileopt_program_parse(NULL, gemm, strlen(gemm), NULL, &untouched), TILEOPT_USER_ERROR, 0);
  CHECK(untouched == NULL);
  CHECK(tileopt_options_create(&options) == NULL);
  expect_error(tileopt_options_set(options, "colour", "red"), TILEOPT_USER_ERROR, 0);
  expect_error(tileopt_options_set(options, "threads", "many"), TILEOPT_USER_ERROR, 0);
  expect_error(tileopt_options_set(options, "rewrites", "maybe"), TILEOPT_USER_ERROR, 0);
  expect_error(tileopt_options_set(options, "sizes", "M"), TILEOPT_USER_ERROR, 0);
  expect_error(tileopt_session_create(NULL), TILEOPT_USER_ERROR, 0);
  tileopt_options_free(options);
  tileopt_options_free(NULL);
  tileopt_program_free(NULL);
  tileopt_module_free(NULL);
  tileopt_session_free(NULL);
  tileopt_error_free(NULL);
}

static void check_unknown_machine(tileopt_session *session) {
  tileopt_program *program = NULL;
  tileopt_options *options = NULL;
  tileopt_module *module = NULL;
  CHECK(tileopt_program_parse(session, gemm, strlen(gemm), NULL, &program) == NULL);
  CHECK(tileopt_options_create(&options) == NULL);
  CHECK(tileopt_options_set(options, "machine", "z80") == NULL);
  expect_error(tileopt_module_compile(program, options, &module), TILEOPT_USER_ERROR, 0);
  CHECK(module == NULL);
  tileopt_options_free(options);
  tileopt_program_free(program);
}

int main(void) {
  tileopt_session *session = NULL;
  CHECK(tileopt_session_create(&session) == NULL);
  check_versions();
  check_compile(session);
  check_constants(session);
  check_errors(session);
  check_rendered(session);
  check_unknown_machine(session);
  tileopt_session_free(session);
  if (failures == 0) printf("isl inside: %s\n", tileopt_isl_version());
  return failures == 0 ? 0 : 1;
}
