// Runs independent work for the heads of some layers on the engine's threads.
//
// Used by device_decode_attention.h and by the decode policies of engine/compression.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/device/work_team.h"

namespace winnow {

// Calls work(head) for every head of [0, heads), on any thread. tokens: about as many as a head has; short work is not shared, because
// waking a thread takes longer.
template <class Work>
void for_heads(std::int64_t heads, std::int64_t tokens, const Work& work) {
  constexpr std::int64_t kGrainTokens = 8192;
  share_work(heads, std::max<std::int64_t>(1, kGrainTokens / std::max<std::int64_t>(1, tokens)), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t head = begin; head < end; ++head) work(head);
  });
}

}  // namespace winnow
