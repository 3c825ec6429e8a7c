// Random eviction: the control. Any method that does not beat it says nothing; report the mean over at least three seeds.
//
// kept = the last token + the highest hashes of (seed, layer, kv head, original token index). No paper.
#pragma once

#include <cstdint>

#include "engine/compression/composition.h"
#include "engine/compression/method_info.h"

namespace winnow {

struct RandomOptions {
  std::uint64_t seed = 0;
  bool same_all_layers = false;
};

Composition compose_random(const RandomOptions& options = {});
MethodInfo random_info();

}  // namespace winnow
