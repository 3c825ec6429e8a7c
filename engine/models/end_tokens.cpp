#include "engine/models/end_tokens.h"

#include "engine/base/error.h"
#include "engine/models/generation_defaults.h"

namespace winnow {

std::set<std::int64_t> read_end_tokens(const ModelPackage& package, const Tokenizer& tokenizer, std::int64_t vocabulary,
                                       TemplateFrom from) {
  const GenerationDefaults defaults = read_generation_defaults(package, vocabulary);
  std::set<std::int64_t> tokens(defaults.eos_token_ids.begin(), defaults.eos_token_ids.end());
  if (tokens.empty() || from == TemplateFrom::kFamily) {
    for (const char* token : {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<end_of_utterance>", "</s>"}) {
      if (const auto id = tokenizer.token_id(token)) tokens.insert(*id);
    }
  }
  if (tokens.empty())
    throw Exception(ErrorCode::kDamagedFile, package.path(), "names no token that ends an answer (generation_config.json: eos_token_id)");
  return tokens;
}

}  // namespace winnow
