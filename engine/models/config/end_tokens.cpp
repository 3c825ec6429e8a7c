#include "engine/models/config/end_tokens.h"

#include <array>
#include <optional>

#include "engine/base/error.h"
#include "engine/models/config/generation_defaults.h"

namespace winnow {
namespace {

// Tokens that templates of published models write after a turn.
constexpr auto kTurnEnds = std::to_array<std::string_view>(
    {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<end_of_utterance>", "</s>", "<end_of_turn>", "<turn|>", "<|end|>",
     "<|end_of_turn|>", "<|END_OF_TURN_TOKEN|>", "<|end_of_text|>", "<\uFF5Cend\u2581of\u2581sentence\uFF5C>"});

}  // namespace

std::vector<std::int64_t> configured_end_tokens(const ModelPackage& package, std::int64_t vocabulary) {
  constexpr const char* kKey = "eos_token_id";
  std::vector<std::int64_t> ids = read_generation_defaults(package, vocabulary).eos_token_ids;
  const ModelDocument* const config = package.document(ModelPart::kConfig);
  if (!ids.empty() || config == nullptr) return ids;
  const JsonObject root = config->root();
  ids = read_token_ids(root, kKey, vocabulary);
  for (const char* const text_model : {"text_config", "llm_config"}) {
    if (const std::optional<JsonObject> text = root.optional_object(text_model); text && ids.empty())
      ids = read_token_ids(*text, kKey, vocabulary);
  }
  return ids;
}

std::set<std::int64_t> read_end_tokens(const ModelPackage& package, const Tokenizer& tokenizer, std::int64_t vocabulary,
                                       const TurnTemplate& turns) {
  const std::vector<std::int64_t> configured = configured_end_tokens(package, vocabulary);
  std::set<std::int64_t> tokens(configured.begin(), configured.end());
  const auto add = [&](std::string_view token) {
    if (const auto id = tokenizer.token_id(token); id && !token.empty()) tokens.insert(*id);
  };
  add(turns.eos);
  if (read_generation_defaults(package, vocabulary).eos_token_ids.empty()) {
    for (const std::string_view end : kTurnEnds)
      if (turns.source.find(end) != std::string_view::npos) add(end);
  }
  if (tokens.empty() || turns.from == TemplateFrom::kFamily) {
    for (const std::string_view end : kTurnEnds) add(end);
  }
  if (tokens.empty())
    throw Exception(ErrorCode::kDamagedFile, package.path(),
                    "names no token that ends an answer (eos_token_id of generation_config.json or config.json)");
  return tokens;
}

}  // namespace winnow
