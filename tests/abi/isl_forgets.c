/* What isl itself loses where it is stopped: its reader of texts forgets the token in its hand. No code of ours but this.
 *   isl_forgets           something is lost: otherwise isl_leaks.supp has nothing to say any more
 *   isl_forgets nothing   nothing is lost beyond what isl_leaks.supp lists */
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/union_map.h>
#include <sanitizer/lsan_interface.h>
#include <stdio.h>
#include <stdlib.h>

static void read_and_stop(unsigned long operations) {
  isl_ctx *context = isl_ctx_alloc();
  isl_options_set_on_error(context, ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(context, operations);
  isl_union_map_free(isl_union_map_read_from_str(context, "{ }"));
  isl_map_free(isl_map_read_from_str(context, "[N] -> { S[i] -> A[i + 1] : 0 <= i < N }"));
  isl_ctx_free(context);
}

int main(int count, char **words) {
  (void)words;
  for (unsigned long operations = 1; operations < 400; ++operations) read_and_stop(operations);
  const int lost = __lsan_do_recoverable_leak_check() != 0;
  const int expected = count < 2;
  if (lost != expected) fprintf(stderr, expected ? "isl lost nothing\n" : "isl lost something else\n");
  fflush(stderr);
  _Exit(lost != expected);
}
