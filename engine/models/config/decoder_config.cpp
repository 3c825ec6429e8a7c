#include "engine/models/config/decoder_config.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/rotary_config.h"

namespace winnow {
namespace {

// Sizes of the class's defaults; 0: the file must say it.
struct DecoderSizes {
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // 0: as many as heads
  std::int64_t vocabulary = 0;
};

// Values that config.json need not state, because the class that reads it knows (transformers' configuration classes).
enum class ExpertWeights : int { kNoExperts, kMaySumToOne, kSumToOne, kMixtral, kSumToOneAndShared, kMaySumToOneAndShared, kSigmoids };

enum class OtherLayers : int {
  kNone,       // but those with a sliding window
  kRecurrent,  // without slots, beside attention with a gate on its output
  kUnrotated,
};

struct DecoderType {
  const char* model_type = nullptr;
  bool query_key_norm = false;
  // True if a `sliding_window` counts only where use_sliding_window says so.
  bool window_is_switched = false;
  std::int64_t positions = 0;
  std::int64_t window = 0;  // 0: none
  DecoderSizes sizes{};
  RotaryDefaults rotary{};
  double rms_norm_eps = 1e-6;
  ExpertWeights experts = ExpertWeights::kNoExperts;
  OtherLayers others = OtherLayers::kNone;
  bool ties_embeddings = false;
  bool queries_grow = false;
  bool multiplies = false;
};

constexpr DecoderSizes kSmolLm3{2048, 11'008, 36, 16, 4, 128'256};
constexpr DecoderSizes kMinistral3{4096, 14'336, 34, 32, 8, 131'072};
constexpr DecoderSizes kGlm4{4096, 13'696, 40, 32, 2, 151'552};
constexpr RotaryDefaults kThreeAxes{1'000'000.0, true};
constexpr RotaryDefaults kThreeAxesAlternating{500'000.0, true};
constexpr RotaryDefaults kQuarterTurns{10'000.0, true, 0.25};
constexpr RotaryDefaults kHalfTurns{10'000.0, true, 0.5};
constexpr RotaryDefaults kHalfTurnsOfOneAxis{10'000.0, false, 0.5};
constexpr DecoderSizes kOnlyExperts{0, 512};  // an MLP that no layer has
constexpr DecoderSizes kTwoKvHeads{0, 0, 0, 0, 2};
constexpr DecoderSizes kEightKvHeads{0, 0, 0, 0, 8};

constexpr auto kDecoderTypes = std::to_array<DecoderType>({
    {"llama", false, true, 2048, 0, {4096, 11'008, 32, 32, 0, 32'000}},
    {"mistral", false, false, 131'072, 4096, {4096, 14'336, 32, 32, 8, 32'000}},
    {"mixtral", false, false, 131'072, 0, {4096, 14'336, 32, 32, 8, 32'000}, {1'000'000.0}, 1e-5, ExpertWeights::kMixtral},
    {"ministral3", false, false, 262'144, 0, kMinistral3, {1'000'000.0}, 1e-5, ExpertWeights::kNoExperts, OtherLayers::kNone, false, true},
    {"qwen2", false, true, 32'768, 0},
    {"qwen3", true, true, 32'768, 0},
    {"internlm2", false, true, 2048, 0},  // its names: internvl_chat_config.cpp
    {"qwen2_vl", false, true, 32'768, 0, {}, kThreeAxes, 1e-5},
    {"qwen2_vl_text", false, true, 32'768, 0, {}, kThreeAxes, 1e-5},
    {"qwen2_5_vl", false, true, 32'768, 0, {}, kThreeAxes, 1e-5},
    {"qwen2_5_vl_text", false, true, 32'768, 0, {}, kThreeAxes, 1e-5},
    {"qwen3_vl_text", true, true, 128'000, 0, {}, kThreeAxesAlternating},
    {"qwen3_moe", true, true, 32'768, 0, {}, {}, 1e-6, ExpertWeights::kMaySumToOne},
    {"qwen3_vl_moe_text", true, true, 128'000, 0, {}, kThreeAxesAlternating, 1e-6, ExpertWeights::kSumToOne},
    {"qwen3_5_text", true, true, 32'768, 0, {}, kQuarterTurns, 1e-6, ExpertWeights::kNoExperts, OtherLayers::kRecurrent},
    {"qwen3_5_moe_text", true, true, 32'768, 0, kOnlyExperts, kQuarterTurns, 1e-6, ExpertWeights::kSumToOneAndShared,
     OtherLayers::kRecurrent},
    {"qwen3_next", true, true, 32'768, 0, {}, kQuarterTurns, 1e-6, ExpertWeights::kMaySumToOneAndShared, OtherLayers::kRecurrent},
    {"glm4", false, true, 131'072, 0, kGlm4, kHalfTurnsOfOneAxis, 1.5625e-7},
    {"glm4v_text", false, true, 32'768, 0, kTwoKvHeads, kHalfTurns, 1e-5},
    {"glm4_moe", false, true, 131'072, 0, kEightKvHeads, kHalfTurnsOfOneAxis, 1e-5, ExpertWeights::kSigmoids},
    {"glm4v_moe_text", false, true, 65'536, 0, kEightKvHeads, kHalfTurns, 1e-5, ExpertWeights::kSigmoids},
    {"smollm3", false, true, 32'768, 0, kSmolLm3, {2'000'000.0}, 1e-6, ExpertWeights::kNoExperts, OtherLayers::kUnrotated, true},
    {.model_type = "granite",
     .window_is_switched = true,
     .positions = 2048,
     .sizes = {4096, 11'008, 32, 32, 0, 32'000},
     .multiplies = true},
});

std::int64_t size_or(const JsonObject& text, const char* key, std::int64_t most, std::int64_t fallback) {
  return fallback == 0 ? text.integer(key, 1, most) : text.integer(key, 1, most, fallback);
}

const DecoderType& decoder_type_of(const JsonObject& text, std::string_view assumed) {
  const std::string name = text.string("model_type", kMaxNameBytes, std::string(assumed));
  const auto* found = std::ranges::find_if(kDecoderTypes, [&](const DecoderType& type) { return name == type.model_type; });
  if (found == kDecoderTypes.end()) unsupported(text, "model_type", quoted_name(name) + " is not a model that this program runs");
  return *found;
}

std::vector<bool> sliding_layers(const JsonObject& text, const DecoderType& type, const DecoderConfig& config) {
  std::vector<bool> sliding = read_layer_types(text, config.layers);
  if (!sliding.empty()) return sliding;
  if (!config.rotated_otherwise.empty()) return config.rotated_otherwise;  // SmolLM3's that do not rotate
  const std::int64_t full = type.window_is_switched ? text.integer("max_window_layers", 0, 1'000'000, 28) : 0;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) sliding.push_back(layer >= full);
  return sliding;
}

std::optional<std::int64_t> sliding_window(const JsonObject& text, const DecoderType& type) {
  if (type.window_is_switched && !text.boolean("use_sliding_window", false)) return std::nullopt;
  if (text.has("sliding_window")) return text.integer("sliding_window", 2, kMaxPositions);
  if (text.says("sliding_window") || type.window == 0) return std::nullopt;
  return type.window;
}

// Experts that are chosen by sigmoids, and how.
ExpertConfig read_sigmoid_experts(const JsonObject& text) {
  constexpr double kMostFactor = 1e4;
  constexpr std::int64_t kMostShared = 64;
  ExpertConfig experts;
  SigmoidRouting routing;
  const std::string count = text.first_present({"n_routed_experts", "num_local_experts"}).value_or("n_routed_experts");
  experts.count = text.integer(count.c_str(), 2, kMaxExperts);
  experts.chosen = text.integer("num_experts_per_tok", 1, kMaxExperts);
  routing.groups = text.integer("n_group", 1, kMaxExperts, 1);
  routing.chosen_groups = text.integer("topk_group", 1, kMaxExperts, 1);
  if (experts.count % routing.groups != 0 || experts.count / routing.groups < 2)
    text.refuse(ErrorCode::kDamagedFile, "n_group", std::to_string(experts.count) + " experts make no such groups of at least two");
  if (routing.chosen_groups > routing.groups)
    text.refuse(ErrorCode::kDamagedFile, "topk_group", "there are " + std::to_string(routing.groups) + " groups");
  const std::int64_t choice = experts.count / routing.groups * routing.chosen_groups;
  if (experts.chosen > choice)
    text.refuse(ErrorCode::kDamagedFile, "num_experts_per_tok", "there are " + std::to_string(choice) + " experts to choose from");
  experts.intermediate_size = text.integer("moe_intermediate_size", 1, kMaxIntermediate);
  experts.sums_to_one = text.boolean("norm_topk_prob", true);
  experts.shared_size = text.integer("n_shared_experts", 0, kMostShared, 1) * experts.intermediate_size;
  experts.shared_gate = false;
  routing.factor = text.real("routed_scaling_factor", 0.0, kMostFactor, 1.0);
  experts.sigmoid = routing;
  return experts;
}

// transformers' Qwen3-VL-MoE and Qwen3.5-MoE divide by the sum whatever norm_topk_prob says. Which layers have experts is not read: the
// weights tell. inner: the model's intermediate_size.
std::optional<ExpertConfig> read_experts(const JsonObject& text, ExpertWeights weights, std::int64_t inner) {
  if (weights == ExpertWeights::kNoExperts) return std::nullopt;
  if (weights == ExpertWeights::kSigmoids) return read_sigmoid_experts(text);
  ExpertConfig experts;
  const bool mixtral = weights == ExpertWeights::kMixtral;  // its experts are as large as another model's MLP, and its class knows how many
  const std::string count = text.first_present({"num_experts", "num_local_experts"}).value_or("num_experts");
  experts.count = mixtral ? text.integer("num_local_experts", 1, kMaxExperts, 8) : text.integer(count.c_str(), 1, kMaxExperts);
  experts.chosen = mixtral ? text.integer("num_experts_per_tok", 1, kMaxExperts, 2) : text.integer("num_experts_per_tok", 1, kMaxExperts);
  if (experts.chosen > experts.count)
    text.refuse(ErrorCode::kDamagedFile, "num_experts_per_tok", "there are " + std::to_string(experts.count) + " experts");
  experts.intermediate_size = mixtral ? inner : text.integer("moe_intermediate_size", 1, kMaxIntermediate);
  const bool says_sum = weights == ExpertWeights::kMaySumToOne || weights == ExpertWeights::kMaySumToOneAndShared;
  const bool shared = weights == ExpertWeights::kSumToOneAndShared || weights == ExpertWeights::kMaySumToOneAndShared;
  experts.sums_to_one = !says_sum || text.boolean("norm_topk_prob", shared);
  if (shared) experts.shared_size = text.integer("shared_expert_intermediate_size", 1, kMaxIntermediate, 512);
  return experts;
}

// Which layers attend: layer_types, or every full_attention_interval-th.
std::vector<bool> read_recurrent_layers(const JsonObject& text, std::int64_t layers) {
  std::vector<bool> recurrent;
  const std::int64_t interval = text.integer("full_attention_interval", 1, kMaxLayers, 4);
  for (std::int64_t layer = 0; layer < layers; ++layer) recurrent.push_back((layer + 1) % interval != 0);
  if (const std::vector<bool> told = read_layer_types(text, layers, "linear_attention"); !told.empty()) recurrent = told;
  if (std::ranges::all_of(recurrent, std::identity()))
    unsupported(text, text.has("layer_types") ? "layer_types" : "full_attention_interval",
                "a model of which no layer attends has no cache to compress and does not run");
  return recurrent;
}

// Which layers do not rotate (SmolLM3): those with a 0 in no_rope_layers, or every no_rope_layer_interval-th.
std::vector<bool> read_unrotated(const JsonObject& text, std::int64_t layers) {
  std::vector<bool> unrotated;
  const std::int64_t interval = text.integer("no_rope_layer_interval", 1, kMaxLayers, 4);
  for (std::int64_t layer = 0; layer < layers; ++layer) unrotated.push_back((layer + 1) % interval == 0);
  if (!text.has("no_rope_layers")) return unrotated;
  const Json& rotated = text.value("no_rope_layers");
  if (!rotated.is_array() || rotated.size() < unrotated.size())
    text.refuse(ErrorCode::kDamagedFile, "no_rope_layers", "it must have one entry per layer");
  for (std::size_t layer = 0; layer < unrotated.size(); ++layer) {
    if (rotated[layer] != 0 && rotated[layer] != 1) text.refuse(ErrorCode::kDamagedFile, "no_rope_layers", "its entries must be 0 or 1");
    unrotated[layer] = rotated[layer] == 0;
  }
  return unrotated;
}

// llama_4_scaling_beta stands among the rotary parameters, which the class has defaults for and published files do not leave out.
QueryGrowth read_query_growth(const JsonObject& text) {
  constexpr double kMostStrength = 100.0;
  const JsonObject rope = text.object("rope_parameters");
  return {rope.real("llama_4_scaling_beta", 0.0, kMostStrength), rope.integer("original_max_position_embeddings", 1, kMaxPositions)};
}

void read_multipliers(const JsonObject& text, DecoderConfig& config) {
  const auto multiplier = [&](const char* key) { return text.real(key, 1e-6, 1e6, 1.0); };
  config.input_scale = multiplier("embedding_multiplier");
  config.attention_scale = multiplier("attention_multiplier");
  config.residual_scale = multiplier("residual_multiplier");
  config.logit_divisor = multiplier("logits_scaling");
}

void read_recurrent(const JsonObject& text, DecoderConfig& config) {
  constexpr std::int64_t kMaxKernel = 64;
  constexpr std::int64_t kMaxDeltaDim = 1024;
  // Its classes' default is no quotient.
  if (!text.has("head_dim")) text.refuse(ErrorCode::kDamagedFile, "head_dim", "it is missing");
  config.norm = NormKind::kCentredRms;
  config.output_gate = true;
  if (!text.boolean("attn_output_gate", true)) unsupported(text, "attn_output_gate", "this model's attention has a gate on its output");
  config.recurrent = read_recurrent_layers(text, config.layers);
  config.delta = {text.integer("linear_num_key_heads", 1, kMaxHeads, 16), text.integer("linear_num_value_heads", 1, kMaxHeads, 32),
                  text.integer("linear_key_head_dim", 1, kMaxDeltaDim, 128), text.integer("linear_value_head_dim", 1, kMaxDeltaDim, 128),
                  text.integer("linear_conv_kernel_dim", 1, kMaxKernel, 4)};
  require_whole_groups(text, "linear_num_key_heads", config.delta.value_heads, config.delta.key_heads);
  config.delta.in_turn = text.boolean("linear_value_heads_in_turn", false);  // of gguf_config.h
}

}  // namespace

std::vector<bool> read_layer_types(const JsonObject& text, std::int64_t layers, std::string_view other) {
  std::vector<bool> others;
  if (!text.has("layer_types")) return others;
  const Json& types = text.value("layer_types");
  if (!types.is_array() || types.size() != static_cast<std::size_t>(layers)) {
    text.refuse(ErrorCode::kDamagedFile, "layer_types", "it must have one entry per layer");
  }
  for (const Json& each : types) {
    if (each != "full_attention" && each != other)
      unsupported(text, "layer_types", "only full_attention and " + std::string(other) + " are implemented");
    others.push_back(each == other);
  }
  return others;
}

std::vector<std::int64_t> windows_of(const std::vector<bool>& sliding, std::int64_t window, std::int64_t max_positions) {
  std::vector<std::int64_t> windows;
  if (window >= max_positions || std::ranges::none_of(sliding, std::identity())) return windows;
  for (const bool slides : sliding) windows.push_back(slides ? window : 0);
  return windows;
}

DecoderConfig parse_decoder_config(const JsonObject& text, std::string_view assumed_type) {
  const DecoderType& type = decoder_type_of(text, assumed_type);
  DecoderConfig config;
  config.hidden_size = size_or(text, "hidden_size", kMaxHidden, type.sizes.hidden);
  config.intermediate_size = size_or(text, "intermediate_size", kMaxIntermediate, type.sizes.intermediate);
  config.layers = size_or(text, "num_hidden_layers", kMaxLayers, type.sizes.layers);
  config.heads = size_or(text, "num_attention_heads", kMaxHeads, type.sizes.heads);
  const bool says_kv_heads = text.says("num_key_value_heads") || type.sizes.kv_heads == 0;  // null: as many as heads
  config.kv_heads = text.integer("num_key_value_heads", 1, kMaxHeads, says_kv_heads ? config.heads : type.sizes.kv_heads);
  require_whole_groups(text, "num_key_value_heads", config.heads, config.kv_heads);
  config.head_dim = read_head_dim(text, config.hidden_size, config.heads);
  if (config.head_dim % 2 != 0) text.refuse(ErrorCode::kDamagedFile, "head_dim", "rotary positions need an even head size");
  config.norm_eps = text.real("rms_norm_eps", kMinEpsilon, 1.0, type.rms_norm_eps);
  config.max_positions = text.integer("max_position_embeddings", 1, kMaxPositions, type.positions);
  const RotaryConfig rotary = read_rotary(text, config.head_dim, config.max_positions, type.rotary);
  config.rotary = rotary.scheme;
  config.max_positions = rotary.max_positions;
  if (type.queries_grow) config.query_growth = read_query_growth(text);
  if (type.multiplies) read_multipliers(text, config);
  if (type.others == OtherLayers::kUnrotated) {
    config.rotated_otherwise = read_unrotated(text, config.layers);
    config.other_rotary = RotaryScheme{};
  }
  const bool recurrent = type.others == OtherLayers::kRecurrent;
  if (recurrent) read_recurrent(text, config);
  const std::vector<bool> sliding = recurrent ? std::vector<bool>() : sliding_layers(text, type, config);
  if (const std::optional<std::int64_t> window = sliding_window(text, type))
    config.windows = windows_of(sliding, *window, config.max_positions);
  config.vocabulary = size_or(text, "vocab_size", kMaxVocabulary, type.sizes.vocabulary);
  config.tie_word_embeddings = text.boolean("tie_word_embeddings", type.ties_embeddings);
  config.query_key_norm = type.query_key_norm;
  config.experts = read_experts(text, type.experts, config.intermediate_size);
  config.activation = read_activation(text, "hidden_act", "silu");
  return config;
}

}  // namespace winnow
