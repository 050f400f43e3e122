/* Several sessions in several threads at once; one session from several; cancelling from another thread; time limits; callbacks. Built
 * with -fsanitize=thread under the preset `tsan`. */

#include "check.h"

#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { thread_count = 4 };

static const char gemm[] =
    "@numerics(contract=True)\n"
    "def gemm(A: f32[M, K], B: f32[K, N], C: out[f32[M, N]]):\n"
    "    for i, j in grid(M, N):\n"
    "        C[i, j] = sum(A[i, k] * B[k, j] for k in range(K))\n";
static const char scale[] = "def scale(A: f32[N], B: out[f32[N]]):\n    for i in range(N):\n        B[i] = 2.0 * A[i]\n";

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;

static void fail_in_thread(const char *what) {
  pthread_mutex_lock(&count_lock);
  fprintf(stderr, "in a thread: %s\n", what);
  ++failures;
  pthread_mutex_unlock(&count_lock);
}

static char *compile_in(tileopt_session *session, const char *text, const char *machine) {
  tileopt_program *program = NULL;
  tileopt_options *options = NULL;
  tileopt_module *module = NULL;
  char *source = NULL;
  tileopt_error *error = tileopt_program_parse(session, text, strlen(text), NULL, &program);
  if (!error) error = tileopt_options_create(&options);
  if (!error) error = tileopt_options_set(options, "machine", machine);
  if (!error) error = tileopt_module_compile(program, options, &module);
  if (error) fail_in_thread(tileopt_error_peek_rendered(error));
  else source = strdup(tileopt_module_peek_source(module));
  tileopt_error_free(error);
  tileopt_module_free(module);
  tileopt_options_free(options);
  tileopt_program_free(program);
  return source;
}

/* A session of its own, and on top one that all threads share. */
static void *work(void *shared) {
  tileopt_session *own = NULL;
  tileopt_error *error = tileopt_session_create(&own);
  if (error) fail_in_thread("no session");
  char *first = compile_in(own, gemm, "x86-64-v3"), *second = compile_in(own, scale, "h100"), *third = compile_in(shared, scale, "h100");
  if (first == NULL || second == NULL || third == NULL || strcmp(second, third) != 0) fail_in_thread("threads compile different bytes");
  free(second);
  free(third);
  tileopt_session_free(own);
  return first;
}

static void check_threads(void) {
  pthread_t threads[thread_count];
  tileopt_session *shared = NULL;
  char *sources[thread_count];
  OK(tileopt_session_create(&shared));
  for (int t = 0; t < thread_count; ++t) pthread_create(&threads[t], NULL, work, shared);
  for (int t = 0; t < thread_count; ++t) pthread_join(threads[t], (void **)&sources[t]);
  for (int t = 1; t < thread_count; ++t) CHECK(sources[t] != NULL && strcmp(sources[0], sources[t]) == 0);
  for (int t = 0; t < thread_count; ++t) free(sources[t]);
  tileopt_session_free(shared);
}

struct told {
  tileopt_session *session;
  int stages, files, cancel_at, stop_at, busy, freed;
  char last[64];
  tileopt_program *spare;
  size_t plan_bytes;
};

static int on_stage(void *user, const char *stage, const char *kernel, double seconds) {
  struct told *told = user;
  tileopt_program *program = NULL;
  ++told->stages;
  snprintf(told->last, sizeof told->last, "%s", stage);
  if (seconds < 0 || kernel == NULL) fail_in_thread("a stage without a time or a kernel");
  tileopt_error *error = tileopt_program_parse(told->session, scale, strlen(scale), NULL, &program);
  told->busy += error != NULL && strcmp(tileopt_error_peek_code(error), "busy") == 0;
  tileopt_error_free(error);
  tileopt_program_free(told->spare);
  if (told->stages == told->cancel_at) tileopt_error_free(tileopt_session_cancel(told->session));
  return told->stages == told->stop_at;
}

static int on_file(void *user, const char *path, const char *text, size_t length) {
  struct told *told = user;
  ++told->files;
  if (strcmp(path, "plan.json") == 0) told->plan_bytes = length;
  return text == NULL || length == 0;
}

static void check_callbacks(void) {
  struct told told;
  memset(&told, 0, sizeof told);
  tileopt_program *program = NULL;
  tileopt_module *module = NULL;
  OK(tileopt_session_create(&told.session));
  OK(tileopt_program_parse(told.session, scale, strlen(scale), NULL, &program));
  OK(tileopt_program_parse(told.session, scale, strlen(scale), NULL, &told.spare));
  OK(tileopt_session_set_progress(told.session, on_stage, &told));
  OK(tileopt_session_set_dump(told.session, on_file, &told));
  OK(tileopt_module_compile(program, NULL, &module));
  CHECK(told.stages >= 12 && strcmp(told.last, "80-certificate") == 0);
  CHECK(told.busy == told.stages);
  CHECK(told.files >= 14 && told.plan_bytes + 1 >= strlen(tileopt_module_peek_plan(module)));
  tileopt_module_free(module);
  module = NULL;
  told.stages = 0;
  told.stop_at = 5;
  FAILS(tileopt_module_compile(program, NULL, &module), "cancelled", 0);
  CHECK(told.stages == 5);
  told.stages = told.stop_at = 0;
  told.cancel_at = 4;
  FAILS(tileopt_module_compile(program, NULL, &module), "cancelled", 0);
  FAILS(tileopt_module_compile(program, NULL, &module), "cancelled", 0);
  OK(tileopt_session_resume(told.session));
  told.cancel_at = 0;
  OK(tileopt_session_set_progress(told.session, NULL, NULL));
  OK(tileopt_session_set_dump(told.session, NULL, NULL));
  OK(tileopt_module_compile(program, NULL, &module));
  tileopt_module_free(module);
  tileopt_program_free(program);
  tileopt_session_free(told.session);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Twenty gemms, one after the other: seconds of work. */
static char *long_program(void) {
  enum { count = 20 };
  char *text = malloc(8192);
  size_t at = (size_t)sprintf(text, "def chain(A0: f32[N, N]");
  for (int i = 1; i <= count; ++i) at += (size_t)sprintf(text + at, ", A%d: out[f32[N, N]]", i);
  at += (size_t)sprintf(text + at, "):\n");
  for (int i = 1; i <= count; ++i)
    at += (size_t)sprintf(text + at, "    for i, j in grid(N, N):\n        A%d[i, j] = sum(A%d[i, k] * A%d[k, j] for k in range(N))\n", i, i - 1, i - 1);
  return text;
}

static void *cancel_soon(void *session) {
  usleep(100000);
  tileopt_error *error = tileopt_session_cancel(session);
  if (error) fail_in_thread("cancel failed");
  tileopt_error_free(error);
  return NULL;
}

static void check_stopping(void) {
  tileopt_session *session = NULL;
  tileopt_program *program = NULL;
  tileopt_module *module = NULL;
  char *text = long_program();
  OK(tileopt_session_create(&session));
  OK(tileopt_program_parse(session, text, strlen(text), NULL, &program));
  double start = now();
  OK(tileopt_session_set(session, "seconds", "0.1"));
  FAILS(tileopt_module_compile(program, NULL, &module), "time-limit", 0);
  CHECK(now() - start < 20);
  OK(tileopt_session_set(session, "seconds", "0"));
  FAILS(tileopt_session_set(session, "seconds", "-1"), "invalid-option", 0);
  FAILS(tileopt_session_set(session, "seconds", "soon"), "invalid-option", 0);
  FAILS(tileopt_session_set(session, "threads", "0"), "invalid-option", 0);
  FAILS(tileopt_session_set(session, "colour", "red"), "invalid-option", 0);
  pthread_t other;
  start = now();
  pthread_create(&other, NULL, cancel_soon, session);
  FAILS(tileopt_module_compile(program, NULL, &module), "cancelled", 0);
  CHECK(now() - start < 20);
  pthread_join(other, NULL);
  OK(tileopt_session_resume(session));
  CHECK(module == NULL);
  /* Nothing is broken afterwards: the same session still works. */
  char *source = compile_in(session, scale, "x86-64-v3");
  CHECK(source != NULL);
  free(source);
  tileopt_program_free(program);
  tileopt_session_free(session);
  free(text);
}

/* A compile is stopped at every few milliseconds of its life, and says so each time: isl answers NULL in many places. */
static void check_every_moment(void) {
  tileopt_session *session = NULL;
  tileopt_program *program = NULL;
  tileopt_options *options = NULL;
  OK(tileopt_session_create(&session));
  OK(tileopt_program_parse(session, gemm, strlen(gemm), NULL, &program));
  OK(tileopt_options_create(&options));
  OK(tileopt_options_set(options, "machine", "x86-64-v3"));
  int stopped = 0;
  for (double seconds = 0.004; seconds < 60; seconds *= 1.12) {
    char text[32];
    tileopt_module *module = NULL;
    snprintf(text, sizeof text, "%.6f", seconds);
    OK(tileopt_session_set(session, "seconds", text));
    tileopt_error *error = tileopt_module_compile(program, options, &module);
    if (error == NULL) {
      CHECK(*tileopt_module_peek_source(module) != '\0');
      tileopt_module_free(module);
      break;
    }
    ++stopped;
    CHECK(module == NULL);
    if (strcmp(tileopt_error_peek_code(error), "time-limit") != 0) fail_in_thread(tileopt_error_peek_rendered(error));
    tileopt_error_free(error);
  }
  CHECK(stopped > 2);
  tileopt_options_free(options);
  tileopt_program_free(program);
  tileopt_session_free(session);
}

/* Signal handlers, the locale and standard output are the host's. */
static void check_host_state(void) {
  struct sigaction before[32], after;
  for (int s = 1; s < 32; ++s) sigaction(s, NULL, &before[s]);
  const char *locale = strdup(setlocale(LC_ALL, NULL));
  fflush(stdout);
  int ends[2], kept = dup(1);
  CHECK(pipe(ends) == 0);
  dup2(ends[1], 1);
  close(ends[1]);
  tileopt_session *session = NULL;
  OK(tileopt_session_create(&session));
  char *source = compile_in(session, gemm, "x86-64-v3");
  tileopt_program *none = NULL;
  FAILS(tileopt_program_parse(session, "def (", 5, NULL, &none), "syntax", 1);
  tileopt_session_free(session);
  free(source);
  fflush(stdout);
  dup2(kept, 1);
  close(kept);
  char byte;
  CHECK(read(ends[0], &byte, 1) == 0);
  close(ends[0]);
  for (int s = 1; s < 32; ++s) {
    sigaction(s, NULL, &after);
    CHECK(before[s].sa_handler == after.sa_handler);
  }
  CHECK(strcmp(locale, setlocale(LC_ALL, NULL)) == 0);
  free((void *)locale);
}

/* A host that rounds upwards and traps what is not exact gets the same bytes, no signal, and its own environment back. */
static void check_floating_point(void) {
  tileopt_session *session = NULL;
  OK(tileopt_session_create(&session));
  char *before = compile_in(session, gemm, "x86-64-v3");
  fesetround(FE_UPWARD);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_INEXACT);
  char *after = compile_in(session, gemm, "x86-64-v3");
  CHECK(fegetround() == FE_UPWARD);
  CHECK(fegetexcept() == (FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_INEXACT));
  fedisableexcept(FE_ALL_EXCEPT);
  fesetround(FE_TONEAREST);
  CHECK(before != NULL && after != NULL && strcmp(before, after) == 0);
  free(before);
  free(after);
  tileopt_session_free(session);
}

static void *compile_and_die(void *session) {
  free(compile_in(session, gemm, "x86-64-v3"));
  for (int wait = 0; wait < 1000; ++wait) {
    pthread_testcancel();
    usleep(10000);
  }
  return NULL;
}

/* pthread_cancel waits until the call is over. */
static void check_thread_cancel(void) {
  tileopt_session *session = NULL;
  pthread_t thread;
  void *result = NULL;
  OK(tileopt_session_create(&session));
  pthread_create(&thread, NULL, compile_and_die, session);
  usleep(20000);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  CHECK(result == PTHREAD_CANCELED);
  tileopt_session_free(session);
}

int main(void) {
  check_host_state();
  check_floating_point();
  check_thread_cancel();
  check_threads();
  check_callbacks();
  check_stopping();
  check_every_moment();
  CHECK(tileopt_live_count() == 0);
  return failures == 0 ? 0 : 1;
}
