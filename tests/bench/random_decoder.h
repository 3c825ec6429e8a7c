// A decoder of a published shape with random weights, for benchmarks: speed does not depend on what the weights are.
//
// Used by winnow_bench and bench_methods. Errors: those of the weight loader.
#pragma once

#include <ATen/ATen.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/index.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/vision/llava_vision_config.h"
#include "engine/weights/safetensors_writer.h"
#include "engine/weights/weight_files.h"

namespace winnow::bench {

inline DecoderConfig half_billion_shape() {
  DecoderConfig config;
  config.hidden_size = 896;
  config.intermediate_size = 4864;
  config.layers = 24;
  config.heads = 14;
  config.kv_heads = 2;
  config.head_dim = 64;
  config.rotary.theta = 1e6;
  config.max_positions = 32768;
  config.vocabulary = 151936;
  config.tie_word_embeddings = true;
  return config;
}

inline DecoderConfig one_and_a_half_billion_shape() {
  DecoderConfig config = half_billion_shape();
  config.hidden_size = 1536;
  config.intermediate_size = 8960;
  config.layers = 28;
  config.heads = 12;
  config.head_dim = 128;
  return config;
}

inline DecoderConfig seven_billion_shape() {
  DecoderConfig config = half_billion_shape();
  config.hidden_size = 3584;
  config.intermediate_size = 18944;
  config.layers = 28;
  config.heads = 28;
  config.kv_heads = 4;
  config.head_dim = 128;
  config.vocabulary = 152064;
  config.tie_word_embeddings = false;
  return config;
}

// By the names that options have.
inline std::map<std::string, DecoderConfig> published_shapes() {
  return {{"0.5b", half_billion_shape()}, {"1.5b", one_and_a_half_billion_shape()}, {"7b", seven_billion_shape()}};
}

// Random weights as a real folder, so that the ordinary loader is used.
class RandomFolder {
 public:
  // made_on: where the numbers are drawn; billions take a CPU minutes.
  RandomFolder(const DecoderConfig& config, at::ScalarType dtype, at::Device made_on)
      : path_(std::filesystem::temp_directory_path() / ("winnow-bench-weights-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
    std::vector<std::pair<std::string, at::Tensor>> tensors;
    const auto add = [&](const std::string& name, at::IntArrayRef shape) {
      tensors.emplace_back(name, (at::randn(shape, at::TensorOptions(made_on)) * 0.02).to(dtype).to(at::kCPU));
    };
    const auto ones = [&](const std::string& name) { tensors.emplace_back(name, at::ones({config.hidden_size}, dtype)); };
    const std::string model = "language_model.model.";
    const std::int64_t q = config.heads * config.head_dim;
    const std::int64_t kv = config.kv_heads * config.head_dim;
    add(model + "embed_tokens.weight", {config.vocabulary, config.hidden_size});
    ones(model + "norm.weight");
    if (!config.tie_word_embeddings) add("language_model.lm_head.weight", {config.vocabulary, config.hidden_size});
    for (LayerId layer{0}; layer < config.layers; ++layer) {
      const std::string prefix = model + "layers." + std::to_string(layer) + ".";
      add(prefix + "self_attn.q_proj.weight", {q, config.hidden_size});
      add(prefix + "self_attn.q_proj.bias", {q});
      add(prefix + "self_attn.k_proj.weight", {kv, config.hidden_size});
      add(prefix + "self_attn.k_proj.bias", {kv});
      add(prefix + "self_attn.v_proj.weight", {kv, config.hidden_size});
      add(prefix + "self_attn.v_proj.bias", {kv});
      add(prefix + "self_attn.o_proj.weight", {config.hidden_size, q});
      add(prefix + "mlp.gate_proj.weight", {config.intermediate_size, config.hidden_size});
      add(prefix + "mlp.up_proj.weight", {config.intermediate_size, config.hidden_size});
      add(prefix + "mlp.down_proj.weight", {config.hidden_size, config.intermediate_size});
      ones(prefix + "input_layernorm.weight");
      ones(prefix + "post_attention_layernorm.weight");
    }
    write_safetensors((path_ / "model.safetensors").string(), tensors);
  }
  ~RandomFolder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline TransformerDecoder random_decoder(const DecoderConfig& config, at::ScalarType dtype,
                                         std::shared_ptr<const MatrixPacking> packing = nullptr, at::Device device = at::kCPU) {
  const RandomFolder random(config, dtype, device);
  ModelWeights folder(open_weight_files(random.path()), llava_weight_name_rules());
  WeightReader reader(folder, {dtype, std::move(packing)}, device);
  return TransformerDecoder(config, reader, "language_model.");
}

}  // namespace winnow::bench
