// The time that a frame of a video will take from pixels to rows of the decoder, before any was encoded.
//
// Used by loaded_model.h for the number of frames that a video begins with. On the CPU: the encoder's products by the speed of one product
// of libtorch, which is measured (some 20 ms). A guess: attention, norms and packed matrices differ by up to two times.
// Engine thread only.
#pragma once

#include "engine/models/vision_language_model.h"

namespace winnow {

// 0: it sees no videos, or does not compute on the CPU.
double expected_frame_ms(const VisionLanguageModel& model);

}  // namespace winnow
