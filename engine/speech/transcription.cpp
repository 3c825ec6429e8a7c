#include "engine/speech/transcription.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/weights/model_weights.h"

namespace winnow {
namespace {

constexpr double kSecondsPerTime = 0.02;
constexpr std::int64_t kFramesPerTime = 2;
constexpr std::int64_t kMostEqualLines = 2;  // in a row
constexpr const char* kEnglish = "en";
// Buffers of a window lie among lines that stay: the heap would grow by a quarter in an hour of sound.
constexpr std::int64_t kWindowsOfHeap = 10;

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// One sound on its way through the model.
class Listening {
 public:
  Listening(const SpeechModel& model, HeardSound& sound, const HearingSettings& settings, const TranscriptionHooks& hooks)
      : model_(model), config_(model.network->config()), sound_(sound), rules_(settings.rules), hooks_(hooks) {
    transcript.lines = settings.lines;
    for (const TimedLine& line : settings.lines) count(line.text);
  }

  // Chooses, or has to find out in the first window.
  void choose_language(const std::string& language) {
    if (language.empty()) return;
    const bool english_alone = config_.tokens.languages.empty() && language == kEnglish;
    if (!english_alone && !config_.tokens.language(language))
      throw Exception(ErrorCode::kInvalidArgument, language, "the speech model does not know this language");
    transcript.language = language;
  }

  // from_s: the end of a window, where it was broken off.
  void run(double from_s, const InterruptToken& interrupt) {
    std::int64_t seek = std::llround(from_s * kFramesPerSecond), windows = 0;
    while (true) {
      const auto stretch = std::ranges::find_if(sound_.spoken(), [&](const SpokenFrames& each) { return each.end > seek; });
      if (stretch == sound_.spoken().end()) break;
      seek = std::max(seek, stretch->begin);
      seek += hear_window(seek, spoken_until(seek) - seek, interrupt);
      if (++windows % kWindowsOfHeap == 0) ::malloc_trim(0);
      if (hooks_.heard) hooks_.heard(static_cast<double>(std::min(seek, sound_.frames())) / kFramesPerSecond, transcript.language);
    }
    if (transcript.language.empty()) transcript.language = config_.tokens.languages.empty() ? kEnglish : "";
  }

  Transcript transcript;

 private:
  // The end of the speech that begins in the window at `seek`.
  std::int64_t spoken_until(std::int64_t seek) const {
    const std::int64_t most = seek + config_.window_frames();
    std::int64_t until = seek;
    for (const SpokenFrames& each : sound_.spoken())
      if (each.begin < most && each.end > seek) until = std::min(each.end, most);
    return until;
  }

  std::int64_t hear_window(std::int64_t seek, std::int64_t frames, const InterruptToken& interrupt) {
    const at::Tensor features = sound_.window(seek, frames, config_.window_frames(), interrupt);
    WhisperModel::Window window(*model_.network, model_.network->encode(features, interrupt));
    const WindowTokens answer = decode_window(window, config_, prompt_of(window), rules_, interrupt);
    if (!answer.spoken) return frames;
    const WindowLines found = lines_of(answer.tokens, config_.tokens.first_time(), seek, frames);
    for (const SpokenLine& line : found.lines) keep(line);
    return found.frames;
  }

  std::vector<std::int64_t> prompt_of(WhisperModel::Window& window) {
    const WhisperTokens& tokens = config_.tokens;
    if (tokens.languages.empty()) return {tokens.start};
    if (transcript.language.empty()) {
      const std::int64_t id = spoken_language(window, tokens);
      transcript.language = std::ranges::find(tokens.languages, id, &std::pair<std::string, std::int64_t>::second)->first;
    }
    return {tokens.start, *tokens.language(transcript.language), tokens.transcribe};
  }

  bool is_spoken(const SpokenLine& line) const {
    return std::ranges::any_of(sound_.spoken(), [&](const SpokenFrames& each) {
      return line.start_s * kFramesPerSecond < static_cast<double>(each.end) &&
             line.end_s * kFramesPerSecond > static_cast<double>(each.begin);
    });
  }

  void count(const std::string& text) {
    equal_lines_ = text == last_text_ ? equal_lines_ + 1 : 1;
    last_text_ = text;
  }

  void keep(const SpokenLine& line) {
    const std::string text = trimmed(model_.tokenizer->decode(line.tokens, SpecialTokens::kSkip));
    if (text.empty() || !is_spoken(line)) return;
    count(text);
    if (equal_lines_ > kMostEqualLines) {
      ++transcript.repeated_lines;
      return;
    }
    transcript.lines.push_back({line.start_s, std::max(line.start_s, line.end_s), text});
    if (hooks_.line) hooks_.line(transcript.lines.back());
  }

  const SpeechModel& model_;
  const WhisperConfig& config_;
  HeardSound& sound_;
  const FallbackRules& rules_;
  const TranscriptionHooks& hooks_;
  std::string last_text_;
  std::int64_t equal_lines_ = 0;
};

}  // namespace

SpeechModel load_speech_model(const SpeechModelSource& source) {
  const WhisperConfig config = read_whisper_config(source.package);
  const TensorFiles& stored = source.package.tensors();
  ModelWeights files(stored, {});
  if (source.before_weights) source.before_weights(most_bytes_under(source.plan, stored));
  files.set_interrupt(source.interrupt);
  if (source.progress) files.set_progress(source.progress);
  WeightReader reader(files, source.plan, source.device);
  SpeechModel model;
  model.network = std::make_unique<WhisperModel>(config, reader);
  model.tokenizer = source.package.shared_tokenizer();
  model.dtype = reader.plan_name();
  return model;
}

WindowLines lines_of(std::span<const std::int64_t> tokens, std::int64_t first_time, std::int64_t from, std::int64_t frames) {
  const auto is_time = [&](std::size_t at) { return tokens[at] >= first_time; };
  const double offset_s = static_cast<double>(from) / kFramesPerSecond;
  const auto second_of = [&](std::int64_t token) { return offset_s + static_cast<double>(token - first_time) * kSecondsPerTime; };
  const auto words_of = [&](std::size_t begin, std::size_t end) {
    std::vector<std::int64_t> words;
    for (std::size_t at = begin; at < end; ++at)
      if (!is_time(at)) words.push_back(tokens[at]);
    return words;
  };
  std::vector<std::size_t> ends;  // behind the first of two times in a row
  for (std::size_t at = 0; at + 1 < tokens.size(); ++at)
    if (is_time(at) && is_time(at + 1)) ends.push_back(at + 1);
  const bool ends_once = tokens.size() >= 2 && !is_time(tokens.size() - 2) && is_time(tokens.size() - 1);
  WindowLines found;
  found.frames = frames;
  if (ends.empty()) {
    const auto last = std::ranges::find_if(tokens.rbegin(), tokens.rend(), [&](std::int64_t token) { return token >= first_time; });
    double end_s = offset_s + static_cast<double>(frames / kFramesPerTime) * kSecondsPerTime;
    if (last != tokens.rend() && *last != first_time) end_s = second_of(*last);
    found.lines.push_back({offset_s, end_s, words_of(0, tokens.size())});
    return found;
  }
  if (ends_once) ends.push_back(tokens.size());
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    found.lines.push_back({second_of(tokens[begin]), second_of(tokens[end - 1]), words_of(begin, end)});
    begin = end;
  }
  // The part behind the last complete line is heard again in the next window.
  if (!ends_once) found.frames = std::max<std::int64_t>(1, (tokens[begin - 1] - first_time) * kFramesPerTime);
  return found;
}

Transcript transcribe(const SpeechModel& model, SoundSource& sound, const HearingSettings& settings, const TranscriptionHooks& hooks,
                      const InterruptToken& interrupt) {
  HeardSound heard(sound, model.network->config().mel_bins, settings.voice, hooks.surveyed, interrupt);
  Listening listening(model, heard, settings, hooks);
  listening.choose_language(settings.language);
  listening.transcript.seconds = heard.seconds();
  listening.run(settings.heard_s, interrupt);
  return std::move(listening.transcript);
}

}  // namespace winnow
