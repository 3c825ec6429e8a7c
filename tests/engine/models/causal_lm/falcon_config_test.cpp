// Falcon's config.json: what its three layouts become, and what is refused by name.
#include "engine/models/causal_lm/falcon_config.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/base/error.h"

namespace winnow::causal_lm_test {
namespace {

DecoderConfig parsed(const std::string& more) {
  const Json document = Json::parse(R"({"model_type": "falcon", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
                                        "vocab_size": 100)" +
                                    more + "}");
  return parse_falcon_config(JsonObject(document, "config.json"));
}

TEST(FalconConfig, WithoutGroupsOneKvHeadServesAllWhateverTheFileCounts) {
  const DecoderConfig config = parsed(R"(, "num_kv_heads": 4)");
  EXPECT_EQ(config.kv_heads, 1);
  EXPECT_EQ(config.head_dim, 16);
  EXPECT_EQ(config.intermediate_size, 256);
  EXPECT_EQ(config.max_positions, 2048);
  EXPECT_EQ(config.norm, NormKind::kLayer);
  EXPECT_EQ(config.mlp_place, MlpPlace::kBesideAttention);
  EXPECT_TRUE(config.tie_word_embeddings);
}

TEST(FalconConfig, GroupsHaveTwoNormsUnlessTheFileSaysOne) {
  const DecoderConfig two = parsed(R"(, "new_decoder_architecture": true, "num_kv_heads": 2, "parallel_attn": false)");
  EXPECT_EQ(two.kv_heads, 2);
  EXPECT_EQ(two.mlp_place, MlpPlace::kBesideWithNorm);
  EXPECT_EQ(two.names.input_norm, "ln_attn");
  const DecoderConfig one = parsed(R"(, "new_decoder_architecture": true, "num_kv_heads": 2, "num_ln_in_parallel_attn": 1)");
  EXPECT_EQ(one.mlp_place, MlpPlace::kBesideAttention);
  EXPECT_EQ(one.names.input_norm, "input_layernorm");
}

TEST(FalconConfig, LayersOneAfterTheOtherAreThoseOfLlama) {
  const DecoderConfig config = parsed(R"(, "multi_query": false, "parallel_attn": false)");
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.mlp_place, MlpPlace::kAfterAttention);
}

TEST(FalconConfig, WhatCannotBeRunIsRefusedByItsName) {
  const auto refusal = [](const std::string& more) -> std::pair<ErrorCode, std::string> {
    try {
      parsed(more);
    } catch (const Exception& error) {
      return {error.error().code, error.error().subject};
    }
    return {ErrorCode::kInternal, "nothing was refused"};
  };
  EXPECT_EQ(refusal(R"(, "alibi": true)"), std::pair(ErrorCode::kUnsupportedModel, std::string("config.json: alibi")));
  EXPECT_EQ(refusal(R"(, "new_decoder_architecture": true, "num_kv_heads": 3)"),
            std::pair(ErrorCode::kDamagedFile, std::string("config.json: num_kv_heads")));
  EXPECT_EQ(refusal(R"(, "new_decoder_architecture": true, "num_ln_in_parallel_attn": 3)").second, "config.json: num_ln_in_parallel_attn");
  EXPECT_EQ(refusal(R"(, "activation": "mish")"), std::pair(ErrorCode::kUnsupportedModel, std::string("config.json: activation")));
}

}  // namespace
}  // namespace winnow::causal_lm_test
