// MEDA. Wan et al., "MEDA: Dynamic KV Cache Allocation for Efficient Multimodal Long-Context Inference", NAACL 2025, arXiv 2502.17599:
// cross-modal entropy (equations 4-6), budgets (7), text prior (8-10), average merge (12); code AIoT-MLSys-Lab/MEDA
// (v433_modeling_dynamic_llama.py).
//
// Budgets: softmax over layers of E_TV + E_VT. Score: column sums of all rows, text columns + the largest sum; half of a layer's budget
// are its most recent tokens. Every evicted pair is averaged into the kept pair with the most similar key.
// recent_share=0.5 is what MEDA's and LOOK-M's released scripts run (recent and important 1:1), which made the tables. The paper's text
// (4.4) has 3:1, recent_share=0.75; D2O, by the same first author, prints 3:1 the other way round. Options against the released code:
// entropy=full_attention (what its shipped path computes), text_policy=hard (text is never evicted), merge=pivot. Deviations: index ranges
// of E_VT as its name says (printed with those of E_TV); system tokens count as text; the total is exact (faithful_clip: shares clipped to
// [0.01, 1] as in the code); without one modality the full-attention entropy decides; the event comes before the first decode step; the
// code's mixing of filtered targets with unfiltered sources is not reproduced.
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition meda(OptionReader& options);
MethodInfo meda_info();

}  // namespace winnow
