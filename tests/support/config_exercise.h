// What the readers of a model folder's documents owe, whatever the documents say: used by the test of mutated configurations and by the
// fuzzer. No torch, no weights, no tokenizer.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/error.h"
#include "engine/model_files/model_package.h"
#include "engine/model_files/quantisation_config.h"
#include "engine/models/config/decoder_config.h"
#include "engine/models/config/end_tokens.h"
#include "engine/models/config/generation_defaults.h"
#include "engine/models/config/told_cache.h"
#include "engine/models/config/vit_config.h"
#include "engine/models/families/falcon_config.h"
#include "engine/models/families/gemma3_folder.h"
#include "engine/models/families/gemma3_text_config.h"
#include "engine/models/families/gemma4_folder.h"
#include "engine/models/families/gemma4_text_config.h"
#include "engine/models/families/glm4v_config.h"
#include "engine/models/families/internvl_chat_config.h"
#include "engine/models/families/internvl_folder.h"
#include "engine/models/families/lfm2_text_config.h"
#include "engine/models/families/lfm2_vl_folder.h"
#include "engine/models/families/llava_folder.h"
#include "engine/models/families/llava_onevision_folder.h"
#include "engine/models/families/minicpmv_folder.h"
#include "engine/models/families/mistral3_folder.h"
#include "engine/models/families/qwen2_vl_config.h"
#include "engine/models/families/qwen3_5_config.h"
#include "engine/models/families/qwen3_vl_config.h"
#include "engine/models/families/smolvlm_folder.h"

namespace winnow::test {

// Documents in memory. There is nothing beside them: who asks for weights breaks the promise that configurations are checked first.
class DocumentsAlone : public ModelPackage {
 public:
  explicit DocumentsAlone(std::map<ModelPart, Json> documents) {
    for (auto& [part, content] : documents) documents_[part] = {std::move(content), subject(part)};
  }
  Json& content(ModelPart part) { return documents_.at(part).content; }

  const std::string& path() const override { return path_; }
  std::string name() const override { return path_; }
  const ModelDocument* document(ModelPart part) const override {
    const auto found = documents_.find(part);
    return found == documents_.end() ? nullptr : &found->second;
  }
  std::string subject(ModelPart part) const override { return file_name(part); }
  TokenizerFile tokenizer() const override { throw std::logic_error("the tokenizer was read"); }
  TemplateText chat_template(std::string_view) const override { throw std::logic_error("the chat template was read"); }
  const TensorFiles& tensors() const override { throw std::logic_error("weights were read"); }
  std::vector<std::pair<std::string, RegularFile>> files() const override { throw std::logic_error("files were opened"); }

  static std::string file_name(ModelPart part) {
    constexpr std::array kNames = {
        "config.json", "generation_config.json", "processor_config.json", "preprocessor_config.json", "video_preprocessor_config.json",
        "winnow.json"};
    return kNames[static_cast<std::size_t>(part) - 1];
  }

 private:
  std::string path_ = "folder";
  std::map<ModelPart, ModelDocument> documents_;
};

class ConfigExercise {
 public:
  struct Family {
    std::string_view name;  // model_type
    void (*read)(const ModelPackage&);
  };

  // As the registry has them; "llama" stands for all whose keys are Llama's.
  static constexpr auto families() {
    return std::to_array<Family>({
        {"llava_onevision", [](const ModelPackage& p) { check_llava(p, read_llava_onevision(p)); }},
        {"llava", [](const ModelPackage& p) { check_llava(p, read_llava(p, "llava")); }},
        {"llava_next", [](const ModelPackage& p) { check_llava(p, read_llava(p, "llava_next")); }},
        {"llava_next_video", [](const ModelPackage& p) { check_llava(p, read_llava(p, "llava_next_video")); }},
        {"qwen2_vl", [](const ModelPackage& p) { check_patches(p, read_qwen2_vl(p)); }},
        {"qwen2_5_vl", [](const ModelPackage& p) { check_patches(p, read_qwen2_vl(p)); }},
        {"qwen3_vl", [](const ModelPackage& p) { check_patches(p, read_qwen3_vl(p)); }},
        {"qwen3_5", [](const ModelPackage& p) { check_patches(p, read_qwen3_5(p)); }},
        {"qwen3_5_moe", [](const ModelPackage& p) { check_patches(p, read_qwen3_5(p)); }},
        {"glm4v", [](const ModelPackage& p) { check_patches(p, read_glm4v(p)); }},
        {"glm46v", [](const ModelPackage& p) { check_patches(p, read_glm4v(p)); }},
        {"glm4v_moe", [](const ModelPackage& p) { check_patches(p, read_glm4v(p)); }},
        {"minicpmv4_6", [](const ModelPackage& p) { check_slices(p, read_minicpmv(p)); }},
        {"minicpmv4_7", [](const ModelPackage& p) { check_slices(p, read_minicpmv(p)); }},
        {"qwen3_vl_moe", [](const ModelPackage& p) { check_patches(p, read_qwen3_vl(p)); }},
        {"idefics3", [](const ModelPackage& p) { check_tiles(p, read_smolvlm(p)); }},
        {"smolvlm", [](const ModelPackage& p) { check_tiles(p, read_smolvlm(p)); }},
        {"internvl", [](const ModelPackage& p) { check_tiles(p, read_internvl(p)); }},
        {"internvl_chat", [](const ModelPackage& p) { check_tiles(p, read_internvl_chat(p)); }},
        {"llama", [](const ModelPackage& p) { check_text(p, parse_decoder_config(root(p), "llama")); }},
        {"glm4", [](const ModelPackage& p) { check_text(p, parse_glm4_text_config(root(p), "glm4")); }},
        {"glm4_moe", [](const ModelPackage& p) { check_text(p, parse_glm4_text_config(root(p), "glm4_moe")); }},
        {"falcon", [](const ModelPackage& p) { check_text(p, parse_falcon_config(root(p))); }},
        {"gemma3", [](const ModelPackage& p) { check_pooled(p, read_gemma3(p)); }},
        {"mistral3", [](const ModelPackage& p) { check_native(p, read_mistral3(p)); }},
        {"gemma4", [](const ModelPackage& p) { check_soft_tokens(p, read_gemma4(p)); }},
        {"gemma4_unified", [](const ModelPackage& p) { check_soft_tokens(p, read_gemma4(p)); }},
        {"gemma3_text", [](const ModelPackage& p) { check_text(p, parse_gemma3_config(root(p))); }},
        {"gemma4_text", [](const ModelPackage& p) { check_text(p, parse_gemma4_config(root(p))); }},
        {"lfm2_vl", [](const ModelPackage& p) { check_cells(p, read_lfm2_vl(p)); }},
        {"lfm2", [](const ModelPackage& p) { check_text(p, parse_lfm2_config(root(p))); }},
    });
  }

  static Family family_of(std::string_view model_type) {
    constexpr auto kFamilies = families();
    const auto* found = std::ranges::find(kFamilies, model_type, &Family::name);
    return found != kFamilies.end() ? *found : *std::ranges::find(kFamilies, std::string_view("llama"), &Family::name);
  }

  // True: the folder opens, and its numbers are such that a network can be built of them. False: refused in one sentence. Throws
  // std::logic_error where the readers do not keep their word.
  static bool run(const Family& family, const DocumentsAlone& package) {
    opens([&] { check_told_cache(told_cache(root(package))); });
    return opens([&] {
      family.read(package);
      if (const auto quantised = read_quantisation(root(package))) check_quantisation(*quantised);
    });
  }

  // The same for what makes a document.
  template <typename Action>
  static bool opens(const Action& action) {
    try {
      action();
      return true;
    } catch (const Exception& exception) {
      check_refusal(exception.error());
      return false;
    }
  }

  // The same for text that may be no document.
  static std::optional<Json> parsed(std::string_view text, ModelPart part) {
    std::optional<Json> document;
    opens([&] { document = parse_json(text, DocumentsAlone::file_name(part)); });
    return document;
  }

 private:
  static void demand(bool condition, const char* what) {
    if (!condition) throw std::logic_error(what);
  }

  static void check_refusal(const Error& error) {
    demand(!error.subject.empty() && !error.reason.empty(), "an error without subject or reason");
    const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    demand(std::ranges::none_of(error.subject + error.reason, control), "an error of more than one line");
    demand(error.subject.size() + error.reason.size() < 500, "an error that is no short sentence");
    demand(error.code == ErrorCode::kDamagedFile || error.code == ErrorCode::kLimitExceeded || error.code == ErrorCode::kFileNotFound ||
               error.code == ErrorCode::kUnsupportedModel,
           "an error of a code that documents do not cause");
  }

  static JsonObject root(const ModelPackage& package) { return package.required(ModelPart::kConfig).root(); }

  static void check_text(const ModelPackage& package, const DecoderConfig& text) {
    for (const std::int64_t size : {text.hidden_size, text.intermediate_size, text.layers, text.heads, text.kv_heads, text.head_dim,
                                    text.max_positions, text.vocabulary})
      demand(size > 0 && size <= std::int64_t{1} << 24, "a decoder's size beyond what can be");
    demand(text.heads % text.kv_heads == 0, "heads that share no kv heads");
    demand(text.other_head_dim < text.head_dim, "heads that do not fit the cache's rows");
    if (const auto& sliding = text.sliding) {
      demand(sliding->kv_heads > 0 && text.heads % sliding->kv_heads == 0, "heads under a window that share no kv heads");
      demand(sliding->head_dim > 0 && sliding->window > 1 && sliding->window < text.max_positions, "a window that is none");
      demand(text.windows.empty() && text.borrowing_layers == 0 && text.other_head_dim == 0, "layers with a window of two kinds");
      demand(std::ssize(text.rotated_otherwise) == text.layers && !text.rotated_otherwise.back(), "the last layer has a window");
    }
    demand(text.borrowing_layers >= 0 && text.borrowing_layers < text.layers, "no layer has keys of its own");
    demand(text.recurrent.empty() || std::ssize(text.recurrent) == text.layers, "states of other layers");
    demand(text.recurrent.empty() || std::ranges::count(text.recurrent, false) > 0, "no layer attends");
    if (text.short_conv) demand(text.short_conv->kernel > 1 && text.short_conv->kernel <= 64, "a convolution over nothing");
    demand(text.windows.empty() || std::ssize(text.windows) == text.layers - text.borrowing_layers, "windows of other layers");
    demand(text.rotated_otherwise.empty() || std::ssize(text.rotated_otherwise) == text.layers, "rotations of other layers");
    for (const std::int64_t window : text.windows) demand(window >= 0, "a window before the first token");
    for (const double number : {text.attention_scale, text.embedding_scale, text.logit_cap})
      demand(std::isfinite(number) && number >= 0.0, "a scale that is none");
    for (const double number : {text.input_scale, text.residual_scale, text.logit_divisor})
      demand(std::isfinite(number) && number > 0.0, "a multiplier that is none");
    demand(text.norm_eps > 0.0 && text.norm_eps <= 1.0, "an epsilon that is none");
    for (const auto& experts : {text.experts, text.experts_beside})
      if (experts) {
        demand(experts->chosen > 0 && experts->chosen <= experts->count, "more experts than there are");
        const SigmoidRouting routing = experts->sigmoid.value_or(SigmoidRouting{});
        demand(experts->count % routing.groups == 0 && routing.chosen_groups > 0 && routing.chosen_groups <= routing.groups,
               "groups that are none");
        demand(experts->chosen <= experts->count / routing.groups * routing.chosen_groups, "more experts than may be chosen");
      }
    check_turns(text.rotary);
    if (text.other_rotary && text.other_rotary->theta > 0.0) check_turns(*text.other_rotary);
    for (const std::int64_t token : configured_end_tokens(package, text.vocabulary))
      demand(token >= 0 && token < text.vocabulary, "an end that is no token");
    check_sampling(read_recommended_sampling(package));
  }

  static void check_told_cache(const ToldCache& told) {
    demand(told.context_tokens >= 0 && told.kv_bytes_per_token >= 0 && told.state_bytes >= 0, "a cache of less than nothing");
    demand(told.usual_bytes() >= 0 && told.usual_bytes() + kGpuWorkingBytes > 0, "a conversation's cache is no number");
  }

  static void check_quantisation(const QuantisationConfig& config) {
    demand(config.bits == QuantisationConfig::kOwn || config.bits == 4 || config.bits == 8, "bits that no block has");
    demand(config.group >= QuantisationConfig::kWholeRows && config.group % 32 <= 0, "groups that are no whole blocks");
  }

  static void check_turns(const RotaryScheme& scheme) {
    demand(std::isfinite(scheme.theta) && scheme.theta > 0.0, "a base of positions that is none");
    demand(std::isfinite(scheme.magnitude) && scheme.magnitude > 0.0, "a length of positions that is none");
    // By infinity where a pair does not rotate.
    for (const double divisor : scheme.divisors) demand(divisor > 0.0, "a frequency divided by nothing");
    demand(scheme.divisors.empty() || std::isfinite(scheme.divisors.front()), "no pair rotates");
  }

  static void check_sampling(const SamplingChoice& choice) {
    for (const std::optional<double> number : {choice.temperature, choice.top_p, choice.min_p, choice.repetition_penalty})
      demand(std::isfinite(number.value_or(0.0)) && number.value_or(0.0) >= 0.0, "a sampling that is none");
  }

  static void check_tower(const VitConfig& tower) {
    for (const std::int64_t size : {tower.hidden_size, tower.intermediate_size, tower.layers, tower.heads, tower.head_dim,
                                    tower.patch_size_px, tower.patches_per_side})
      demand(size > 0 && size <= std::int64_t{1} << 20, "a tower's size beyond what can be");
    demand(tower.heads * tower.head_dim == tower.hidden_size, "heads that are not the tower's width");
    demand(tower.patches() <= 65'536, "more patches than positions");
  }

  static void check_colours(const PixelScaling& scaling) {
    demand(std::isfinite(scaling.rescale_factor), "bytes by a factor that is none");
    for (const double deviation : scaling.standard_deviation)
      demand(deviation > 0.0 && std::isfinite(deviation), "colours divided by nothing");
    for (const double mean : scaling.mean) demand(std::isfinite(mean), "a mean that is none");
  }

  template <typename Folder>
  static void check_llava(const ModelPackage& package, const Folder& folder) {
    check_colours(folder.processor.image.scaling);
    check_colours(folder.processor.video.scaling);
    const auto& config = folder.model;
    check_text(package, config.text);
    check_tower(config.vision);
    demand(!config.feature_states.empty(), "no state of the tower is taken");
    for (const std::int64_t state : config.feature_states) demand(state >= 0 && state <= config.vision.layers, "a state of no layer");
  }

  static void check_pooled(const ModelPackage& package, const Gemma3Folder& folder) {
    check_colours(folder.pixels.image.scaling);
    check_text(package, folder.model.text);
    check_tower(folder.model.vision);
    demand(folder.model.side > 0 && folder.model.pooled() > 0, "tokens of no patch");
    demand(folder.model.image_token_id >= 0 && folder.model.image_token_id < folder.model.text.vocabulary, "a picture that is no token");
  }

  static void check_native(const ModelPackage& package, const Mistral3Folder& folder) {
    check_text(package, folder.model.text);
    check_colours(folder.pixels.scaling);
    const PixtralConfig& tower = folder.model.vision;
    demand(tower.layers > 0 && tower.head_dim % 4 == 0 && tower.heads * tower.head_dim == tower.hidden_size, "heads that cannot be turned");
    demand(folder.longest_edge_px > 0 && folder.longest_edge_px <= tower.image_px, "a picture that the tower does not take");
    demand(folder.model.image_token_id >= 0 && folder.model.image_token_id < folder.model.text.vocabulary, "a picture that is no token");
  }

  static void check_cells(const ModelPackage& package, const Lfm2VlFolder& folder) {
    check_text(package, folder.model.text);
    check_tower(folder.model.vision);
    check_colours(folder.pictures.scaling);
    const Lfm2PictureRules& pictures = folder.pictures;
    demand(folder.model.vision.native_sizes && folder.model.vision.position_side > 0, "a tower that takes no picture");
    demand(pictures.patch_px == folder.model.vision.patch_size_px && pictures.merge == folder.model.merge,
           "patches that are not the tower's");
    demand(!pictures.cuts() || pictures.tiles.side_px % pictures.cell_px() == 0, "tiles that are no whole tokens");
    demand(folder.model.image_token_id >= 0 && folder.model.image_token_id < folder.model.text.vocabulary, "a picture that is no token");
    for (const PixelSize size : {PixelSize{1, 200}, PixelSize{8000, 8000}, PixelSize{3, 2}}) {
      const Lfm2PicturePlan plan = lfm2_picture_plan(size, pictures);
      const std::int64_t tokens = tokens_of_plan(plan, pictures);
      demand(tokens > 0 && tokens <= 1'000'000, "a picture of no tokens, or of too many");
    }
  }

  static void check_soft_tokens(const ModelPackage& package, const Gemma4Folder& folder) {
    check_text(package, folder.model.text);
    const auto* const tower = std::get_if<Gemma4Vision>(&folder.model.vision);
    const auto* const patches = std::get_if<Gemma4Patches>(&folder.model.vision);
    if (tower != nullptr) demand(tower->head_dim % 4 == 0, "heads that cannot be turned");
    for (const SoftTokenRules& rules : {folder.image, folder.frame}) {
      check_colours(rules.scaling);
      const std::int64_t patch = tower != nullptr ? tower->patch_px : patches->patch_px * patches->pooled;
      demand(rules.patch_px == patch && rules.pooled == (tower != nullptr ? tower->pooled : 1), "patches that are not the tower's");
      demand(rules.budget * rules.pooled <= (tower != nullptr ? tower->positions : patches->positions),
             "a picture with patches beyond the last place");
    }
  }

  static void check_slices(const ModelPackage& package, const MiniCpmVFolder& folder) {
    check_text(package, folder.model.text);
    const MiniCpmVVision& tower = folder.model.vision;
    demand(tower.heads * tower.head_dim == tower.hidden_size, "heads that are not the tower's width");
    demand(tower.merger_layer >= 0 && tower.merger_layer < tower.layers, "a merger behind no layer");
    demand(tower.table_side > 0 && tower.table_side <= 256, "more positions than can be");
    for (const MiniCpmVPixels& pixels : {folder.image, folder.frame}) {
      check_colours(pixels.patches.scaling);
      const SliceRules& rules = pixels.slices;
      demand(rules.patch_px == tower.patch_px && pixels.patches.patches.patch_px == tower.patch_px, "patches that are not the tower's");
      demand(rules.joined == folder.model.joined, "tokens of other patches than the model's");
      demand(rules.most_slices > 0 && rules.most_slices <= 64 && rules.scale_px / rules.patch_px <= 128, "more patches than can be");
    }
    const CanvasMarks marks = folder.model.marks.value_or(CanvasMarks());
    for (const std::int64_t token :
         {folder.model.image_token_id, folder.model.video_token_id, marks.begin, marks.end, marks.slice_begin, marks.slice_end, marks.line})
      demand(token >= 0 && token < folder.model.text.vocabulary, "a picture that is no token");
    const std::vector<std::int64_t>& axes = folder.model.text.rotary.frequency_axis;
    demand(axes.empty() != folder.model.marks.has_value(), "positions on a canvas without its axes");
  }

  template <typename Folder>
  static void check_tiles(const ModelPackage& package, const Folder& folder) {
    check_text(package, folder.model.text);
    check_tower(folder.model.vision);
    demand(folder.side() > 0, "tiles without tokens");
  }

  template <typename Folder>
  static void check_patches(const ModelPackage& package, const Folder& folder) {
    check_text(package, folder.model.text);
    const auto& tower = folder.model.vision;
    demand(tower.out_size == folder.model.text.hidden_size, "tokens of another width than the decoder's");
    demand(tower.head_dim % 4 == 0 && tower.heads * tower.head_dim == tower.hidden_size, "heads that cannot be turned");
    for (const PatchProcessorConfig& processor : {folder.processors.image, folder.processors.video}) {
      demand(processor.min_pixels > 0 && processor.max_pixels > 0, "a bound that no picture meets");
      demand(processor.patches.patch_px == tower.patches.patch_px && processor.patches.merge == tower.patches.merge &&
                 processor.patches.joined_frames == tower.patches.joined_frames,
             "patches that are not the tower's");
      check_colours(processor.scaling);
    }
  }
};

}  // namespace winnow::test
