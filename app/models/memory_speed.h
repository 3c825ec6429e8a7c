// How many bytes of memory this machine reads in a second: the bound on how fast a model writes without a GPU, since every token reads the
// weights once.
//
// Used by model_shelf.h and the terminal program, for which of the known models answers soon here. Reads 256 MiB on all cores: a tenth of a
// second, more on a busy machine, whose other programs hardly change the result. 0: there is no memory for it. Threads: any.
#pragma once

namespace winnow::app {

double memoryBytesPerSecond();

}  // namespace winnow::app
