// What a model needs of this machine's memory, computed before it is loaded.
//
// Used by the terminal program's list and the table of known models. A sum of four parts; what it leaves out (activations of the vision
// encoder, copies while loading) is some tenth of the weights, which is added. Measured against real files in
// tests/app/models/model_care_test.cpp. No errors. Threads: any.
#pragma once

#include <QtGlobal>

#include "engine/api/model_summary.h"

namespace winnow::app {

// Before a video is compressed all of its tokens are in the cache.
inline constexpr qint64 kUsualTokens = 8192;

struct MemoryNeed {
  qint64 weights = 0;  // as they are held, with what goes on beside them
  qint64 cache = 0;    // K and V of the tokens
  qint64 program = 0;  // libtorch and the rest of Winnow
  qint64 states = 0;   // of layers that keep one of fixed size

  qint64 total() const { return weights + cache + program + states; }
};

// weightBytes: of all files that are loaded, the vision encoder's too.
MemoryNeed memoryNeed(qint64 weightBytes, qint64 kvBytesPerToken, qint64 tokens);
// For a conversation of kUsualTokens, or of as many as the model takes.
MemoryNeed memoryNeed(const ModelSummary& model);

// memoryBytes: of the machine; 0: not known, everything fits.
bool fitsMemory(const MemoryNeed& need, qint64 memoryBytes);

}  // namespace winnow::app
