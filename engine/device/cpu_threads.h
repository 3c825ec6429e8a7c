// How many threads libtorch uses: as many as speed it up, leaving room for the window and other programs.
//
// Used by engine/api when an engine is made, and by benchmarks. No torch in this header.
#pragma once

namespace winnow {

// All cores of a machine with up to three; from four on all but one.
int threads_for(int cores);

// Uses threads_for() the physical cores that the process may run on, unless the user has set OMP_NUM_THREADS or MKL_NUM_THREADS. Acts once
// a process, so later settings stand. Call before libtorch computes on another thread.
void set_default_threads();

}  // namespace winnow
