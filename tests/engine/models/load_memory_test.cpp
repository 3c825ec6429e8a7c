// How much memory a model takes while it loads: once its weights, and little beside them.
//
// A folder has Qwen2-1.5B's widths and vocabulary and four of its layers, 0.8 GB of zeros in a file that takes no place on the disk. It
// is loaded in a process of its own, whose largest resident size, of what it allocated and of what it mapped, the kernel keeps.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/registry.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

constexpr const char* kFolderVariable = "WINNOW_TEST_LOADED_FOLDER";
constexpr int kLayers = 4;
constexpr std::int64_t kHidden = 1536, kInner = 8960, kVocabulary = 151936, kHeads = 12, kKvHeads = 2, kHeadDim = 128;

struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  const char* type = "BF16";
};

std::vector<Tensor> plain_tensors() {
  std::vector<Tensor> all = {{"model.embed_tokens.weight", {kVocabulary, kHidden}}, {"model.norm.weight", {kHidden}}};
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    const auto add = [&](const char* name, std::vector<std::int64_t> shape) { all.push_back({prefix + name, std::move(shape)}); };
    add("input_layernorm.weight", {kHidden});
    add("post_attention_layernorm.weight", {kHidden});
    for (const auto& [name, heads] : {std::pair("q", kHeads), std::pair("k", kKvHeads), std::pair("v", kKvHeads)}) {
      all.push_back({prefix + "self_attn." + name + "_proj.weight", {heads * kHeadDim, kHidden}});
      all.push_back({prefix + "self_attn." + name + "_proj.bias", {heads * kHeadDim}});
    }
    add("self_attn.o_proj.weight", {kHidden, kHidden});
    add("mlp.gate_proj.weight", {kInner, kHidden});
    add("mlp.up_proj.weight", {kInner, kHidden});
    add("mlp.down_proj.weight", {kHidden, kInner});
  }
  return all;
}

// The decoder's matrices as GPTQ stores them, four bits in groups of 128.
std::vector<Tensor> quantised_tensors() {
  std::vector<Tensor> all;
  for (const Tensor& tensor : plain_tensors()) {
    if (!tensor.name.ends_with("proj.weight")) {
      all.push_back(tensor);
      continue;
    }
    const std::string module = tensor.name.substr(0, tensor.name.size() - 6);
    const std::int64_t out = tensor.shape[0], in = tensor.shape[1];
    all.push_back({module + "qweight", {in / 8, out}, "I32"});
    all.push_back({module + "qzeros", {in / 128, out / 8}, "I32"});
    all.push_back({module + "scales", {in / 128, out}, "F16"});
    all.push_back({module + "g_idx", {in}, "I32"});
  }
  return all;
}

// Returns the bytes of its weights.
std::int64_t write_folder(const test::ScratchFolder& folder, bool quantised) {
  nlohmann::json quantisation;
  if (quantised) quantisation = {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 128}, {"sym", false}};
  folder.write("config.json", nlohmann::json({{"architectures", {"Qwen2ForCausalLM"}},
                                              {"model_type", "qwen2"},
                                              {"hidden_size", kHidden},
                                              {"intermediate_size", kInner},
                                              {"num_hidden_layers", kLayers},
                                              {"num_attention_heads", kHeads},
                                              {"num_key_value_heads", kKvHeads},
                                              {"vocab_size", kVocabulary},
                                              {"max_position_embeddings", 32768},
                                              {"rms_norm_eps", 1e-6},
                                              {"rope_theta", 1e6},
                                              {"hidden_act", "silu"},
                                              {"tie_word_embeddings", true},
                                              {"quantization_config", quantisation}})
                                  .dump());
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::int64_t bytes = 0;
  for (const auto& [name, shape, type] : quantised ? quantised_tensors() : plain_tensors()) {
    std::int64_t size = std::string_view(type) == "I32" ? 4 : 2;
    for (const std::int64_t dimension : shape) size *= dimension;
    header[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {bytes, bytes + size}}};
    bytes += size;
  }
  const std::string text = header.dump();
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>((text.size() >> (8 * i)) & 0xFF);
  const std::string path = folder.write("model.safetensors", length + text);
  std::filesystem::resize_file(path, 8 + text.size() + static_cast<std::uint64_t>(bytes));
  return bytes;
}

std::int64_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string name, rest;
  for (std::int64_t kib = 0; status >> name; std::getline(status, rest)) {
    if (name == field + ":" && status >> kib) return kib * 1024;
  }
  throw std::runtime_error("the kernel does not say " + field);
}

// What the process of its own does: says how far its resident size rose above what it was without a model.
TEST(LoadMemory, DISABLED_InAProcessOfItsOwn) {
  const char* folder = std::getenv(kFolderVariable);
  ASSERT_NE(folder, nullptr);
  ASSERT_EQ(at::ones({64, 64}).matmul(at::ones({64, 64})).sum().item<float>(), 64 * 64 * 64);  // libtorch's own first needs
  const std::int64_t before = status_bytes("VmRSS");
  ModelSource source{.package = std::make_shared<HuggingFaceFolder>(folder),
                     .plan = {.arithmetic = at::kBFloat16, .matrices_as_stored = true}};
  const auto model = load_model(source);
  std::printf("rose by %lld for %lld\n", static_cast<long long>(status_bytes("VmHWM") - before),
              static_cast<long long>(model->info().weight_bytes));
}

struct Loaded {
  std::int64_t stored = 0;
  std::int64_t held = 0;
  std::int64_t rose = 0;
};

void load(bool quantised, Loaded& loaded) {
  const test::ScratchFolder folder;
  loaded.stored = write_folder(folder, quantised);
  ASSERT_EQ(setenv(kFolderVariable, folder.path().c_str(), 1), 0);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      "'" + program + "' --gtest_also_run_disabled_tests --gtest_filter=LoadMemory.DISABLED_InAProcessOfItsOwn 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string said;
  for (std::array<char, 4096> part{}; const std::size_t count = std::fread(part.data(), 1, part.size(), pipe);)
    said.append(part.data(), count);
  ASSERT_EQ(pclose(pipe), 0) << said;
  unsetenv(kFolderVariable);
  long long rose = 0, held = 0;
  const std::size_t line = said.find("rose by ");
  ASSERT_NE(line, std::string::npos) << said;
  ASSERT_EQ(std::sscanf(said.c_str() + line, "rose by %lld for %lld", &rose, &held), 2) << said;
  loaded.held = held;
  loaded.rose = rose;
}

TEST(LoadMemory, AFolderLoadsWithinItsSizeAndATenth) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow is memory, too";
#endif
  Loaded loaded;
  load(false, loaded);
  RecordProperty("rose_by_percent", std::to_string(100.0 * static_cast<double>(loaded.rose) / static_cast<double>(loaded.stored)));
  EXPECT_EQ(loaded.held, loaded.stored);
  EXPECT_GE(loaded.rose, loaded.stored * 95 / 100) << "weights are held as they are measured here";
  EXPECT_LE(loaded.rose, loaded.stored * 110 / 100);
}

// Zero points stand in every block of 32 here, and not once for 128 inputs as there.
TEST(LoadMemory, AQuantisedFolderLoadsWithinWhatItsBlocksTakeAndATenth) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow is memory, too";
#endif
  Loaded loaded;
  load(true, loaded);
  RecordProperty("rose_by_percent", std::to_string(100.0 * static_cast<double>(loaded.rose) / static_cast<double>(loaded.held)));
  EXPECT_GT(loaded.held, loaded.stored);
  EXPECT_LT(loaded.held, loaded.stored * 106 / 100) << "embeddings are most of it";
  EXPECT_GE(loaded.rose, loaded.held * 95 / 100);
  EXPECT_LE(loaded.rose, loaded.held * 110 / 100);
}

}  // namespace
}  // namespace winnow
