// A golden folder written as a GGUF file is the same model: to the bit where its numbers are stored as they were, and within the rounding
// of sums where they stay in blocks.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "engine/base/error.h"
#include "engine/layers/block_matrix.h"
#include "engine/model_files/gguf_model.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/registry.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/expect_error.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/golden_cases.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/plain_processor.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::causal_lm_test {
namespace {

constexpr std::uint32_t kF32 = 0;
constexpr std::uint32_t kQ8_0 = 8;

std::string golden(const std::string& name) { return source_folder() + "/tests/golden/text_models/" + name; }

std::string bytes_of(const at::Tensor& values) {
  const at::Tensor flat = values.to(at::kFloat).contiguous();
  return {static_cast<const char*>(flat.const_data_ptr()), static_cast<std::size_t>(flat.nbytes())};
}

// Blocks of 32 with a scale of 16 bits each, and the numbers that they hold.
struct Quantised {
  std::string bytes;
  at::Tensor numbers;
};

Quantised quantised(const at::Tensor& values) {
  const at::Tensor blocks = values.to(at::kFloat).reshape({-1, 32});
  const at::Tensor scale = (std::get<0>(blocks.abs().max(1, true)) / 127).to(at::kHalf);
  const at::Tensor codes = (blocks / scale.to(at::kFloat)).round().clamp(-127, 127).to(at::kChar);
  Quantised result;
  for (std::int64_t block = 0; block < blocks.size(0); ++block) {
    result.bytes.append(static_cast<const char*>(scale[block].const_data_ptr()), 2);
    result.bytes.append(static_cast<const char*>(codes[block].contiguous().const_data_ptr()), 32);
  }
  result.numbers = (codes.to(at::kFloat) * scale.to(at::kFloat)).view(values.sizes());
  return result;
}

// The folder's names as the format has them, q and k in its order of rows.
class AsGguf {
 public:
  AsGguf(const std::string& folder, const std::string& architecture) : folder_(folder), architecture_(architecture), config_(folder) {
    const Json& config = config_.required(ModelPart::kConfig).content;
    heads_ = config["num_attention_heads"];
    kv_heads_ = config["num_key_value_heads"];
    writer_.text("general.architecture", architecture);
    writer_.texts("tokenizer.ggml.tokens", std::vector<std::string>(config["vocab_size"].get<std::size_t>(), "t"));
    number("block_count", "num_hidden_layers");
    number("context_length", "max_position_embeddings");
    number("embedding_length", "hidden_size");
    number("feed_forward_length", "intermediate_size");
    number("attention.head_count", "num_attention_heads");
    number("attention.head_count_kv", "num_key_value_heads");
    const std::uint32_t head_dim = config.value("head_dim", Json()).is_number()
                                       ? config["head_dim"].get<std::uint32_t>()
                                       : config["hidden_size"].get<std::uint32_t>() / static_cast<std::uint32_t>(heads_);
    writer_.uint32(architecture + ".attention.key_length", head_dim).uint32(architecture + ".attention.value_length", head_dim);
    writer_.float32(architecture + ".attention.layer_norm_rms_epsilon", config["rms_norm_eps"].get<float>());
    for (const auto& [key, from] :
         {std::pair("expert_count", "num_experts"), std::pair("expert_count", "num_local_experts"),
          std::pair("expert_used_count", "num_experts_per_tok"), std::pair("expert_feed_forward_length", "moe_intermediate_size")}) {
      if (config.contains(from)) number(key, from);
    }
    for (const auto& [key, from] :
         {std::pair("attention.scale", "attention_multiplier"), std::pair("embedding_scale", "embedding_multiplier"),
          std::pair("residual_scale", "residual_multiplier"), std::pair("logit_scale", "logits_scaling")}) {
      if (config.contains(from)) writer_.float32(architecture + "." + key, config[from].get<float>());
    }
    if (config.value("sliding_window", Json()).is_number()) number("attention.sliding_window", "sliding_window");
    writer_.float32(architecture + ".rope.freq_base", config["rope_parameters"]["rope_theta"].get<float>());
  }

  // in_blocks: matrices whose rows are whole blocks, as Q8_0; the numbers that they hold then go into `stored`.
  // A tensor for each expert, as early files of Mixtral have.
  AsGguf& with_experts_apart() {
    experts_apart_ = true;
    return *this;
  }

  std::string write(const test::ScratchFolder& to, bool in_blocks, std::map<std::string, at::Tensor>& stored) {
    const test_support::GoldenTensors tensors(folder_ + "/model.safetensors");
    std::map<std::string, at::Tensor> all;
    for (const std::string& name : tensors.names()) all.emplace(name, tensors.load(name).to(at::kFloat));
    join_experts(all);
    for (const auto& [name, values] : all) {
      stored[name] = values;
      const bool blocks = in_blocks && values.dim() >= 2 && values.size(-1) % 32 == 0 && name.find("mlp.gate.") == std::string::npos;
      if (blocks) stored[name] = quantised(values).numbers;
      at::Tensor rows = values;
      const bool interleaves = architecture_ == "llama" || architecture_ == "smollm3" || architecture_ == "granite";
      if (interleaves && name.find("q_proj") != std::string::npos) rows = interleaved(values, heads_);
      if (interleaves && name.find("k_proj") != std::string::npos) rows = interleaved(values, kv_heads_);
      const std::string data = blocks ? quantised(rows).bytes : bytes_of(rows);
      const auto dim = [&](std::int64_t from_last) { return static_cast<std::uint64_t>(rows.size(rows.dim() - 1 - from_last)); };
      if (rows.dim() == 1) {
        writer_.tensor(stored_name(name), {dim(0)}, kF32, data);
      } else if (rows.dim() == 3) {
        writer_.tensor(stored_name(name), {dim(0), dim(1), dim(2)}, blocks ? kQ8_0 : kF32, data);
      } else {
        writer_.tensor(stored_name(name), {dim(0), dim(1)}, blocks ? kQ8_0 : kF32, data);
      }
    }
    return to.write("model.gguf", writer_.bytes());
  }

 private:
  void number(const char* key, const char* from) {
    const Json& config = config_.required(ModelPart::kConfig).content;
    writer_.uint32(architecture_ + "." + key, config[from].get<std::uint32_t>());
  }

  // One tensor for all experts of a layer, under the names of those that have them in one file.
  void join_experts(std::map<std::string, at::Tensor>& all) const {
    static const std::map<std::string, std::string> kProducts = {{"w1", "gate_proj"}, {"w2", "down_proj"}, {"w3", "up_proj"}};
    std::map<std::string, std::vector<at::Tensor>> joined;
    for (auto entry = all.begin(); entry != all.end();) {
      std::string name = entry->first;
      if (const std::size_t at = name.find("block_sparse_moe"); at != std::string::npos) name.replace(at, 16, "mlp");
      const std::size_t at = name.find("experts.");
      if (at == std::string::npos) {
        if (name != entry->first) all.emplace(name, entry->second);
        entry = name != entry->first ? all.erase(entry) : std::next(entry);
        continue;
      }
      const std::string product = name.substr(name.find('.', at + 8) + 1);  // of experts with one digit, in order
      const auto known = kProducts.find(product.substr(0, product.find('.')));
      joined[name.substr(0, at + 8) + (known == kProducts.end() ? product : known->second + ".weight")].push_back(entry->second);
      entry = all.erase(entry);
    }
    for (const auto& [name, experts] : joined) {
      if (!experts_apart_) all.emplace(name, at::stack(experts));
      const std::size_t place = name.find("experts.");
      for (std::size_t expert = 0; experts_apart_ && expert < experts.size(); ++expert)
        all.emplace(std::string(name).replace(place, 8, "").insert(name.rfind('.') - 8, "." + std::to_string(expert)), experts[expert]);
    }
  }

  static at::Tensor interleaved(const at::Tensor& rows, std::int64_t heads) {
    std::vector<std::int64_t> shape = rows.sizes().vec();
    const std::int64_t half = rows.size(0) / heads / 2;
    return rows.reshape({heads, 2, half, -1}).transpose(1, 2).reshape(shape);
  }

  static std::string stored_name(std::string name) {
    static const std::map<std::string, std::string> kParts = {
        {"model.embed_tokens", "token_embd"},   {"model.norm", "output_norm"},       {"lm_head", "output"},
        {"input_layernorm", "attn_norm"},       {"self_attn.q_proj", "attn_q"},      {"self_attn.k_proj", "attn_k"},
        {"self_attn.v_proj", "attn_v"},         {"self_attn.o_proj", "attn_output"}, {"post_attention_layernorm", "ffn_norm"},
        {"mlp.gate_proj", "ffn_gate"},          {"mlp.up_proj", "ffn_up"},           {"mlp.down_proj", "ffn_down"},
        {"self_attn.q_norm", "attn_q_norm"},    {"self_attn.k_norm", "attn_k_norm"}, {"mlp.gate", "ffn_gate_inp"},
        {"experts.gate_proj", "ffn_gate_exps"}, {"experts.up_proj", "ffn_up_exps"},  {"experts.down_proj", "ffn_down_exps"}};
    if (const std::size_t at = name.find("mlp.experts."); at != std::string::npos) name.erase(at, 4);
    if (name.starts_with("model.layers.")) name.replace(0, std::strlen("model.layers."), "blk.");
    for (const auto& [canonical, stored] : kParts) {
      if (const std::size_t at = name.find(canonical + "."); at != std::string::npos) return name.replace(at, canonical.size(), stored);
    }
    return name;
  }

  std::string folder_;
  std::string architecture_;
  HuggingFaceFolder config_;
  std::int64_t heads_ = 0;
  std::int64_t kv_heads_ = 0;
  bool experts_apart_ = false;
  test::GgufWriter writer_;
};

at::Tensor logits_of(const VisionLanguageModel& model, const at::Tensor& ids) {
  KvCache cache(model.text().kv_shape());
  return model.text().logits(test_support::prefill(model.text(), model.text().embed(ids), 0, cache));
}

std::unique_ptr<VisionLanguageModel> loaded(std::shared_ptr<const ModelPackage> package, bool matrices_as_stored) {
  ModelSource source{.package = std::move(package), .plan = {.matrices_as_stored = matrices_as_stored}};
  return load_model(source);
}

class GgufFolders : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
  test::ScratchFolder scratch_;
};

TEST_F(GgufFolders, NumbersAsTheyWereAreTheSameModel) {
  for (const auto& [name, architecture] :
       {std::pair("llama_dynamic", "llama"), std::pair("qwen2", "qwen2"), std::pair("mistral_window", "llama"),
        std::pair("smollm3", "smollm3"), std::pair("../granite/text", "granite")}) {
    SCOPED_TRACE(name);
    std::map<std::string, at::Tensor> stored;
    const auto model = loaded(std::make_shared<GgufModel>(AsGguf(golden(name), architecture).write(scratch_, false, stored)), true);
    const auto expected = loaded(std::make_shared<HuggingFaceFolder>(golden(name)), true);
    const at::Tensor ids = at::arange(0, 40, at::kLong);
    EXPECT_TRUE(at::equal(logits_of(*model, ids), logits_of(*expected, ids)));
    EXPECT_EQ(model->info().parameter_count, expected->info().parameter_count);
    EXPECT_EQ(model->text().kv_shape().windows.values(), expected->text().kv_shape().windows.values());
  }
}

// 32 inputs a row: every matrix but `down` is in blocks. A prefill upcasts them; decoding multiplies them with rows in eight bits, whose
// error no other error of so narrow a model hides.
TEST_F(GgufFolders, BlocksThatStayGiveWhatTheirNumbersGive) {
  std::map<std::string, at::Tensor> stored;
  const auto package = std::make_shared<GgufModel>(AsGguf(golden("llama_dynamic"), "llama").write(scratch_, true, stored));
  const auto kept = test_support::on_a_plain_processor([&] { return loaded(package, true); });
  const auto upcast = loaded(package, false);
  EXPECT_EQ(kept->info().dtype, "fp32, Q8_0");
  EXPECT_EQ(upcast->info().dtype, "fp32");
  EXPECT_EQ(kept->info().parameter_count, upcast->info().parameter_count);
  EXPECT_LT(kept->info().weight_bytes * 2, upcast->info().weight_bytes);
  const at::Tensor ids = at::arange(0, 40, at::kLong);
  EXPECT_LE(test_support::relative_distance(logits_of(*kept, ids), logits_of(*upcast, ids)), 1e-5);
  EXPECT_LE(test_support::relative_distance(logits_of(*loaded(package, true), ids), logits_of(*upcast, ids)), 2e-2)
      << "rows are rounded to eight bits";
  KvCache one(kept->text().kv_shape());
  KvCache two(upcast->text().kv_shape());
  for (std::int32_t position = 0; position < 20; ++position) {
    const NextToken token{position * 3 % 90, position, position};
    EXPECT_LE(test_support::relative_distance(kept->text().decode(token, one, nullptr), upcast->text().decode(token, two, nullptr)), 2e-2);
  }
}

// Written by llama.cpp's converter, which puts the experts of a layer into one tensor for each product.
TEST_F(GgufFolders, WhatTheConverterWritesIsTheModelOfTransformers) {
  for (const char* name : {"qwen3_moe", "mixtral", "../recurrent_text/qwen3_next", "../recurrent_text/lfm2_saved", "../glm_text/glm4",
                           "../glm_text/glm4_moe"}) {
    SCOPED_TRACE(name);
    const test_support::GoldenTensors expected(golden(name) + "/golden.safetensors");
    const auto model = loaded(std::make_shared<GgufModel>(golden(name) + "/gguf/model.gguf"), true);
    const auto folder = loaded(std::make_shared<HuggingFaceFolder>(golden(name)), true);
    EXPECT_EQ(model->info().parameter_count, folder->info().parameter_count);
    const at::Tensor ids = expected.load("ids");
    const at::Tensor theirs = expected.load("logits");
    EXPECT_LE(test_support::relative_distance(test_support::kept_columns(logits_of(*model, ids), theirs), theirs), 1e-5);
    EXPECT_TRUE(at::equal(logits_of(*model, ids), logits_of(*folder, ids)));
  }
}

TEST_F(GgufFolders, GatesAndWhatTheyWeighMayBeOneTensor) {
  const std::string folder = golden("../recurrent_text/qwen3_next");
  const auto fused = std::make_shared<GgufModel>(folder + "/gguf/fused.gguf");
  ASSERT_TRUE(fused->tensors().files.front()->tensors().contains("model.layers.0.mlp.experts.gate_up_proj.weight"));
  const at::Tensor ids = at::arange(0, 40, at::kLong);
  EXPECT_TRUE(at::equal(logits_of(*loaded(fused, true), ids), logits_of(*loaded(std::make_shared<HuggingFaceFolder>(folder), true), ids)));
}

TEST_F(GgufFolders, ExpertsInATensorEachAreReadAsWell) {
  std::map<std::string, at::Tensor> stored;
  const std::string path = AsGguf(golden("mixtral"), "llama").with_experts_apart().write(scratch_, false, stored);
  const auto package = std::make_shared<GgufModel>(path);
  ASSERT_TRUE(package->tensors().files.front()->tensors().contains("model.layers.1.mlp.experts.4.down_proj.weight"));
  const at::Tensor ids = at::arange(0, 40, at::kLong);
  EXPECT_TRUE(at::equal(logits_of(*loaded(package, true), ids),
                        logits_of(*loaded(std::make_shared<HuggingFaceFolder>(golden("mixtral")), true), ids)));
}

// The first product's rows are whole blocks; the second's, of 16 and 48 inputs, are not.
TEST_F(GgufFolders, ExpertsStayInTheirBlocks) {
  for (const auto& [name, architecture] : {std::pair("qwen3_moe", "qwen3moe"), std::pair("mixtral", "llama")}) {
    SCOPED_TRACE(name);
    std::map<std::string, at::Tensor> stored;
    const auto package = std::make_shared<GgufModel>(AsGguf(golden(name), architecture).write(scratch_, true, stored));
    const StoredTensor& experts = package->tensors().files.front()->tensor("model.layers.0.mlp.experts.up_proj.weight");
    ASSERT_EQ(experts.shape.size(), 3U);
    ASSERT_EQ(experts.type, StoredType::kQ8_0);
    // A rounded row may go to another expert.
    const auto kept = test_support::on_a_plain_processor([&] { return loaded(package, true); });
    const auto upcast = loaded(package, false);
    EXPECT_EQ(kept->info().dtype, "fp32, Q8_0");
    EXPECT_EQ(kept->info().parameter_count, upcast->info().parameter_count);
    EXPECT_LT(kept->info().weight_bytes, upcast->info().weight_bytes);
    const at::Tensor ids = at::arange(0, 90, at::kLong);
    EXPECT_LE(test_support::relative_distance(logits_of(*kept, ids), logits_of(*upcast, ids)), 2e-2)
        << "few rows are rounded to eight bits";
    std::string bytes = read_file_bytes(package->path(), 1 << 24);
    bytes[experts.end - 34] = '\0';
    bytes[experts.end - 33] = '\x7C';  // infinity, in the last block of the last expert
    const auto damaged = std::make_shared<GgufModel>(scratch_.write("damaged.gguf", bytes));
    test::expect_error(ErrorCode::kDamagedFile, "finite", [&] { loaded(damaged, true); });
    test::expect_error(ErrorCode::kDamagedFile, "finite", [&] { loaded(damaged, false); });
  }
}

TEST_F(GgufFolders, ScalesThatAreNoNumbersAreRefused) {
  std::map<std::string, at::Tensor> stored;
  const std::string path = AsGguf(golden("llama_dynamic"), "llama").write(scratch_, true, stored);
  const GgufModel good(path);
  const StoredTensor& matrix = good.tensors().files.front()->tensor("model.layers.1.mlp.up_proj.weight");
  std::string bytes = read_file_bytes(path, 1 << 24);
  bytes[matrix.end - 34] = '\0';
  bytes[matrix.end - 33] = '\x7C';  // infinity
  const std::string damaged = scratch_.write("damaged.gguf", bytes);
  for (const bool as_stored : {true, false}) {
    try {
      loaded(std::make_shared<GgufModel>(damaged), as_stored);
      ADD_FAILURE() << "it was loaded";
    } catch (const Exception& exception) {
      EXPECT_EQ(exception.error().code, ErrorCode::kDamagedFile);
      EXPECT_NE(exception.error().reason.find("finite"), std::string::npos);
    }
  }
}

// Two parts of other types, the second in another order and without a product of many rounded rows. 3 rows of input are rounded for the
// first part, 20 are not.
TEST(BlockMatrix, JoinsPartsOfOtherTypes) {
  at::manual_seed(5);
  const at::Tensor first = at::randn({6, 64});
  const at::Tensor second = at::randn({4, 64});
  const Quantised blocks = quantised(first);
  const std::string numbers = bytes_of(second);
  const std::vector<std::int32_t> order = {3, 1, 0, 2};
  const auto view = [](const std::string& bytes) { return std::as_bytes(std::span(bytes)); };
  const BlockMatrix matrix({{kernels::BlockType::kQ8_0, view(blocks.bytes), 6}, {kernels::BlockType::kF32, view(numbers), 4, order}}, 64,
                           at::kFloat, {});
  const at::Tensor expected = at::cat({blocks.numbers, second.index_select(0, at::tensor(order, at::kLong))}, 0);
  for (const std::int64_t rows : {1, 3, 20}) {
    const at::Tensor input = at::randn({rows, 64});
    const at::Tensor found = matrix.times(input);
    const at::Tensor products = at::linear(input, expected);
    EXPECT_LE(test_support::relative_distance(found.narrow(1, 0, 6), products.narrow(1, 0, 6)), rows > 8 ? 1e-6 : 1e-2) << rows;
    EXPECT_LE(test_support::relative_distance(found.narrow(1, 6, 4), products.narrow(1, 6, 4)), 1e-6) << rows;
  }
  EXPECT_TRUE(at::equal(matrix.columns(3, 5), expected.narrow(1, 3, 5)));
  const at::Tensor ids = at::tensor({9, 0, 6}, at::kLong);
  EXPECT_TRUE(at::equal(matrix.rows(ids), expected.index_select(0, ids)));
  EXPECT_EQ(matrix.out(), 10);
  EXPECT_EQ(matrix.bytes(), std::ssize(blocks.bytes) + std::ssize(numbers));
  EXPECT_THROW(matrix.rows(at::tensor({10}, at::kLong)), Exception);
  EXPECT_THROW(BlockMatrix({{kernels::BlockType::kQ8_0, view(blocks.bytes), 7}}, 64, at::kFloat, {}), Exception);
}

}  // namespace
}  // namespace winnow::causal_lm_test
