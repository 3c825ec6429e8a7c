// How a person types a command of the terminal program where this copy of it lies: "winnow-cli get" once it is installed, "./winnow get"
// and
// "./winnow cli ask" in a source tree, "./winnow cli get" in an unpacked tarball.
//
// Used by every text that tells people what to type. Looks at the files beside the program. No errors. Threads: any.
#pragma once

#include <string>

namespace winnow::cli {

std::string program_call(const std::string& command);
// program_folder: where winnow-cli lies.
std::string program_call_in(const std::string& program_folder, const std::string& command);

}  // namespace winnow::cli
