// What the documents of a model folder were read as, as one document: rows of *_configs.json say what they expect in it.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/config/vit_config.h"
#include "engine/models/families/gemma3_folder.h"
#include "engine/models/families/gemma4_folder.h"
#include "engine/models/families/internvl_chat_config.h"
#include "engine/models/families/internvl_folder.h"
#include "engine/models/families/lfm2_vl_folder.h"
#include "engine/models/families/llava_folder.h"
#include "engine/models/families/llava_onevision_folder.h"
#include "engine/models/families/minicpmv_folder.h"
#include "engine/models/families/mistral3_folder.h"
#include "engine/models/families/qwen2_vl_config.h"
#include "engine/models/families/qwen3_vl_config.h"
#include "engine/models/families/smolvlm_folder.h"

namespace winnow::test {

// Members have the names that they have in C++, functions of them, too.
struct ShownConfig {
  static Json of(const LlavaFolder& folder) {
    Json shown = of_llava(folder.model);
    shown["pooling"] = of(folder.model.pooling);
    shown["tiles"] = folder.model.sight.tiles;
    shown["frame_side"] = folder.model.frame_side();
    shown["processor"] = {{"image", of(folder.processor.image)}, {"video", of(folder.processor.video)}};
    shown["processor"]["pinpoints"] = folder.processor.grid_pinpoints.size();
    return shown;
  }
  static Json of(const LlavaOnevisionFolder& folder) {
    Json shown = of_llava(folder.model);
    const VideoRules& video = folder.model.video;
    shown["video"] = {{"pooling", of(video.pooling)}, {"tells_times", video.tells_times}};
    shown["video"]["newline"] = named(video.newline, "row", "frame", "video", "nowhere");
    shown["processor"] = {{"image", of(folder.processor.image)}, {"video", of(folder.processor.video)}};
    return shown;
  }
  static Json of(const Qwen2VlFolder& folder) {
    Json shown = {{"text", of(folder.model.text)}, {"vision", of(folder.model.vision)}, {"processors", of(folder.processors)}};
    shown["positions_a_second"] = of(folder.model.positions_a_second);
    shown["tokens"] = {{"image", folder.model.image_token_id}, {"video", folder.model.video_token_id}};
    return shown;
  }
  static Json of(const Qwen3VlFolder& folder) {
    Json shown = {{"text", of(folder.model.text)}, {"vision", of(folder.model.vision)}, {"processors", of(folder.processors)}};
    const Qwen3VlTokens& tokens = folder.model.tokens;
    shown["tokens"] = {{"image", tokens.image}, {"video", tokens.video}, {"vision_end", tokens.vision_end}};
    shown["times"] = named(folder.times, "before", "behind", "behind_in_seconds");
    return shown;
  }
  static Json of(const MiniCpmVFolder& folder) {
    const MiniCpmVConfig& model = folder.model;
    Json shown = {{"text", of(model.text)}, {"image", of(folder.image)}, {"frame", of(folder.frame)}, {"joined", model.joined}};
    shown["vision"] = {{"layers", model.vision.layers},
                       {"head_dim", model.vision.head_dim},
                       {"table_side", model.vision.table_side},
                       {"merger_layer", model.vision.merger_layer}};
    shown["tokens"] = {{"image", model.image_token_id}, {"video", model.video_token_id}};
    if (model.marks) shown["marks"] = {model.marks->begin, model.marks->slice_end, model.marks->line};
    shown["numbers_images"] = folder.numbers_images;
    return shown;
  }
  static Json of(const InternVlFolder& folder) {
    const InternVlConfig& model = folder.model;
    Json shown = {{"text", of(model.text)}, {"vision", of(model.vision)}, {"tiles", of(folder.pixels.tiles)}, {"side", folder.side()}};
    shown["feature_state"] = model.feature_state;
    shown["last_norm"] = model.last_norm;
    shown["scale"] = model.scale;
    shown["image_token_id"] = of(model.image_token_id);
    shown["processor"] = {{"image", of(folder.pixels.image)}, {"video", of(folder.pixels.video)}};
    for (const char* const name : {"internvl2_5", "Hermes-2", "internlm2-chat"})
      if (folder.own_template == internvl_chat_template(name)) shown["own_template"] = name;
    return shown;
  }
  static Json of(const SmolVlmFolder& folder) {
    Json shown = {{"text", of(folder.model.text)}, {"vision", of(folder.model.vision)}, {"side", folder.side()}};
    shown["scale_factor"] = folder.model.scale_factor;
    shown["image_token_id"] = folder.model.image_token_id;
    shown["processor"] = {{"image", of(folder.processor.image)}, {"video", of(folder.processor.video)}};
    return shown;
  }
  static Json of(const Gemma3Folder& folder) {
    Json shown = {{"text", of(folder.model.text)}, {"vision", of(folder.model.vision)}, {"image", of(folder.pixels.image)}};
    shown["side"] = folder.model.side;
    shown["pooled"] = folder.model.pooled();
    shown["image_token_id"] = folder.model.image_token_id;
    const CropRules& crops = folder.pixels.crops;
    shown["crops"] = {{"wanted", crops.wanted}, {"least_px", crops.least_px}, {"most", crops.most}, {"least_ratio", crops.least_ratio}};
    return shown;
  }
  static Json of(const Gemma4Folder& folder) {
    Json shown = {{"text", of(folder.model.text)}, {"pictures_see_themselves", folder.model.pictures_see_themselves}};
    if (const auto* const tower = std::get_if<Gemma4Vision>(&folder.model.vision))
      shown["vision"] = {{"clipped", tower->clipped}, {"theta", tower->theta}};
    if (const auto* const patches = std::get_if<Gemma4Patches>(&folder.model.vision))
      shown["patches"] = {{"hidden_size", patches->hidden_size}, {"positions", patches->positions}};
    shown["video_token_id"] = folder.model.video_token_id;
    shown["budget"] = folder.image.budget;
    return shown;
  }
  static Json of(const Mistral3Folder& folder) {
    const PixtralConfig& vision = folder.model.vision;
    Json shown = {{"text", of(folder.model.text)}, {"pixels", of(folder.pixels)}, {"longest_edge_px", folder.longest_edge_px}};
    shown["vision"] = {{"layers", vision.layers}, {"head_dim", vision.head_dim}};
    shown["image_token_id"] = folder.model.image_token_id;
    return shown;
  }
  static Json of(const Lfm2VlFolder& folder) {
    const Lfm2VlConfig& model = folder.model;
    const Lfm2PictureRules& pictures = folder.pictures;
    Json shown = {{"text", of(model.text)}, {"vision", of(model.vision)}, {"image_token_id", model.image_token_id}};
    shown["token_channels"] = model.token_channels();
    shown["projector_size"] = model.projector_size;
    shown["pictures"] = {{"cell_px", pictures.cell_px()},
                         {"tile_tokens", pictures.tile_tokens()},
                         {"least_tokens", pictures.least_tokens},
                         {"tiles", of(pictures.tiles)},
                         {"cuts", pictures.cuts()},
                         {"filter", of(pictures.filter)},
                         {"scaling", of(pictures.scaling)}};
    return shown;
  }

  static Json of(const DecoderConfig& text) {
    Json shown = {{"hidden_size", text.hidden_size},
                  {"intermediate_size", text.intermediate_size},
                  {"layers", text.layers},
                  {"heads", text.heads},
                  {"kv_heads", text.kv_heads},
                  {"head_dim", text.head_dim},
                  {"norm_eps", text.norm_eps},
                  {"rotary", of(text.rotary)},
                  {"other_rotary", of(text.other_rotary)},
                  {"rotated_otherwise", layers_of(text.rotated_otherwise)},
                  {"other_head_dim", text.other_head_dim},
                  {"attention_scale", text.attention_scale},
                  {"embedding_scale", text.embedding_scale},
                  {"input_scale", text.input_scale},
                  {"residual_scale", text.residual_scale},
                  {"logit_divisor", text.logit_divisor},
                  {"logit_cap", text.logit_cap},
                  {"max_positions", text.max_positions},
                  {"windows", text.windows},
                  {"vocabulary", text.vocabulary},
                  {"tie_word_embeddings", text.tie_word_embeddings},
                  {"query_key_norm", text.query_key_norm},
                  {"value_is_key", text.value_is_key},
                  {"output_gate", text.output_gate},
                  {"recurrent", layers_of(text.recurrent)},
                  {"delta_channels", text.delta.channels()},
                  {"borrowing_layers", text.borrowing_layers},
                  {"borrowing_intermediate_size", text.borrowing_intermediate_size},
                  {"activation", of(text.activation)},
                  {"deepstack_layers", text.deepstack_layers},
                  {"experts", of(text.experts)},
                  {"experts_beside", of(text.experts_beside)}};
    shown["norm"] = named(text.norm, "rms", "layer", "centred_rms", "wide_rms");
    shown["mlp_place"] = named(text.mlp_place, "after_attention", "beside_attention", "beside_with_norm");
    shown["pairs"] = named(text.pairs, "halves", "neighbours");
    if (text.query_growth) shown["query_growth"] = {{"strength", text.query_growth->strength}, {"step", text.query_growth->step}};
    if (text.short_conv) shown["short_conv"] = {{"kernel", text.short_conv->kernel}, {"biased", text.short_conv->biased}};
    if (const auto& of = text.sliding) shown["sliding"] = {{"kv_heads", of->kv_heads}, {"head_dim", of->head_dim}, {"window", of->window}};
    if (text.layer_inputs) shown["layer_inputs"] = text.layer_inputs->size;
    const StateShape state = text.state();
    shown["state"] = {state.heads, state.rows, state.columns, state.recent, state.channels};
    const DecoderNames& names = text.names;
    shown["names"] = {{"input_norm", names.input_norm},       {"query_key_value", names.query_key_value},
                      {"mlp_out_norm", names.mlp_out_norm},   {"attention_out_norm", names.attention_out_norm},
                      {"shared_expert", names.shared_expert}, {"gate_up", names.gate_up}};
    return shown;
  }

 private:
  template <typename Value>
  static Json of(const std::optional<Value>& value) {
    if (!value) return nullptr;
    if constexpr (std::is_arithmetic_v<Value>)
      return *value;
    else
      return of(*value);
  }
  // Of an enumeration that counts from 1.
  template <typename Enum, typename... Names>
  static const char* named(Enum value, Names... names) {
    return std::array<const char*, sizeof...(Names)>{names...}.at(static_cast<std::size_t>(value) - 1);
  }
  // The numbers of those that are meant.
  static Json layers_of(const std::vector<bool>& meant) {
    Json layers = Json::array();
    for (std::size_t layer = 0; layer < meant.size(); ++layer)
      if (meant[layer]) layers.push_back(layer);
    return layers;
  }
  // [[how many, of which value], ...]
  static Json runs_of(const std::vector<double>& values) {
    Json runs = Json::array();
    for (const double value : values) {
      const Json told = std::isfinite(value) ? Json(value) : Json("endless");
      if (runs.empty() || runs.back()[1] != told) runs.push_back(Json::array({0, told}));
      runs.back()[0] = runs.back()[0].get<int>() + 1;
    }
    return runs;
  }
  static Json of(Activation activation) { return named(activation, "silu", "gelu", "gelu_tanh", "quick_gelu", "relu"); }
  static Json of(ResampleFilter filter) { return named(filter, "lanczos", "bilinear", "bicubic"); }
  static Json of(const RotaryScheme& rotary) {
    return {{"theta", rotary.theta},         {"rotated", rotary.rotated},
            {"axes", rotary.axes()},         {"frequency_axis", rotary.frequency_axis},
            {"magnitude", rotary.magnitude}, {"divisors", runs_of(rotary.divisors)}};
  }
  static Json of(const ExpertConfig& experts) {
    Json shown = {{"count", experts.count},
                  {"chosen", experts.chosen},
                  {"intermediate_size", experts.intermediate_size},
                  {"sums_to_one", experts.sums_to_one},
                  {"shared_size", experts.shared_size},
                  {"shared_gate", experts.shared_gate}};
    if (const auto& of = experts.sigmoid) shown["sigmoid"] = {of->groups, of->chosen_groups, of->factor};
    return shown;
  }
  static Json of(const VitConfig& vision) {
    return {{"hidden_size", vision.hidden_size},
            {"intermediate_size", vision.intermediate_size},
            {"layers", vision.layers},
            {"heads", vision.heads},
            {"head_dim", vision.head_dim},
            {"image_size_px", vision.image_size_px},
            {"patches_per_side", vision.patches_per_side},
            {"layer_norm_eps", vision.layer_norm_eps},
            {"activation", of(vision.activation)},
            {"class_token", vision.class_token},
            {"first_norm", vision.first_norm},
            {"attention_bias", vision.attention_bias},
            {"rms_norms", vision.rms_norms},
            {"position_rows", vision.position_rows},
            {"position_side", vision.position_side},
            {"native_sizes", vision.native_sizes},
            {"use_head", vision.use_head},
            {"query_key_value", vision.names.query_key_value},
            {"query_norm", vision.names.query_norm}};
  }
  static Json of(const QwenVisionConfig& vision) {
    Json shown = {{"hidden_size", vision.hidden_size}, {"intermediate_size", vision.intermediate_size},
                  {"layers", vision.layers},           {"head_dim", vision.head_dim},
                  {"out_size", vision.out_size},       {"activation", of(vision.activation)},
                  {"norm_eps", vision.norm_eps},       {"theta", vision.theta}};
    if (const auto& of = vision.windows) shown["windows"] = {{"side_cells", of->side_cells}, {"whole_layers", of->whole_layers}};
    if (const auto& of = vision.deepstack) shown["deepstack"] = {{"table_side", of->table_side}, {"layers", of->layers}};
    if (const auto& of = vision.downsample)
      shown["downsample"] = {{"table_side", of->table_side}, {"merger_size", of->merger_size}, {"qkv_bias", of->qkv_bias}};
    return shown;
  }
  template <typename Config>
  static Json of_llava(const Config& config) {
    Json shown = {{"text", of(config.text)}, {"vision", of(config.vision)}, {"feature_states", config.feature_states}};
    shown["features"] = config.features();
    shown["drops_first"] = config.drops_first();
    shown["projector_bias"] = config.projector_bias;
    shown["grid"] = {
        {"side_px", config.grid.side_px}, {"pinpoints", config.grid.pinpoints.size()}, {"max_tiles", of(config.grid.max_tiles)}};
    shown["tokens"] = {{"image", config.image_token_id}, {"video", config.video_token_id}};
    return shown;
  }
  static Json of(const FramePoolingRules& pooling) {
    return {{"mode", named(pooling.mode, "average", "maximum", "bilinear")}, {"stride", pooling.stride}, {"side_of_2", pooling.side(2)}};
  }
  static Json of(const PixelScaling& scaling) {
    return {{"rescale_factor", scaling.rescale_factor},
            {"normalize", scaling.normalize},
            {"mean", scaling.mean},
            {"standard_deviation", scaling.standard_deviation}};
  }
  static Json of(const PictureRules& rules) {
    return {{"size", Json::array({rules.size.height_px, rules.size.width_px})},
            {"shortest_edge_px", rules.shortest_edge_px},
            {"pad_to_square", rules.pad_to_square},
            {"filter", of(rules.filter)},
            {"scaling", of(rules.scaling)},
            {"arithmetic", named(rules.arithmetic, "pillow", "torch")}};
  }
  static Json of(const TileBounds& tiles) {
    return {{"side_px", tiles.side_px}, {"least", tiles.least}, {"most", tiles.most}, {"thumbnail", tiles.thumbnail}};
  }
  static Json of(const SmolVlmPixels& pixels) {
    return {{"library", named(pixels.library, "pillow", "torchvision")},
            {"longest_edge_px", pixels.tiles.longest_edge_px},
            {"side_px", pixels.tiles.side_px},
            {"split", pixels.tiles.split},
            {"filter", of(pixels.filter)},
            {"scaling", of(pixels.scaling)}};
  }
  static Json of(const MiniCpmVPixels& pixels) {
    return {{"most_slices", pixels.slices.most_slices}, {"scale_px", pixels.slices.scale_px}, {"scaling", of(pixels.patches.scaling)}};
  }
  static Json of(const PatchProcessorConfig& processor) {
    return {{"min_pixels", processor.min_pixels},
            {"max_pixels", processor.max_pixels},
            {"cell_px", processor.patches.cell_px()},
            {"joined_frames", processor.patches.joined_frames},
            {"counted", named(processor.counted, "picture", "video", "sets")},
            {"filter", of(processor.filter)},
            {"scaling", of(processor.scaling)}};
  }
  static Json of(const QwenVlProcessors& processors) { return {{"image", of(processors.image)}, {"video", of(processors.video)}}; }
};

}  // namespace winnow::test
