#include "driver/work.h"

#include <iomanip>
#include <sstream>

#include "interpreter/domain_bounds.h"
#include "interpreter/interpreter.h"

namespace tileopt {

namespace {

bool is_arithmetic(BinaryOp op) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
    case BinaryOp::divide:
    case BinaryOp::floor_div:
    case BinaryOp::modulo:
    case BinaryOp::min:
    case BinaryOp::max: return true;
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
    case BinaryOp::shift_left:
    case BinaryOp::shift_right: return false;
  }
  return false;
}

double operations_of(const Statement& statement) {
  double count = statement.combine == Combine::assign ? 0 : 1;
  walk_expr(statement.body, [&](const Expr& expr) {
    if (const auto* binary = std::get_if<Binary>(&expr.node)) count += is_arithmetic(binary->op);
    else if (std::holds_alternative<Call>(expr.node)) count += 1;
  });
  return count;
}

double bytes_of(const Tensor& tensor, const Sizes& sizes) {
  if (tensor.role == TensorRole::local) return 0;
  double bytes = tensor.layout.packed ? 0.5 : size_bytes(tensor.type);
  for (const std::int64_t extent : evaluate_shape(tensor, sizes)) bytes *= static_cast<double>(extent);
  return tensor.role == TensorRole::inout ? 2 * bytes : bytes;
}

}  // namespace

Work count_work(const Program& program, const Sizes& sizes) {
  Work work;
  // How much a statement does that data decides, only the data knows.
  for (const Statement& statement : program.statements())
    if (statement.conditional()) return work;
  for (const Statement& statement : program.statements())
    work.operations += operations_of(statement) * static_cast<double>(count_points(fix_parameters(statement.domain, sizes)));
  for (const Tensor& tensor : program.tensors()) work.bytes += bytes_of(tensor, sizes);
  return work;
}

std::string rate_text(const Work& work, double seconds) {
  if (seconds <= 0 || (work.operations == 0 && work.bytes == 0)) return "-";
  const bool arithmetic = work.operations >= 2 * work.bytes;
  const double rate = (arithmetic ? work.operations : work.bytes) / seconds / 1e9;
  std::ostringstream text;
  text << std::fixed << std::setprecision(rate < 10 ? 2 : 1) << rate << (arithmetic ? " GFLOP/s" : " GB/s");
  return text.str();
}

}  // namespace tileopt
