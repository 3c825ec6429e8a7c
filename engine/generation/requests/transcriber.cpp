#include "engine/generation/requests/transcriber.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/device/free_memory.h"
#include "engine/model_files/open_package.h"
#include "engine/models/device_choice.h"
#include "engine/models/weights/weight_format.h"
#include "engine/speech/transcription.h"

namespace winnow {

struct Transcriber::Loaded {
  std::string folder;
  Device device = Device::kAuto;
  WeightFormat format = WeightFormat::kAuto;
  std::unique_ptr<ModelPackage> package;  // weights may be read from its files
  SpeechModel model;
};

namespace {

// In 8 bits on a CPU where nothing else is asked for: nearly twice as fast as fp32, with as few wrong words (engine/speech/README.md).
WeightPlan plan_of(WeightFormat wanted, at::Device device) {
  const WeightFormat format = wanted == WeightFormat::kAuto && device.is_cpu() ? WeightFormat::kInt8 : wanted;
  WeightPlan plan = weights_as(format, format == WeightFormat::kInt8 ? VisionFormat::kInt8 : VisionFormat::kAuto, device);
  if (format != WeightFormat::kBf16 && device.is_cpu()) plan.arithmetic = at::kFloat;
  return plan;
}

}  // namespace

Transcriber::Transcriber() = default;
Transcriber::~Transcriber() = default;

void Transcriber::forget() { loaded_.reset(); }

const Transcriber::Loaded& Transcriber::loaded(const Transcribe& request, const EmitEvent& emit, const InterruptToken& interrupt) {
  const bool there = loaded_ && loaded_->folder == request.model && loaded_->device == request.device && loaded_->format == request.format;
  if (there) return *loaded_;
  loaded_.reset();
  auto fresh = std::make_unique<Loaded>(Loaded{request.model, request.device, request.format, open_package(request.model), {}});
  const at::Device device = choose_device(request.device, request.format, fresh->package->tensors(), {}).device;
  const MemoryOf memory = device.is_cpu() ? MemoryOf::kMachine : MemoryOf::kGpu;
  SpeechModelSource source{*fresh->package, device, plan_of(request.format, device), {}, {}, interrupt};
  source.before_weights = [&](std::uint64_t bytes) {
    room_for_model(bytes, static_cast<std::uint64_t>(free_memory_bytes(memory)), 0, request.model);
  };
  source.progress = [&](const WeightProgress& read) { emit(Progress{Phase::kLoadWeights, read.read_bytes, read.total_bytes}); };
  fresh->model = load_speech_model(source);
  loaded_ = std::move(fresh);
  return *loaded_;
}

Transcribed Transcriber::run(const Transcribe& request, MediaOpener* opener, const EmitEvent& emit, const InterruptToken& interrupt) {
  if (opener == nullptr) throw Exception(ErrorCode::kInvalidArgument, request.path, "there is nothing that opens media");
  const std::unique_ptr<SoundSource> sound = opener->open_sound({request.path, request.content}, interrupt);
  if (!request.content.empty() && sound->content_hash() != request.content)
    throw Exception(ErrorCode::kMediaChanged, request.path, "this is not the file that was attached: its bytes have changed");
  const Loaded& speech = loaded(request, emit, interrupt);
  std::optional<VoiceActivity> voice;
  if (!request.voice.empty()) voice.emplace(request.voice);
  const Stopwatch watch;
  Transcribed result;
  result.model = speech.package->name() + ", " + speech.model.dtype;
  result.lines = request.lines;
  LinesHeard so_far{0.0, request.heard_s, sound->duration_s(), {}, request.language};
  const auto tell = [&] {
    emit(so_far);
    so_far.lines.clear();
  };
  TranscriptionHooks hooks;
  hooks.surveyed = [&](double seconds) {
    so_far.read_s = seconds;
    so_far.sound_s = std::max(so_far.sound_s, seconds);
    tell();
  };
  hooks.heard = [&](double seconds, const std::string& language) {
    so_far.heard_s = seconds;
    so_far.language = language;
    so_far.sound_s = so_far.read_s;
    tell();
  };
  hooks.line = [&](const TimedLine& line) {
    so_far.lines.push_back(line);
    result.lines.push_back(line);
  };
  try {
    const HearingSettings settings{voice ? &*voice : nullptr, request.language, {}, request.heard_s, request.lines};
    const Transcript transcript = transcribe(speech.model, *sound, settings, hooks, interrupt);
    result.language = transcript.language;
    result.repeated_lines = transcript.repeated_lines;
    result.heard_s = transcript.seconds;
  } catch (const Interrupted& interrupted) {
    if (interrupted.kind() != Interrupt::kStop || result.lines.empty()) throw;
    result.stopped = true;
    result.heard_s = so_far.heard_s;
  }
  result.sound_s = so_far.read_s;
  result.elapsed_ms = watch.elapsed_ms();
  return result;
}

}  // namespace winnow
