// What config.json tells of a cache, beyond the golden folders of tests/engine/api/engine_face_test.cpp.
#include "engine/models/config/told_cache.h"

#include <gtest/gtest.h>

#include <limits>

namespace winnow {
namespace {

ToldCache told(const Json& config) { return told_cache(JsonObject(config, "config.json")); }

TEST(ToldCache, AConversationTakesItsTokensAndTwoStates) {
  EXPECT_EQ((ToldCache{0, 1000, 7}.usual_bytes()), 8192 * 1000 + 14);
  EXPECT_EQ((ToldCache{100'000, 1000, 0}.usual_bytes()), 8192 * 1000);
  EXPECT_EQ((ToldCache{2048, 1000, 0}.usual_bytes()), 2048 * 1000);
}

TEST(ToldCache, ReadsTheTextModelOneLevelDown) {
  const Json text = {{"max_position_embeddings", 512},
                     {"num_hidden_layers", 3},
                     {"num_attention_heads", 4},
                     {"num_key_value_heads", 2},
                     {"hidden_size", 32}};
  for (const Json& config : {text, Json{{"text_config", text}}}) {
    EXPECT_EQ(told(config).context_tokens, 512);
    EXPECT_EQ(told(config).kv_bytes_per_token, 3 * 2 * 2 * 2 * 8);
  }
}

TEST(ToldCache, TheContextIsTheStretchedOne) {
  const Json yarn = {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32'768}};
  EXPECT_EQ(told({{"max_position_embeddings", 40'960}, {"rope_scaling", yarn}}).context_tokens, 131'072);
  EXPECT_EQ(told({{"text_config", {{"max_position_embeddings", 40'960}, {"rope_parameters", yarn}}}}).context_tokens, 131'072);
}

// The largest values that are read, of windows and of heads: their product stays a number.
TEST(ToldCache, LargestValuesDoNotOverflow) {
  Json config = {{"model_type", "gemma4_text"},
                 {"num_attention_heads", 1},
                 {"num_key_value_heads", 4096},
                 {"hidden_size", 1 << 20},
                 {"num_hidden_layers", 1024},
                 {"sliding_window", std::int64_t{1} << 32},
                 {"use_bidirectional_attention", "all"},
                 {"layer_types", Json::array()}};
  for (int layer = 0; layer < 1024; ++layer) config["layer_types"].push_back(layer % 2 == 0 ? "sliding_attention" : "full_attention");
  const ToldCache cache = told(config);
  EXPECT_GT(cache.state_bytes, 0);
  EXPECT_LT(cache.state_bytes, std::numeric_limits<std::int64_t>::max() / 4);
  EXPECT_GT(cache.usual_bytes(), cache.state_bytes);
}

TEST(ToldCache, LayersThatAreCountedTwiceTakeNothing) {
  const Json config = {{"num_attention_heads", 1}, {"hidden_size", 8}, {"layer_types", {"conv", "conv"}}, {"num_kv_shared_layers", 2}};
  EXPECT_EQ(told(config).kv_bytes_per_token, 0);
}

TEST(ToldCache, ValuesThatCannotBeAreRefused) {
  EXPECT_THROW(told({{"max_position_embeddings", -1}}), Exception);
  EXPECT_THROW(told({{"num_hidden_layers", 1 << 20}}), Exception);
}

}  // namespace
}  // namespace winnow
