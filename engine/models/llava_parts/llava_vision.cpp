#include "engine/models/llava_parts/llava_vision.h"

#include <utility>

namespace winnow {
namespace {

PlainMlp read_projector(const LlavaVisionConfig& config, std::int64_t hidden_size, WeightReader& weights) {
  const auto bias = config.projector_bias ? WeightReader::Bias::kRequired : WeightReader::Bias::kNone;
  const std::int64_t features = config.vision.hidden_size * std::ssize(config.feature_states);
  PlainMlp projector;
  projector.first = weights.tower_linear("multi_modal_projector.linear_1", hidden_size, features, bias);
  projector.second = weights.tower_linear("multi_modal_projector.linear_2", hidden_size, hidden_size, bias);
  projector.activation = config.projector_activation;
  return projector;
}

}  // namespace

LlavaVision::LlavaVision(const LlavaVisionConfig& config, std::int64_t hidden_size, WeightReader& weights)
    : drops_first_(config.drops_first()),
      tower_(config.vision, config.feature_states, weights, "vision_tower.vision_model."),
      projector_(read_projector(config, hidden_size, weights)) {}

TowerFeatures LlavaVision::features(const at::Tensor& pixels, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const {
  TowerFeatures tower = tower_.encode(pixels, judge, interrupt);
  if (!drops_first_) return tower;
  tower.features = tower.features.narrow(1, 1, tower.features.size(1) - 1);
  if (judge) tower.importance = tower.importance.narrow(1, 1, tower.importance.size(1) - 1);
  return tower;
}

EncodedParts LlavaVision::encode(const at::Tensor& pixels, std::optional<VisionJudge> judge, const InterruptToken& interrupt) const {
  TowerFeatures tower = features(pixels, judge, interrupt);
  return {project(tower.features), std::move(tower.importance)};
}

}  // namespace winnow
