/// Statements, monoids, and the program as a whole.
#include <algorithm>

#include "capi/builder.h"
#include "frontends/tile_text/monoid_laws.h"
#include "support/text.h"

namespace tileopt::capi {

namespace {

/// The statement's name and iterators from its domain.
Statement open_statement(BuilderObject& builder, const std::string& domain) {
  Statement statement;
  statement.domain = builder.read_set(domain, "the domain");
  statement.where = builder.here();
  isl_set* set = statement.domain.get();
  if (isl_set_is_params(set) == isl_bool_true || isl_set_has_tuple_name(set) != isl_bool_true || isl_set_is_wrapping(set) == isl_bool_true)
    builder.fail(ErrorCode::syntax, "the domain has no named tuple", "write \"{ S[i,j] : 0 <= i < N and 0 <= j <= i }\"");
  statement.name = poly::tuple_name(statement.domain);
  builder.check_name(statement.name, "statement");
  if (builder.find_statement(statement.name) != nullptr) builder.fail(ErrorCode::duplicate_name, "there is a statement `" + statement.name + "` already", "choose another name");
  const int count = isl_set_dim(set, isl_dim_set);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<unsigned>(i);
    if (isl_set_has_dim_name(set, isl_dim_set, at) != isl_bool_true) builder.fail(ErrorCode::syntax, "iterator " + std::to_string(i) + " of `" + statement.name + "` has no name", "name all iterators in the tuple");
    const std::string iterator = isl_set_get_dim_name(set, isl_dim_set, at);
    builder.check_iterator(iterator);
    if (contains(statement.iterators, iterator)) builder.fail(ErrorCode::duplicate_name, "iterator `" + iterator + "` is named twice", "choose another name");
    statement.iterators.push_back(iterator);
    if (isl_set_dim_is_bounded(set, isl_dim_set, at) != isl_bool_true && isl_set_is_empty(set) != isl_bool_true)
      builder.fail(ErrorCode::unsupported, "iterator `" + iterator + "` of `" + statement.name + "` is not bounded", "bound it from below and above: 0 <= " + iterator + " < N");
  }
  for (const std::string& iterator : builder.open)
    if (!contains(statement.iterators, iterator)) builder.fail(ErrorCode::shape_mismatch, "`" + statement.name + "` has no iterator `" + iterator + "`, over which a loop is open", "name it in the tuple, or close the loop before");
  return statement;
}

/// Accesses stay inside their arrays.
void check_bounds(const BuilderObject& builder, const Statement& statement, const Access& access) {
  const Tensor& tensor = *builder.find_tensor(access.tensor);
  const isl::map relation = access.index.as_map().intersect_domain(statement.domain.intersect_params(builder.context));
  if (relation.is_empty()) return;
  const isl::map outside = relation.subtract(relation.intersect_range(tensor.elements(builder.ctx())));
  if (outside.is_empty()) return;
  std::vector<std::string> extents;
  for (const isl::pw_aff& extent : tensor.shape) extents.push_back(poly::to_text(extent));
  builder.fail(ErrorCode::out_of_bounds, "`" + poly::to_text(relation) + "` leaves `" + tensor.name + "`", "make the domain smaller, the array larger, or state how the sizes relate: tileopt_builder_add_context",
               poly::sample_text(outside));
}

void set_combine(BuilderObject& builder, Statement& statement, const std::string& combine, ElementType type) {
  for (const Combine known : {Combine::assign, Combine::sum, Combine::prod, Combine::min, Combine::max, Combine::any, Combine::all, Combine::bit_and,
                              Combine::bit_or, Combine::bit_xor}) {
    if (combine != combine_name(known)) continue;
    statement.combine = known;
    const bool number = is_float(type) || is_integer(type);
    const bool fits = known == Combine::assign || ((known == Combine::any || known == Combine::all) ? type == ElementType::boolean
                                                  : (known == Combine::bit_and || known == Combine::bit_or || known == Combine::bit_xor) ? is_integer(type) : number);
    if (!fits) builder.fail(ErrorCode::type_mismatch, "`" + combine + "` of " + type_name(type), "sum, prod, min, max take numbers, any, all bools, bit_and, bit_or, bit_xor integers");
    return;
  }
  const Monoid* monoid = builder.find_monoid(combine);
  if (monoid == nullptr) builder.fail(ErrorCode::unknown_name, "there is no combine `" + combine + "`", "assign, sum, prod, min, max, any, all, bit_and, bit_or, bit_xor, or a monoid that was added");
  if (monoid->type != type) builder.fail(ErrorCode::type_mismatch, "monoid `" + combine + "` is of " + type_name(monoid->type) + ", the tensor of " + type_name(type), "use a tensor of the monoid's type");
  statement.combine = Combine::monoid;
  statement.monoid = combine;
}

/// Gives the place in the order that is open now.
void place(BuilderObject& builder, const std::string& statement) {
  Nest* nest = &builder.nest;
  for (std::size_t depth = 0; depth < builder.open.size(); ++depth) nest = &nest->children.back();
  nest->children.push_back({"", statement, {}});
}

Statement make_statement(BuilderObject& builder, const std::string& domain, const std::string& write, const std::string& combine, const tileopt_expr* value) {
  Statement statement = open_statement(builder, domain);
  const isl::map access = builder.read_map(write, "the write");
  const std::string target = poly::output_name(access);
  const Tensor* tensor = builder.find_tensor(target);
  if (poly::input_name(access) != statement.name || static_cast<std::size_t>(isl_map_dim(access.get(), isl_dim_in)) != statement.iterators.size())
    builder.fail(ErrorCode::syntax, "the write does not start at `" + statement.name + "[" + join(statement.iterators, ", ") + "]`", "write \"{ S[i,j] -> C[i] }\" with the tuple of the domain");
  if (tensor == nullptr) builder.fail(ErrorCode::unknown_name, "there is no tensor `" + target + "`", "add it with tileopt_builder_add_tensor before");
  if (tensor->role == TensorRole::in) builder.fail(ErrorCode::invalid_write, "`" + target + "` is TILEOPT_IN and cannot be written", "make it TILEOPT_OUT or TILEOPT_INOUT");
  if (static_cast<std::size_t>(isl_map_dim(access.get(), isl_dim_out)) != tensor->shape.size())
    builder.fail(ErrorCode::shape_mismatch, "`" + target + "` has rank " + std::to_string(tensor->shape.size()), "give one subscript for each dimension");
  if (!access.is_single_valued()) builder.fail(ErrorCode::unsupported, "an instance writes several elements", "one statement for each element");
  const isl::set missing = statement.domain.intersect_params(builder.context).subtract(access.domain());
  if (!missing.is_empty()) builder.fail(ErrorCode::out_of_bounds, "some instances write nothing", "make the write total on the domain, or the domain smaller", poly::sample_text(missing));
  statement.write = {target, poly::as_function(access.intersect_domain(statement.domain)), statement.where};
  const ExprPtr expr = need_expr(builder, value, "value");
  if (expr->type != tensor->type)
    builder.fail(ErrorCode::type_mismatch, "the value is " + type_name(expr->type) + ", `" + target + "` holds " + type_name(tensor->type), "cast the value: tileopt_expr_create_cast");
  set_combine(builder, statement, combine, tensor->type);
  statement.body = take_leaves(builder, expr, statement);
  check_bounds(builder, statement, statement.write);
  for (const Access& read : statement.reads) check_bounds(builder, statement, read);
  return statement;
}

/// A value of a statement that exists: its reads come last.
ExprPtr take_value(BuilderObject& builder, Statement& statement, const tileopt_expr* value, ElementType type, const char* argument) {
  const ExprPtr expr = need_expr(builder, value, argument);
  if (expr->type != type) builder.fail(ErrorCode::type_mismatch, std::string("`") + argument + "` is " + type_name(expr->type) + ", expected " + type_name(type), "cast or compare");
  return take_leaves(builder, expr, statement);
}

bool depends_on_later(const Statement& statement, const ExprPtr& value, std::size_t iterator) {
  bool found = false;
  const auto involves = [&](auto&& test) {
    for (std::size_t i = iterator; i < statement.iterators.size(); ++i) found = found || test(static_cast<unsigned>(i));
  };
  walk_expr(value, [&](const Expr& node) {
    if (const auto* read = std::get_if<Read>(&node.node))
      involves([&](unsigned i) {
        // The domain of an access speaks of all iterators; only its subscripts count.
        const isl::pw_multi_aff plain = isl::manage(isl_pw_multi_aff_gist(statement.reads[read->access].index.copy(), statement.domain.copy()));
        return isl_pw_multi_aff_involves_dims(plain.get(), isl_dim_in, i, 1) == isl_bool_true;
      });
    if (const auto* index = std::get_if<IndexValue>(&node.node))
      involves([&](unsigned i) {
        const isl::pw_aff plain = isl::manage(isl_pw_aff_gist(statement.indices[index->index].copy(), statement.domain.copy()));
        return isl_pw_aff_involves_dims(plain.get(), isl_dim_in, i, 1) == isl_bool_true;
      });
  });
  return found;
}

/// Operands of a monoid as Read{0}, Read{1}.
ExprPtr take_operands(const BuilderObject& builder, const ExprPtr& expr, ElementType type, bool allowed) {
  return rebuild(expr, [&](const ExprPtr& node) -> ExprPtr {
    const auto* read = std::get_if<Read>(&node->node);
    const bool leaf = read != nullptr || std::holds_alternative<IndexValue>(node->node);
    if (!leaf) return node;
    if (read == nullptr || builder.leaves[read->access].kind != Leaf::Kind::operand || !allowed)
      builder.fail(ErrorCode::unsupported, allowed ? "a monoid reads more than its operands" : "an identity reads something", "build it of constants and operands");
    if (node->type != type) builder.fail(ErrorCode::type_mismatch, "an operand is " + type_name(node->type) + ", the monoid of " + type_name(type), "make operands of the monoid's type");
    return make_expr(type, Read{static_cast<std::size_t>(builder.leaves[read->access].operand)});
  });
}

Monoid make_monoid(BuilderObject& builder, const std::string& name, const std::string& type, bool commutative, const tileopt_expr* identity, const tileopt_expr* combine) {
  builder.check_name(name, "monoid");
  if (builder.find_monoid(name) != nullptr) builder.fail(ErrorCode::duplicate_name, "there is a monoid `" + name + "` already", "choose another name");
  Monoid monoid;
  monoid.name = name;
  monoid.type = builder.read_type(type, true);
  monoid.commutative = commutative;
  monoid.where = builder.here();
  monoid.identity = take_operands(builder, need_expr(builder, identity, "identity"), monoid.type, false);
  monoid.combine = take_operands(builder, need_expr(builder, combine, "combine"), monoid.type, true);
  for (const ExprPtr& part : {monoid.identity, monoid.combine})
    if (part->type != monoid.type) builder.fail(ErrorCode::type_mismatch, "a part of monoid `" + name + "` is " + type_name(part->type) + ", not " + type_name(monoid.type), "give identity and combine the monoid's type");
  monoid.exact = tile_text::computes_exactly(monoid.combine);
  if (const auto violation = tile_text::find_violation(monoid)) builder.fail(ErrorCode::false_claim, violation->message, violation->hint, violation->witness);
  return monoid;
}

Program make_program(const BuilderObject& builder) {
  const auto fail = [&](ErrorCode code, const std::string& message, const std::string& hint) { throw Errors(Diagnostic{code, {"<builder>", 0, 0}, message, hint, ""}); };
  if (builder.statements.empty()) fail(ErrorCode::unsupported, "program `" + builder.name + "` has no statement", "add one with tileopt_builder_add_statement");
  if (!builder.open.empty()) fail(ErrorCode::syntax, "loop `" + builder.open.back() + "` is still open", "close every loop that was opened");
  std::vector<Statement> statements = builder.statements;
  const Tree order = builder.schedule.empty() ? order_by_loops(builder) : order_by_schedule(builder, statements);
  std::set<std::string> used, combines;
  for (const Statement& statement : statements) {
    used.insert(statement.write.tensor);
    combines.insert(statement.monoid);
    for (const Access& read : statement.reads) used.insert(read.tensor);
  }
  ProgramBuilder program(builder.ctx(), builder.name);
  program.file("<builder>").text(builder.text()).context(builder.context).order(order).numerics(builder.numerics);
  for (const std::string& parameter : builder.parameters) program.parameter(parameter);
  for (const Tensor& tensor : builder.tensors)
    if (tensor.role != TensorRole::local) program.tensor(tensor);
  for (const Tensor& tensor : builder.tensors)
    if (tensor.role == TensorRole::local && used.count(tensor.name) != 0) program.tensor(tensor);
  for (const Monoid& monoid : builder.monoids)
    if (combines.count(monoid.name) != 0) program.monoid(monoid);
  for (Statement& statement : statements) {
    statement.domain = statement.domain.intersect_params(builder.context).coalesce();
    program.statement(std::move(statement));
  }
  return program.build();
}

std::string quoted(const char* text) {
  std::string line = text == nullptr ? "NULL" : "\"" + std::string(text) + "\"";
  std::replace_if(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return line;
}

/// Everything that an expression is, so that programs of different values have different texts.
std::string value_text(const BuilderObject& builder, const tileopt_expr* value) {
  const auto object = find(value);
  if (object == nullptr || object->builder.get() != &builder) return "?";
  std::string text = expr_text(object->expr);
  std::set<std::size_t> leaves;
  walk_expr(object->expr, [&](const Expr& node) {
    if (const auto* read = std::get_if<Read>(&node.node)) leaves.insert(read->access);
    if (const auto* index = std::get_if<IndexValue>(&node.node)) leaves.insert(index->index);
  });
  for (const std::size_t leaf : leaves) text += "; " + std::string(builder.leaves[leaf].kind == Leaf::Kind::index ? "x" : "r") + std::to_string(leaf) + " = " + builder.leaves[leaf].text;
  return text;
}

}  // namespace

std::vector<Diagnostic> check_program(const Program& program) {
  std::set<std::string> unknown;  // whether something is written only a run can tell
  for (const Statement& statement : program.statements())
    if (statement.conditional()) unknown.insert(statement.write.tensor);
  const auto checked = [&](const std::string& tensor) {
    const TensorRole role = program.tensor(tensor).role;
    return (role == TensorRole::local || role == TensorRole::out) && unknown.count(tensor) == 0;
  };
  struct Sink {
    isl::map relation;
    std::string tensor;
    SourceLocation where;
  };
  std::vector<Sink> sinks;
  isl::union_map reads = poly::empty_union_map(program.ctx()), writes = reads;
  for (const Statement& statement : program.statements()) {
    const auto relation = [&](const Access& access) { return access.index.as_map().intersect_params(program.context()); };
    for (const Access& read : statement.reads)
      if (checked(read.tensor)) sinks.push_back({relation(read), read.tensor, read.where});
    if (statement.combine != Combine::assign && checked(statement.write.tensor)) sinks.push_back({relation(statement.write), statement.write.tensor, statement.where});
    writes = writes.unite(isl::union_map(relation(statement.write)));
  }
  for (const Sink& sink : sinks) reads = reads.unite(isl::union_map(sink.relation));
  std::vector<Diagnostic> found;
  if (sinks.empty()) return found;
  const isl::union_map missing = poly::compute_flow(reads, writes, isl::union_map(), isl::union_map(), program.original_order()).no_source;
  std::set<std::pair<int, std::string>> told;
  for (const Sink& sink : sinks) {
    const isl::union_map open = missing.intersect(isl::union_map(sink.relation));
    if (open.is_empty() || !told.emplace(sink.where.line, sink.tensor).second) continue;
    const bool out = program.tensor(sink.tensor).role == TensorRole::out;
    found.push_back({ErrorCode::uninitialised_read, sink.where, "`" + sink.tensor + "` is read where nothing has written it",
                     "write all elements that are read before this" + std::string(out ? ", or make it TILEOPT_INOUT" : ""), poly::sample_text(open)});
  }
  return found;
}

}  // namespace tileopt::capi

using namespace tileopt::capi;
using tileopt::ErrorCode;

extern "C" {

tileopt_error* tileopt_builder_add_statement(tileopt_builder* builder, const char* domain, const char* write, const char* combine,
                                             const tileopt_expr* value) {
  const std::string call = "add_statement(" + quoted(domain) + ", " + quoted(write) + ", " + quoted(combine) + ", ...)";
  return building(builder, call, [&](const std::shared_ptr<BuilderObject>& b) {
    need_pointer(domain, "domain");
    need_pointer(write, "write");
    need_pointer(combine, "combine");
    tileopt::Statement statement = make_statement(*b, domain, write, combine, value);
    place(*b, statement.name);
    b->record("add_statement(" + quoted(domain) + ", " + quoted(write) + ", " + quoted(combine) + ", " + value_text(*b, value) + ")");
    b->statements.push_back(std::move(statement));
  });
}

tileopt_error* tileopt_builder_add_predicate(tileopt_builder* builder, const char* statement, const tileopt_expr* condition) {
  const std::string call = "add_predicate(" + quoted(statement) + ", ...)";
  return building(builder, call, [&](const std::shared_ptr<BuilderObject>& b) {
    need_pointer(statement, "statement");
    tileopt::Statement* target = b->find_statement(statement);
    if (target == nullptr) b->fail(ErrorCode::unknown_name, std::string("there is no statement `") + statement + "`", "add it before");
    if (target->predicate != nullptr) b->fail(ErrorCode::duplicate_name, std::string("`") + statement + "` has a predicate", "join the conditions with \"and\"");
    tileopt::Statement changed = *target;
    changed.predicate = take_value(*b, changed, condition, tileopt::ElementType::boolean, "condition");
    for (const tileopt::Access& read : changed.reads) check_bounds(*b, changed, read);
    *target = std::move(changed);
    b->record("add_predicate(" + quoted(statement) + ", " + value_text(*b, condition) + ")");
  });
}

tileopt_error* tileopt_builder_add_guard(tileopt_builder* builder, const char* statement, const char* iterator, const tileopt_expr* value) {
  const std::string call = "add_guard(" + quoted(statement) + ", " + quoted(iterator) + ", ...)";
  return building(builder, call, [&](const std::shared_ptr<BuilderObject>& b) {
    need_pointer(statement, "statement");
    need_pointer(iterator, "iterator");
    tileopt::Statement* target = b->find_statement(statement);
    if (target == nullptr) b->fail(ErrorCode::unknown_name, std::string("there is no statement `") + statement + "`", "add it before");
    const auto at = std::find(target->iterators.begin(), target->iterators.end(), iterator);
    if (at == target->iterators.end()) b->fail(ErrorCode::unknown_name, std::string("`") + statement + "` has no iterator `" + iterator + "`", "name one of its tuple");
    const auto place = static_cast<std::size_t>(at - target->iterators.begin());
    if (target->guard_of(place) != nullptr) b->fail(ErrorCode::duplicate_name, std::string("`") + iterator + "` of `" + statement + "` is guarded already", "one guard for each iterator");
    tileopt::Statement changed = *target;
    const tileopt::ExprPtr taken = take_value(*b, changed, value, tileopt::ElementType::i64, "value");
    if (depends_on_later(changed, taken, place)) b->fail(ErrorCode::unsupported, std::string("the value of `") + iterator + "` depends on it or on later iterators", "let it depend on iterators that stand before it in the tuple");
    for (const tileopt::Access& read : changed.reads) check_bounds(*b, changed, read);
    changed.guards.push_back({place, taken});
    std::stable_sort(changed.guards.begin(), changed.guards.end(), [](const auto& a, const auto& c) { return a.iterator < c.iterator; });
    *target = std::move(changed);
    b->record("add_guard(" + quoted(statement) + ", " + quoted(iterator) + ", " + value_text(*b, value) + ")");
  });
}

tileopt_error* tileopt_builder_add_monoid(tileopt_builder* builder, const char* name, const char* type, int commutative,
                                          const tileopt_expr* identity, const tileopt_expr* combine) {
  const std::string call = "add_monoid(" + quoted(name) + ", " + quoted(type) + ", " + std::to_string(commutative != 0) + ", ...)";
  return building(builder, call, [&](const std::shared_ptr<BuilderObject>& b) {
    need_pointer(name, "name");
    need_pointer(type, "type");
    b->monoids.push_back(make_monoid(*b, name, type, commutative != 0, identity, combine));
    b->record("add_monoid(" + quoted(name) + ", " + quoted(type) + ", " + std::to_string(commutative != 0) + ", " + value_text(*b, identity) + ", " + value_text(*b, combine) + ")");
  });
}

tileopt_error* tileopt_program_create(tileopt_builder* builder, tileopt_program** out_program) {
  return building(builder, "", [&](const std::shared_ptr<BuilderObject>& b) {
    need_pointer(out_program, "out_program");
    auto object = std::make_unique<ProgramObject>();
    object->session = b->session;
    object->texts = b->texts();
    auto program = std::make_shared<const tileopt::Program>(make_program(*b));
    if (std::vector<tileopt::Diagnostic> faults = check_program(*program); !faults.empty()) throw tileopt::Errors(std::move(faults));
    object->program = std::move(program);
    object->hash = object->program->hash();
    *out_program = insert<tileopt_program>(owned(b->session, std::move(object)));
  });
}

}  // extern "C"
