// Which words of "quantization_config" are read, and by which name the others are refused.
#include "engine/model_files/quantisation_config.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/expect_error.h"

namespace winnow {
namespace {

std::optional<QuantisationConfig> read(const std::string& quantised) {
  const Json document = parse_json("{\"quantization_config\":" + quantised + "}", "config.json");
  return read_quantisation(JsonObject(document, "config.json"));
}

TEST(QuantisationConfig, IsNothingWhereTheFolderSaysNothing) {
  EXPECT_FALSE(read("null"));
  const Json document = parse_json("{}", "config.json");
  EXPECT_FALSE(read_quantisation(JsonObject(document, "config.json")));
}

TEST(QuantisationConfig, OfAwq) {
  const auto config = read(R"({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true, "version": "GEMM"})");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->method, QuantisationMethod::kAwq);
  EXPECT_EQ(config->bits, 4);
  EXPECT_EQ(config->group, 128);
}

TEST(QuantisationConfig, OfGptqInBothVersions) {
  const auto config = read(R"({"quant_method": "gptq", "bits": 8, "group_size": -1, "sym": false, "desc_act": true})");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->bits, 8);
  EXPECT_EQ(config->group, QuantisationConfig::kWholeRows);
  EXPECT_FALSE(config->symmetric);
  EXPECT_TRUE(config->ordered);
  EXPECT_TRUE(config->zeros_less_one);
  const auto second = read(R"({"quant_method": "gptq", "bits": 4, "group_size": 32, "checkpoint_format": "gptq_v2"})");
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->zeros_less_one);
  EXPECT_TRUE(second->symmetric);
}

TEST(QuantisationConfig, RulesForSingleMatricesLeaveThemToTheirTensors) {
  const auto config = read(R"({"quant_method": "gptq", "bits": 4, "group_size": 32, "dynamic": {"+:.*down.*": {"bits": 8}}})");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->bits, QuantisationConfig::kOwn);
  EXPECT_EQ(config->group, QuantisationConfig::kOwn);
  EXPECT_FALSE(config->symmetric);
}

std::string packed(const std::string& format, const std::string& weights, const std::string& more = "") {
  return R"({"quant_method": "compressed-tensors", "format": ")" + format +
         R"(", "config_groups": {"group_0": {"targets": ["Linear"], "weights": )" + weights + "}}" + more + "}";
}

TEST(QuantisationConfig, OfCompressedTensors) {
  const std::string four = R"({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128})";
  const auto config = read(packed("pack-quantized", four));
  ASSERT_TRUE(config);
  EXPECT_EQ(config->method, QuantisationMethod::kCompressedTensors);
  EXPECT_TRUE(read(packed("int-quantized", R"({"num_bits": 8, "type": "int", "strategy": "channel"})")));
  EXPECT_TRUE(read(packed("naive-quantized", R"({"num_bits": 8, "type": "int", "strategy": "tensor"})")));
  EXPECT_TRUE(read(packed("dense", "null"))) << "activations alone";
}

TEST(QuantisationConfig, WhatIsNotReadIsRefusedByName) {
  const auto refused = [](const std::string& words, const std::string& config) {
    test::expect_error(ErrorCode::kUnsupportedModel, words, [&] { read(config); });
  };
  refused("\"bitsandbytes\" are not read", R"({"quant_method": "bitsandbytes"})");
  refused("not named", "{}");
  refused("weights of 3 bits", R"({"quant_method": "gptq", "bits": 3, "group_size": 128})");
  refused("weights of 8 bits", R"({"quant_method": "awq", "bits": 8, "group_size": 128})");
  refused("groups of 48 inputs", R"({"quant_method": "gptq", "bits": 4, "group_size": 48})");
  refused("groups of 0 inputs", R"({"quant_method": "gptq", "bits": 4, "group_size": 0})");
  refused("\"gemv\" is not read", R"({"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemv"})");
  refused("\"llm-awq\" is not read", R"({"quant_method": "awq", "bits": 4, "group_size": 128, "backend": "llm-awq"})");
  refused("\"marlin\" is not read", R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "checkpoint_format": "marlin"})");
  refused("Marlin's order", R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "is_marlin_format": true})");
  const std::string eight = R"({"num_bits": 8, "type": "int", "strategy": "channel"})";
  refused("\"float-quantized\" is not read", packed("float-quantized", eight));
  refused("\"float\" is not read", packed("naive-quantized", R"({"num_bits": 8, "type": "float", "strategy": "channel"})"));
  refused("\"block\" is not read", packed("int-quantized", R"({"num_bits": 8, "type": "int", "strategy": "block"})"));
  refused("weights of 2 bits", packed("pack-quantized", R"({"num_bits": 2, "type": "int", "strategy": "channel"})"));
  refused("groups of 16 inputs", packed("pack-quantized", R"({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 16})"));
  refused("\"sparse-24-bitmask\"", packed("pack-quantized", eight, R"(, "sparsity_config": {"format": "sparse-24-bitmask"})"));
  refused("rotated activations", packed("pack-quantized", eight, R"(, "transform_config": {"config_groups": {}})"));
}

}  // namespace
}  // namespace winnow
