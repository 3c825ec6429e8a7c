// The window's first contents: decided from the command line and the resource folder, before the window exists.
#pragma once

#include "app/programs/bootstrap/options.h"
#include "ui/shell/window/main_window.h"

namespace winnow::bootstrap {

ui::InitialState initialState(const Options& options);
// The same, for a program that runs already.
app::StartRequest startRequest(const ui::InitialState& initial);

}  // namespace winnow::bootstrap
