// Media that come in clips and are held within a fixed number of slots: what later questions need is judged after every clip.
//
// self-study-stream: the model describes what is left of them (Winnow). kvzip-stream: it repeats the clip (after KVzip, arXiv 2505.23416);
// option proxy=text: only the request to describe votes; proxy=template: the template's text alone, StreamMem's rows (arXiv 2508.15717)
// without its prototypes and its filter of frames that are alike, and with heads that compete within a layer (there all have as many
// slots; compete=nobody). A slot keeps its best vote of all clips. infinipot-v: change over time, then values' norms; see
// scorers/temporal_change.h. Differences from the paper: keys keep their positions, no pooling of the norms (thresholds are not
// published), the last clip is compressed too, so that the slots are never exceeded: where a clip is above a quarter of them, as at small
// shares, every question sees 0.75 of them, the paper's target (option target=1: all of them).
#pragma once

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/method_options.h"

namespace winnow {

Composition self_study_stream(OptionReader& options);
MethodInfo self_study_stream_info();
Composition kvzip_stream(OptionReader& options);
MethodInfo kvzip_stream_info();
Composition infinipot_v(OptionReader& options);
MethodInfo infinipot_v_info();

}  // namespace winnow
