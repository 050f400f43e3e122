/// Print facts as documents.
#pragma once

#include "ir/ast_fields.h"
#include "ir/module.h"
#include "support/document.h"

namespace tileopt {

Document write_print_facts(const PrintFacts& facts);
/// @throws Errors(invalid_dump).
PrintFacts read_print_facts(const Field& field);

}  // namespace tileopt
