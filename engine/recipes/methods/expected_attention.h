// Expected Attention. Devoto, Jeblick and Jegou, "Expected Attention: KV Cache Compression by Estimating Attention from Future Queries
// Distribution", arXiv 2510.00636; code NVIDIA/kvpress expected_attention_press.py.
//
// Later queries are taken to be distributed as the context's own, at the next `horizon` positions; a slot's score is what they are expected
// to take from it, (a + eps) norm(v) (statistics/expected_attention.h, scorers/expected_attention.h). Defaults of the paper: eps 0.02,
// horizon 512. Every head keeps the same number; the paper's competition of a layer's heads is compete=layer with a floor of 0.2.
// Deviations: only the media compete, once, before the question; what comes before them is the sink and always stays. On a VLM the queries
// that are known are those of pictures, and later ones are words: stats=request takes those of the words that ask for a description (or of
// ask), stats=answer those of the model's answer as well, read once behind the media and forgotten (methods-conversation 12, choice 11).
// These two alone have the options ask and answer.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition expected_attention(OptionReader& options);
MethodInfo expected_attention_info();

}  // namespace winnow
