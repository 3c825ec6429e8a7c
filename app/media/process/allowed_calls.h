// The system calls of a process that reads media and does nothing else, by libseccomp.
//
// Calls on no list give EPERM: libraries look for files that they can do without. Calls that only an attacker makes end the process at
// once. Threads are made (clone with CLONE_THREAD; clone3, whose flags a filter cannot see, is said not to exist, and the C library takes
// the former). Memory is never executable: Qt matches its patterns without compiling them. Held for all threads and for good.
#pragma once

namespace winnow::app {

// False: the kernel has no seccomp, or refuses the filter.
bool allowOnlyReading();

}  // namespace winnow::app
