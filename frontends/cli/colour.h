/// Colours for messages on terminals.
#pragma once

#include <string>

namespace tileopt::cli {

/// True where stderr is a terminal that shows colours: not with NO_COLOR or TERM=dumb; always with CLICOLOR_FORCE=1.
bool colours_wanted();

/// Rendered messages (support/render_error) with the severity, the code, the underline and the labels coloured. Text of the user is
/// never coloured, so whatever it holds stays as it is.
std::string coloured(const std::string& messages);

}  // namespace tileopt::cli
