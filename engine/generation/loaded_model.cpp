#include "engine/generation/loaded_model.h"

#include "engine/base/error.h"
#include "engine/models/generation_defaults.h"
#include "engine/models/registry.h"

namespace winnow {

std::unique_ptr<LoadedModel> load_folder(const LoadModel& request, const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                                         const InterruptToken& interrupt) {
  auto loaded = std::make_unique<LoadedModel>();
  loaded->network = load_model(request.folder, request.device, request.format, progress, interrupt);
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
