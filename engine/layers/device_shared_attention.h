// Decode attention over a layer with shared slots of a cache in GPU memory: one launch, or two if heads are long enough to be split or
// probabilities are requested.
//
// Called by device steps (engine/models/device_step.h). Runtime tokens (runtime_tokens.h) are computed on the host and copied to
// the device once a layer, and only after a table has changed; appending a token changes nothing. Needs the CUDA plug-in to be open. Engine
// thread. Errors: kIllegalRecipe if keys have to be rotated and the model's keys carry no rotation.
#pragma once

#include <ATen/ATen.h>

#include "engine/base/index.h"
#include "engine/kv_cache/kv_cache.h"
#include "engine/layers/device_probabilities.h"

namespace winnow {

// query, result: as device_decode_attention(). probabilities: if not null, filled per KV head with the attention to every runtime token.
at::Tensor device_shared_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, double scale,
                                   DeviceProbabilities* probabilities = nullptr);

}  // namespace winnow
