#include "engine/model_files/hugging_face_folder.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/file_bytes.h"
#include "engine/base/known_format.h"
#include "engine/model_files/quantisation_config.h"
#include "engine/model_files/quantised_tensors.h"
#include "engine/text/template/template_parser.h"
#include "engine/weights/weight_files.h"

namespace winnow {
namespace {

constexpr JsonLimits kTextLimits{std::uint64_t{16} << 20, 64, 1'000'000};  // tokenizer_config.json lists every added token
constexpr char kTokenizerConfig[] = "tokenizer_config.json";
constexpr char kTemplateFile[] = "chat_template.jinja";

const char* file_of(ModelPart part) {
  switch (part) {
    case ModelPart::kConfig: return "config.json";
    case ModelPart::kGeneration: return "generation_config.json";
    case ModelPart::kProcessor: return "processor_config.json";
    case ModelPart::kImageProcessor: return "preprocessor_config.json";
    case ModelPart::kVideoProcessor: return "video_preprocessor_config.json";
    case ModelPart::kWinnow: return "winnow.json";
  }
  return "";
}

// A link to nothing counts: reading it says what is wrong.
bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

std::optional<std::string> template_of(const ModelDocument* document) {
  if (document == nullptr) return std::nullopt;
  const JsonObject fields = document->root();
  if (!fields.has("chat_template")) return std::nullopt;
  const Json& value = fields.value("chat_template");
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    for (const Json& entry : value) {
      if (entry.is_object() && entry.value("name", Json()) == "default" && entry.contains("template") && entry["template"].is_string()) {
        return entry["template"].get<std::string>();
      }
    }
  }
  throw Exception(ErrorCode::kDamagedFile, document->subject, "chat_template is neither text nor a list with a default");
}

// A token of tokenizer_config.json: text, or an object with its content.
std::string special_token(const ModelDocument* document, const char* key) {
  if (document == nullptr || !document->content.is_object()) return "";
  const auto found = document->content.find(key);
  if (found == document->content.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  if (found->is_object() && found->contains("content") && (*found)["content"].is_string()) return (*found)["content"].get<std::string>();
  return "";
}

// "owner/name" of a folder in the hub's cache, "models--owner--name", whose snapshots are named by their commit.
std::optional<std::string> hub_repository(std::string folder) {
  constexpr std::string_view kModels = "models--";
  if (!folder.starts_with(kModels)) return std::nullopt;
  folder.erase(0, kModels.size());
  if (const std::size_t owner = folder.find("--"); owner != std::string::npos) folder.replace(owner, 2, "/");
  return folder;
}

}  // namespace

std::string HuggingFaceFolder::name() const {
  std::string folder = folder_;
  while (folder.ends_with('/')) folder.pop_back();
  const std::filesystem::path path(folder);
  const std::string last = path.filename().string();
  const std::filesystem::path above = path.parent_path();
  if (above.filename() == "snapshots") {
    if (std::optional<std::string> repository = hub_repository(above.parent_path().filename().string())) return *std::move(repository);
  }
  if (last.empty()) return folder_;
  return last == "model" && above.has_filename() ? above.filename().string() : last;
}

std::string HuggingFaceFolder::subject(ModelPart part) const { return folder_ + "/" + file_of(part); }

const ModelDocument* HuggingFaceFolder::document(ModelPart part) const {
  if (part == ModelPart::kConfig || part == ModelPart::kImageProcessor) {
    if (const LlavaRepositoryFolder* told = retold()) return part == ModelPart::kConfig ? &told->config : &told->image_processor;
  }
  return read(file_of(part), {});
}

const LlavaRepositoryFolder* HuggingFaceFolder::retold() const {
  if (retold_) return &*retold_;
  const ModelDocument* config = read(file_of(ModelPart::kConfig), {});
  if (config == nullptr || !config->content.is_object() || !saved_by_llava_repository(config->root())) return nullptr;
  TokenizerFile tokenizer = stored_tokenizer();
  retold_ = read_llava_repository(*config, tokenizer, stored_tensors());
  read_tokenizer_ = std::move(tokenizer);
  return &*retold_;
}

const ModelDocument* HuggingFaceFolder::read(const std::string& file, const JsonLimits& limits) const {
  auto found = documents_.find(file);
  if (found == documents_.end()) {
    std::optional<ModelDocument> document;
    if (exists(folder_ + "/" + file)) {
      const std::string path = path_inside(folder_, file);
      document = ModelDocument{load_json(path, limits), path};
    }
    found = documents_.emplace(file, std::move(document)).first;
  }
  return found->second ? &*found->second : nullptr;
}

TokenizerFile HuggingFaceFolder::tokenizer() const {
  const LlavaRepositoryFolder* const told = retold();
  TokenizerFile file = stored_tokenizer();
  if (told != nullptr) {
    for (const AddedToken& token : told->added_tokens) {
      if (std::ranges::find(file.added_tokens, token.content, &AddedToken::content) == file.added_tokens.end())
        file.added_tokens.push_back(token);
    }
  }
  return file;
}

TokenizerFile HuggingFaceFolder::stored_tokenizer() const {
  if (read_tokenizer_) return *std::exchange(read_tokenizer_, std::nullopt);
  TokenizerFile file = read_tokenizer_file(path_inside(folder_, "tokenizer.json"));
  const ModelDocument* config = read(kTokenizerConfig, kTextLimits);
  if (config == nullptr || !config->content.is_object()) return file;
  replace_added_tokens(config->root(), file);
  // add_bos_token has the last word on what stands before a text, as in transformers.
  if (!config->root().has("add_bos_token")) return file;
  file.prefix.clear();
  if (config->root().boolean("add_bos_token")) file.prefix.push_back(special_token(config, "bos_token"));
  return file;
}

TemplateText HuggingFaceFolder::chat_template(std::string_view fallback) const {
  const ModelDocument* tokens = read(kTokenizerConfig, kTextLimits);
  if (const LlavaRepositoryFolder* told = retold())
    return {std::string(told->chat_template), special_token(tokens, "bos_token"), special_token(tokens, "eos_token"),
            TemplateOrigin::kFamily};
  return {find_template(tokens, fallback), special_token(tokens, "bos_token"), special_token(tokens, "eos_token")};
}

std::string HuggingFaceFolder::find_template(const ModelDocument* tokenizer_config, std::string_view fallback) const {
  if (exists(folder_ + "/" + kTemplateFile)) {
    const std::string path = path_inside(folder_, kTemplateFile);
    std::string source = read_file_bytes(path, chat::kMaxTemplateBytes);
    const auto head = std::as_bytes(std::span(source)).first(std::min(source.size(), kFormatHeadBytes));
    if (const std::optional<Error> error = unfetched(head, path)) throw Exception(*error);
    return source;
  }
  if (auto found = template_of(read("chat_template.json", kTextLimits))) return *std::move(found);
  if (auto found = template_of(document(ModelPart::kProcessor))) return *std::move(found);
  if (auto found = template_of(tokenizer_config)) return *std::move(found);
  if (!fallback.empty()) return std::string(fallback);
  throw Exception(ErrorCode::kUnsupportedModel, folder_, "has no chat template, and none is known for this model family");
}

const TensorFiles& HuggingFaceFolder::tensors() const {
  if (const LlavaRepositoryFolder* told = retold()) return told->tensors;
  return stored_tensors();
}

const TensorFiles& HuggingFaceFolder::stored_tensors() const {
  if (tensors_) return *tensors_;
  std::optional<QuantisationConfig> quantised;
  if (const ModelDocument* config = read(file_of(ModelPart::kConfig), {})) quantised = read_quantisation(config->root());
  TensorFiles stored = open_weight_files(folder_);
  tensors_ = quantised ? quantised_tensors(stored, *quantised) : std::move(stored);
  return *tensors_;
}

std::vector<std::pair<std::string, RegularFile>> HuggingFaceFolder::files() const {
  std::vector<std::string> names;
  std::error_code failed;
  std::error_code nothing_there;  // a link to nothing
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder_, failed)) {
    const std::string name = entry.path().filename().string();
    if ((name.ends_with(".json") || name.ends_with(".jinja")) && entry.is_regular_file(nothing_there)) names.push_back(name);
  }
  if (failed) throw Exception(ErrorCode::kFileUnreadable, folder_, "the model folder cannot be listed (" + failed.message() + ")");
  std::sort(names.begin(), names.end());
  std::vector<std::pair<std::string, RegularFile>> files;
  for (const std::string& name : names) files.emplace_back(name, open_inside(folder_, name));
  for (const std::string& name : weight_file_names(folder_)) files.emplace_back(name, open_inside(folder_, name));
  return files;
}

}  // namespace winnow
