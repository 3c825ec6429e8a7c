#include "engine/generation/context/loaded_model.h"

#include <optional>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/model_files/open_package.h"
#include "engine/models/block_packing.h"
#include "engine/models/generation_defaults.h"
#include "engine/models/registry.h"
#include "engine/models/upcast_packing.h"

namespace winnow {
namespace {

// One token through a network reads every weight once, so half the bytes is nearly twice the speed, where the processor multiplies bf16.
bool cpu_multiplies_bf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

// Beside the weights: activations, features and a cache to work with.
constexpr std::uint64_t kWorkingBytes = std::uint64_t{1} << 30;

// Nothing: as stored.
std::optional<at::ScalarType> dtype_of(WeightFormat wanted, at::Device device) {
  if (wanted == WeightFormat::kFp32) return at::kFloat;
  if (wanted == WeightFormat::kBf16) return at::kBFloat16;
  if (!device.is_cpu()) return std::nullopt;
  return cpu_multiplies_bf16() ? at::kBFloat16 : at::kFloat;
}

struct ChosenDevice {
  at::Device device = at::kCPU;
  std::string note;  // why not the faster choice
};

std::shared_ptr<const MatrixPacking> packing_of(WeightFormat wanted, at::Device device) {
  if (wanted == WeightFormat::kInt8) return std::make_shared<BlockPacking>(PackedBits::kEight, device);
  if (wanted == WeightFormat::kInt4) return std::make_shared<BlockPacking>(PackedBits::kFour, device);
  return nullptr;
}

WeightPlan plan_of(WeightFormat wanted, at::Device device) {
  WeightPlan plan{dtype_of(wanted, device), packing_of(wanted, device)};
  // libtorch multiplies matrices of bf16 in a plain loop there, which makes a prompt take five times as long.
  if (wanted == WeightFormat::kBf16 && device.is_cpu() && !cpu_multiplies_bf16()) plan = {at::kFloat, std::make_shared<UpcastPacking>()};
  plan.matrices_as_stored = wanted == WeightFormat::kAuto || plan.packing != nullptr;
  plan.narrow_cache = device.is_cpu() && plan.matrices_as_stored;
  return plan;
}

ChosenDevice device_of(const LoadModel& request, const ModelPackage& package) {
  if (request.device == Device::kCpu) return {};
  const at::Device gpu(at::kCUDA, 0);
  if (request.device == Device::kCuda) {
    open_cuda();
    return {gpu, ""};
  }
  const CudaDevice* found = nullptr;
  try {
    found = &open_cuda();
  } catch (const Exception&) {
    return {};  // no GPU is the ordinary case and no news
  }
  const std::uint64_t needed = most_bytes_under(plan_of(request.format, gpu), package.tensors()) + kWorkingBytes;
  if (needed <= found->free_bytes) return {gpu, ""};
  return {at::kCPU, "the model needs " + std::to_string(needed >> 20) + " MiB and the " + found->name + " has " +
                        std::to_string(found->free_bytes >> 20) + " MiB free: it runs on the CPU"};
}

// What reads weights and tokenizers knows files, not what they are for.
ErrorCode model_code(ErrorCode code) {
  if (code == ErrorCode::kFileNotFound) return ErrorCode::kModelFileMissing;
  if (code == ErrorCode::kUnsupportedFormat) return ErrorCode::kModelFormat;
  return code;
}

std::unique_ptr<LoadedModel> read_package(const LoadModel& request, const std::shared_ptr<const ModelPackage>& package,
                                          const LoadHooks& hooks, const InterruptToken& interrupt) {
  auto loaded = std::make_unique<LoadedModel>();
  ModelSource source;
  source.package = package;
  source.projector = request.projector;
  const ChosenDevice chosen = device_of(request, *package);
  source.device = chosen.device;
  source.device_note = chosen.note;
  source.plan = plan_of(request.format, chosen.device);
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
  TemplateText text = package->chat_template(loaded->network->chat_template());
  const std::string_view own_template = loaded->network->own_chat_template();
  if (!own_template.empty()) text.source = own_template;
  loaded->thoughts = find_thought_tags(text.source, *loaded->tokenizer);
  loaded->chat_template = std::make_unique<ChatTemplate>(text.source, std::move(text.bos), std::move(text.eos), package->path());
  if (const std::string_view of_videos = loaded->network->video_chat_template(); !of_videos.empty())
    loaded->video_template = std::make_unique<ChatTemplate>(of_videos);
  const std::int64_t vocabulary = loaded->network->text().vocabulary();
  const GenerationDefaults defaults = read_generation_defaults(*package, vocabulary);
  loaded->stop_token_ids.insert(defaults.eos_token_ids.begin(), defaults.eos_token_ids.end());
  // Models that do not say, and those whose template is not what their files say: the end-of-turn tokens of the families' templates.
  for (const char* token : {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<end_of_utterance>", "</s>"}) {
    if (!defaults.eos_token_ids.empty() && own_template.empty()) break;
    if (const auto id = loaded->tokenizer->token_id(token)) loaded->stop_token_ids.insert(*id);
  }
  if (loaded->stop_token_ids.empty()) {
    throw Exception(ErrorCode::kDamagedFile, request.folder, "names no token that ends an answer (generation_config.json: eos_token_id)");
  }
  if (loaded->tokenizer->vocabulary_size() > vocabulary) {
    throw Exception(ErrorCode::kDamagedFile, request.folder + "/tokenizer.json", "has more tokens than the model's vocabulary");
  }
  return loaded;
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
  info.thinking_switch = model.chat_template->has_thinking_switch();
  info.thinks = model.thoughts && (model.thoughts->by_template || info.thinking_switch);
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
