// KVzip: what the model looks at when it repeats the media is kept for every later question.
//
// Kim et al., NeurIPS 2025, arXiv 2505.23416, sections 3.1 to 3.3 and Algorithm 1; code snu-mllab/KVzip. On a VLM, which is not trained to
// emit visual embeddings, heads compete within a layer by default (compete=layer) and not over the whole cache as the paper has it
// (compete=all). Further: the request says "video" or "image", the template's own line feeds stand before it (the code: two always), the
// whole lead is in the restricted softmax, the best slots are taken exactly (the code: those above the threshold), chunks end with a frame.
// KVzip+ weighs the probabilities by norms: arXiv 2601.07891, section 3.1 (kvpress, kvzap_press.py). All of its heads compete, a fifth of
// an equal share apart (floor=0.2), which a language model's text needs; the demo world's pictures would do better within layers.
// kvzip-head runs nothing: each head's largest score over calibration media, measured beforehand (option head_scores, or
// "kvzip_head_scores" in the model's winnow.json; the paper takes an English book), says which heads keep the media whole; the others keep
// only what is around them (sections 3 and 4.2; 0.6 of the heads is recommended there).
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition kvzip(OptionReader& options);
MethodInfo kvzip_info();
Composition kvzip_plus(OptionReader& options);
MethodInfo kvzip_plus_info();
Composition kvzip_head(OptionReader& options);
MethodInfo kvzip_head_info();

}  // namespace winnow
