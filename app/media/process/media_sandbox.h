// The rights of the media process once it has begun to read strangers' files: compute, and talk over what it holds.
//
// Afterwards it can open, make, run and reach nothing: no file, no socket, no other process. Entered once, by a process of one thread,
// after everything that reading needs of the system is loaded (app/media/files/media_opener.h). Three things hold it, each without the
// others: seccomp lets through a list of system calls (media_sandbox.cpp); Landlock takes all rights to files, ports and other processes;
// limits bound memory, files and core dumps. The kernel kills it with the thread that started it (worker_process.h). Processor time is
// bounded from outside, question by question (media_process.h). Errors: Exception(kInternal) where the process has more than one thread.
// The report names what the kernel lacks.
#pragma once

#include <cstdint>

#include "app/media/process/media_protocol.h"

namespace winnow::app {

// Version of the kernel's Landlock; 0: it has none, or it is switched off.
int landlockOfKernel();

// memoryBytes: of address space; 0: no bound.
SandboxReport enterSandbox(std::int64_t memoryBytes, int landlock = landlockOfKernel());

}  // namespace winnow::app
