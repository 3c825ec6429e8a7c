#include "engine/api/model_summary.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "engine/model_files/open_package.h"
#include "engine/models/generation_defaults.h"
#include "engine/models/known_family.h"

namespace winnow {

namespace {

constexpr std::size_t kNameBytes = 256;
constexpr const char* kContext = "max_position_embeddings";
// Variables that callers may set, by which published templates switch something.
constexpr std::string_view kSwitches[] = {"enable_thinking", "thinking_budget", "reasoning_effort", "thinking", "tools", "add_vision_id"};

// What `read` refuses is told as missing.
void tried(ModelSummary& summary, const std::function<void()>& read) {
  try {
    read();
  } catch (const Exception& problem) {
    summary.missing.push_back(problem.error());
  }
}

// Of the text model, which folders that see have one level down.
std::int64_t context_of(const JsonObject& config) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (config.has(kContext)) return config.integer(kContext, 0, kMost);
  const auto text = config.optional_object("text_config");
  return text && text->has(kContext) ? text->integer(kContext, 0, kMost) : 0;
}

constexpr std::int64_t kMostLayers = 1024;

constexpr std::int64_t kMostHeads = 4096;
constexpr std::int64_t kMostSize = 1 << 20;

std::int64_t heads_of(const JsonObject& text) { return text.integer("num_attention_heads", 0, kMostHeads, 0); }
std::int64_t kv_heads_of(const JsonObject& text) { return text.integer("num_key_value_heads", 0, kMostHeads, heads_of(text)); }

std::int64_t head_size_of(const JsonObject& text) {
  const std::int64_t heads = heads_of(text);
  return text.integer("head_dim", 0, kMostSize, heads == 0 ? 0 : text.integer("hidden_size", 0, kMostSize, 0) / heads);
}

// Of layers that look back over everything: Gemma 4's have keys of their own for it, or what differs in the last of them.
struct FullHeads {
  std::int64_t kv_heads = 0;
  std::int64_t size = 0;
};

FullHeads full_heads_of(const JsonObject& text) {
  FullHeads full{kv_heads_of(text), text.integer("global_head_dim", 0, kMostSize, head_size_of(text))};
  if (text.boolean("attention_k_eq_v", false)) full.kv_heads = text.integer("num_global_key_value_heads", 0, kMostHeads, full.kv_heads);
  const auto differing = text.optional_object("per_layer_config");
  const std::string last = std::to_string(text.integer("num_hidden_layers", 0, kMostLayers, 0) - 1);
  const auto own = differing ? differing->optional_object(last.c_str()) : std::nullopt;
  if (!own) return full;
  return {own->integer("num_key_value_heads", 0, kMostHeads, full.kv_heads), own->integer("head_dim", 0, kMostSize, full.size)};
}

// Gemma 4's layers with a window whose KV heads are not the others', which keep no more than that; 0: there are none such.
std::int64_t layers_that_slide(const JsonObject& text) {
  if (!text.string("model_type", kNameBytes, "").starts_with("gemma4") || !text.has("layer_types")) return 0;
  if (full_heads_of(text).kv_heads == kv_heads_of(text) && !text.has("use_bidirectional_attention")) return 0;
  const std::vector<std::string> types = text.strings("layer_types", kNameBytes, static_cast<std::size_t>(kMostLayers));
  return types.empty() ? 0 : std::ranges::count(std::span(types).first(types.size() - 1), "sliding_attention");
}

// Those of the text model that keep keys and values; others keep no more than a state or a window, or read an earlier layer's.
std::int64_t layers_with_slots(const JsonObject& text) {
  const std::int64_t layers = text.integer("num_hidden_layers", 0, kMostLayers, 0);
  if (!text.has("layer_types") && text.has("full_attn_idxs"))
    return std::ssize(text.integers("full_attn_idxs", 0, kMostLayers, static_cast<std::size_t>(kMostLayers)));
  if (!text.has("layer_types")) return layers / text.integer("full_attention_interval", 1, kMostLayers, 1);
  const std::vector<std::string> types = text.strings("layer_types", kNameBytes, static_cast<std::size_t>(kMostLayers));
  const std::int64_t borrowing = text.integer("num_kv_shared_layers", 0, std::ssize(types), 0);
  const auto keep_states = std::ranges::count(types, "linear_attention") + std::ranges::count(types, "conv");
  return std::ssize(types) - borrowing - keep_states - layers_that_slide(text);
}

// As Qwen3.5's and LFM2's keys have them, whose defaults are those of their classes, and Gemma 4's windows.
std::int64_t state_bytes_of(const JsonObject& config) {
  constexpr std::int64_t kMostDelta = 1024;
  const auto inner = config.optional_object("text_config");
  const JsonObject& text = inner ? *inner : config;
  const std::int64_t layers = text.integer("num_hidden_layers", 0, kMostLayers, 0);
  if (const std::int64_t sliding = layers_that_slide(text); sliding > 0) {
    const std::int64_t tokens = text.integer("sliding_window", 2, std::int64_t{1} << 32, 1024) - 1;
    return sliding * kv_heads_of(text) * tokens * 2 * head_size_of(text) * static_cast<std::int64_t>(sizeof(float));
  }
  const std::int64_t states = std::max<std::int64_t>(0, layers - layers_with_slots(text));
  if (text.has("conv_L_cache")) {
    const std::int64_t tokens = text.integer("conv_L_cache", 1, kMostDelta) - 1;
    return states * tokens * text.integer("hidden_size", 0, kMostSize, 0) * static_cast<std::int64_t>(sizeof(float));
  }
  if (!text.has("linear_num_value_heads")) return 0;
  const std::int64_t value_heads = text.integer("linear_num_value_heads", 0, kMostHeads);
  const std::int64_t key = text.integer("linear_key_head_dim", 0, kMostDelta, 128);
  const std::int64_t value = text.integer("linear_value_head_dim", 0, kMostDelta, 128);
  const std::int64_t channels = 2 * text.integer("linear_num_key_heads", 0, kMostHeads, 16) * key + value_heads * value;
  const std::int64_t tokens = text.integer("linear_conv_kernel_dim", 1, kMostDelta, 4) - 1;
  return states * (value_heads * key * value + tokens * channels) * static_cast<std::int64_t>(sizeof(float));
}

// Of the text model in 16 bits; 0 where its shape is not told in the usual keys.
std::int64_t kv_bytes_of(const JsonObject& config) {
  constexpr std::int64_t kKeyAndValue = std::int64_t{2} * 2;  // two rows of two bytes an element
  const auto inner = config.optional_object("text_config");
  const JsonObject& text = inner ? *inner : config;
  const std::int64_t layers = layers_with_slots(text);
  if (layers == 0 || heads_of(text) == 0) return 0;
  const FullHeads full = full_heads_of(text);  // rows are as long as the longest heads
  return kKeyAndValue * layers * full.kv_heads * full.size;
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
  summary.context_tokens = context_of(config);
  tried(summary, [&] {
    summary.kv_bytes_per_token = kv_bytes_of(config);
    summary.state_bytes = state_bytes_of(config);
  });
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
  ModelSummary summary;
  summary.path = path;
  summary.name = package->name();
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
