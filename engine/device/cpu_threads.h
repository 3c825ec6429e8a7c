// How many threads libtorch computes on: as many as help, with room for the window and for whatever else the machine does.
//
// Used by engine/api when an engine is made, and by benchmarks. No torch in this header.
#pragma once

namespace winnow {

// All cores of a small machine, where each one counts; from four on all but one.
int threads_for(int cores);

// threads_for() this machine's physical cores that the process may run on, unless the user has set OMP_NUM_THREADS or MKL_NUM_THREADS. Once
// in a process: what is set later stands. Before libtorch computes on another thread.
void set_default_threads();

}  // namespace winnow
