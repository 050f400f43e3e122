/* The standard streams as hidden variables: Debian's libisl.a and libgmp.a reach stdin, stdout and stderr with
 * relocations that a shared library cannot hold. cmake/isl.cmake renames those references to the names below. */
#include <stdio.h>

FILE *tileopt_stdin;
FILE *tileopt_stdout;
FILE *tileopt_stderr;

/* Highest priority left to applications, so that constructors that already call isl see open streams. */
__attribute__((constructor(101))) static void set_streams(void) {
  tileopt_stdin = stdin;
  tileopt_stdout = stdout;
  tileopt_stderr = stderr;
}
