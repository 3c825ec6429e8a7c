// A model's need of this machine's memory or its GPU's, computed before it is loaded, where it fits, and how fast the machine reads its
// memory.
//
// Used by the terminal program's list and the table of known models. The need is a sum of four parts; what it leaves out (activations of
// the vision encoder, copies while loading) is some tenth of the weights, which is added. Measured against real files in
// tests/app/library/models/memory_need_test.cpp; what a GPU needs is computed, not measured. No errors. Threads: any.
#pragma once

#include <QtGlobal>

#include "engine/api/model_summary.h"

namespace winnow::app {

struct MemoryNeed {
  qint64 weights = 0;  // as they are held, with what goes on beside them; quantised ones stay in their blocks on a GPU, too
  qint64 cache = 0;    // K and V of the tokens
  qint64 program = 0;  // libtorch and the rest of Winnow, which stay in the machine's memory
  qint64 states = 0;   // of layers that keep one of fixed size

  qint64 total() const { return weights + cache + program + states; }
  qint64 totalOnGpu() const { return weights + cache + states + kGpuWorkingBytes; }
};

// weightBytes: of all files that are loaded, the vision encoder's too.
MemoryNeed memoryNeed(qint64 weightBytes, qint64 kvBytesPerToken, qint64 tokens);
// For a conversation of the usual length (engine/models/config/told_cache.h), by which the engine chooses a device, too.
MemoryNeed memoryNeed(const ModelSummary& model);

// The memory that a model can be in.
struct MachineMemory {
  qint64 bytes = 0;             // of the machine; 0: not known, everything fits
  qint64 gpuBytes = 0;          // of the GPU that Winnow uses; 0: it uses none
  double bytesPerSecond = 0.0;  // of the machine's, read by all cores; 0: not measured

  // The larger one, for callers that know no more of a model than the size of its files; 0: not known.
  qint64 largest() const;
};

enum class ModelFit : int {
  kMemory = 1,      // into the machine's memory; it has no GPU
  kGpu = 2,         // into the GPU's: it answers there
  kMemoryOnly = 3,  // into the machine's, not the GPU's: the processor answers
  kNowhere = 4,
};

// Memory taken by other programs is left to them.
ModelFit modelFit(const MemoryNeed& need, const MachineMemory& memory);

// How many bytes of memory this machine reads in a second: the bound on how fast a model writes without a GPU, since every token reads the
// weights once.
//
// Reads 128 MiB on all cores: a tenth of a second on a quiet machine. What other programs read meanwhile is missing from the result. 0:
// there is no memory for it.
double memoryBytesPerSecond();

}  // namespace winnow::app
