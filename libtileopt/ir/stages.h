/// The stages between the Program and the Ast, one immutable type each. A stage holds its predecessor; `create` re-derives
/// and checks the facts from the decisions (which are part of the Plan); `write` gives decisions and facts for the dump.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/array.h"
#include "ir/dependences.h"
#include "ir/machine.h"
#include "ir/plan.h"
#include "ir/program.h"
#include "support/error.h"

namespace tileopt {

/// 15-kernels. Statements of one kernel with the dependences among them.
class Kernel {
 public:
  static Candidate<Kernel> create(std::shared_ptr<const Program> program, std::shared_ptr<const Dependences> dependences,
                                  KernelPlan plan);
  const Program& program() const { return *program_; }         ///< for the sizes that the kernel is for: KernelPlan::when
  const Program& whole_program() const { return *whole_; }     ///< for all sizes
  const Dependences& dependences() const { return *dependences_; }
  const KernelPlan& plan() const { return plan_; }
  const std::string& name() const { return plan_.name; }
  const std::vector<std::string>& statements() const { return plan_.statements; }
  const isl::union_map& validity() const { return validity_; }  ///< { S -> T } inside the kernel
  const isl::union_map& racing() const { return racing_; }      ///< validity and relaxed pairs inside the kernel
  Document write() const;

 private:
  std::shared_ptr<const Program> program_, whole_;
  std::shared_ptr<const Dependences> dependences_;
  KernelPlan plan_;
  isl::union_map validity_, racing_;
};

/// 20-schedule. Affine members per statement. Invariant: the members of a statement determine its instance.
class Schedule {
 public:
  static Candidate<Schedule> create(Kernel kernel, std::map<std::string, StatementMembers> members);
  const Kernel& kernel() const { return kernel_; }
  const std::map<std::string, StatementMembers>& members() const { return members_; }
  /// { S[i,j,k] -> [m0, m1, m2] } in the order of the statement's member list.
  isl::map member_map(const std::string& statement) const;
  Document write() const;

 private:
  explicit Schedule(Kernel kernel) : kernel_(std::move(kernel)) {}
  Kernel kernel_;
  std::map<std::string, StatementMembers> members_;
  std::map<std::string, isl::map> maps_;
};

/// 30-digits. Every member in mixed radix, digits ordered by a tree.
/// Invariant: digits -> instance is a bijection; no validity dependence is reversed; thread digits carry no dependence.
class DigitSchedule {
 public:
  static Candidate<DigitSchedule> create(Schedule schedule, const Machine& machine);
  const Schedule& schedule() const { return schedule_; }
  const Kernel& kernel() const { return schedule_.kernel(); }
  const KernelPlan& plan() const { return schedule_.kernel().plan(); }
  /// Full digit spaces: dims = digits of the statement's members, domain exact, to_program onto instances.
  const std::vector<StatementSpace>& statements() const { return statements_; }
  const StatementSpace& statement(const std::string& name) const;
  const Tree& tree() const { return plan().tree; }
  Document write() const;

 private:
  explicit DigitSchedule(Schedule schedule) : schedule_(std::move(schedule)) {}
  Schedule schedule_;
  std::vector<StatementSpace> statements_;
};

/// 40-fitted. Leaves matched to atoms: the digits of an atom's box leave the tree.
class FittedSchedule {
 public:
  struct BoxDigit {
    std::string name;
    long radix;
    bool whole = false;  ///< leaves with extents: what the registers that are written hold beyond the extent is lost
  };
  struct Leaf {
    std::string statement;
    std::string atom;            ///< "" = scalar
    std::vector<BoxDigit> box;   ///< lanes last; empty for scalar leaves
    bool padded = false;         ///< runs its whole box; else extents limit it
    std::vector<BoxDigit> whole = {};  ///< padded leaves: digits of loops around that run all their values too
    /// Digits that run all their values, whatever the data.
    std::vector<BoxDigit> filled() const;
  };
  static Candidate<FittedSchedule> create(DigitSchedule digits, const Machine& machine);
  const DigitSchedule& digits() const { return digits_; }
  const KernelPlan& plan() const { return digits_.plan(); }
  const std::vector<Leaf>& leaves() const { return leaves_; }
  const Leaf& leaf(const std::string& statement) const;
  Document write() const;

 private:
  explicit FittedSchedule(DigitSchedule digits) : digits_(std::move(digits)) {}
  DigitSchedule digits_;
  std::vector<Leaf> leaves_;
};

/// An array access of an atom-level statement.
/// The element touched at box point b is  index + sum_d b_d * steps[.][d].
struct LeafAccess {
  std::string array;
  isl::pw_multi_aff index;               ///< { leaf[dims] -> array[x, y] } at the corner of the box
  std::vector<std::vector<long>> steps;  ///< [array dimension][box digit]
};

enum class LeafKind { compute, copy_in, copy_out };

/// A statement at atom level: box digits dropped, accesses to final arrays. Copies are statements like any other.
struct LeafStatement {
  std::string name;
  LeafKind kind = LeafKind::compute;
  std::string statement;                           ///< compute: program statement; copies: ""
  std::string atom;
  std::vector<std::string> dims;
  isl::set domain;                                 ///< { name[dims] }: the projection of the full-digit domain
  std::vector<FittedSchedule::BoxDigit> box;
  isl::pw_multi_aff instance;                      ///< compute: { name[dims] -> S[iterators] } at the corner of the box; copies: { name[dims] -> [] }
  std::vector<std::vector<long>> instance_steps;   ///< [iterator][box digit]
  LeafAccess write;
  std::vector<LeafAccess> reads;                   ///< compute: as the program statement's; copies: the source
  std::vector<isl::pw_aff> indices;                ///< { name[dims] -> [(value)] } at the corner
  std::vector<std::vector<long>> index_steps;      ///< [index value][box digit]
  std::vector<isl::pw_aff> extents;                ///< per box digit: { name[dims] -> [(points left, at least 1)] }; empty = runs its whole box
  bool zero_fill = false;                          ///< copy_in: box points beyond the extents store zero
  StatementSpace space() const { return {name, dims, domain, isl::manage(isl_set_identity(domain.copy()))}; }
};

/// 50-promoted. Arrays, copies as statements, final accesses.
class PromotedSchedule {
 public:
  static Candidate<PromotedSchedule> create(FittedSchedule fitted, const Machine& machine);
  const FittedSchedule& fitted() const { return fitted_; }
  const KernelPlan& plan() const { return fitted_.plan(); }
  const Program& program() const { return fitted_.digits().kernel().program(); }
  const std::vector<Array>& arrays() const { return arrays_; }   ///< promoted arrays only
  const Tree& tree() const { return tree_; }                     ///< over atom-level digits, with copies and allocations
  const std::vector<LeafStatement>& statements() const { return statements_; }
  const LeafStatement& statement(const std::string& name) const;
  const std::vector<std::string>& remarks() const { return remarks_; }  ///< why a copy was left out, ...
  /// Level of any dimension of the tree: the Plan's digits, and the copies' own.
  std::string level(const std::string& dim) const;
  /// Radix of any dimension of the tree; 0: unbounded.
  long radix(const std::string& dim) const;
  Document write() const;

 private:
  friend class PromotionBuilder;
  friend class CopyPipeliner;
  explicit PromotedSchedule(FittedSchedule fitted) : fitted_(std::move(fitted)) {}
  FittedSchedule fitted_;
  std::vector<Array> arrays_;
  Tree tree_;
  std::vector<LeafStatement> statements_;
  std::vector<std::string> remarks_;
  std::map<std::string, std::string> copy_levels_;
  std::map<std::string, long> copy_radices_;
};

/// 55-pipelined. Which copies run ahead, and how. The tree is in the order of one iteration still: build_ast shifts the copies.
/// Without pipelines asked for, the promoted schedule unchanged.
class PipelinedSchedule {
 public:
  /// The copies of one loop. Arrays of the ring have `slots` copies.
  struct Pipeline {
    std::string digit, ring;
    std::vector<std::string> around;   ///< sequential loops between the blocks and this one, outermost first: positions go on through all of them
    long slots = 2, distance = 1;
    std::string pipe = "";             ///< of the asynchronous copies; "" = all are ordinary
    std::string counted = "";          ///< mbarrier that counts the bytes of asynchronous copies; "" = they are waited for in groups
    long bytes = 0;                    ///< that copies bring to one position of it
    /// Computations that still read their slots while the next one is issued: slots that no copy on its way takes.
    long in_flight() const { return counted.empty() ? 0 : slots - distance; }
    std::vector<std::string> arrays;   ///< of the ring
    std::vector<std::string> held;     ///< register arrays between an ordinary load and its store
    std::vector<std::string> issued;   ///< statements that run ahead, before the computation
    std::vector<std::string> stored;   ///< statements that run ahead, after it: from registers into the slot
  };
  static Candidate<PipelinedSchedule> create(PromotedSchedule promoted, const Machine& machine);
  /// With held arrays and their copies, rings of arrays, and asynchronous atoms.
  const PromotedSchedule& promoted() const { return promoted_; }
  const std::vector<Pipeline>& pipelines() const { return pipelines_; }
  Document write() const;

 private:
  friend class CopyPipeliner;
  explicit PipelinedSchedule(PromotedSchedule promoted) : promoted_(std::move(promoted)) {}
  PromotedSchedule promoted_;
  std::vector<Pipeline> pipelines_;
};

/// 58-synchronized. Where agents meet: on CPUs the join at the end of every band of an independent level; where agents go on by
/// themselves, at a barrier between any two statements that touch one element in different agents.
class SynchronizedSchedule {
 public:
  struct Join {
    std::string digit;                ///< the parallel band
    std::vector<std::string> crossing; ///< statements whose dependences the join orders
  };
  /// Iterations of one run of the independent bands around both: two agents of them touch one element of `array`, one writing.
  struct Crossing {
    std::string first, second;
    std::string array;
  };
  /// Levels by what their loops become. Machines without agents: both empty.
  struct AgentLevels {
    std::string independent, agent;
    bool empty() const { return agent.empty(); }
  };
  static Candidate<SynchronizedSchedule> create(PipelinedSchedule pipelined, const Machine& machine);
  const PipelinedSchedule& pipelined() const { return pipelined_; }
  const PromotedSchedule& promoted() const { return pipelined_.promoted(); }
  const std::vector<Join>& joins() const { return joins_; }
  const std::vector<Crossing>& crossings() const { return crossings_; }
  const AgentLevels& agent_levels() const { return agent_levels_; }
  /// Computations that an atom runs asynchronously, with its pipe.
  const std::map<std::string, Pipe>& flights() const { return flights_; }
  Document write() const;

 private:
  explicit SynchronizedSchedule(PipelinedSchedule pipelined) : pipelined_(std::move(pipelined)) {}
  PipelinedSchedule pipelined_;
  std::vector<Join> joins_;
  std::vector<Crossing> crossings_;
  AgentLevels agent_levels_;
  std::map<std::string, Pipe> flights_;
};

}  // namespace tileopt
