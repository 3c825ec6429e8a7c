#include "engine/models/vision/llava_vision_config.h"

#include <gtest/gtest.h>

namespace winnow::llava_parts_test {
namespace {

std::string canonical(std::string_view stored) { return canonical_weight_name(stored, llava_weight_name_rules()); }

TEST(LlavaWeightNames, BothLayoutsMeetInOne) {
  EXPECT_EQ(canonical("model.language_model.layers.0.mlp.up_proj.weight"), "language_model.model.layers.0.mlp.up_proj.weight");
  EXPECT_EQ(canonical("model.vision_tower.vision_model.post_layernorm.bias"), "vision_tower.vision_model.post_layernorm.bias");
  for (const char* prefix : {"vision_tower.", "vision_tower.vision_model.", "model.vision_tower."})
    EXPECT_EQ(canonical(std::string(prefix) + "encoder.layers.1.mlp.fc1.bias"), "vision_tower.vision_model.encoder.layers.1.mlp.fc1.bias");
  EXPECT_EQ(canonical("model.multi_modal_projector.linear_1.weight"), "multi_modal_projector.linear_1.weight");
  EXPECT_EQ(canonical("model.image_newline"), "image_newline");
  EXPECT_EQ(canonical("lm_head.weight"), "language_model.lm_head.weight");
}

TEST(LlavaWeightNames, CanonicalAndUnknownNamesStay) {
  for (const char* name :
       {"language_model.model.norm.weight", "image_newline", "model.image_newline_x", "lm_headx", "model.language_modelx.a", ""}) {
    EXPECT_EQ(canonical(name), name);
  }
}

}  // namespace
}  // namespace winnow::llava_parts_test
