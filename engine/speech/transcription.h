// A sound's words as lines with times: the whole way from samples to text.
//
// Used by engine/api for Transcribe. Windows of 30 s begin where the last complete line ended, as in transformers' long form without
// conditioning on earlier text. With voice activity a window begins where somebody speaks and ends where the last one in it stops, and
// lines that lie in silence are left out. The third of equal lines in a row, and those behind it, are cut and counted. The language of
// several is that of the first window. What was broken off goes on at the same window, and has the same lines. Errors: Exception;
// kInvalidArgument for a language that the model lacks; Interrupted, with the lines so far told. Threads: engine thread, under
// c10::InferenceMode.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/media/sound_source.h"
#include "engine/media/timed_line.h"
#include "engine/models/weights/weight_plan.h"
#include "engine/speech/heard_sound.h"
#include "engine/speech/voice_activity.h"
#include "engine/speech/whisper_model.h"
#include "engine/speech/window_decoding.h"
#include "engine/text/tokenizer.h"

namespace winnow {

struct SpeechModel {
  std::unique_ptr<const WhisperModel> network;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string dtype;  // as ModelInfo::dtype
};

struct SpeechModelSource {
  const ModelPackage& package;
  at::Device device = at::kCPU;
  WeightPlan plan;
  std::function<void(std::uint64_t bytes)> before_weights;  // as ModelSource's
  std::function<void(const WeightProgress&)> progress;      // may be empty
  InterruptToken interrupt;
};

SpeechModel load_speech_model(const SpeechModelSource& source);

// Called while a sound is heard; each may be empty.
struct TranscriptionHooks {
  std::function<void(double seconds)> surveyed;  // read for the first time
  std::function<void(double seconds, const std::string& language)> heard;
  std::function<void(const TimedLine&)> line;
};

struct Transcript {
  std::vector<TimedLine> lines;
  std::string language;             // "en"
  double seconds = 0.0;             // of the sound
  std::int64_t repeated_lines = 0;  // that were cut
};

// A line's tokens, without its times, and its place in the sound.
struct SpokenLine {
  double start_s = 0.0;
  double end_s = 0.0;
  std::vector<std::int64_t> tokens;
};

// The lines of a window, and how many frames are done with: transformers' _retrieve_segment. frames: of the window; from: its first one.
struct WindowLines {
  std::vector<SpokenLine> lines;
  std::int64_t frames = 0;
};
WindowLines lines_of(std::span<const std::int64_t> tokens, std::int64_t first_time, std::int64_t from, std::int64_t frames);

struct HearingSettings {
  VoiceActivity* voice = nullptr;  // null: all is decoded
  std::string language{};          // empty: the sound's own
  FallbackRules rules{};
  double heard_s = 0.0;            // told to TranscriptionHooks::heard before; it goes on there
  std::vector<TimedLine> lines{};  // and these
};

Transcript transcribe(const SpeechModel& model, SoundSource& sound, const HearingSettings& settings, const TranscriptionHooks& hooks,
                      const InterruptToken& interrupt);

}  // namespace winnow
