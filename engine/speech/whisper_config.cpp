#include "engine/speech/whisper_config.h"

#include <algorithm>
#include <string_view>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"

namespace winnow {
namespace {

constexpr const char* kArchitecture = "WhisperForConditionalGeneration";
constexpr std::int64_t kMostPositions = 1 << 14;
constexpr std::int64_t kMostMelBins = 256;
constexpr std::size_t kMostSuppressed = 4096;
constexpr std::size_t kLongestLanguage = 4;  // letters of a code: "yue", "haw"

WhisperBlocks read_blocks(const JsonObject& root, const std::string& side) {
  WhisperBlocks blocks;
  blocks.layers = root.integer((side + "_layers").c_str(), 1, kMaxLayers);
  blocks.heads = root.integer((side + "_attention_heads").c_str(), 1, kMaxHeads);
  blocks.intermediate = root.integer((side + "_ffn_dim").c_str(), 1, kMaxIntermediate);
  return blocks;
}

void require_exact_shape(const JsonObject& root, const WhisperConfig& config) {
  if (config.encoder.heads != config.decoder.heads || config.width % config.encoder.heads != 0)
    root.refuse(ErrorCode::kDamagedFile, "encoder_attention_heads", "does not divide d_model, or differs from the decoder's");
  if (root.boolean("scale_embedding", false)) unsupported(root, "scale_embedding", "scaled embeddings are not implemented");
  if (read_activation(root, "activation_function", "gelu") != Activation::kGelu)
    unsupported(root, "activation_function", "is not the exact gelu");
}

std::vector<std::int64_t> read_suppressed(const ModelPackage& package, const char* key, std::int64_t vocabulary) {
  for (const ModelPart part : {ModelPart::kGeneration, ModelPart::kConfig}) {
    const ModelDocument* const document = package.document(part);
    if (document == nullptr || !document->root().says(key)) continue;
    if (!document->root().has(key)) return {};
    std::vector<std::int64_t> ids = document->root().integers(key, -1, vocabulary - 1, kMostSuppressed);
    std::erase(ids, -1);
    return ids;
  }
  return {};
}

// <|xx|> between the first token and the tasks. Vocabularies of .en have them, too, and never write them.
std::vector<std::pair<std::string, std::int64_t>> languages_between(const TokenizerFile& file, std::int64_t first, std::int64_t last) {
  std::vector<std::pair<std::string, std::int64_t>> languages;
  for (const AddedToken& token : file.added_tokens) {
    const std::string_view text = token.content;
    if (token.id <= first || token.id >= last || !text.starts_with("<|") || !text.ends_with("|>")) continue;
    const std::string_view code = text.substr(2, text.size() - 4);
    if (!code.empty() && code.size() <= kLongestLanguage) languages.emplace_back(code, token.id);
  }
  std::ranges::sort(languages, {}, &std::pair<std::string, std::int64_t>::second);
  return languages;
}

WhisperTokens read_tokens(const ModelPackage& package, std::int64_t vocabulary) {
  const std::shared_ptr<const Tokenizer> tokenizer = package.shared_tokenizer();
  const auto required = [&](std::string_view text) {
    const std::int64_t id = tokenizer->token_id(text).value_or(-1);
    if (id < 0 || id >= vocabulary)
      throw Exception(ErrorCode::kDamagedFile, package.path(), "its tokenizer has no " + std::string(text) + " within the vocabulary");
    return id;
  };
  WhisperTokens tokens;
  tokens.start = required("<|startoftranscript|>");
  tokens.end = required("<|endoftext|>");
  tokens.no_timestamps = required("<|notimestamps|>");
  if (tokens.first_time() >= vocabulary || tokens.no_timestamps < 1 || tokens.end > tokens.no_timestamps)
    throw Exception(ErrorCode::kDamagedFile, package.path(), "its vocabulary has no times");
  const ModelDocument* const generation = package.document(ModelPart::kGeneration);
  // Models of English alone have one id less, or say so.
  constexpr std::int64_t kEnglishVocabulary = 51'864;
  const bool several = generation != nullptr && generation->root().has("is_multilingual") ? generation->root().boolean("is_multilingual")
                                                                                          : vocabulary > kEnglishVocabulary;
  if (several) {
    tokens.transcribe = required("<|transcribe|>");
    tokens.languages = languages_between(package.tokenizer(), tokens.start, std::min(tokens.transcribe, required("<|translate|>")));
  }
  tokens.suppressed = read_suppressed(package, "suppress_tokens", vocabulary);
  tokens.suppressed_first = read_suppressed(package, "begin_suppress_tokens", vocabulary);
  if (generation != nullptr)
    tokens.latest_first_time = generation->root().integer("max_initial_timestamp_index", 0, kMostPositions, tokens.latest_first_time);
  return tokens;
}

}  // namespace

std::optional<std::int64_t> WhisperTokens::language(std::string_view code) const {
  const auto found = std::ranges::find(languages, code, &std::pair<std::string, std::int64_t>::first);
  return found == languages.end() ? std::nullopt : std::optional(found->second);
}

bool is_whisper(const JsonObject& config) {
  if (config.string("model_type", kMaxNameBytes, "") == "whisper") return true;
  if (!config.has("architectures") || !config.value("architectures").is_array()) return false;
  const Json& names = config.value("architectures");
  return !names.empty() && names.front() == kArchitecture;
}

WhisperConfig read_whisper_config(const ModelPackage& package) {
  const JsonObject root = package.required(ModelPart::kConfig).root();
  if (!is_whisper(root))
    throw Exception(ErrorCode::kUnsupportedModel, package.path(), std::string("hears nothing: it is no ") + kArchitecture);
  WhisperConfig config;
  config.width = root.integer("d_model", 1, kMaxHidden);
  config.encoder = read_blocks(root, "encoder");
  config.decoder = read_blocks(root, "decoder");
  config.mel_bins = root.integer("num_mel_bins", 1, kMostMelBins, config.mel_bins);
  config.source_positions = root.integer("max_source_positions", 2, kMostPositions, config.source_positions);
  config.target_positions = root.integer("max_target_positions", 8, kMostPositions, config.target_positions);
  config.vocabulary = root.integer("vocab_size", 2, kMaxVocabulary);
  require_exact_shape(root, config);
  config.tokens = read_tokens(package, config.vocabulary);
  return config;
}

}  // namespace winnow
