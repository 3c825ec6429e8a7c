#include "engine/models/vision/qwen_vision_config.h"

#include <gtest/gtest.h>

namespace winnow::qwen_vl_parts_test {
namespace {

std::string canonical(std::string_view stored) { return canonical_weight_name(stored, qwen_vl_weight_name_rules()); }

TEST(QwenVlWeightNames, BothTransformersVersionsGiveTheSameNames) {
  EXPECT_EQ(canonical("model.language_model.layers.0.mlp.up_proj.weight"), "model.layers.0.mlp.up_proj.weight");
  EXPECT_EQ(canonical("model.layers.0.mlp.up_proj.weight"), "model.layers.0.mlp.up_proj.weight");
  EXPECT_EQ(canonical("model.visual.blocks.0.attn.qkv.bias"), "visual.blocks.0.attn.qkv.bias");
  EXPECT_EQ(canonical("visual.blocks.0.attn.qkv.bias"), "visual.blocks.0.attn.qkv.bias");
  EXPECT_EQ(canonical("lm_head.weight"), "lm_head.weight");
}

}  // namespace
}  // namespace winnow::qwen_vl_parts_test
