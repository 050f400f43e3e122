#include "backends/gpu_common/device_printer.h"

#include <algorithm>
#include <functional>

#include "backends/c_common/check_ast.h"
#include "backends/c_common/refusal.h"
#include "support/text.h"

namespace tileopt {

namespace {
constexpr long kSeveralCopies = 4;  ///< of one thread, from which one test for all of them is worth a second text
constexpr long kManyMeetings = 4;   ///< of a block in one iteration, from which its threads mostly wait: others should be there meanwhile

/// Pipes whose groups have words in the language of devices: asynchronous copies of one thread.
std::vector<std::string> printable_pipes(const Machine& machine) {
  std::vector<std::string> pipes;
  for (const char* pipe : {kCopyPipe, kMatrixPipe})
    if (machine.backend == "cuda" && machine.find_pipe(pipe) != nullptr) pipes.emplace_back(pipe);
  return pipes;
}

std::string shape_text(const std::vector<long>& extents) {
  std::string text;
  for (const long extent : extents) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}
}  // namespace

DevicePrinter::DevicePrinter(const Program& program, const Signature& signature, const Ast& ast, const Machine& machine, Helpers& helpers,
                             long grid_threads)
    : BodyPrinter(program, signature, ast, machine, helpers, Language::device_cpp), independent_(machine.level_name(LevelKind::independent)),
      agent_(machine.level_name(LevelKind::barrier)), grid_threads_(grid_threads) {}

PrintedLaunches DevicePrinter::print(int position) {
  position_ = position;
  const bool phases = machine_.backend == "cuda" && machine_.find_pipe(kBoxPipe) != nullptr;
  check_ast(ast_, program_, signature_, {{"register", "stack", "shared", "workspace"}, true, printable_pipes(machine_), phases});
  registers_ = classify_register_arrays(ast_, machine_);
  leaves_products_ = leaves_products(ast_.root);
  tensors_ = add_tensors();
  print_node(ast_.root);

  PrintedLaunches result;
  std::vector<std::string> parameters;
  for (const std::string& size : signature_.sizes) {
    if (used_sizes_.count(size) == 0 && !mentions(out_.text(), names_.value(size))) continue;
    result.call.sizes.push_back(size);
    parameters.push_back("const int64_t " + names_.value(size));
  }
  for (const TensorArgument* argument : tensors_) {
    if (used_tensors_.count(argument->tensor) == 0) continue;
    result.call.tensors.push_back(argument->tensor);
    const std::string type = (argument->role == TensorRole::in ? "const " : "") + memory_type_c(*argument);
    parameters.push_back(type + (argument->by_value ? " " : "* ") + argument->name);
  }
  if (workspace_bytes_ > 0) parameters.push_back("unsigned char* workspace");
  parameters.push_back("tileopt_stream stream");
  result.call.function = "tileopt_launch_" + std::to_string(position) + "_" + ast_.kernel;
  result.call.workspace_bytes = workspace_bytes_;
  result.kernels = std::move(kernels_);
  result.host = "static int32_t " + result.call.function + "(" + join(parameters, ", ") + ") {\n" + out_.text() + "  return 0;\n}\n";
  result.facts = std::move(facts_);
  return result;
}

void DevicePrinter::print_loop(const AstFor& loop) {
  if (loop.level == independent_) return launch_ ? print_block_loop(loop) : print_launch(loop);
  if (loop.level == agent_) return print_agent_loop(loop);
  if (launch_) {
    const std::string count = loop.level == "unroll" ? unroll_count(loop) : "";
    return print_counting(loop, count.empty() ? "" : "#pragma unroll " + count);
  }
  host_variables_.push_back(loop.variable);
  print_loop_lines(loop, "");
  host_variables_.pop_back();
}

/// The block's number is taken apart where the kernel starts; what remains is the test of hulls.
void DevicePrinter::print_block_loop(const AstFor& loop) {
  const std::string& name = names_.value(loop.variable);
  record_loop(loop, "const int64_t " + name + " = ...", "block");
  const auto found = std::find_if(launch_->blocks.begin(), launch_->blocks.end(), [&](const BlockLoop& b) { return b.loop->variable == loop.variable; });
  TILEOPT_CHECK(found != launch_->blocks.end(), "block loop " + loop.variable + " is in no launch");
  if (!found->dependent) return print_body(loop.body);
  out_.open("if (" + c_bound(loop.lower, 5) + " <= " + name + " && " + name + " <= " + c_bound(loop.upper, 5) + ")");
  print_braced(loop.body);
  out_.close();
}

/// `whole`: there are no agents beyond the radix of the digit.
std::string DevicePrinter::test_of(const AstFor& loop, const std::string& name, bool whole) {
  std::vector<std::string> tests;
  const AstExprPtr lower = fold(resolve(loop.lower)), upper = fold(resolve(loop.upper));
  const bool from_zero = is_constant(lower, 0);
  if (!from_zero) tests.push_back(integer_c(lower, names_, helpers_, 5) + " <= " + name);
  const auto last = constant_value(upper);
  if (!last || *last < loop.agents - 1 || !whole) tests.push_back(name + " <= " + integer_c(upper, names_, helpers_, 5));
  if (loop.step != 1) tests.push_back("(" + name + (from_zero ? "" : " - (" + integer_c(lower, names_, helpers_, 5) + ")") + ") % " + std::to_string(loop.step) + " == 0");
  return join(tests, " && ");
}

std::set<std::string> DevicePrinter::flags_of_copies(const AstNodePtr& node) {
  std::set<std::string> flags;
  bool copies = true;
  long issued = 0;  // by one thread
  const std::function<void(const AstNodePtr&, long)> walk = [&](const AstNodePtr& below, long times) {
    if (const auto* leaf = std::get_if<AstLeaf>(&below->node)) {
      const Atom* atom = machine_.find_atom(ast_.statements.at(leaf->statement).atom);
      copies = copies && atom != nullptr && atom->body == "copy" && machine_.pipe_of(atom->name) != nullptr;
      const std::vector<Fragment> fragments = choose_fragments(make_leaf_view(*leaf, ast_, program_, storage_, settled_), atom, storage_);
      if (moves_alike(fragments))
        for (const Fragment& fragment : fragments) flags.insert(fragment.flag);
      issued += times;
    }
    if (const auto* loop = std::get_if<AstFor>(&below->node)) {
      const auto last = constant_value(fold(loop->upper));
      const long trips = loop->level == agent_ || !last ? 1 : static_cast<long>(*last) + 1;
      for (const AstNodePtr& child : flat_children(loop->body)) walk(child, times * std::max(1L, trips));
    }
    if (const auto* branch = std::get_if<AstIf>(&below->node))
      for (const AstNodePtr& body : {branch->then_body, branch->else_body})
        for (const AstNodePtr& child : flat_children(body)) walk(child, times);
    if (std::holds_alternative<AstAllocate>(below->node)) copies = false;
  };
  for (const AstNodePtr& child : flat_children(node)) walk(child, 1);
  flags.erase("");
  return copies && issued >= kSeveralCopies ? flags : std::set<std::string>();
}

/// `if (const int64_t it = TILEOPT_THREAD_X / 16; it <= M - 16 * ib - 1)`: the variable is a digit of the thread's number.
void DevicePrinter::print_agent_loop(const AstFor& loop) {
  if (!launch_) refuse("ast", loop.variable, "loop " + loop.variable + " over agents stands in no block");
  if (loop.agents < 1) refuse("ast", loop.variable, "loop " + loop.variable + " over agents does not say how many there are");
  const bool outermost = agent_loops_ == 0;
  // One test for all copies of the threads: inside of their unrolled loops compilers run both ways of every one.
  if (outermost && true_flags_.empty() && false_flags_.empty()) {
    const std::set<std::string> flags = flags_of_copies(loop.body);
    if (!flags.empty()) {
      out_.open("if (" + join({flags.begin(), flags.end()}, " && ") + ")");
      true_flags_ = flags;
      print_agent_loop(loop);
      true_flags_.clear();
      out_.reopen("else");
      false_flags_ = flags;
      ++muted_;
      print_agent_loop(loop);
      --muted_;
      false_flags_.clear();
      return out_.close();
    }
  }
  const long weight = agent_weight(loop.body);
  const bool whole = !outermost || weight * loop.agents == launch_->threads;
  const std::string name = names_.declare_value(loop.variable);
  std::string digit = "TILEOPT_THREAD_X";
  if (weight > 1) digit += " / " + std::to_string(weight);
  if (!outermost) digit += " % " + std::to_string(loop.agents);
  const std::string definition = "const int64_t " + name + " = " + digit + ";", test = test_of(loop, name, whole);
  record_loop(loop, test.empty() ? definition : "if (" + definition + " " + test + ")", "agent");
  if (muted_ == 0) {
    PrintFacts::Loop& fact = facts_.loops.back();
    fact.agents = loop.agents;
    fact.weight = weight;
    fact.threads = launch_->threads;
    fact.guarded = !test.empty();
  }
  out_.open(test.empty() ? "" : "if (" + definition + " " + test + ")");
  const std::size_t before = out_.text().size();
  if (test.empty()) out_.line(definition);
  const std::size_t behind = out_.text().size();
  ++agent_loops_;
  agent_variables_.push_back(loop.variable);
  if (test.empty()) print_body(loop.body);
  else print_braced(loop.body);
  agent_variables_.pop_back();
  --agent_loops_;
  // Registers have no places that it would say.
  if (test.empty() && !mentions(out_.text().substr(behind), name)) out_.take_back(before, behind);
  out_.close();
}

void DevicePrinter::declare_workspace(const Array& array) {
  Storage storage;
  storage.array = array.name;
  storage.name = names_.declare_array(array.name);
  storage.element = array.element;
  storage.extents = array.extents;
  storage.strides = constant_strides(array.extents);
  const long bytes = array.elements() * size_bytes(array.element);
  const auto [slot, fresh] = workspace_offsets_.emplace(array.name, workspace_bytes_);
  if (fresh) workspace_bytes_ += in_workspace(bytes);
  if (muted_ == 0) facts_.buffers.push_back({array.name, array.space, bytes, 1, "workspace", slot->second});
  const std::string type = storage_type_c(array.element);
  workspace_.push_back({storage.name, type + "* const " + storage.name + " = (" + type + "*)(void*)(workspace + " + std::to_string(slot->second) + "); /* " +
                                          shape_text(array.extents) + " of " + array.tensor + " */"});
  storage_.add(storage);
}

long DevicePrinter::reserve_shared(const std::string& name, long bytes, long alignment) {
  const auto known = shared_offsets_.find(name);
  if (known != shared_offsets_.end()) return known->second;
  const long offset = (shared_bytes_ + alignment - 1) / alignment * alignment;
  shared_bytes_ = offset + (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  const Space* space = machine_.find_space("shared");
  if (space != nullptr && space->capacity > 0 && static_cast<double>(shared_bytes_) > space->capacity)
    refuse("capacity", "promotions[" + name + "]", "shared arrays need " + std::to_string(shared_bytes_) + " bytes, a block has " + std::to_string(static_cast<long>(space->capacity)));
  shared_offsets_[name] = offset;
  return offset;
}

void DevicePrinter::declare_array(const Array& array) {
  if (array.space == "workspace" && launch_)
    refuse("capacity", "promotions[" + array.name + "]", "workspace array " + array.name + " inside a block would be shared by all blocks");
  if (array.space == "workspace") return declare_workspace(array);
  if (!launch_) refuse("capacity", "promotions[" + array.name + "]", "array " + array.name + " of space " + array.space + " would outlive a launch");
  Storage storage;
  storage.array = array.name;
  storage.name = names_.declare_array(array.name);
  storage.element = array.element;
  storage.agent_dims = static_cast<std::size_t>(array.agent_dims);
  storage.extents.assign(array.extents.begin() + array.agent_dims, array.extents.end());
  storage.strides = array_strides(array);
  const bool shared = array.space == "shared";
  if (!array.ring.empty()) {
    if (!shared) refuse("capacity", "promotions[" + array.name + "]", "array " + array.name + " of a ring lies in space " + array.space + ", not in shared memory");
    storage.slots = array.slots;
    storage.extents.insert(storage.extents.begin(), array.slots);
    storage.strides.insert(storage.strides.begin(), ast_integer(array.stored_elements()));
  }
  const long bytes = array.slots * array.stored_elements() * size_bytes(array.element);
  const long alignment = std::max<long>(kBlockAlignment, array.alignment), offset = shared ? reserve_shared(array.name, bytes, alignment) : 0;
  if (shared) storage.alignment = alignment;
  storage.swizzle = array.swizzle;
  if (muted_ == 0) {
    facts_.buffers.push_back({array.name, array.space, bytes, array.slots, shared ? launch_name_ : "", offset, storage.alignment});
    facts_.buffers.back().strides = array.strides;
    facts_.buffers.back().swizzle = array.swizzle;
  }
  const std::string type = storage_type_c(array.element), keeps = " /* " + shape_text(storage.extents) + " of " + array.tensor + " */";
  if (shared) {
    helpers_.request("TILEOPT_SHARED_BASE");
    out_.line(type + "* const " + storage.name + " = (" + type + "*)(void*)(TILEOPT_SHARED_BASE + " + std::to_string(offset) + ");" + keeps);
    return storage_.add(storage);
  }
  if (array.space == "register") storage.kind = registers_.kinds.at(array.name);
  storage.in_registers = registers_.together.count(array.name) != 0;
  if (storage.in_registers) held_.push_back(array.name);
  switch (storage.kind) {
    case Storage::Kind::scalar:
      out_.line(compute_type_c(array.element) + " " + storage.name + (is_tuple(array.element) ? " = {0};" : " = 0;"));
      break;
    case Storage::Kind::vectors:
      storage.lanes = registers_.lanes.at(array.name);
      declare_vectors(storage);
      break;
    case Storage::Kind::memory:
    case Storage::Kind::value:
      out_.line(type + " " + storage.name + "[" + std::to_string(array.stored_elements()) + "];" + keeps);
      break;
  }
  storage_.add(storage);
}

/// Bounds of a loop that depends on blocks around it: the hull over those.
std::string DevicePrinter::hull_lines(const LaunchPlan& plan, std::size_t position) {
  const AstFor& loop = *plan.blocks[position].loop;
  const std::string& name = names_.value(loop.variable);
  CWriter lines(2);
  lines.line("int64_t " + name + "_first = INT64_MAX, " + name + "_last = INT64_MIN;");
  for (std::size_t i = 0; i < position; ++i) {
    const std::string& outer = names_.value(plan.blocks[i].loop->variable);
    lines.open("for (int64_t " + outer + " = " + outer + "_first; " + outer + " <= " + outer + "_last; " + outer + " += " + std::to_string(plan.blocks[i].loop->step) + ")");
  }
  lines.line("const int64_t first = " + c_bound(loop.lower) + ", last = " + c_bound(loop.upper) + ";");
  lines.line("if (first <= last && first < " + name + "_first) " + name + "_first = first;");
  lines.line("if (first <= last && last > " + name + "_last) " + name + "_last = last;");
  for (std::size_t i = 0; i < position; ++i) lines.close();
  lines.line("if (" + name + "_last < " + name + "_first) " + name + "_first = 0, " + name + "_last = -1;");
  return lines.text();
}

std::string DevicePrinter::grid_lines(const LaunchPlan& plan) {
  CWriter lines(2);
  std::string text;
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const AstFor& loop = *plan.blocks[i].loop;
    const std::string name = names_.declare_value(loop.variable);
    if (plan.blocks[i].dependent) text += hull_lines(plan, i);
    else text += "    const int64_t " + name + "_first = " + c_bound(loop.lower) + ", " + name + "_last = " + c_bound(loop.upper) + ";\n";
    const std::string step = loop.step == 1 ? "" : " / " + std::to_string(loop.step);
    text += "    const int64_t " + name + "_count = " + name + "_last < " + name + "_first ? 0 : " +
            (step.empty() ? name + "_last - " + name + "_first + 1" : "(" + name + "_last - " + name + "_first)" + step + " + 1") + ";\n";
  }
  text += "    int64_t tileopt_blocks = 1;\n";
  for (const BlockLoop& block : plan.blocks) text += "    tileopt_blocks = tileopt_grid(tileopt_blocks, " + names_.value(block.loop->variable) + "_count);\n";
  const std::string too_many = grid_threads_ > 0 ? " || tileopt_blocks > " + std::to_string(grid_threads_ / plan.threads) : "";
  return text + "    if (tileopt_blocks < 0" + too_many + ") return 7;\n";
}

/// `jb = block % jb_count; ib = block / jb_count`, with the counts and firsts as parameters where the device cannot tell them.
std::string DevicePrinter::block_lines(const LaunchPlan& plan, const std::string& body, std::vector<std::string>& parameters, std::vector<std::string>& arguments) {
  std::string text;
  if (plan.blocks.size() == 1 && !mentions(body, names_.value(plan.blocks[0].loop->variable))) return "";
  const bool several = plan.blocks.size() > 1;
  if (several) text += "  unsigned tileopt_block = TILEOPT_BLOCK_X;\n";
  for (std::size_t i = plan.blocks.size(); i-- > 0;) {
    const AstFor& loop = *plan.blocks[i].loop;
    const std::string& name = names_.value(loop.variable);
    std::string number = several ? "tileopt_block" : "TILEOPT_BLOCK_X";
    if (i > 0) {
      parameters.push_back("const unsigned " + name + "_count");
      arguments.push_back("(unsigned)" + name + "_count");
      number = "tileopt_block % " + name + "_count";
    }
    std::string first = c_bound(loop.lower, 5);
    if (plan.blocks[i].dependent) {
      first = name + "_first";
      parameters.push_back("const int64_t " + first);
      arguments.push_back(first);
    }
    const std::string step = loop.step == 1 ? "" : std::to_string(loop.step) + " * ";
    const std::string index = several && i > 0 ? "(int64_t)(" + number + ")" : "(int64_t)" + number;
    text += "  const int64_t " + name + " = " + (first == "0" ? "" : first + " + ") + step + index + ";\n";
    if (i > 0) text += "  tileopt_block /= " + name + "_count;\n";
  }
  return text;
}

long DevicePrinter::most_meetings(const AstNodePtr& node, bool in_loop) const {
  if (node == nullptr) return 0;
  long here = 0, most = 0;
  const std::function<void(const AstNodePtr&)> walk = [&](const AstNodePtr& below) {
    if (below == nullptr) return;
    if (const auto* block = std::get_if<AstBlock>(&below->node))
      for (const AstNodePtr& child : block->children) walk(child);
    if (const auto* sync = std::get_if<AstSync>(&below->node)) here += ast_.synchronizations.at(sync->statement).kind == SyncKind::barrier ? 1 : 0;
    if (const auto* allocate = std::get_if<AstAllocate>(&below->node)) walk(allocate->body);
    if (const auto* branch = std::get_if<AstIf>(&below->node)) {
      walk(branch->then_body);
      walk(branch->else_body);
    }
    if (const auto* loop = std::get_if<AstFor>(&below->node)) {
      if (loop->level == independent_) walk(loop->body);
      else if (loop->level != agent_) most = std::max(most, most_meetings(loop->body, true));
    }
  };
  walk(node);
  return in_loop ? std::max(here, most) : most;
}

/// Where register tiles leave room for it, the compiler keeps to the registers of two blocks: one computes while the other waits. Where threads
/// of few registers meet again and again, it keeps to those of as many blocks as there are threads for.
std::string DevicePrinter::resident_blocks(long threads) const {
  constexpr long kOthers = 56;  // addresses and operands beside a tile
  if (machine_.backend != "cuda" || !machine_.multiprocessor) return "";
  const Multiprocessor& m = *machine_.multiprocessor;
  if (facts_.registers == 0) {
    const long blocks = std::min<long>(m.threads / threads, shared_bytes_ > 0 ? m.shared_bytes / shared_bytes_ : 1);
    return most_meetings_ >= kManyMeetings && blocks > 1 ? ", " + std::to_string(blocks) : "";
  }
  const bool fits = 2 * threads <= m.threads && 2 * shared_bytes_ <= m.shared_bytes && 2 * threads * (facts_.registers + kOthers) <= m.registers;
  return fits ? ", 2" : "";
}

void DevicePrinter::print_launch(const AstFor& root) {
  const CWriter host = out_;
  out_ = CWriter(1);
  launch_ = plan_launch(root, independent_);
  agent_loops_ = 0;
  launch_name_ = "tileopt_kernel_" + std::to_string(position_) + "_" + std::to_string(launches_++) + "_" + ast_.kernel;
  shared_offsets_.clear();
  phases_.clear();
  maps_.clear();
  host_loops_ = around_.size();
  shared_bytes_ = 0;
  most_meetings_ = most_meetings(root.body);
  for (const BlockLoop& block : launch_->blocks) names_.declare_value(block.loop->variable);
  const std::string grid = grid_lines(*launch_);
  print_block_loop(root);
  CWriter device = out_;
  out_ = host;
  std::swap(out_, device);
  const LaunchPlan plan = *launch_;
  const std::string body = out_.text();
  out_ = std::move(device);
  launch_.reset();

  std::vector<std::string> parameters, arguments, sizes, given;
  std::string blocks = block_lines(plan, body, parameters, arguments);
  std::string arrays;
  bool workspace = false;
  for (const WorkspaceArray& array : workspace_) {
    if (!mentions(body, array.name)) continue;
    arrays += "  " + array.definition + "\n";
    workspace = true;
  }
  std::string text = blocks + arrays + body, strides;
  const std::vector<std::string> definitions = storage_.stride_definitions();
  std::string flags;
  for (const auto& [flag, definition] : storage_.alignment_flags())
    if (mentions(text, flag)) flags += "  " + definition + "\n";
  text = flags + text;
  for (std::size_t i = definitions.size(); i-- > 0;) {
    const std::string variable = definitions[i].substr(14, definitions[i].find(" = ") - 14);  // behind "const int64_t "
    if (mentions(strides + text, variable)) strides = "  " + definitions[i] + "\n" + strides;
  }
  text = strides + text;
  std::string maps;
  for (const BoxMap& map : maps_) {
    used_tensors_.insert(map.tensor);
    parameters.push_back("const __grid_constant__ tileopt_tensor_map " + map.name);
    arguments.push_back(map.name);
    maps += map_lines(map, names_.array(map.tensor));
  }
  for (const std::string& size : signature_.sizes) {
    const std::string& name = names_.value(size);
    if (mentions(grid + maps, name)) used_sizes_.insert(size);
    if (!mentions(text, name)) continue;
    used_sizes_.insert(size);
    sizes.push_back("const int64_t " + name);
    given.push_back(name);
  }
  for (const std::string& variable : host_variables_) {
    const std::string& name = names_.value(variable);
    if (!mentions(text, name)) continue;
    sizes.push_back("const int64_t " + name);
    given.push_back(name);
  }
  for (const TensorArgument* argument : tensors_) {
    if (!mentions(text, argument->name)) continue;
    used_tensors_.insert(argument->tensor);
    const bool written = std::any_of(ast_.statements.begin(), ast_.statements.end(), [&](const auto& s) { return s.second.write_array == argument->tensor; });
    const std::string type = (written ? "" : "const ") + memory_type_c(*argument);
    sizes.push_back(type + (argument->by_value ? " " : "* __restrict__ ") + argument->name);
    given.push_back(argument->name);
  }
  if (workspace) {
    sizes.push_back("unsigned char* workspace");
    given.push_back("workspace");
  }
  sizes.insert(sizes.end(), parameters.begin(), parameters.end());
  given.insert(given.end(), arguments.begin(), arguments.end());
  const std::string& name = launch_name_;
  if (muted_ == 0) facts_.launches.push_back({name, plan.threads, shared_bytes_});
  std::vector<std::string> digits;
  for (const BlockLoop& block : plan.blocks) digits.push_back(names_.value(block.loop->variable));
  kernels_ += "/* Blocks: digits " + join(digits, ", ") + ", the last one fastest; " + std::to_string(plan.threads) + (plan.threads == 1 ? " thread" : " threads") + ". */\n";
  kernels_ += "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(plan.threads) + resident_blocks(plan.threads) + ") " + name + "(" + join(sizes, ", ") + ") {\n" + text + "}\n\n";

  out_.open("");
  out_.raw(grid + maps);
  given.insert(given.begin(), {name, "dim3((unsigned)tileopt_blocks)",
                               "dim3(" + std::to_string(plan.threads) + ")",
                               std::to_string(shared_bytes_), "stream"});
  out_.line("if (tileopt_blocks > 0 && TILEOPT_LAUNCH(" + join(given, ", ") + ") != 0) return 6;");
  out_.close();
}

}  // namespace tileopt
