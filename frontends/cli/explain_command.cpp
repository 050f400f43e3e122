#include <iostream>
#include <map>
#include <sstream>

#include "frontends/cli/commands.h"
#include "frontends/cli/items.h"
#include "support/text.h"

namespace tileopt::cli {

namespace {

std::string digits_text(const KernelPlan& kernel) {
  std::ostringstream text;
  for (const auto& [member, digits] : kernel.digits) {
    text << "    " << member << " =";
    for (const Digit& digit : digits) text << " " << digit.name << ":" << (digit.radix == 0 ? "*" : std::to_string(digit.radix)) << "@" << digit.level;
    text << "\n";
  }
  return text.str();
}

std::string kernel_text(const KernelPlan& kernel) {
  std::ostringstream text;
  text << "  kernel " << kernel.name << ": " << join(kernel.statements, ", ") << "  (schedule: " << kernel.schedule << ")\n";
  text << digits_text(kernel);
  text << "    tree " << kernel.tree.write() << "\n";
  for (const auto& [statement, choice] : kernel.atoms) {
    if (choice.atom.empty()) continue;
    text << "    atom " << statement << ": " << choice.atom;
    if (!choice.box.empty()) text << " over " << join(choice.box, ", ") << " (" << choice.edge << ")";
    text << "\n";
  }
  for (const Promotion& promotion : kernel.promotions)
    text << "    keep " << promotion.tensor << " as " << promotion.array << " in " << promotion.space
         << (promotion.after.empty() ? std::string() : " below " + promotion.after) << "\n";
  return text.str();
}

std::string certificate_text(const Certificate& certificate) {
  if (!certificate.proved()) return "  not proved: " + unproved_text(certificate) + "\n";
  std::map<std::string, std::pair<int, double>> by_name;
  std::vector<std::string> order;
  for (const Obligation& obligation : certificate.obligations) {
    if (!by_name.contains(obligation.name)) order.push_back(obligation.name);
    auto& [count, milliseconds] = by_name[obligation.name];
    ++count;
    milliseconds += obligation.milliseconds;
  }
  std::ostringstream text;
  text << "  proved:";
  for (const std::string& name : order)
    text << " " << name << " (" << by_name[name].first << ", " << static_cast<long>(by_name[name].second + 0.5) << " ms)";
  text << "\n";
  for (const std::string& assumption : certificate.assumed) text << "  assumed: " << assumption << "\n";
  for (const std::string& permission : certificate.numerics) text << "  numerics used: " << permission << "\n";
  return text.str();
}

ItemResult explain_one(const Item& item, bool json) {
  Compiled compiled = compile_item(item);
  if (!compiled.module) return compiled.failed;
  const Module& module = *compiled.module;
  ItemResult result;
  result.details["machine"] = item.request.machine.name;
  result.details["reasons"] = compiled.reasons;
  result.details["plan"] = module.plan.write();
  result.details["obligations"] = certificate_summary(module.certificate);
  result.details["certificate"] = module.certificate.write();
  if (json) return result;
  std::cout << item.program->name() << " on " << item.request.machine.name << "\n";
  for (const std::string& reason : compiled.reasons) std::cout << "  " << reason << "\n";
  for (const Rewriting& rewriting : module.plan.rewrites) std::cout << "  rewritten by " << to_string(rewriting) << "\n";
  for (const KernelPlan& kernel : module.plan.kernels) std::cout << kernel_text(kernel);
  std::cout << certificate_text(module.certificate);
  return result;
}

}  // namespace

int run_explain(const Options& options) {
  return run_items(options, [&](const Item& item) { return explain_one(item, options.json); });
}

}  // namespace tileopt::cli
