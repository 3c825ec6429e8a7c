// decode_attention() for a layer with shared slots of a cache in the memory of a GPU: one launch, or two where heads are long enough to be
// split or somebody wants probabilities.
//
// Called by decode_attention.h only, which has checked the shapes. What tokens share (runtime_tokens.h) is made on the host and copied to
// the device, once for the layer, only when a table has changed: a token that was appended changes nothing. Needs the CUDA plug-in to be
// open. Engine thread. Errors: kIllegalRecipe where keys are to be rotated and the model's carry no rotation.
#pragma once

#include <ATen/ATen.h>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/device_probabilities.h"

namespace winnow {

// probabilities: if not null, per KV head the attention to every runtime token.
at::Tensor device_shared_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, double scale,
                                   DeviceProbabilities* probabilities = nullptr);

}  // namespace winnow
