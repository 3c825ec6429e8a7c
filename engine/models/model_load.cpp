#include "engine/models/model_load.h"

#include "engine/base/error.h"
#include "engine/models/config/generation_defaults.h"
#include "engine/text/tokenizer.h"

namespace winnow {

ModelLoad::ModelLoad(const ModelSource& source)
    : source_(source), sidecar_(read_winnow_sidecar(*source.package)), recommended_(read_recommended_sampling(*source.package)) {}

void ModelLoad::require_token(const char* key, const std::string& token, std::int64_t id) const {
  if (package().shared_tokenizer()->token_id(token) == id) return;
  throw Exception(ErrorCode::kDamagedFile, package().subject(ModelPart::kConfig) + ": " + key,
                  "the tokenizer's " + token + " is another token");
}

WeightReader& ModelLoad::weights(std::span<const WeightNameRule> rules) {
  require(!reader_, "ModelLoad: weights are opened once");
  const TensorFiles& stored = source_.package->tensors();
  files_.emplace(stored, rules);
  if (source_.before_weights) source_.before_weights(most_bytes_under(source_.plan, stored));
  files_->set_interrupt(source_.interrupt);
  files_->set_progress(source_.progress);
  return reader_.emplace(*files_, source_.plan, source_.device);
}

ModelInfo ModelLoad::described(const TextDecoder& text) const {
  require(reader_.has_value(), "ModelLoad: a model has weights");
  ModelInfo model = info;
  model.folder = source_.package->path();
  model.projector = source_.projector;
  model.name = source_.package->name();
  model.device = source_.device.is_cuda() ? "cuda" : "cpu";
  model.dtype = reader_->plan_name();
  model.device_note = source_.device_note;
  const KvShape shape = text.kv_shape();
  model.layers = shape.layers;
  model.heads = text.heads();
  model.kv_heads = shape.kv_heads;
  model.head_dim = shape.head_dim;
  model.context_tokens = text.context_tokens();
  model.parameter_count = reader_->parameter_count();
  model.weight_bytes = reader_->weight_bytes();
  model.kv_bytes_per_token = shape.token_bytes();
  for (const std::int64_t states : shape.states_with) model.state_layers += states;
  for (const std::int64_t sliding : shape.sliding_with) model.state_layers += sliding;
  model.state_bytes = shape.state_bytes();
  model.traits.arithmetic_bits = 8 * static_cast<int>(at::elementSize(shape.dtype));
  model.traits.kv_bits = 8 * static_cast<int>(at::elementSize(shape.row_type()));
  model.traits.reads_narrow_cache = source_.device.is_cpu();
  model.traits.position_axes = shape.rotary.axes();
  const auto look_back = [&](const KvShape& layers) {
    for (const std::int64_t window : layers.windows) {
      if (window > 0 && (model.traits.window == 0 || window < model.traits.window)) model.traits.window = window;
    }
  };
  look_back(shape);
  if (shape.sliding) look_back(*shape.sliding);
  if (!sidecar_.time_instruction.empty()) model.time_instruction = sidecar_.time_instruction;
  model.video_frames = sidecar_.video_frames;
  model.vision_products = reader_->vision_products();
  model.recommended = recommended_;
  model.traits.measured = sidecar_.measured_options();
  require_fit(sidecar_, model.layers, model.kv_heads, package().subject(ModelPart::kWinnow));
  return model;
}

}  // namespace winnow
