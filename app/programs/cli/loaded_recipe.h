// The recipe of a saved cache, and what a command that loads it asks for beside it.
//
// A cache is gone on from as it was made: another method, share or storage would mean that everything is read again, which the file is
// there to avoid. Used by ask. Errors: Exception, kInvalidArgument naming the option. Main thread only.
#pragma once

#include "app/programs/cli/turn_options.h"

namespace winnow::cli {

// options.given: what the command line named; anything else is the file's. made: of the file.
void require_recipe_of_file(const TurnOptions& options, const RecipeSpec& made);

}  // namespace winnow::cli
