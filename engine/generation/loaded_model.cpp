#include "engine/generation/loaded_model.h"

#include "engine/base/error.h"
#include "engine/models/generation_defaults.h"
#include "engine/models/registry.h"

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

at::Device device_of(Device wanted) {
  if (wanted == Device::kCuda) {
    throw Exception(ErrorCode::kDeviceUnavailable, "cuda", "this build has no CUDA plug-in; use --device cpu");
  }
  return at::kCPU;
}

at::ScalarType dtype_of(WeightFormat wanted) {
  if (wanted == WeightFormat::kFp32) return at::kFloat;
  if (wanted == WeightFormat::kBf16) return at::kBFloat16;
  return cpu_multiplies_bf16() ? at::kBFloat16 : at::kFloat;
}

}  // namespace

std::unique_ptr<LoadedModel> load_folder(const LoadModel& request, const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                                         const InterruptToken& interrupt) {
  auto loaded = std::make_unique<LoadedModel>();
  ModelSource source;
  source.folder = request.folder;
  source.device = device_of(request.device);
  source.dtype = dtype_of(request.format);
  source.progress = [&](const WeightProgress& state) {
    progress(static_cast<std::uint64_t>(state.shards_started), static_cast<std::uint64_t>(state.shard_count));
  };
  source.interrupt = interrupt;
  loaded->network = load_model(source);
  loaded->tokenizer = Tokenizer::load(request.folder);
  loaded->chat_template = ChatTemplate::load(request.folder);
  const std::int64_t vocabulary = loaded->network->text().vocabulary();
  const GenerationDefaults defaults = load_generation_defaults(request.folder, vocabulary);
  loaded->stop_token_ids.insert(defaults.eos_token_ids.begin(), defaults.eos_token_ids.end());
  // Folders without generation_config.json: the end-of-turn tokens of the families' templates.
  for (const char* token : {"<|im_end|>", "<|endoftext|>", "</s>"}) {
    if (!defaults.eos_token_ids.empty()) break;
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

}  // namespace winnow
