/*
 * tileopt: from a tile computation to a proved kernel, as a C library. docs/c-api.md is the guide; this file is the reference.
 *
 * Ownership, by name:
 *   _create, _parse, _compile, _copy   store a new object that the caller frees with the type's _free
 *   _peek_*                            lend: text that ends in a zero byte, valid until the object they were asked of is freed
 *   _free                              takes; NULL and what is no longer alive are ignored
 * Strings and arrays that a call is given are copied before it returns. Objects may be freed in any order: each keeps alive what it needs.
 *
 * Failure. A function that can fail returns NULL on success, or a new tileopt_error that the caller frees; on failure it leaves its out
 * parameters untouched. Handles are checked: one that is NULL, was freed or is of another type gives an error of code "invalid-handle".
 * Functions without an error answer such a handle, and an index beyond the last, with "" or 0. A required pointer that is NULL gives
 * "invalid-option".
 *
 * Threads. Any function may be called from any thread. Calls into one session (and into what was made in it) take turns; different
 * sessions run side by side. An object must not be freed while another thread reads text that the object has lent.
 *
 * The host is left alone: no exception leaves, nothing calls exit or abort, nothing is written to the standard streams, signal handlers,
 * the locale and the floating-point environment stay as they are (and do not change what is computed). Exceptions of C++ callbacks end the call
 * with an error; pthread_cancel waits until the call is over.
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

/* C++ gives an enumeration only the values of its names, unless it is told its type; a host may hand over any number. */
#ifdef __cplusplus
#define TILEOPT_ANY_INT : int
#else
#define TILEOPT_ANY_INT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The ABI that this header describes; grows when a function changes or goes, not when one is added. Functions of the part below
 *  TILEOPT_EXPERIMENTAL may change without that. */
#define TILEOPT_ABI_VERSION 0

typedef struct tileopt_session tileopt_session; /**< what programs are made in */
typedef struct tileopt_machine tileopt_machine; /**< what kernels are made for */
typedef struct tileopt_builder tileopt_builder; /**< a program that is being put together */
typedef struct tileopt_expr tileopt_expr;       /**< a value in a program that is being put together */
typedef struct tileopt_program tileopt_program; /**< one checked program; does not change */
typedef struct tileopt_options tileopt_options; /**< settings of a compile, by key */
typedef struct tileopt_module tileopt_module;   /**< source, header, certificate, plan, and what there is to know of them; does not change */
typedef struct tileopt_kernel tileopt_kernel;   /**< a module that can be called */
typedef struct tileopt_error tileopt_error;     /**< why a call failed; does not change */

/** What kind of failure. The first four and the last are the exit codes of tileopt-schedule. */
typedef enum tileopt_status TILEOPT_ANY_INT {
  TILEOPT_USER_ERROR = 1,    /**< the input is wrong: message, hint and position say where and how to mend it */
  TILEOPT_INFEASIBLE = 2,    /**< the plan or a pin cannot be honoured */
  TILEOPT_NOT_PROVED = 3,    /**< a proof obligation was refuted */
  TILEOPT_NO_TOOLCHAIN = 4,  /**< a compiler or device is missing, or memory */
  TILEOPT_STOPPED = 5,       /**< cancelled, or out of time: the input may be right */
  TILEOPT_INTERNAL = 70      /**< a fault of the library */
} tileopt_status;

/* ---- The library -------------------------------------------------------------------------------------------------------------- */

/** The ABI of the library that was loaded; equals TILEOPT_ABI_VERSION where header and library fit. */
TILEOPT_API int tileopt_abi_version(void);
/** Release, e.g. "0.1.0". Static. */
TILEOPT_API const char *tileopt_version(void);
/** The isl inside, e.g. "isl-0.25-GMP". Static. Ends in "GMP": it is our own, whatever isl the host carries. */
TILEOPT_API const char *tileopt_isl_version(void);
/** Objects of all types that are alive in this process: 0 when everything was freed. A leak checker cannot see them. */
TILEOPT_API size_t tileopt_live_count(void);
/** What an error code means, with an example and how to mend it (Markdown, docs/errors.md); "" for an unknown code. Static. */
TILEOPT_API const char *tileopt_peek_error_page(const char *code);

/* ---- Sessions ----------------------------------------------------------------------------------------------------------------- */

TILEOPT_API tileopt_error *tileopt_session_create(tileopt_session **out_session);
/** Programs, builders and modules of the session stay usable. */
TILEOPT_API void tileopt_session_free(tileopt_session *session);
/**
 * Keys and values, both text:
 *   "seconds"  wall time that one call into the session may take, e.g. "2.5"; "0" (default): no limit. A call beyond it fails with
 *              TILEOPT_STOPPED, code "time-limit", within a second or so. C compilers that tileopt_kernel_create runs are waited for.
 *   "threads"  threads that kernels will run on where the options do not say, 1 to 4096 (default 1). The library itself works on the
 *              calling thread; it starts short-lived ones for time limits only, and those take no signals.
 * Errors: "invalid-option".
 */
TILEOPT_API tileopt_error *tileopt_session_set(tileopt_session *session, const char *key, const char *value);
/** Ends the call that is running in the session, from another thread or a callback, with TILEOPT_STOPPED, code "cancelled"; calls that
 *  come later fail alike until tileopt_session_resume. Never blocks. */
TILEOPT_API tileopt_error *tileopt_session_cancel(tileopt_session *session);
/** The session is usable again. Call it where no other thread may still cancel. */
TILEOPT_API tileopt_error *tileopt_session_resume(tileopt_session *session);

/**
 * Told before every stage of a compile, on the thread that compiles. `stage`: "00-resolve" (decisions are made), "05-rewritten" …
 * "80-certificate" (docs/architecture.md); `kernel`: the kernel that is worked on, "" where it is all of them; `seconds` since the compile
 * began. Both texts are valid during the call. Return 0 to go on; anything else ends the compile ("cancelled"). The callback may cancel,
 * read what is borrowed and free; other calls into the session fail with code "busy".
 */
typedef int (*tileopt_progress)(void *user, const char *stage, const char *kernel, double seconds);
/** `progress` NULL: nobody is told (default). `user` is handed through and must outlive the session's calls. */
TILEOPT_API tileopt_error *tileopt_session_set_progress(tileopt_session *session, tileopt_progress progress, void *user);
/**
 * Given every file that `tileopt-schedule compile --dump-dir` would write (docs/dumps.md). `path`: relative, "plan.json",
 * "gemm/30-digits.yaml"; `text`: `length` bytes, valid during the call. Returns as tileopt_progress does. Making the texts takes time.
 */
typedef int (*tileopt_dump)(void *user, const char *path, const char *text, size_t length);
TILEOPT_API tileopt_error *tileopt_session_set_dump(tileopt_session *session, tileopt_dump dump, void *user);

/* ---- Machines ----------------------------------------------------------------------------------------------------------------- */

/** A built-in machine, "host" (the CPU this runs on), or the machine file at a path (anything with a '/' or ending in ".json").
 *  Errors: "unknown-machine", "file-access", "invalid-machine", "invalid-dump". */
TILEOPT_API tileopt_error *tileopt_machine_create(const char *name_or_path, tileopt_machine **out_machine);
/** A machine file's text (docs/schemas/machine.json). `file_name` is used in messages; NULL stands for "<machine>". */
TILEOPT_API tileopt_error *tileopt_machine_parse(const char *json, size_t length, const char *file_name, tileopt_machine **out_machine);
TILEOPT_API const char *tileopt_machine_peek_name(const tileopt_machine *machine);
/** "openmp", "cuda" or "hip". */
TILEOPT_API const char *tileopt_machine_peek_backend(const tileopt_machine *machine);
TILEOPT_API const char *tileopt_machine_peek_description(const tileopt_machine *machine);
/** The whole machine as a machine file. */
TILEOPT_API const char *tileopt_machine_peek_json(const tileopt_machine *machine);
/** CPU cores, or a GPU's multiprocessors. */
TILEOPT_API int tileopt_machine_cores(const tileopt_machine *machine);
TILEOPT_API void tileopt_machine_free(tileopt_machine *machine);
/** Names that tileopt_machine_create knows, sorted, "host" among them. */
TILEOPT_API size_t tileopt_builtin_machine_count(void);
TILEOPT_API const char *tileopt_peek_builtin_machine(size_t index);

/* ---- Programs from text ------------------------------------------------------------------------------------------------------- */

/**
 * Parses and checks tile text (docs/language.md) that declares exactly one program (`@schedule` functions beside it pin its decisions).
 * `file_name` is used in messages; NULL stands for "<text>". `text`: `length` bytes; it need not end in a zero byte.
 */
TILEOPT_API tileopt_error *tileopt_program_parse(tileopt_session *session, const char *text, size_t length,
                                                 const char *file_name, tileopt_program **out_program);
/** The same for programs with `const` parameters: `sizes` holds their values, "GROUP=64,HEADS=8"; a value given here counts before
 *  the parameter's default. NULL: none. Other names in `sizes` are an error. */
TILEOPT_API tileopt_error *tileopt_program_parse_sized(tileopt_session *session, const char *text, size_t length,
                                                       const char *file_name, const char *sizes, tileopt_program **out_program);
TILEOPT_API const char *tileopt_program_peek_name(const tileopt_program *program);
/** Tile text in canonical form; of a built program, the calls that built it, one a line. */
TILEOPT_API const char *tileopt_program_peek_text(const tileopt_program *program);
/** Of the text: what plans are bound to. 16 hexadecimal digits. */
TILEOPT_API const char *tileopt_program_peek_hash(const tileopt_program *program);
TILEOPT_API void tileopt_program_free(tileopt_program *program);

/* ---- Programs built piece by piece --------------------------------------------------------------------------------------------
 *
 * A program is parameters (sizes), tensors and statements. Sets and functions are isl text; a leading "[M, N] -> " may be left out: all
 * parameters that were added are known. Positions in errors are calls: file "<builder>", line n is the n-th call that succeeded in adding
 * to this builder (the failing one is next), and the text of the program holds them in order. A call that fails adds nothing.
 *
 *   C[i,j] = sum_k A[i,k] * B[k,j]:
 *
 *   tileopt_builder_add_parameter(b, "M"); … "N", "K"
 *   const char *a_shape[] = {"M", "K"}, …;
 *   tileopt_builder_add_tensor(b, "A", "f32", TILEOPT_IN, 2, a_shape, NULL, NULL); …
 *   tileopt_builder_open_loop(b, "i"); tileopt_builder_open_loop(b, "j");
 *   tileopt_expr_create_real(b, "f32", 0, &zero);
 *   tileopt_builder_add_statement(b, "{ C_init[i,j] : 0 <= i < M and 0 <= j < N }", "{ C_init[i,j] -> C[i,j] }", "assign", zero);
 *   tileopt_expr_create_read(b, "{ C[i,j,k] -> A[i,k] }", &a); … &p = a * b
 *   tileopt_builder_add_statement(b, "{ C[i,j,k] : 0 <= i < M and 0 <= j < N and 0 <= k < K }", "{ C[i,j,k] -> C[i,j] }", "sum", p);
 *   tileopt_program_create(b, &program);
 */

/** Whom an array belongs to, and what the kernel does with it. */
typedef enum tileopt_role TILEOPT_ANY_INT {
  TILEOPT_IN = 0,     /**< argument, read */
  TILEOPT_OUT = 1,    /**< argument, written before it is read; elements that are not written keep their values */
  TILEOPT_INOUT = 2,  /**< argument, read and written */
  TILEOPT_LOCAL = 3   /**< no argument: lives in registers, on the stack or in the workspace, as the plan decides */
} tileopt_role;

/** `name`: a C identifier, which becomes the kernel's function. */
TILEOPT_API tileopt_error *tileopt_builder_create(tileopt_session *session, const char *name, tileopt_builder **out_builder);
TILEOPT_API void tileopt_builder_free(tileopt_builder *builder);
/** A size: a 64-bit integer argument of the kernel, in the order of the calls. */
TILEOPT_API tileopt_error *tileopt_builder_add_parameter(tileopt_builder *builder, const char *name);
/** What may be taken for granted of the sizes: "{ : M >= 1 and N >= M }". The kernel refuses other sizes. Several add up. That extents are
 *  not negative is known. */
TILEOPT_API tileopt_error *tileopt_builder_add_context(tileopt_builder *builder, const char *context);
/**
 * `type`: "f64", "f32", "f16", "bf16", "tf32", "e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "i64" … "i8", "u64" … "u8", "i4", "u4", "bool";
 * of locals also "tuple[f32, i64]". `extents`: `rank` affine expressions of the parameters, "M" or "2*N + 1"; rank 0 (`extents` may be
 * NULL) is one element, passed by value where it is TILEOPT_IN.
 * `order`: a permutation of 0 … rank - 1, the dimensions from the slowest to the fastest in memory; NULL: as declared (row-major).
 * `strides`: elements from neighbour to neighbour along each dimension, affine, at least 1, such that elements do not overlap (the kernel
 * refuses sizes for which they do); NULL: no gaps. Locals have neither. "i4" and "u4" are TILEOPT_IN and lie two a byte along the last
 * dimension, the even one in the low bits.
 */
TILEOPT_API tileopt_error *tileopt_builder_add_tensor(tileopt_builder *builder, const char *name, const char *type, tileopt_role role,
                                                      size_t rank, const char *const *extents, const size_t *order,
                                                      const char *const *strides);
/**
 * An operation that statements may reduce with. `combine`: an expression over tileopt_expr_create_operand 0 and 1, of `type` ("f32",
 * "tuple[f32, i64]"); `identity`: of the same type, reading nothing. `commutative`: nonzero where order of updates does not matter. The
 * claims are tried on sampled values: "false-claim" where they fail.
 */
TILEOPT_API tileopt_error *tileopt_builder_add_monoid(tileopt_builder *builder, const char *name, const char *type, int commutative,
                                                      const tileopt_expr *identity, const tileopt_expr *combine);
/** Statements and loops that are added up to the matching close run in it, in order. `iterator` names one of each statement's iterators. A
 *  statement's other iterators are loops of its own, in the order of its tuple, inside. */
TILEOPT_API tileopt_error *tileopt_builder_open_loop(tileopt_builder *builder, const char *iterator);
TILEOPT_API tileopt_error *tileopt_builder_close_loop(tileopt_builder *builder);
/**
 * `domain`: the instances, "{ S[i,j] : 0 <= i < N and 0 <= j <= i }", bounded for given sizes; the tuple names the statement and its
 * iterators. `write`: the element that an instance writes, "{ S[i,j] -> C[i] }", for every instance, inside the array ("out-of-bounds" with
 * a witness otherwise). `combine`: how the value meets the element: "assign"; "sum", "prod", "min", "max" of numbers; "any", "all" of
 * bools; "bit_and", "bit_or", "bit_xor" of integers; or a monoid's name. Other than with "assign" an instance also reads the element:
 * initialise it before. `value`: of the tensor's type.
 */
TILEOPT_API tileopt_error *tileopt_builder_add_statement(tileopt_builder *builder, const char *domain, const char *write,
                                                         const char *combine, const tileopt_expr *value);
/** Instances for which `condition` (bool) is false have no effect. Once a statement. */
TILEOPT_API tileopt_error *tileopt_builder_add_predicate(tileopt_builder *builder, const char *statement, const tileopt_expr *condition);
/** An index from memory: only the value of `iterator` that equals `value` (i64) has an effect. `value` reads, and uses, outer iterators
 *  only. The domain bounds the iterator; values beyond it do nothing. */
TILEOPT_API tileopt_error *tileopt_builder_add_guard(tileopt_builder *builder, const char *statement, const char *iterator,
                                                     const tileopt_expr *value);
/**
 * The original order as an isl schedule, instead of loops: a union map to time, "{ S[i,j] -> [i + j, 0, j]; T[i] -> [i, 1, 0] }", or a
 * schedule tree (YAML, as isl prints it). Every instance of every statement has a time of its own among its statement's. The loops become
 * the dimensions of time that are not constant. Guarded iterators must be such a dimension.
 */
TILEOPT_API tileopt_error *tileopt_builder_set_schedule(tileopt_builder *builder, const char *schedule);
/** What the numbers may suffer, docs/language.md section 9: "reassociate" (default "yes"), "contract", "flush_subnormals" ("no"): "yes" or
 *  "no"; "operand_rounding": a float type or "none"; "approx_ulp": 0 to 1000000. */
TILEOPT_API tileopt_error *tileopt_builder_set_numerics(tileopt_builder *builder, const char *key, const char *value);
/** Checks the whole and makes the program; the builder may go on. Errors: "uninitialised-read", "invalid-write", "unsupported", …, all that
 *  are found. */
TILEOPT_API tileopt_error *tileopt_program_create(tileopt_builder *builder, tileopt_program **out_program);

/* Expressions belong to a builder and may be used several times, and freed as soon as they are used. */

/** The value of an element: "{ S[i,j] -> A[i, j + 1] }", S the statement that uses it. */
TILEOPT_API tileopt_error *tileopt_expr_create_read(tileopt_builder *builder, const char *access, tileopt_expr **out_expr);
/** The value of an affine expression of iterators and parameters, "{ S[i,j] -> [i - j + N] }", as the integer type `type`. */
TILEOPT_API tileopt_error *tileopt_expr_create_index(tileopt_builder *builder, const char *affine, const char *type, tileopt_expr **out_expr);
/** A constant of a float type, rounded to it; infinities and NaN where it has them. */
TILEOPT_API tileopt_error *tileopt_expr_create_real(tileopt_builder *builder, const char *type, double value, tileopt_expr **out_expr);
/** A constant of an integer type or bool (0, 1), which must fit; of u64 the bits. */
TILEOPT_API tileopt_error *tileopt_expr_create_integer(tileopt_builder *builder, const char *type, int64_t value, tileopt_expr **out_expr);
/** Operand 0 or 1 of a monoid. */
TILEOPT_API tileopt_error *tileopt_expr_create_operand(tileopt_builder *builder, const char *type, int operand, tileopt_expr **out_expr);
/**
 * `op` of `count` operands of one type (docs/language.md, section 4):
 *   "add" "sub" "mul" "min" "max" of numbers, "divide" of floats, "floor_div" "mod" of integers (Python's floor forms), "negate" "abs";
 *   "lt" "le" "gt" "ge" "eq" "ne", which give bool; "and" "or" "not" of bools;
 *   "bit_and" "bit_or" "bit_xor" "bit_not" "shift_left" "shift_right" of integers;
 *   "exp" "exp2" "log" "sqrt" "rsqrt" "tanh" "erf" "floor" "ceil" "round" of floats;
 *   "select": condition (bool), value where it holds, value where not (only the taken one is evaluated);
 *   "tuple" of 2 to 10 scalars.
 * Errors: "unknown-name" for `op`, "type-mismatch".
 */
TILEOPT_API tileopt_error *tileopt_expr_create_call(tileopt_builder *builder, const char *op, const tileopt_expr *const *operands,
                                                    size_t count, tileopt_expr **out_expr);
/** Conversion to `type`: to nearest even between floats, saturating from float to integer with NaN to 0, wrapping between integers. */
TILEOPT_API tileopt_error *tileopt_expr_create_cast(tileopt_builder *builder, const char *type, const tileopt_expr *operand,
                                                    tileopt_expr **out_expr);
/** Component `index` of a tuple, from 0. */
TILEOPT_API tileopt_error *tileopt_expr_create_component(tileopt_builder *builder, const tileopt_expr *tuple, size_t index,
                                                         tileopt_expr **out_expr);
/** "f32", "bool", … */
TILEOPT_API const char *tileopt_expr_peek_type(const tileopt_expr *expr);
TILEOPT_API void tileopt_expr_free(tileopt_expr *expr);

/* ---- Options ------------------------------------------------------------------------------------------------------------------ */

TILEOPT_API tileopt_error *tileopt_options_create(tileopt_options **out_options);
/**
 * Keys and values, both text:
 *   "machine"      a built-in machine's name, "host" (default), or a machine file's path
 *   "machine_json" a whole machine file's text, instead of "machine"
 *   "backend"      "openmp", "cuda" or "hip"; by default the machine's, and no other fits
 *   "threads"      threads the kernel will run on (default: the session's)
 *   "sizes"        typical sizes for the cost model, "M=1024,N=512"
 *   "pin"          a schedule primitive, e.g. `tile("thread", i=64)`; may be set several times
 *   "pins_json"    a partial plan: [{"primitive": "tile", "arguments": ["thread"], "keywords": {"i": 64}}]
 *   "schedule"     name of a `@schedule` function of the text whose pins to use
 *   "plan_json"    a resolved plan (tileopt_module_peek_plan); then nothing is decided
 *   "rewrites"     "yes" (default) or "no": whether rewrites are taken that no pin asks for
 * An unknown key or a malformed value is an error.
 */
TILEOPT_API tileopt_error *tileopt_options_set(tileopt_options *options, const char *key, const char *value);
/** Instead of the key "machine". */
TILEOPT_API tileopt_error *tileopt_options_set_machine(tileopt_options *options, const tileopt_machine *machine);
/** A pin by its parts: primitive "tile", arguments {"thread"}, keys {"i"}, values {"64"} is `tile("thread", i=64)`. Arrays of `…_count`
 *  entries; NULL where that is 0. */
TILEOPT_API tileopt_error *tileopt_options_add_pin(tileopt_options *options, const char *primitive, const char *const *arguments,
                                                   size_t argument_count, const char *const *keys, const char *const *values,
                                                   size_t key_count);
TILEOPT_API void tileopt_options_free(tileopt_options *options);

/* ---- Modules ------------------------------------------------------------------------------------------------------------------ */

/**
 * Decides, compiles and proves. `options` may be NULL: all defaults. Fails with TILEOPT_NOT_PROVED when an obligation is
 * refuted: unproved code is never handed out.
 */
TILEOPT_API tileopt_error *tileopt_module_compile(const tileopt_program *program, const tileopt_options *options,
                                                  tileopt_module **out_module);
TILEOPT_API const char *tileopt_module_peek_name(const tileopt_module *module);
/** Self-contained source: C11, or C++17 for CUDA or HIP. The header of tileopt_module_peek_header documents its one extern function. */
TILEOPT_API const char *tileopt_module_peek_source(const tileopt_module *module);
TILEOPT_API const char *tileopt_module_peek_header(const tileopt_module *module);
/** ".c", ".cu" or ".hip". */
TILEOPT_API const char *tileopt_module_peek_extension(const tileopt_module *module);
/** The extern function that launches all kernels; the one that tells the workspace is called `<this>_workspace_bytes`. */
TILEOPT_API const char *tileopt_module_peek_function(const tileopt_module *module);
/** Compiler flags that the meaning and the speed of the source rest on, separated by blanks: "-O3 -std=gnu11 -ffp-contract=fast … -fopenmp
 *  -march=…"; of GPU modules those of the machine file. Link with -fopenmp and -lm. */
TILEOPT_API const char *tileopt_module_peek_flags(const tileopt_module *module);
/** JSON, docs/schemas/certificate.json. */
TILEOPT_API const char *tileopt_module_peek_certificate(const tileopt_module *module);
/** JSON: the resolved plan, docs/schemas/plan.json. Same plan, program, machine and version: same bytes. */
TILEOPT_API const char *tileopt_module_peek_plan(const tileopt_module *module);
/** Why the open decisions fell as they did, one a line; "" for a given plan. */
TILEOPT_API const char *tileopt_module_peek_reasons(const tileopt_module *module);
TILEOPT_API void tileopt_module_free(tileopt_module *module);

/* Expressions in the texts below are C over the sizes; floord(a, b) is floor division, mod(a, b) the non-negative remainder. */

/** Sizes in the order in which the function takes them, as int64_t. */
TILEOPT_API size_t tileopt_module_size_count(const tileopt_module *module);
TILEOPT_API const char *tileopt_module_peek_size(const tileopt_module *module, size_t size);

/** Arrays and scalars in the order in which the function takes them, after the sizes. The workspace comes after them. */
TILEOPT_API size_t tileopt_module_argument_count(const tileopt_module *module);
TILEOPT_API const char *tileopt_module_peek_argument(const tileopt_module *module, size_t argument);
TILEOPT_API const char *tileopt_module_peek_argument_type(const tileopt_module *module, size_t argument);
TILEOPT_API tileopt_role tileopt_module_argument_role(const tileopt_module *module, size_t argument);
TILEOPT_API size_t tileopt_module_argument_rank(const tileopt_module *module, size_t argument);
/** 1 where the value itself is passed, 0 where a pointer is. */
TILEOPT_API int tileopt_module_argument_by_value(const tileopt_module *module, size_t argument);
/** 1 where two elements share a byte along the last dimension. */
TILEOPT_API int tileopt_module_argument_packed(const tileopt_module *module, size_t argument);
TILEOPT_API const char *tileopt_module_peek_argument_extent(const tileopt_module *module, size_t argument, size_t dimension);
/** Elements from neighbour to neighbour. */
TILEOPT_API const char *tileopt_module_peek_argument_stride(const tileopt_module *module, size_t argument, size_t dimension);
/**
 * The same for given sizes. `sizes`: `size_count` values in the order of tileopt_module_peek_size. `out_extents`, `out_strides`: rank
 * values each, in elements; `out_bytes`: from the first to the last element. Any of the three may be NULL. Errors: "invalid-size".
 */
TILEOPT_API tileopt_error *tileopt_module_evaluate_argument(const tileopt_module *module, size_t argument, const int64_t *sizes,
                                                            size_t size_count, int64_t *out_extents, int64_t *out_strides,
                                                            int64_t *out_bytes);
/** Bytes that the workspace must hold for given sizes, 256-byte aligned; 0: it may be NULL. */
TILEOPT_API tileopt_error *tileopt_module_evaluate_workspace(const tileopt_module *module, const int64_t *sizes, size_t size_count,
                                                             int64_t *out_bytes);

/** Kernels in the order in which they run. */
TILEOPT_API size_t tileopt_module_kernel_count(const tileopt_module *module);
TILEOPT_API const char *tileopt_module_peek_kernel(const tileopt_module *module, size_t kernel);
/** Statements that it runs, separated by blanks. */
TILEOPT_API const char *tileopt_module_peek_kernel_statements(const tileopt_module *module, size_t kernel);
/** Bytes of workspace for its promoted arrays; kernels share them. */
TILEOPT_API int64_t tileopt_module_kernel_workspace(const tileopt_module *module, size_t kernel);
/** Sizes that it is for, as a set: "[K] -> { : K mod 8 = 0 }"; "": all. Kernels that run the same statements are versions, of which the launcher
 *  runs one. */
TILEOPT_API const char *tileopt_module_peek_kernel_when(const tileopt_module *module, size_t kernel);
/** `out_runs`: 1 where the kernel runs for these sizes, else 0. Errors: "invalid-size". */
TILEOPT_API tileopt_error *tileopt_module_evaluate_kernel(const tileopt_module *module, size_t kernel, const int64_t *sizes,
                                                          size_t size_count, int *out_runs);

/** Launches of GPU modules, in the order of the text; 0 for CPUs. The grid has one dimension. */
TILEOPT_API size_t tileopt_module_launch_count(const tileopt_module *module);
/** The __global__ function. */
TILEOPT_API const char *tileopt_module_peek_launch(const tileopt_module *module, size_t launch);
TILEOPT_API size_t tileopt_module_launch_kernel(const tileopt_module *module, size_t launch);
/** Threads of a block. */
TILEOPT_API int64_t tileopt_module_launch_threads(const tileopt_module *module, size_t launch);
/** Bytes of shared memory of a block. */
TILEOPT_API int64_t tileopt_module_launch_shared_bytes(const tileopt_module *module, size_t launch);
/** Blocks of the grid, an expression over the sizes and the variables of the host's loops; hull(i = a .. b): the values that i takes over
 *  the loops before it. "" where it is not known. */
TILEOPT_API const char *tileopt_module_peek_launch_blocks(const tileopt_module *module, size_t launch);
/** Loops of the host around the launch, outermost first: "t = 0 .. T - 1"; "" where there is none. */
TILEOPT_API const char *tileopt_module_peek_launch_loops(const tileopt_module *module, size_t launch);
/** For given sizes: how often it is launched (`out_launches`; 0: it is part of a version for other sizes), and how many blocks the largest of these has (`out_blocks`). Errors:
 *  "invalid-size"; "unsupported" where the blocks are not known, or more than 2^24 loop values had to be looked at. */
TILEOPT_API tileopt_error *tileopt_module_evaluate_launch(const tileopt_module *module, size_t launch, const int64_t *sizes,
                                                          size_t size_count, int64_t *out_launches, int64_t *out_blocks);

/** Seconds that the analytic cost model expects at the typical sizes; 0 where it does not know the plan's form. */
TILEOPT_API double tileopt_module_cost(const tileopt_module *module);
/** What the cost is made of: "compute", "copies", and each memory that traffic comes from; of GPUs "memory", "L2", "instructions", "shared memory", "matrix units",
 *  "latency", ... Parts overlap; the largest one binds. */
TILEOPT_API size_t tileopt_module_cost_part_count(const tileopt_module *module);
TILEOPT_API const char *tileopt_module_peek_cost_part(const tileopt_module *module, size_t part);
TILEOPT_API double tileopt_module_cost_part(const tileopt_module *module, size_t part);
/** The part that binds. */
TILEOPT_API const char *tileopt_module_peek_cost_binding(const tileopt_module *module);

/* ---- Running ------------------------------------------------------------------------------------------------------------------ */

/**
 * Compiles the module to run in this process. `where`: NULL or "native": CPU modules by the C compiler ($TILEOPT_CC, or the first of cc,
 * gcc, clang), CUDA modules by NVRTC and the driver; "emulator": GPU modules on the host, slowly, with every race and deadlock reported.
 * Errors: TILEOPT_NO_TOOLCHAIN where a compiler, a processor feature, or a device is missing.
 */
TILEOPT_API tileopt_error *tileopt_kernel_create(const tileopt_module *module, const char *where, tileopt_kernel **out_kernel);
/**
 * Runs all kernels and returns when they are done. `sizes` as above. `arguments`: one pointer to host memory per argument, in order, also
 * for scalars; each holds the bytes that tileopt_module_evaluate_argument tells, aligned to its element; written ones overlap no other.
 * The workspace is allocated. Native CPU kernels work on the arrays themselves, without a copy; others on copies. Errors: "invalid-size"
 * where the kernel refuses sizes or pointers; TILEOPT_NO_TOOLCHAIN, code "no-toolchain", where the device fails. May be called from several
 * threads at once.
 */
TILEOPT_API tileopt_error *tileopt_kernel_run(const tileopt_kernel *kernel, const int64_t *sizes, size_t size_count, void *const *arguments,
                                              size_t argument_count);
/** The shared object of a native CPU kernel, which exists as long as the kernel does; "" otherwise. */
TILEOPT_API const char *tileopt_kernel_peek_object(const tileopt_kernel *kernel);
TILEOPT_API void tileopt_kernel_free(tileopt_kernel *kernel);
/** Runs the program in its original order in the reference interpreter: what any kernel of it computes, up to the rounding that its
 *  numerics grant. Slow. Arguments as of tileopt_kernel_run, in the order of a module's. Sizes in the order of the parameters. */
TILEOPT_API tileopt_error *tileopt_program_interpret(const tileopt_program *program, const int64_t *sizes, size_t size_count,
                                                     void *const *arguments, size_t argument_count);

/* ---- Errors ------------------------------------------------------------------------------------------------------------------- */

TILEOPT_API tileopt_status tileopt_error_status(const tileopt_error *error);
/** Everything found, one diagnostic a paragraph: "gemm.tile:12:7: error: …\n  hint: …". */
TILEOPT_API const char *tileopt_error_peek_message(const tileopt_error *error);
/**
 * The same for people: every fault with its line of source below it, the piece that is meant underlined, the witness and the
 * hint. Columns fit a terminal with a fixed-width font (tabs, wide characters). UTF-8, without an end of line.
 */
TILEOPT_API const char *tileopt_error_peek_rendered(const tileopt_error *error);
/** Stable code of the first fault, e.g. "out-of-bounds"; tileopt_peek_error_page, `tileopt-schedule explain-error CODE` and docs/errors.md
 *  explain it. */
TILEOPT_API const char *tileopt_error_peek_code(const tileopt_error *error);
/** How to mend the first fault; "" where there is no hint. */
TILEOPT_API const char *tileopt_error_peek_hint(const tileopt_error *error);
/** Sizes and an iteration that show the first fault; "" where there is none. */
TILEOPT_API const char *tileopt_error_peek_witness(const tileopt_error *error);
/** Position of the first fault; "" and 0 where it has none. Lines and columns count from 1; a column is a character, not a byte. */
TILEOPT_API const char *tileopt_error_peek_file(const tileopt_error *error);
TILEOPT_API int tileopt_error_line(const tileopt_error *error);
TILEOPT_API int tileopt_error_column(const tileopt_error *error);
/** Where the piece ends (exclusive); 0 where that is unknown. */
TILEOPT_API int tileopt_error_end_line(const tileopt_error *error);
TILEOPT_API int tileopt_error_end_column(const tileopt_error *error);
/** Faults that the error is made of, at least 1 … */
TILEOPT_API size_t tileopt_error_count(const tileopt_error *error);
/** … and each of them as an error of its own, from 0. */
TILEOPT_API tileopt_error *tileopt_error_copy(const tileopt_error *error, size_t fault, tileopt_error **out_error);
TILEOPT_API void tileopt_error_free(tileopt_error *error);

#ifdef TILEOPT_EXPERIMENTAL
/* ---- Experimental: the space of plans, cost models and searches of the host's own. May change in any release. -------------------- */

/** The plans of one program on one machine: structures ("variants"), each with choices, each with values (docs/search.md). */
typedef struct tileopt_space tileopt_space;

/** The space that the options' pins leave. */
TILEOPT_API tileopt_error *tileopt_space_create(const tileopt_program *program, const tileopt_options *options, tileopt_space **out_space);
TILEOPT_API size_t tileopt_space_variant_count(const tileopt_space *space);
TILEOPT_API const char *tileopt_space_peek_variant(const tileopt_space *space, size_t variant);
TILEOPT_API size_t tileopt_space_choice_count(const tileopt_space *space, size_t variant);
TILEOPT_API const char *tileopt_space_peek_choice(const tileopt_space *space, size_t variant, size_t choice);
TILEOPT_API size_t tileopt_space_value_count(const tileopt_space *space, size_t variant, size_t choice);
TILEOPT_API const char *tileopt_space_peek_value(const tileopt_space *space, size_t variant, size_t choice, size_t value);
/** The value that the planner takes by itself. Variant 0 is its own structure. */
TILEOPT_API size_t tileopt_space_planned_value(const tileopt_space *space, size_t variant, size_t choice);
/** Names of the features that cost models are given, in order. */
TILEOPT_API size_t tileopt_space_feature_count(const tileopt_space *space);
TILEOPT_API const char *tileopt_space_peek_feature(const tileopt_space *space, size_t feature);
/** A point is a variant and the number of a value for each of its choices. `out_seconds`: of the analytic model. Errors:
 *  TILEOPT_INFEASIBLE where a constraint of the space does not hold. */
TILEOPT_API tileopt_error *tileopt_space_score(const tileopt_space *space, size_t variant, const size_t *values, size_t value_count,
                                               double *out_seconds);
/** Compiles and proves a point. */
TILEOPT_API tileopt_error *tileopt_space_compile(const tileopt_space *space, size_t variant, const size_t *values, size_t value_count,
                                                 tileopt_module **out_module);
TILEOPT_API void tileopt_space_free(tileopt_space *space);

/** A cost model of the host: `seconds` predicts from `count` features (tileopt_space_peek_feature); what is not a positive number rules
 *  the point out. */
typedef struct tileopt_cost_model {
  size_t struct_size; /**< sizeof(tileopt_cost_model) */
  void *user;
  double (*seconds)(void *user, const double *features, size_t count);
} tileopt_cost_model;

/** A search of the host: `propose` stores a point (`values` has room for the choices of any variant) and returns 1, or returns 0 to end;
 *  `learn` is told how it did: its cost, or a negative number where it has no plan. */
typedef struct tileopt_search {
  size_t struct_size; /**< sizeof(tileopt_search) */
  void *user;
  int (*propose)(void *user, const tileopt_space *space, size_t *variant, size_t *values);
  void (*learn)(void *user, size_t variant, const size_t *values, double seconds);
} tileopt_search;

/**
 * Walks the space and compiles the point of least cost that can be proved. `model` NULL: the analytic one. `search` NULL: the planner's
 * points, their neighbours, and random points, from seed 1. At most `trials` points are scored. The callbacks run on the calling thread
 * and may ask `space` what they are given; other calls into the session fail with code "busy".
 */
TILEOPT_API tileopt_error *tileopt_space_search(const tileopt_space *space, const tileopt_cost_model *model, const tileopt_search *search,
                                                size_t trials, tileopt_module **out_module);
#endif

#ifdef __cplusplus
}
#endif
#endif
