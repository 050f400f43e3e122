/*
 * tileopt: from a tile computation to a proved kernel, as a C library.
 *
 * Ownership, by name:
 *   _create, _parse, _compile   store a new object that the caller frees with the type's _free
 *   _peek_*                     lend: valid until the object they were asked of is freed
 *   _free                       takes; NULL is ignored
 * A function that can fail returns NULL on success, or a new tileopt_error that the caller frees; on failure it leaves its
 * out parameters untouched. Objects may be freed in any order. A session and all that comes from it belong to one thread
 * at a time; different sessions may be used by different threads at once.
 *
 * Ten lines of use:
 *
 *   tileopt_session *session = NULL;
 *   tileopt_program *program = NULL;
 *   tileopt_module *module = NULL;
 *   tileopt_error *error = tileopt_session_create(&session);
 *   if (!error) error = tileopt_program_parse(session, text, strlen(text), "gemm.tile", &program);
 *   if (!error) error = tileopt_module_compile(program, NULL, &module);
 *   if (error) fprintf(stderr, "%s\n", tileopt_error_peek_rendered(error));
 *   else fputs(tileopt_module_peek_source(module), stdout);
 */
#ifndef TILEOPT_H
#define TILEOPT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TILEOPT_API __attribute__((visibility("default")))
#else
#define TILEOPT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The ABI that this header describes; grows when a function changes or goes. */
#define TILEOPT_ABI_VERSION 0

typedef struct tileopt_session tileopt_session; /**< what programs are made in */
typedef struct tileopt_program tileopt_program; /**< one parsed and checked program */
typedef struct tileopt_options tileopt_options; /**< settings of a compile, by key */
typedef struct tileopt_module tileopt_module;   /**< C source, header, certificate, plan */
typedef struct tileopt_error tileopt_error;     /**< why a call failed */

/** What kind of failure: the exit codes of tileopt-schedule. */
typedef enum tileopt_status {
  TILEOPT_USER_ERROR = 1,    /**< the input is wrong: message, hint and position say where and how to mend it */
  TILEOPT_INFEASIBLE = 2,    /**< the plan or a pin cannot be honoured */
  TILEOPT_NOT_PROVED = 3,    /**< a proof obligation was refuted */
  TILEOPT_NO_TOOLCHAIN = 4,  /**< a compiler or device is missing */
  TILEOPT_INTERNAL = 70      /**< a fault of the library */
} tileopt_status;

/** The ABI of the library that was loaded; equals TILEOPT_ABI_VERSION where header and library fit. */
TILEOPT_API int tileopt_abi_version(void);
/** Release, e.g. "0.1.0". Static. */
TILEOPT_API const char *tileopt_version(void);
/** The isl inside, e.g. "isl-0.25-GMP". Static. Ends in "GMP": it is our own, whatever isl the host carries. */
TILEOPT_API const char *tileopt_isl_version(void);

TILEOPT_API tileopt_error *tileopt_session_create(tileopt_session **out_session);
TILEOPT_API void tileopt_session_free(tileopt_session *session);

/**
 * Parses and checks tile text that declares exactly one program (`@schedule` functions beside it pin its decisions).
 * `file_name` is used in messages; NULL stands for "<text>". `text` need not end in a zero byte.
 */
TILEOPT_API tileopt_error *tileopt_program_parse(tileopt_session *session, const char *text, size_t length,
                                                 const char *file_name, tileopt_program **out_program);
/** The same for programs with `const` parameters: `sizes` holds their values, "GROUP=64,HEADS=8"; a value given here counts before
 *  the parameter's default. NULL: none. Other names in `sizes` are an error. */
TILEOPT_API tileopt_error *tileopt_program_parse_sized(tileopt_session *session, const char *text, size_t length,
                                                       const char *file_name, const char *sizes, tileopt_program **out_program);
TILEOPT_API const char *tileopt_program_peek_name(const tileopt_program *program);
/** The text in canonical form. */
TILEOPT_API const char *tileopt_program_peek_text(const tileopt_program *program);
TILEOPT_API void tileopt_program_free(tileopt_program *program);

TILEOPT_API tileopt_error *tileopt_options_create(tileopt_options **out_options);
/**
 * Keys and values, both text:
 *   "machine"      a built-in machine's name, or "host" (default): the CPU this runs on
 *   "machine_json" a whole machine file's text, instead of "machine"
 *   "backend"      "openmp" (default)
 *   "threads"      threads the kernel will run on (default 1)
 *   "sizes"        typical sizes for the cost model, "M=1024,N=512"
 *   "pin"          a schedule primitive, e.g. `tile("thread", i=64)`; may be set several times
 *   "schedule"     name of a `@schedule` function of the text whose pins to use
 *   "plan_json"    a resolved plan (tileopt_module_peek_plan); then nothing is decided
 * An unknown key or a malformed value is an error.
 */
TILEOPT_API tileopt_error *tileopt_options_set(tileopt_options *options, const char *key, const char *value);
TILEOPT_API void tileopt_options_free(tileopt_options *options);

/**
 * Decides, compiles and proves. `options` may be NULL: all defaults. Fails with TILEOPT_NOT_PROVED when an obligation is
 * refuted: unproved code is never handed out.
 */
TILEOPT_API tileopt_error *tileopt_module_compile(const tileopt_program *program, const tileopt_options *options,
                                                  tileopt_module **out_module);
/** Self-contained C11 source; the header of tileopt_module_peek_header documents its one extern function. */
TILEOPT_API const char *tileopt_module_peek_source(const tileopt_module *module);
TILEOPT_API const char *tileopt_module_peek_header(const tileopt_module *module);
/** JSON, docs/schemas/certificate.json. */
TILEOPT_API const char *tileopt_module_peek_certificate(const tileopt_module *module);
/** JSON: the resolved plan. Same plan, program, machine and version: same bytes. */
TILEOPT_API const char *tileopt_module_peek_plan(const tileopt_module *module);
TILEOPT_API void tileopt_module_free(tileopt_module *module);

TILEOPT_API tileopt_status tileopt_error_status(const tileopt_error *error);
/** Everything found, one diagnostic a paragraph: "gemm.tile:12:7: error: …\n  hint: …". */
TILEOPT_API const char *tileopt_error_peek_message(const tileopt_error *error);
/**
 * The same for people: every fault with its line of source below it, the piece that is meant underlined, the witness and the
 * hint. Columns fit a terminal with a fixed-width font (tabs, wide characters). UTF-8, without an end of line.
 */
TILEOPT_API const char *tileopt_error_peek_rendered(const tileopt_error *error);
/** Stable code of the first fault, e.g. "out-of-bounds"; `tileopt-schedule explain-error CODE` and docs/errors.md explain it. */
TILEOPT_API const char *tileopt_error_peek_code(const tileopt_error *error);
/** How to mend the first fault; "" where there is no hint. */
TILEOPT_API const char *tileopt_error_peek_hint(const tileopt_error *error);
/** Position of the first fault; "" and 0 where it has none. */
TILEOPT_API const char *tileopt_error_peek_file(const tileopt_error *error);
TILEOPT_API int tileopt_error_line(const tileopt_error *error);
TILEOPT_API int tileopt_error_column(const tileopt_error *error);
/** Where the piece ends (exclusive); 0 where that is unknown. */
TILEOPT_API int tileopt_error_end_line(const tileopt_error *error);
TILEOPT_API int tileopt_error_end_column(const tileopt_error *error);
TILEOPT_API void tileopt_error_free(tileopt_error *error);

#ifdef __cplusplus
}
#endif
#endif
