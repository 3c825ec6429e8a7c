// FasterVLM. Zhang et al., "[CLS] Attention is All You Need for Training-Free Visual Token Pruning", arXiv 2412.01818; reference code
// Theia-4869/FasterVLM (llava/model/llava_arch.py).
//
// Before the decoder: the visual tokens that the vision encoder's class token attends most, in the layer whose features are used, make the
// prompt; positions are contiguous over the shorter prompt. Encoders without a class token (SigLIP): mean over all patches of the head
// mean. Where patches are pooled or scaled, their attention is so too. Newline embeddings stay. Deviation: a video competes as a whole,
// not frame by frame, because a frame of a few tokens cannot keep a tenth of them.
#include "engine/recipes/methods/method.h"
#include "engine/recipes/methods/shared_options.h"

namespace winnow {

namespace {

Composition fastervlm(OptionReader&) { return pruned({.judge = Pruning::Judge::kVision, .layer = 0}); }

}  // namespace

const Method kFastervlm{.name = "fastervlm", .title = "FasterVLM", .source = "Zhang et al., arXiv 2412.01818", .compose = fastervlm};

}  // namespace winnow
