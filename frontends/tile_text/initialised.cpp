#include "frontends/tile_text/initialised.h"

#include <map>
#include <numeric>

#include "frontends/tile_text/bounds.h"

namespace tileopt::tile_text {

namespace {

/// One read that must find a value.
struct Sink {
  const LoweredStatement* statement;
  std::size_t position;  ///< of the statement
  const TensorSymbol* symbol;
  isl::map relation;  ///< { S[..] -> T[..] }
  SourceLocation where;
};

class InitialisedCheck {
 public:
  InitialisedCheck(Scope& scope, const StatementList& statements, const Tree& order)
      : scope_(scope), statements_(statements), order_(order) {
    for (const TensorSymbol& symbol : scope.tensors()) symbols_[symbol.tensor.name] = &symbol;
  }

  void run() {
    std::vector<Sink> open;
    for (const LoweredStatement& statement : statements_.all())
      if (statement.ir.conditional()) may_write_.insert(statement.ir.write.tensor);
    for (std::size_t i = 0; i < statements_.all().size(); ++i) {
      const LoweredStatement& statement = statements_.all()[i];
      for (const Access& read : statement.ir.reads) collect(i, read, open);
      if (statement.ir.combine != Combine::assign && !statement.own_read_initialised) collect(i, statement.ir.write, open);
    }
    if (!open.empty()) check_by_flow(open);
  }

 private:
  bool is_checked(const TensorSymbol& symbol) const {
    const bool starts_empty = symbol.tensor.role == TensorRole::local || symbol.tensor.role == TensorRole::out;
    return starts_empty && symbol.known && may_write_.count(symbol.tensor.name) == 0 && !statements_.has_unknown_write(symbol.tensor.name);
  }

  isl::map relation_of(const Access& access) const {
    return isl::manage(isl_map_from_pw_multi_aff(access.index.copy())).intersect_params(scope_.context());
  }

  /// Adds the read to `open` unless writes of earlier statements under the same outer iterations cover it, which is
  /// the usual case and far cheaper to see than an exact flow analysis.
  void collect(std::size_t position, const Access& read, std::vector<Sink>& open) const {
    const TensorSymbol& symbol = *symbols_.at(read.tensor);
    if (!is_checked(symbol)) return;
    const isl::map relation = relation_of(read);
    if (relation.is_empty()) return;
    isl::map covered = relation.subtract(relation);
    const LoweredStatement& reader = statements_.all()[position];
    for (std::size_t i = 0; i < position; ++i) {
      const LoweredStatement& writer = statements_.all()[i];
      if (writer.ir.write.tensor != read.tensor) continue;
      covered = covered.unite(same_outer_writes(reader, writer));
      if (relation.is_subset(covered)) return;
    }
    open.push_back({&reader, position, &symbol, relation, read.where});
  }

  /// { reader[x] -> T[e] : writer writes e in an instance that agrees with x on the loops that both are in }
  isl::map same_outer_writes(const LoweredStatement& reader, const LoweredStatement& writer) const {
    std::size_t shared = 0;
    while (shared < reader.iterators.size() && shared < writer.iterators.size() && reader.iterators[shared].loop == writer.iterators[shared].loop)
      ++shared;
    isl_space* space =
        isl_space_map_from_domain_and_range(reader.ir.domain.space().release(), writer.ir.domain.space().release());
    isl_map* agree = isl_map_universe(space);
    for (std::size_t i = 0; i < shared; ++i)
      agree = isl_map_equate(agree, isl_dim_in, static_cast<int>(i), isl_dim_out, static_cast<int>(i));
    return isl::manage(agree).apply_range(relation_of(writer.ir.write));
  }

  void check_by_flow(const std::vector<Sink>& open) const {
    isl::union_map reads = poly::empty_union_map(scope_.ctx()), writes = reads;
    std::set<std::string> tensors;
    for (const Sink& sink : open) {
      reads = reads.unite(isl::union_map(sink.relation));
      tensors.insert(sink.symbol->tensor.name);
    }
    std::vector<StatementSpace> spaces;
    for (const LoweredStatement& statement : statements_.all()) {
      const isl::set domain = statement.ir.domain.intersect_params(scope_.context());
      spaces.push_back({statement.ir.name, statement.ir.iterators, domain, isl::manage(isl_set_identity(domain.copy()))});
      if (tensors.count(statement.ir.write.tensor)) writes = writes.unite(isl::union_map(relation_of(statement.ir.write)));
    }
    const poly::Flow flow = poly::compute_flow(reads, writes, isl::union_map(), isl::union_map(), order_map(order_, spaces));
    for (const Sink& sink : open) report(sink, flow.no_source);
  }

  void report(const Sink& sink, const isl::union_map& no_source) const {
    const isl::union_map missing = no_source.intersect(isl::union_map(sink.relation));
    if (missing.is_empty()) return;
    const isl::map pairs = poly::sorted_maps(missing).front();
    const std::vector<Iterator>& iterators = sink.statement->iterators;
    std::vector<std::size_t> all(iterators.size());
    std::iota(all.begin(), all.end(), 0);
    const std::string name = sink.symbol->source_name;
    const bool element = sink.symbol->rank() > 0;
    scope_.diagnostics().add(ErrorCode::uninitialised_read, {sink.where.line, sink.where.column},
                             "`" + name + "` is read " + (element ? "where nothing has written it" : "before it is written"),
                             "write " + std::string(element ? "all elements that are read" : "it") + " before this" +
                                 (sink.symbol->tensor.role == TensorRole::out ? ", or make the parameter `inout`" : ""),
                             witness_text(pairs.domain(), iterators, all));
  }

  Scope& scope_;
  const StatementList& statements_;
  const Tree& order_;
  std::map<std::string, const TensorSymbol*> symbols_;
  std::set<std::string> may_write_;  ///< tensors with a write that data decides: whether it happens only a run can tell
};

}  // namespace

void check_initialised(Scope& scope, const StatementList& statements, const Tree& order) {
  InitialisedCheck(scope, statements, order).run();
}

}  // namespace tileopt::tile_text
