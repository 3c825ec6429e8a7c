// How many bytes of memory this machine reads in a second: the bound on how fast a model writes without a GPU, since every token reads the
// weights once.
//
// Used by model_shelf.h and the terminal program, for which of the known models answers soon here. Reads 128 MiB on all cores: a tenth of a
// second on a quiet machine. What other programs read meanwhile is missing from the result. 0: there is no memory for it. Threads: any.
#pragma once

namespace winnow::app {

double memoryBytesPerSecond();

}  // namespace winnow::app
