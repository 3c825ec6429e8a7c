#include "engine/model_files/gguf_model.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/file_bytes.h"
#include "engine/model_files/gguf_config.h"
#include "engine/model_files/gguf_tensor_names.h"
#include "engine/model_files/gguf_tokenizer.h"
#include "engine/model_files/ollama_folder.h"
#include "engine/model_files/renamed_tensors.h"
#include "engine/text/template/template_parser.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr char kTokens[] = "tokenizer.ggml.tokens";
constexpr char kUnknown[] = "tokenizer.ggml.unknown_token_id";
constexpr char kByte[] = "<0x00>";  // there is one for each byte, or for none
constexpr char kFrequencyFactors[] = "rope_freqs.weight";
constexpr std::string_view kKeyMatrix = ".attn_k.weight";
constexpr std::string_view kExperts = ".ffn_gate_exps.weight";  // [experts, rows, columns]
constexpr std::string_view kValueMatrix = ".attn_v.weight";
constexpr std::string_view kQueryNorm = ".attn_q_norm.weight";
constexpr std::int64_t kMaxFactors = 4096;
constexpr int kGgufMaxEntries = 20'000;  // of a folder that is searched for a projector

// For files that were converted without one but for a model that speaks it: its markers are in the vocabulary.
constexpr char kGgufChatMl[] =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
constexpr char kChatMlMarker[] = "<|im_start|>";

// A file's tensors under the names of a Hugging Face folder; those that have none there are left out. projector: null for a model of text
// alone.
std::shared_ptr<const TensorFile> canonical_tensors(const std::shared_ptr<const GgufFile>& file, const GgufMetadata& metadata,
                                                    const GgufProjector* projector) {
  TensorFile::Tensors tensors;
  for (const auto& [stored, tensor] : file->tensors()) {
    const std::optional<std::string> name = hugging_face_name(metadata, stored);
    if (!name) continue;
    StoredTensor canonical = tensor;
    canonical.interleaved = interleaved_rows(metadata, *name);
    canonical.with_one = stored_with_one(metadata, *name);
    canonical.shape = folder_shape(*name, std::move(canonical.shape));
    tensors.emplace(projector == nullptr ? *name : projector->name_in_family(*name), std::move(canonical));
  }
  return std::make_shared<const RenamedTensors>(file, std::move(tensors));
}

const StoredTensor* gguf_find_tensor(const TensorFiles& parts, std::string_view name, const TensorFile** in) {
  for (const auto& part : parts.files) {
    const auto found = part->tensors().find(name);
    if (found == part->tensors().end()) continue;
    *in = part.get();
    return &found->second;
  }
  return nullptr;
}

GgufTensorFacts facts_of(const TensorFiles& parts) {
  GgufTensorFacts facts;
  const TensorFile* file = nullptr;
  facts.has_output = gguf_find_tensor(parts, "output.weight", &file) != nullptr;
  for (const auto& part : parts.files) {
    for (const auto& [name, tensor] : part->tensors()) {
      if (name.ends_with(kExperts) && tensor.shape.size() == 3) facts.expert_rows = tensor.shape[1];
      facts.query_norms = facts.query_norms || name.ends_with(kQueryNorm);
      if (!name.ends_with(kKeyMatrix)) continue;
      const std::string value = name.substr(0, name.size() - kKeyMatrix.size()).append(kValueMatrix);
      facts.values_are_keys = facts.values_are_keys || gguf_find_tensor(parts, value, &file) == nullptr;
    }
  }
  const StoredTensor* embedding = gguf_find_tensor(parts, "token_embd.weight", &file);
  if (embedding != nullptr && embedding->shape.size() == 2) facts.embedding_rows = embedding->shape[0];
  const StoredTensor* factors = gguf_find_tensor(parts, kFrequencyFactors, &file);
  if (factors == nullptr) return facts;
  if (factors->type != StoredType::kF32 || factors->shape.size() != 1 || factors->shape[0] > kMaxFactors)
    throw Exception(ErrorCode::kDamagedFile, file->path() + ": " + kFrequencyFactors, "it must be a short list of F32 numbers");
  facts.frequency_factors.resize(static_cast<std::size_t>(factors->shape[0]));
  file->read(*factors, 0, std::as_writable_bytes(std::span(facts.frequency_factors)));
  return facts;
}

std::string token_text(const GgufMetadata& metadata, const char* key, const std::vector<std::string>& tokens) {
  if (!metadata.has(key)) return {};
  return tokens.at(static_cast<std::size_t>(metadata.integer(key, 0, static_cast<std::int64_t>(tokens.size()) - 1)));
}

// Ollama's converter takes tokens that a SentencePiece model calls user defined for ordinary ones.
void mark_control_tokens(std::span<const std::string_view> control, GgufVocabulary& vocabulary) {
  constexpr std::int32_t kControl = 3;
  for (const std::string_view token : control) {
    const auto found = std::ranges::find(vocabulary.tokens, token);
    const auto id = static_cast<std::size_t>(found - vocabulary.tokens.begin());
    if (id < vocabulary.types.size()) vocabulary.types[id] = kControl;
  }
}

std::optional<std::int64_t> token_of(const GgufMetadata& metadata, const char* key, std::int64_t tokens) {
  if (!metadata.has(key)) return std::nullopt;
  return metadata.integer(key, 0, tokens - 1);
}

// The first file beside the model's, by name, that is its projector, or the one that came with it.
std::optional<GgufProjector> projector_beside(const std::string& model, const GgufTextModel& text) {
  const fs::path folder = fs::path(model).has_parent_path() ? fs::path(model).parent_path() : fs::path(".");
  std::vector<std::string> candidates;
  std::error_code error;
  fs::directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (int seen = 0; !error && entry != fs::directory_iterator() && seen < kGgufMaxEntries; entry.increment(error), ++seen) {
    const std::string name = entry->path().filename().string();
    if (names_projector(name)) candidates.push_back(entry->path().string());
  }
  std::ranges::sort(candidates);
  std::ranges::copy(ollama_projectors(model), std::back_inserter(candidates));
  for (const std::string& candidate : candidates) {
    try {
      GgufProjector projector(candidate, text.architecture);
      if (!projector.misfit(text)) return projector;
    } catch (const Exception&) {
      // Damaged, or of a kind that is not run: the model still reads text.
    }
  }
  return std::nullopt;
}

}  // namespace

GgufModel::GgufModel(std::string path, const std::string& projector) : path_(std::move(path)) {
  GgufFiles opened = open_gguf_files(path_);
  file_ = opened.first;
  const std::string architecture = metadata().string("general.architecture");
  if (architecture == "clip") {
    metadata().refuse(ErrorCode::kUnsupportedModel, "general.architecture",
                      "this file holds only a model's vision encoder (mmproj); choose the model's own file, which lies beside it");
  }
  const std::vector<std::string> tokens = metadata().strings(kTokens);
  if (tokens.empty()) throw Exception(ErrorCode::kDamagedFile, path_ + ": " + kTokens, "the vocabulary is empty");
  config_ = {gguf_config(metadata(), facts_of(opened.tensors), std::ssize(tokens)), subject(ModelPart::kConfig)};
  generation_ = {gguf_generation(metadata(), tokens), subject(ModelPart::kGeneration)};
  const GgufTextModel text{architecture, config_.content.at("hidden_size").get<std::int64_t>(), tokens,
                           metadata().has(kUnknown) && std::ranges::find(tokens, kByte) != tokens.end()};
  std::optional<GgufProjector> mmproj;
  if (projector.empty() && (inside_ = inner_vision_of(*file_)) != nullptr) {
    mmproj.emplace(file_, *inside_);
    if (const auto reason = mmproj->misfit(text))
      metadata().refuse(ErrorCode::kUnsupportedModel, "general.architecture", "the vision encoder inside does not fit: " + *reason);
  } else if (projector.empty()) {
    mmproj = projector_beside(path_, text);
  } else {
    mmproj.emplace(projector, architecture);
    if (const auto reason = mmproj->misfit(text))
      throw Exception(ErrorCode::kUnsupportedModel, projector, "it does not belong to " + path_ + ": " + *reason);
  }
  tensors_.path = path_;
  for (const auto& part : opened.tensors.files) {
    tensors_.files.push_back(canonical_tensors(std::static_pointer_cast<const GgufFile>(part), metadata(), mmproj ? &*mmproj : nullptr));
  }
  if (mmproj) see_with(*mmproj);
}

std::vector<std::string> GgufModel::tokens() const {
  std::vector<std::string> tokens = metadata().strings(kTokens);
  if (marker_.empty()) return tokens;
  tokens.at(static_cast<std::size_t>(metadata().integer(kUnknown, 0, std::ssize(tokens) - 1))) = marker_;
  return tokens;
}

void GgufModel::see_with(const GgufProjector& projector) {
  if (inside_ == nullptr) projector_path_ = projector.path();
  const std::vector<std::string> words = metadata().strings(kTokens);
  if (std::ranges::find(words, projector.marker()) == words.end()) marker_ = projector.marker();
  projector_template_ = projector.chat_template(config_.content, words);
  config_.content = projector.config(config_.content, tokens());
  const std::string& path = projector.path();
  if (Json processor = projector.processor(); !processor.is_null()) processor_ = ModelDocument{std::move(processor), path};
  image_processor_ = ModelDocument{projector.image_processor(), path};
  if (Json video = projector.video_processor(); !video.is_null()) video_processor_ = ModelDocument{std::move(video), path};
  tensors_.files.push_back(projector.tensors());
}

std::string GgufModel::name() const {
  const fs::path file(path_);
  if (file.extension() == ".gguf") return file.stem().string();
  return metadata().string("general.name", file.filename().string());
}

const ModelDocument* GgufModel::document(ModelPart part) const {
  switch (part) {
    case ModelPart::kConfig: return &config_;
    case ModelPart::kGeneration: return &generation_;
    case ModelPart::kProcessor: return processor_ ? &*processor_ : nullptr;
    case ModelPart::kImageProcessor: return image_processor_ ? &*image_processor_ : nullptr;
    case ModelPart::kVideoProcessor: return video_processor_ ? &*video_processor_ : nullptr;
    case ModelPart::kWinnow: break;
  }
  return nullptr;
}

std::string GgufModel::subject(ModelPart part) const {
  const bool of_pictures = part == ModelPart::kProcessor || part == ModelPart::kImageProcessor || part == ModelPart::kVideoProcessor;
  return of_pictures && !projector_path_.empty() ? projector_path_ : path_;
}

TokenizerFile GgufModel::tokenizer() const {
  const GgufMetadata& from = metadata();
  GgufVocabulary vocabulary;
  vocabulary.path = path_;
  vocabulary.name = from.string("general.name", "");
  vocabulary.model = from.string("tokenizer.ggml.model");
  vocabulary.pre = from.string("tokenizer.ggml.pre", "");
  if (vocabulary.pre == "gemma4") vocabulary.model = vocabulary.pre;  // Ollama's files call it a Llama's
  vocabulary.tokens = tokens();
  if (inside_ != nullptr && !inside_->pre_tokenizer.empty() && vocabulary.pre == "default") vocabulary.pre = inside_->pre_tokenizer;
  const std::int64_t count = std::ssize(vocabulary.tokens);
  if (from.has("tokenizer.ggml.scores")) vocabulary.scores = from.reals("tokenizer.ggml.scores");
  if (from.has("tokenizer.ggml.token_type")) {
    for (const std::int64_t type : from.integers("tokenizer.ggml.token_type")) vocabulary.types.push_back(static_cast<std::int32_t>(type));
  }
  if (inside_ != nullptr) mark_control_tokens(inside_->control, vocabulary);
  if (from.has("tokenizer.ggml.merges")) vocabulary.merges = from.strings("tokenizer.ggml.merges");
  vocabulary.bos = token_of(from, "tokenizer.ggml.bos_token_id", count);
  vocabulary.eos = token_of(from, "tokenizer.ggml.eos_token_id", count);
  vocabulary.unknown = token_of(from, kUnknown, count);
  vocabulary.add_bos = from.boolean("tokenizer.ggml.add_bos_token", vocabulary.model == "llama");
  vocabulary.add_space_prefix = from.boolean("tokenizer.ggml.add_space_prefix", adds_space_prefix(from));
  return tokenizer_of(vocabulary);
}

TemplateText GgufModel::chat_template(std::string_view fallback) const {
  const std::vector<std::string> tokens = metadata().strings(kTokens);
  TemplateText text{metadata().string("tokenizer.chat_template", ""), token_text(metadata(), "tokenizer.ggml.bos_token_id", tokens),
                    token_text(metadata(), "tokenizer.ggml.eos_token_id", tokens)};
  // The templates of many text models take no pictures; the projector's template then writes their marker.
  const auto take = [&](std::string_view other, TemplateOrigin origin) {
    text.source = other;
    text.origin = origin;
  };
  if (!projector_template_.empty() && text.source.find("image") == std::string::npos) take(projector_template_, TemplateOrigin::kFamily);
  if (text.source.empty()) take(fallback, TemplateOrigin::kFamily);
  if (text.source.empty() && std::ranges::find(tokens, kChatMlMarker) != tokens.end()) take(kGgufChatMl, TemplateOrigin::kMarkers);
  if (text.source.empty()) {
    throw Exception(ErrorCode::kUnsupportedModel, path_,
                    "has no chat template (tokenizer.chat_template) and no ChatML markers; take a file that was made of an instruct or "
                    "chat model");
  }
  if (text.source.size() > chat::kMaxTemplateBytes) throw Exception(ErrorCode::kLimitExceeded, path_, "the chat template is over 64 KiB");
  return text;
}

std::vector<std::pair<std::string, RegularFile>> GgufModel::files() const {
  std::vector<std::pair<std::string, RegularFile>> files;
  for (const auto& part : tensors_.files) {
    if (inside_ != nullptr && part == tensors_.files.back()) break;  // of the first file once more
    files.emplace_back(fs::path(part->path()).filename().string(), RegularFile(part->path()));
  }
  return files;
}

bool names_projector(std::string_view file_name) {
  std::string name(file_name);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.ends_with(".gguf") && name.find("mmproj") != std::string::npos;
}

bool is_gguf(const std::string& path) {
  try {
    return begins_as_gguf(RegularFile(path));
  } catch (const Exception&) {
    return false;
  }
}

}  // namespace winnow
