#include "engine/api/model_summary.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/model_files/open_package.h"
#include "engine/models/config/generation_defaults.h"
#include "engine/models/known_family.h"

namespace winnow {

namespace {

constexpr std::size_t kNameBytes = 256;
// Variables that callers may set, by which published templates switch something.
constexpr std::string_view kSwitches[] = {"enable_thinking", "thinking_budget", "reasoning_effort", "thinking", "tools", "add_vision_id"};

// Anything that `read` refuses is reported as missing.
void tried(ModelSummary& summary, const std::function<void()>& read) {
  try {
    read();
  } catch (const Exception& problem) {
    summary.missing.push_back(problem.error());
  }
}

bool part_of_name(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool names(std::string_view source, std::string_view variable) {
  for (std::size_t at = source.find(variable); at != source.npos; at = source.find(variable, at + 1)) {
    const std::size_t end = at + variable.size();
    const bool begins = at == 0 || (!part_of_name(source[at - 1]) && source[at - 1] != '<' && source[at - 1] != '/');
    if (begins && (end == source.size() || !part_of_name(source[end]))) return true;
  }
  return false;
}

void describe_config(const ModelPackage& package, ModelSummary& summary) {
  const JsonObject config = package.required(ModelPart::kConfig).root();
  summary.type = config.string("model_type", kNameBytes, "");
  if (config.has("architectures")) {
    const std::vector<std::string> classes = config.strings("architectures", kNameBytes, kNameBytes);
    if (!classes.empty()) summary.architecture = classes.front();
  }
  tried(summary, [&] { summary.cache = told_cache(config); });
  const std::optional<KnownFamily> family = known_family(config);
  summary.runs = family.has_value();
  summary.sees = family && family->sees;
  summary.reads_videos = family && family->reads_videos;
}

void describe_tensors(const ModelPackage& package, ModelSummary& summary) {
  const TensorFiles& tensors = package.tensors();
  summary.weight_bytes = tensors.total_bytes();
  for (const auto& file : tensors.files) {
    for (const auto& [name, tensor] : file->tensors()) summary.stored[std::string(stored_type_name(tensor.type))] += tensor.bytes();
  }
}

void describe_template(const ModelPackage& package, ModelSummary& summary) {
  const TemplateText text = package.chat_template("");
  summary.has_template = text.origin == TemplateOrigin::kOwn;
  summary.speaks_chatml = text.origin == TemplateOrigin::kMarkers;
  for (const std::string_view each : kSwitches) {
    if (names(text.source, each)) summary.template_switches.emplace_back(each);
  }
}

}  // namespace

ModelSummary summary_of_model(const std::string& path) {
  const std::unique_ptr<ModelPackage> package = open_package(path);
  ModelSummary summary{.path = path, .name = package->name()};
  const bool gguf = !std::filesystem::is_directory(package->path());
  summary.format = gguf ? "GGUF" : "safetensors";
  describe_config(*package, summary);
  summary.recommended = read_recommended_sampling(*package);
  tried(summary, [&] { describe_tensors(*package, summary); });
  tried(summary, [&] { package->tokenizer(); });
  try {
    describe_template(*package, summary);
  } catch (const Exception& problem) {
    const bool brought = summary.sees && problem.error().code == ErrorCode::kUnsupportedModel;  // by the family, for folders without
    if (!brought) summary.missing.push_back(problem.error());
  }
  const bool beside = gguf && package->subject(ModelPart::kImageProcessor) != package->path();  // not inside the model's own file
  if (beside && package->document(ModelPart::kImageProcessor) != nullptr) summary.projector = package->subject(ModelPart::kImageProcessor);
  return summary;
}

}  // namespace winnow
