// The columns of `compare` as they are written: "full", "vl-cache@0.1". Used by compare_command and main.
#pragma once

#include <string>
#include <vector>

#include "app/programs/cli/turn_options.h"

namespace winnow::cli {

// Why this is no column (no such method, a retention that is none); empty if it is one.
std::string column_problem(const std::string& text);

// One recipe per column: retention as written or the command's budget, the options that its method has, the exchanged parts unless it is
// full. Throws Exception(kIllegalRecipe) for an option that no column has.
std::vector<RecipeSpec> column_recipes(const TurnOptions& options, const std::vector<std::string>& columns);

// "full", "vl-cache@0.1", "snapkv@64 slots"
std::string column_label(const RecipeSpec& recipe);

}  // namespace winnow::cli
