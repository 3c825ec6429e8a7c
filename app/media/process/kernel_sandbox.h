// Tells if this system lets a process give up its rights, and if media are refused where it does not.
//
// Some containers refuse seccomp; there a decoder runs with all of the user's rights. Both programs say so once; `--require-sandbox`
// refuses media instead (MediaProcessSettings::requireSandbox). Threads: any, but the option is followed first in main. Errors: none.
#pragma once

namespace winnow::app {

inline constexpr const char* kRequireSandboxOption = "--require-sandbox";

// Found by a child that tries; asked once. Where no child can be made: true, as the process that reads media tells for itself.
bool kernelSandboxes();

// Takes the option out of the line, and notes it in the environment, which the engine's process has as well.
void followRequireSandboxOption(int& argc, char** argv);
bool sandboxIsRequired();

}  // namespace winnow::app
