#include "engine/model_files/gguf_inner_vision.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

#include "engine/base/error.h"
#include "engine/base/file_bytes.h"
#include "engine/model_files/gguf_projector_kinds.h"

namespace winnow {
namespace {

constexpr std::string_view kVision = "vision.";
constexpr std::string_view kInnerLayers = "v.blk.";
constexpr std::string_view kBehindLayers = "v.deepstack_merger.";
// The convolution over two frames: its first dimension is outputs times colours, as a tensor has four of them at most.
constexpr std::string_view kFlatKernel = "v.patch_embed.weight";
constexpr std::int64_t kColours = 3;

constexpr std::array<NameRule, 5> kGemma3 = {{
    {"v.patch_embedding", "v.patch_embd"},
    {"v.position_embedding", "v.position_embd"},
    {"v.post_layernorm", "v.post_ln"},
    {"mm.mm_soft_emb_norm", "mm.soft_emb_norm"},
    {"mm.mm_input_projection", "mm.input_projection"},
}};
constexpr std::array<NameRule, 5> kGemma3Layer = {{
    {"layer_norm1", "ln1"},
    {"layer_norm2", "ln2"},
    {"attn_output", "attn_out"},
    {"mlp.fc1", "ffn_up"},
    {"mlp.fc2", "ffn_down"},
}};
constexpr std::array<NameRule, 1> kGemma3Keys = {{{"tokens_per_image", "mm.tokens_per_image"}}};
constexpr std::array<std::string_view, 5> kGemma3Control = {"<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<end_of_image>",
                                                            "<image_soft_token>"};

constexpr std::array<NameRule, 5> kQwen25 = {{
    {"v.patch_embd_0.weight", "v.patch_embd.weight"},
    {"v.patch_embd_1.weight", "v.patch_embd.weight.1"},
    {"v.merger.ln_q", "v.post_ln"},
    {"v.merger.mlp.0", "mm.0"},
    {"v.merger.mlp.2", "mm.2"},
}};
constexpr std::array<NameRule, 2> kQwen25Keys = {{{"image_min_pixels", "vision.min_pixels"}, {"image_max_pixels", "vision.max_pixels"}}};

constexpr std::array<NameRule, 4> kQwen3 = {{
    {"v.pos_embed", "v.position_embd"},
    {"v.merger.norm", "v.post_ln"},
    {"v.merger.linear_fc1", "mm.0"},
    {"v.merger.linear_fc2", "mm.2"},
}};
constexpr std::array<NameRule, 4> kQwen3Layer = {{
    {"norm1", "ln1"},
    {"norm2", "ln2"},
    {"mlp.linear_fc1", "ffn_up"},
    {"mlp.linear_fc2", "ffn_down"},
}};
constexpr std::array<NameRule, 3> kQwen3Behind = {{{"norm", "norm"}, {"linear_fc1", "fc1"}, {"linear_fc2", "fc2"}}};
constexpr std::array<NameRule, 2> kQwen3Keys = {
    {{"image_min_pixels", "vision.shortest_edge"}, {"image_max_pixels", "vision.longest_edge"}}};

constexpr std::array<NameRule, 6> kInnerMistral = {{
    {"v.patch_conv", "v.patch_embd"},
    {"v.encoder_norm", "v.pre_ln"},
    {"mm.norm", "mm.input_norm"},
    {"mm.patch_merger.merging_layer", "mm.patch_merger"},
    {"mm.linear_1", "mm.1"},
    {"mm.linear_2", "mm.2"},
}};
constexpr std::array<NameRule, 3> kMistralLayer = {{{"attn_norm", "ln1"}, {"ffn_norm", "ln2"}, {"attn_output", "attn_out"}}};
constexpr std::array<NameRule, 1> kMistralKeys = {{{"spatial_merge_size", "spatial_merge_size"}}};

// Value heads in turn, as llama.cpp has them; the first converters left them by their key head, in matrices of other shapes.
bool heads_in_turn(const GgufMetadata& metadata) {
  return metadata.boolean(metadata.string("general.architecture") + ".ssm.v_head_reordered", false);
}

using Colours = std::array<float, 3>;
constexpr Colours kNought = {0.0F, 0.0F, 0.0F};
constexpr Colours kHalf = {0.5F, 0.5F, 0.5F};
constexpr Colours kOne = {1.0F, 1.0F, 1.0F};
constexpr Colours kClipMean = {0.48145466F, 0.4578275F, 0.40821073F};
constexpr Colours kClipDeviation = {0.26862954F, 0.26130258F, 0.27577711F};

constexpr InnerVision with_deepstack(std::string_view architecture, std::string_view pre_tokenizer,
                                     bool (*in_known_order)(const GgufMetadata&) = nullptr) {
  return {.architecture = architecture,
          .type = "qwen3vl_merger",
          .whole = kQwen3,
          .layer = kQwen3Layer,
          .keys = kQwen3Keys,
          .mean = kHalf,
          .deviation = kHalf,
          .pre_tokenizer = pre_tokenizer,
          .in_known_order = in_known_order};
}

constexpr std::array<InnerVision, 8> kInnerKnown = {{
    {.architecture = "gemma3",
     .type = "gemma3",
     .whole = kGemma3,
     .layer = kGemma3Layer,
     .keys = kGemma3Keys,
     .mean = kHalf,
     .deviation = kHalf,
     .control = kGemma3Control},
    {.architecture = "gemma4", .type = "gemma4v", .whole = {}, .layer = {}, .keys = {}, .mean = kNought, .deviation = kOne},
    {.architecture = "mistral3",
     .type = "pixtral",
     .whole = kInnerMistral,
     .layer = kMistralLayer,
     .keys = kMistralKeys,
     .mean = kClipMean,
     .deviation = kClipDeviation,
     .pre_tokenizer = "tekken"},
    {.architecture = "qwen25vl",
     .type = "qwen2.5vl_merger",
     .whole = kQwen25,
     .layer = {},
     .keys = kQwen25Keys,
     .mean = kClipMean,
     .deviation = kClipDeviation,
     .pre_tokenizer = "qwen2"},
    with_deepstack("qwen3vl", "qwen2"),
    with_deepstack("qwen3vlmoe", "qwen2"),
    with_deepstack("qwen35", "qwen35", &heads_in_turn),
    with_deepstack("qwen35moe", "qwen35", &heads_in_turn),
}};

bool is_of_vision(std::string_view name) { return name.starts_with("v.") || name.starts_with("mm."); }

// "v.deepstack_merger.1.norm" is the second of those that stand behind layers; an mmproj names the layer.
std::optional<std::string> behind_layer(std::string_view part, const std::vector<std::int64_t>& layers) {
  if (!part.starts_with(kBehindLayers)) return std::nullopt;
  const std::string_view rest = part.substr(kBehindLayers.size());
  const std::size_t end = rest.find('.');
  std::size_t number = 0;
  if (end == std::string_view::npos || std::from_chars(rest.data(), rest.data() + end, number).ptr != rest.data() + end)
    return std::nullopt;
  const auto inside = renamed(rest.substr(end + 1), kQwen3Behind);
  if (!inside || number >= layers.size()) return std::nullopt;
  return "v.deepstack." + std::to_string(layers[number]) + "." + *inside;
}

std::optional<std::string> of_layer(std::string_view part, const InnerVision& inside) {
  if (!part.starts_with(kInnerLayers)) return std::nullopt;
  const std::size_t end = part.find('.', kInnerLayers.size());
  if (end == std::string_view::npos) return std::nullopt;
  const auto name = renamed(part.substr(end + 1), inside.layer);
  return name ? std::optional(std::string(part.substr(0, end + 1)) + *name) : std::nullopt;
}

}  // namespace

const InnerVision* inner_vision_of(const GgufFile& file) {
  const GgufMetadata& metadata = file.metadata();
  const std::string architecture = metadata.string("general.architecture");
  // Text models of some families have the keys, too.
  if (!metadata.has(architecture + ".vision.block_count")) return nullptr;
  if (std::ranges::none_of(file.tensors(), [](const auto& entry) { return is_of_vision(entry.first); })) return nullptr;
  const auto found = std::ranges::find(kInnerKnown, std::string_view(architecture), &InnerVision::architecture);
  if (found == kInnerKnown.end()) {
    std::string known;
    for (const InnerVision& each : kInnerKnown) known.append(known.empty() ? "" : ", ").append(each.architecture);
    metadata.refuse(
        ErrorCode::kUnsupportedModel, "general.architecture",
        "the vision encoder inside this file is not read, only those of " + known + "; take a model with a separate mmproj file");
  }
  if (found->in_known_order != nullptr && !found->in_known_order(metadata)) {
    metadata.refuse(
        ErrorCode::kUnsupportedModel, "general.architecture",
        "this file is one of the first that Ollama made of Qwen3.5, whose recurrent layers are in another order; pull it again");
  }
  return &*found;
}

TensorFile::Tensors tensors_as_in_an_mmproj(const InnerVision& inside, const GgufFile& file) {
  const std::string deepstack = key_inside(inside, "deepstack_visual_indexes");
  const std::vector<std::int64_t> behind =
      file.metadata().is_list(deepstack) ? file.metadata().integers(deepstack) : std::vector<std::int64_t>();
  TensorFile::Tensors told;
  for (const auto& [stored, tensor] : file.tensors()) {
    if (!is_of_vision(stored)) continue;
    StoredTensor shaped = tensor;
    if (stored == kFlatKernel && shaped.shape.size() == 4 && shaped.shape[0] % kColours == 0) {
      shaped.shape[0] /= kColours;
      shaped.shape.insert(shaped.shape.begin() + 1, kColours);
    }
    const std::size_t dot = stored.rfind('.');
    const std::string_view part = std::string_view(stored).substr(0, dot);
    std::optional<std::string> name = renamed(stored, inside.whole);
    if (!name) {
      name = renamed(part, inside.whole);
      if (!name) name = of_layer(part, inside);
      if (!name) name = behind_layer(part, behind);
      if (name) name->append(stored, dot);
    }
    told.emplace(name.value_or(stored), std::move(shaped));
  }
  return told;
}

std::string key_inside(const InnerVision& inside, std::string_view mmproj) {
  const auto name = renamed(mmproj, inside.keys);
  return std::string(inside.architecture).append(".").append(name ? *name : std::string(kVision).append(mmproj));
}

std::vector<float> published_scaling(const InnerVision& inside, std::string_view mmproj) {
  const Colours& colours = mmproj == "image_mean" ? inside.mean : inside.deviation;
  return {colours.begin(), colours.end()};
}

bool may_see_inside(const std::string& path) {
  constexpr std::uint64_t kBeginning = std::uint64_t{64} << 10;  // metadata are sorted, and vocabularies come last
  try {
    const RegularFile file(path);
    std::string bytes(static_cast<std::size_t>(std::min(file.size_bytes(), kBeginning)), '\0');
    file.read_at(0, std::as_writable_bytes(std::span(bytes)));
    return bytes.starts_with("GGUF") && bytes.find(".vision.block_count") != std::string::npos;
  } catch (const Exception&) {
    return false;
  }
}

}  // namespace winnow
