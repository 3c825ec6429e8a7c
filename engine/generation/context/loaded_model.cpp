#include "engine/generation/context/loaded_model.h"

#include <algorithm>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/model_files/open_package.h"
#include "engine/models/config/end_tokens.h"
#include "engine/models/config/told_cache.h"
#include "engine/models/device_choice.h"
#include "engine/models/registry.h"
#include "engine/models/weights/weight_format.h"

namespace winnow {
namespace {

// Readers of weights and tokenizers know files, not what they are for.
ErrorCode model_code(ErrorCode code) {
  if (code == ErrorCode::kFileNotFound) return ErrorCode::kModelFileMissing;
  if (code == ErrorCode::kUnsupportedFormat) return ErrorCode::kModelFormat;
  return code;
}

// Loading names what it refuses by itself.
ToldCache cache_of(const ModelPackage& package) {
  try {
    return told_cache(package.required(ModelPart::kConfig).root());
  } catch (const Exception&) {
    return {};
  }
}

std::unique_ptr<LoadedModel> read_package(const LoadModel& request, const std::shared_ptr<const ModelPackage>& package,
                                          const LoadHooks& hooks, const InterruptToken& interrupt) {
  auto loaded = std::make_unique<LoadedModel>();
  ModelSource source{.package = package, .projector = request.projector};
  const DeviceChoice choice = choose_device(request.device, request.format, package->tensors(), cache_of(*package));
  source.device = choice.device;
  source.device_note = choice.note;
  source.plan = weights_as(request.format, request.vision, choice.device);
  source.before_weights = [&](std::uint64_t bytes) {
    if (hooks.make_room) hooks.make_room(bytes, source.device.is_cpu() ? MemoryOf::kMachine : MemoryOf::kGpu);
  };
  source.progress = [&](const WeightProgress& state) {
    if (hooks.progress) hooks.progress(state.read_bytes, state.total_bytes);
  };
  source.interrupt = interrupt;
  loaded->files.assign(package->tensors().files.begin(), package->tensors().files.end());
  loaded->network = load_model(source);
  loaded->require_unchanged();  // while they were read, which takes minutes from a slow disk
  loaded->tokenizer = package->shared_tokenizer();
  TemplateText text = package->chat_template(loaded->network->prompt().chat_template);
  const std::string& own_template = loaded->network->prompt().own_template;
  if (!own_template.empty()) text.source = own_template;
  loaded->thoughts = find_thought_tags(text.source, *loaded->tokenizer);
  const std::int64_t vocabulary = loaded->network->text().vocabulary();
  const TemplateFrom from = own_template.empty() ? TemplateFrom::kFiles : TemplateFrom::kFamily;
  loaded->stop_token_ids = read_end_tokens(*package, *loaded->tokenizer, vocabulary, {text.source, text.eos, from});
  loaded->chat_template = std::make_unique<ChatTemplate>(text.source, std::move(text.bos), std::move(text.eos), package->path());
  if (const std::string_view of_videos = loaded->network->prompt().video_template; !of_videos.empty())
    loaded->video_template = std::make_unique<ChatTemplate>(of_videos);
  if (loaded->tokenizer->vocabulary_size() > vocabulary) {
    throw Exception(ErrorCode::kDamagedFile, request.folder + "/tokenizer.json", "has more tokens than the model's vocabulary");
  }
  return loaded;
}

// Multiply-adds a millisecond.
double product_speed(at::ScalarType type) {
  constexpr std::int64_t kRows = 256;
  constexpr std::int64_t kSide = 1024;
  constexpr int kTries = 4;  // the first one prepares the kernels
  const at::Tensor input = at::ones({kRows, kSide}, type);
  const at::Tensor matrix = at::ones({kSide, kSide}, type);
  double ms = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const Stopwatch watch;
    at::linear(input, matrix);
    ms = std::min(ms, watch.elapsed_ms());
  }
  return static_cast<double>(kRows * kSide * kSide) / std::max(ms, 1e-3);
}

// Counts patches of 14 x 14 pixels, as most encoders have them, in a frame of a usual shape.
double patches_of_a_frame(const VisionLanguageModel& model) {
  constexpr double kNumbersOfPatch = 3 * 14 * 14;
  const std::int64_t frames = model.info().traits.joined_frames;
  MediaFacts facts{.kind = MediaKind::kVideo, .picture = {640, 360}, .frames = frames, .duration_s = static_cast<double>(frames)};
  for (std::int64_t i = 0; i < frames; ++i) facts.times_s.push_back(static_cast<double>(i));
  const RgbImage grey{640, 360, std::vector<std::uint8_t>(std::size_t{3} * 640 * 360, 128)};
  const std::vector<RgbImage> pictures(static_cast<std::size_t>(frames), grey);
  // Joined frames are seen in one pass.
  return static_cast<double>(model.preprocess(facts, pictures).pixels.numel()) / kNumbersOfPatch / static_cast<double>(frames * frames);
}

// The time that a frame of a video will take from pixels to rows of the decoder, before any was encoded: the encoder's products by the
// speed of one product of libtorch, which is measured (some 20 ms). A guess: attention, norms and packed matrices differ by up to two
// times. 0: it sees no videos, or does not compute on the CPU.
double expected_frame_ms(const VisionLanguageModel& model) {
  constexpr double kBesideProducts = 1.4;  // attention, norms and activations, measured on SigLIP so400m
  const ModelInfo& info = model.info();
  if (!info.traits.sees || !info.traits.reads_videos || info.vision_products == 0 || info.device != "cpu") return 0.0;
  const double products = static_cast<double>(info.vision_products) * patches_of_a_frame(model);
  return kBesideProducts * products / product_speed(model.text().kv_shape().dtype);
}

}  // namespace

void LoadedModel::require_unchanged() const {
  for (const std::weak_ptr<const TensorFile>& each : files) {
    const std::shared_ptr<const TensorFile> file = each.lock();
    if (file && file->changed())
      throw Exception(ErrorCode::kModelFileChanged, file->path(),
                      "another program changed the file after it was opened: the model has to be loaded again");
  }
}

ModelInfo model_info(const LoadedModel& model) {
  ModelInfo info = model.network->info();
  info.frame_ms = info.device == "cpu" && model.speed.ms_per_frame > 0.0 ? model.speed.ms_per_frame : expected_frame_ms(*model.network);
  info.thinking_switch = model.chat_template->has_thinking_switch();
  // Tokens for an answer behind a thought are a thinking model's; those for thoughts alone are others', too.
  info.thinks = model.thoughts && (model.thoughts->by_template || info.thinking_switch || !model.thoughts->tags.answer_begin.empty());
  return info;
}

std::string speed_key(const ModelInfo& model) {
  return model.name + " " + std::to_string(model.parameter_count) + " " + model.dtype + " " + model.device;
}

std::unique_ptr<LoadedModel> load_folder(const LoadModel& request, const LoadHooks& hooks, const InterruptToken& interrupt) {
  try {
    return read_package(request, open_package(request.folder, request.projector), hooks, interrupt);
  } catch (const Exception& exception) {
    const Error& error = exception.error();
    // A tensor is named by its name alone: it is in this folder.
    const bool of_a_tensor = error.code == ErrorCode::kDamagedFile && error.subject.find('/') == std::string::npos;
    if (of_a_tensor && error.subject != request.folder) throw Exception(error.code, request.folder, error.subject + ": " + error.reason);
    throw Exception(model_code(error.code), error.subject, error.reason);
  }
}

}  // namespace winnow
