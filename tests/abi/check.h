/* What the hosts of this folder check with. */
#ifndef TILEOPT_TESTS_CHECK_H
#define TILEOPT_TESTS_CHECK_H

#include <stdio.h>
#include <string.h>
#include <tileopt.h>

static int failures;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                             \
    }                                                                         \
  } while (0)

/* The call succeeds. */
#define OK(call)                                                                                               \
  do {                                                                                                         \
    tileopt_error *ok_error = (call);                                                                          \
    if (ok_error != NULL) {                                                                                    \
      fprintf(stderr, "%s:%d: %s\n%s\n", __FILE__, __LINE__, #call, tileopt_error_peek_rendered(ok_error));    \
      ++failures;                                                                                              \
      tileopt_error_free(ok_error);                                                                            \
    }                                                                                                          \
  } while (0)

/* The call fails with this code, a hint where the input is to blame, and at this line (0: none). */
#define FAILS(call, expected_code, expected_line)                                                              \
  do {                                                                                                         \
    tileopt_error *fails_error = (call);                                                                       \
    if (fails_error == NULL) {                                                                                 \
      fprintf(stderr, "%s:%d: no error: %s\n", __FILE__, __LINE__, #call);                                     \
      ++failures;                                                                                              \
    } else if (strcmp(tileopt_error_peek_code(fails_error), expected_code) != 0 ||                             \
               tileopt_error_line(fails_error) != (expected_line) ||                                           \
               (tileopt_error_status(fails_error) == TILEOPT_USER_ERROR && !*tileopt_error_peek_hint(fails_error))) { \
      fprintf(stderr, "%s:%d: %s: line %d\n%s\n", __FILE__, __LINE__, #call, tileopt_error_line(fails_error),  \
              tileopt_error_peek_rendered(fails_error));                                                       \
      ++failures;                                                                                              \
    }                                                                                                          \
    tileopt_error_free(fails_error);                                                                           \
  } while (0)

#endif
