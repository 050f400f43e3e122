/*
 * lac: a compiler for linear algebra, in front of tileopt. It reads functions over matrices, checks their shapes, hands every function over
 * as a tileopt program, piece by piece, and links the kernels that come back into one shared object with one header.
 *
 *   function ridge(X[n, p], y[n, 1], k[1, 1]) -> G[p, p], b[p, 1]
 *     G = X' * X + k .* eye(p)
 *     b = X' * y
 *   end
 *
 *   lac ridge.la -o ridge.so [--machine host]      writes ridge.so, ridge.so.h and ridge.so.c (the proved source)
 *
 * Values are matrices of f64; [1, 1] is a scalar and goes with any shape in elementwise operations. Operations: `*` is the matrix product,
 * `.*` `./` `+` `-` go element by element, `'` transposes, exp, sqrt, abs, max(a, b), eye(n). Names that are neither parameters nor results are
 * locals; names that end in `_` are the compiler's. A product becomes a local of its own; all that is elementwise around it becomes one expression.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tileopt.h>
#include <unistd.h>

enum { most_names = 64, most_nodes = 512, name_length = 32, most_functions = 64 };

/* ---- Errors: a line of the source, and out. A compiler that stops may leave freeing to the system. */

static const char *file_name;
static int line = 1;

static _Noreturn void fail(const char *format, ...) {
  va_list arguments;
  fprintf(stderr, "%s:%d: error: ", file_name, line);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static void ok(tileopt_error *error) {
  if (error == NULL) return;
  fprintf(stderr, "%s:%d: tileopt says:\n%s\n", file_name, line, tileopt_error_peek_rendered(error));
  tileopt_error_free(error);
  exit(1);
}

/* ---- Syntax trees with shapes. A size is a name or "1". */

typedef enum { LEAF, NUMBER, EYE, TRANSPOSE, PRODUCT, CALL } Kind;
typedef struct Node {
  Kind kind;
  const char *op;          /* CALL: of tileopt_expr_create_call */
  char name[name_length];  /* LEAF, and PRODUCT once it is a local */
  double value;
  struct Node *left, *right;
  const char *rows, *columns;
} Node;

typedef struct {
  char name[name_length];
  const char *rows, *columns;
  tileopt_role role;
} Matrix;

static Matrix matrices[most_names];
static int matrix_count;
static Node nodes[most_nodes];
static int node_count;
static char sizes[most_names][name_length];
static int size_count;

static Matrix *find_matrix(const char *name) {
  for (int m = 0; m < matrix_count; ++m)
    if (strcmp(matrices[m].name, name) == 0) return &matrices[m];
  return NULL;
}

static Matrix *add_matrix(const char *name, const char *rows, const char *columns, tileopt_role role) {
  if (find_matrix(name) != NULL) fail("`%s` is declared twice", name);
  if (matrix_count == most_names) fail("more than %d matrices", most_names);
  Matrix *matrix = &matrices[matrix_count++];
  snprintf(matrix->name, sizeof matrix->name, "%s", name);
  matrix->rows = rows;
  matrix->columns = columns;
  matrix->role = role;
  return matrix;
}

static const char *size_named(const char *name) {
  if (strcmp(name, "1") == 0) return "1";
  for (int s = 0; s < size_count; ++s)
    if (strcmp(sizes[s], name) == 0) return sizes[s];
  if (size_count == most_names) fail("more than %d sizes", most_names);
  snprintf(sizes[size_count], name_length, "%s", name);
  return sizes[size_count++];
}

static int is_scalar(const Node *node) { return strcmp(node->rows, "1") == 0 && strcmp(node->columns, "1") == 0; }

static Node *new_node(Kind kind, const char *op, Node *left, Node *right, const char *rows, const char *columns) {
  if (node_count == most_nodes) fail("the function is too long");
  Node *node = &nodes[node_count++];
  *node = (Node){.kind = kind, .op = op, .left = left, .right = right, .rows = rows, .columns = columns};
  return node;
}

static Node *elementwise(const char *op, Node *left, Node *right) {
  if (right == NULL || is_scalar(right)) return new_node(CALL, op, left, right, left->rows, left->columns);
  const int same = strcmp(left->rows, right->rows) == 0 && strcmp(left->columns, right->columns) == 0;
  if (!same && !is_scalar(left)) fail("%s of a [%s, %s] and a [%s, %s] matrix", op, left->rows, left->columns, right->rows, right->columns);
  return new_node(CALL, op, left, right, right->rows, right->columns);
}

static Node *product(Node *left, Node *right) {
  if (is_scalar(left) || is_scalar(right)) return elementwise("mul", left, right);
  if (strcmp(left->columns, right->rows) != 0)
    fail("the product of a [%s, %s] and a [%s, %s] matrix", left->rows, left->columns, right->rows, right->columns);
  return new_node(PRODUCT, NULL, left, right, left->rows, right->columns);
}

/* ---- Scanner and parser: recursive descent over the text. */

static const char *at;

static void skip(void) {
  for (; *at == ' ' || *at == '\t' || *at == '#'; ++at)
    if (*at == '#')
      while (at[1] != '\0' && at[1] != '\n') ++at;
}
static int accept(const char *token) {
  skip();
  const size_t length = strlen(token);
  if (strncmp(at, token, length) != 0 || (isalpha((unsigned char)*token) && (isalnum((unsigned char)at[length]) || at[length] == '_'))) return 0;
  at += length;
  return 1;
}
static void expect(const char *token) {
  if (!accept(token)) fail("expected `%s` before `%.10s`", token, *at == '\n' || *at == '\0' ? "the end of the line" : at);
}
static void blank_lines(void) {
  for (skip(); *at == '\n'; skip()) ++at, ++line;
}
static void end_line(void) {
  skip();
  if (*at != '\n' && *at != '\0') fail("`%.10s` is left over", at);
  blank_lines();
}
static const char *word(char *into) {
  skip();
  size_t length = 0;
  while (isalnum((unsigned char)at[length]) || at[length] == '_') ++length;
  if (length == 0 || length >= name_length || at[length - 1] == '_') fail("expected a short name that does not end in `_`");
  memcpy(into, at, length);
  into[length] = '\0';
  at += length;
  return into;
}

static Node *sum(void);

static Node *primary(void) {
  char name[name_length];
  skip();
  if (accept("(")) {
    Node *inside = sum();
    expect(")");
    return inside;
  }
  if (isdigit((unsigned char)*at)) {
    char *end;
    Node *number = new_node(NUMBER, NULL, NULL, NULL, "1", "1");
    number->value = strtod(at, &end);
    at = end;
    return number;
  }
  word(name);
  if (!accept("(")) {
    const Matrix *matrix = find_matrix(name);
    if (matrix == NULL) fail("`%s` has no value yet", name);
    Node *leaf = new_node(LEAF, NULL, NULL, NULL, matrix->rows, matrix->columns);
    memcpy(leaf->name, name, sizeof name);
    return leaf;
  }
  Node *result = NULL;
  if (strcmp(name, "eye") == 0) {
    const char *size = size_named(word(name));
    result = new_node(EYE, NULL, NULL, NULL, size, size);
  } else if (strcmp(name, "max") == 0) {
    Node *first = sum();
    expect(",");
    result = elementwise("max", first, sum());
  } else {
    static const char *const functions[] = {"exp", "sqrt", "abs"};
    for (size_t f = 0; f < sizeof functions / sizeof *functions; ++f)
      if (strcmp(name, functions[f]) == 0) result = elementwise(functions[f], sum(), NULL);
    if (result == NULL) fail("there is no function `%s`", name);
  }
  expect(")");
  return result;
}

static Node *factor(void) {
  if (accept("-")) return elementwise("negate", factor(), NULL);
  Node *node = primary();
  while (accept("'")) node = new_node(TRANSPOSE, NULL, node, NULL, node->columns, node->rows);
  return node;
}

static Node *term(void) {
  Node *node = factor();
  for (;;) {
    if (accept(".*")) node = elementwise("mul", node, factor());
    else if (accept("./")) node = elementwise("divide", node, factor());
    else if (accept("*")) node = product(node, factor());
    else return node;
  }
}

static Node *sum(void) {
  Node *node = term();
  for (;;) {
    if (accept("+")) node = elementwise("add", node, term());
    else if (accept("-")) node = elementwise("sub", node, term());
    else return node;
  }
}

/* ---- Lowering: statements and expressions of a tileopt program. */

static tileopt_builder *builder;
static int statement_count;

static void declare(const Matrix *matrix) {
  const char *extents[2] = {matrix->rows, matrix->columns};
  ok(tileopt_builder_add_tensor(builder, matrix->name, "f64", matrix->role, 2, extents, NULL, NULL));
}

/* Iterators of a statement that runs over a [rows, columns] matrix, a third one over `depth` where that is not NULL. */
typedef struct {
  char tuple[name_length + 16], domain[4 * name_length + 64];
} Place;

static Place place_of(const char *rows, const char *columns, const char *depth) {
  Place place;
  const int number = ++statement_count;
  snprintf(place.tuple, sizeof place.tuple, depth ? "S%d_[i_,j_,k_]" : "S%d_[i_,j_]", number);
  const int length = snprintf(place.domain, sizeof place.domain, "{ %s : 0 <= i_ < %s and 0 <= j_ < %s", place.tuple, rows, columns);
  snprintf(place.domain + length, sizeof place.domain - (size_t)length, depth ? " and 0 <= k_ < %s }" : " }", depth);
  return place;
}

static tileopt_expr *apply(const char *op, tileopt_expr *left, tileopt_expr *right) {
  const tileopt_expr *operands[2] = {left, right};
  tileopt_expr *result;
  ok(tileopt_expr_create_call(builder, op, operands, right == NULL ? 1 : 2, &result));
  tileopt_expr_free(left);
  tileopt_expr_free(right);
  return result;
}

/* The element of a value at (row, column), iterators or "0". Products are locals by now. */
static tileopt_expr *element(const Node *node, const Place *place, const char *row, const char *column) {
  char text[4 * name_length + 64];
  tileopt_expr *expr = NULL, *one, *zero;
  if (strcmp(node->rows, "1") == 0) row = "0";
  if (strcmp(node->columns, "1") == 0) column = "0";
  switch (node->kind) {
    case LEAF:
    case PRODUCT:
      snprintf(text, sizeof text, "{ %s -> %s[%s,%s] }", place->tuple, node->name, row, column);
      ok(tileopt_expr_create_read(builder, text, &expr));
      return expr;
    case NUMBER:
      ok(tileopt_expr_create_real(builder, "f64", node->value, &expr));
      return expr;
    case EYE:
      snprintf(text, sizeof text, "{ %s -> [%s - %s] }", place->tuple, row, column);
      ok(tileopt_expr_create_index(builder, text, "i64", &expr));
      ok(tileopt_expr_create_integer(builder, "i64", 0, &zero));
      tileopt_expr *choice[3] = {apply("eq", expr, zero), NULL, NULL};
      ok(tileopt_expr_create_real(builder, "f64", 1, &choice[1]));
      ok(tileopt_expr_create_real(builder, "f64", 0, &choice[2]));
      ok(tileopt_expr_create_call(builder, "select", (const tileopt_expr *const *)choice, 3, &one));
      for (int c = 0; c < 3; ++c) tileopt_expr_free(choice[c]);
      return one;
    case TRANSPOSE: return element(node->left, place, column, row);
    case CALL:
      expr = element(node->left, place, row, column);
      return apply(node->op, expr, node->right == NULL ? NULL : element(node->right, place, row, column));
  }
  return NULL;
}

static void assign(const char *target, const char *combine, const Place *place, tileopt_expr *value) {
  char write[4 * name_length + 64];
  snprintf(write, sizeof write, "{ %s -> %s[i_,j_] }", place->tuple, target);
  ok(tileopt_builder_add_statement(builder, place->domain, write, combine, value));
  tileopt_expr_free(value);
}

/* target = left * right: zero, then every product. */
static void multiply(const Node *node, const char *target) {
  tileopt_expr *zero;
  const Place start = place_of(node->rows, node->columns, NULL), step = place_of(node->rows, node->columns, node->left->columns);
  ok(tileopt_expr_create_real(builder, "f64", 0, &zero));
  assign(target, "assign", &start, zero);
  tileopt_expr *left = element(node->left, &step, "i_", "k_");
  assign(target, "sum", &step, apply("mul", left, element(node->right, &step, "k_", "j_")));
}

/* Every product below `node`, innermost first, becomes a local. */
static void materialise(Node *node) {
  if (node == NULL) return;
  materialise(node->left);
  materialise(node->right);
  if (node->kind != PRODUCT) return;
  snprintf(node->name, sizeof node->name, "product%d_", matrix_count);
  declare(add_matrix(node->name, node->rows, node->columns, TILEOPT_LOCAL));
  multiply(node, node->name);
}

/* ---- Functions. */

static void read_matrices(tileopt_role role, const char *end) {
  char name[name_length], rows[name_length], columns[name_length];
  do {
    word(name);
    expect("[");
    word(rows);
    expect(",");
    word(columns);
    expect("]");
    const char *height = size_named(rows), *width = size_named(columns);
    add_matrix(name, height, width, role);
  } while (accept(","));
  if (end != NULL) expect(end);
}

static void read_assignment(void) {
  char name[name_length];
  word(name);
  expect("=");
  Node *value = sum();
  const Matrix *target = find_matrix(name);
  if (target != NULL && target->role == TILEOPT_IN) fail("`%s` is a parameter", name);
  if (target != NULL && target->role == TILEOPT_LOCAL) fail("`%s` has a value already", name);
  if (target != NULL && (strcmp(target->rows, value->rows) != 0 || strcmp(target->columns, value->columns) != 0))
    fail("`%s` is [%s, %s], its value [%s, %s]", name, target->rows, target->columns, value->rows, value->columns);
  if (target == NULL) declare(target = add_matrix(name, value->rows, value->columns, TILEOPT_LOCAL));
  if (value->kind == PRODUCT) {
    materialise(value->left);
    materialise(value->right);
    multiply(value, name);
  } else {
    materialise(value);
    const Place place = place_of(value->rows, value->columns, NULL);
    assign(name, "assign", &place, element(value, &place, "i_", "j_"));
  }
  end_line();
}

static tileopt_module *read_function(tileopt_session *session, const tileopt_options *options) {
  char name[name_length];
  matrix_count = node_count = size_count = statement_count = 0;
  expect("function");
  ok(tileopt_builder_create(session, word(name), &builder));
  expect("(");
  read_matrices(TILEOPT_IN, ")");
  expect("->");
  read_matrices(TILEOPT_OUT, NULL);
  end_line();
  for (int s = 0; s < size_count; ++s) ok(tileopt_builder_add_parameter(builder, sizes[s]));
  for (int m = 0; m < matrix_count; ++m) declare(&matrices[m]);
  ok(tileopt_builder_set_numerics(builder, "contract", "yes"));
  const int declared = size_count;
  while (!accept("end")) {
    if (*at == '\0') fail("`%s` has no `end`", name);
    read_assignment();
    if (size_count > declared) fail("size `%s` belongs to no parameter", sizes[declared]);
  }
  end_line();
  tileopt_program *program;
  tileopt_module *module;
  ok(tileopt_program_create(builder, &program));
  ok(tileopt_module_compile(program, options, &module));
  tileopt_program_free(program);
  tileopt_builder_free(builder);
  return module;
}

/* ---- The driver. */

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail("cannot be read");
  char *text = calloc(1, 1 << 20);
  if (fread(text, 1, (1 << 20) - 1, file) == (1 << 20) - 1) fail("longer than a megabyte");
  fclose(file);
  return text;
}

static void write_file(const char *path, tileopt_module *const *modules, int count, const char *(*part)(const tileopt_module *)) {
  FILE *file = fopen(path, "wb");
  for (int m = 0; file != NULL && m < count; ++m) fputs(part(modules[m]), file);
  if (file == NULL || fclose(file) != 0) fail("cannot write %s", path);
}

/* cc FLAGS -fPIC -shared SOURCES -lm -o OBJECT */
static void link_object(const char *object, char *const *sources, int count, const char *flags) {
  const char *compiler = getenv("CC");
  char *command[256] = {(char *)(compiler != NULL && *compiler ? compiler : "cc"), "-fPIC", "-shared", "-o", (char *)object}, *words = strdup(flags);
  int used = 5;
  for (char *flag = strtok(words, " "); flag != NULL && used < 150; flag = strtok(NULL, " ")) command[used++] = flag;
  for (int s = 0; s < count; ++s) command[used++] = sources[s];
  command[used] = "-lm";
  const pid_t child = fork();
  int status = 1;
  if (child == 0) {
    execvp(command[0], command);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) fail("%s failed", command[0]);
  free(words);
}

int main(int count, char **words) {
  const char *machine = "host", *object = NULL;
  for (int w = 1; w < count; ++w) {
    if (strcmp(words[w], "-o") == 0 && w + 1 < count) object = words[++w];
    else if (strcmp(words[w], "--machine") == 0 && w + 1 < count) machine = words[++w];
    else file_name = words[w];
  }
  if (file_name == NULL || object == NULL) return fprintf(stderr, "lac FILE.la -o OBJECT.so [--machine NAME]\n"), 1;

  tileopt_session *session;
  tileopt_options *options;
  tileopt_module *modules[most_functions];
  char *sources[most_functions], header[4096];
  int functions = 0;
  at = read_file(file_name);
  ok(tileopt_session_create(&session));
  ok(tileopt_options_create(&options));
  ok(tileopt_options_set(options, "machine", machine));
  for (blank_lines(); *at != '\0'; ++functions) {
    if (functions == most_functions) fail("more than %d functions", most_functions);
    modules[functions] = read_function(session, options);
    if (asprintf(&sources[functions], "%s.%s.c", object, tileopt_module_peek_name(modules[functions])) < 0) fail("out of memory");
    write_file(sources[functions], &modules[functions], 1, tileopt_module_peek_source);
  }
  if (functions == 0) fail("no function");
  snprintf(header, sizeof header, "%s.h", object);
  write_file(header, modules, functions, tileopt_module_peek_header);
  link_object(object, sources, functions, tileopt_module_peek_flags(modules[0]));
  for (int f = 0; f < functions; ++f) {
    printf("%s: %zu kernels, proved\n", tileopt_module_peek_name(modules[f]), tileopt_module_kernel_count(modules[f]));
    tileopt_module_free(modules[f]);
    free(sources[f]);
  }
  tileopt_options_free(options);
  tileopt_session_free(session);
  return tileopt_live_count() == 0 ? 0 : 1;
}
