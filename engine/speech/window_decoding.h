// The tokens of one window of sound: greedy, or sampled where that went wrong, under the rules of times.
//
// Used by transcription.h. Follows transformers' generate_with_fallback with logits processors in its order: suppressed tokens at the
// beginning, suppressed tokens, times (WhisperTimeStampLogitsProcessor: they come in pairs, never step back, the first within 1 s, and one
// is chosen where all together are likelier than the likeliest word). An answer that repeats itself (zlib shortens its tokens too well) or
// that the model itself holds unlikely is tried again at a higher temperature. Thresholds are those of transformers' documentation. Errors:
// Interrupted, between two tokens. Threads: engine thread, under c10::InferenceMode.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/speech/whisper_model.h"

namespace winnow {

struct FallbackRules {
  std::vector<double> temperatures = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
  double most_compression = 1.35;            // bytes of the tokens' ids ÷ zlib's bytes of them
  double least_mean_log_probability = -1.0;  // of tokens under the rules, the end included
  double most_no_speech = 0.6;               // probability of <|nospeech|>; an unlikely answer is then none
};

struct WindowTokens {
  std::vector<std::int64_t> tokens;  // without the prompt and the end
  double mean_log_probability = 0.0;
  double compression = 0.0;
  double no_speech = 0.0;
  double temperature = 0.0;
  bool spoken = true;  // false: nothing is said in this window
};

// prompt: begins with <|startoftranscript|>.
WindowTokens decode_window(WhisperModel::Window& window, const WhisperConfig& config, std::span<const std::int64_t> prompt,
                           const FallbackRules& rules, const InterruptToken& interrupt);

// The id of the most probable <|xx|>. The window is begun anew.
std::int64_t spoken_language(WhisperModel::Window& window, const WhisperTokens& tokens);

}  // namespace winnow
