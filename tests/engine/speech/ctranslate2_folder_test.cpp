// A Whisper folder as CTranslate2 saves it, made of a golden one: the same weights hear the same; damage is refused.
#include "engine/model_files/ctranslate2_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "engine/model_files/open_package.h"
#include "engine/speech/transcription.h"
#include "engine/weights/model_weights.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::speech_test {
namespace {

namespace fs = std::filesystem;

std::string golden_english() { return source_folder() + "/tests/golden/whisper/english"; }

template <class Number>
void put(std::string& file, Number value) {
  file.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put_text(std::string& file, const std::string& text) {
  put(file, static_cast<std::uint16_t>(text.size() + 1));
  file += text + '\0';
}

// model.bin of the golden folder's weights, in fp32.
class WrittenModel {
 public:
  WrittenModel() : package_(golden_english()), weights_(package_.tensors(), {}) {
    put(bytes, std::uint32_t{6});
    put_text(bytes, "WhisperSpec");
    put(bytes, std::uint32_t{3});
    for (const std::string side : {"encoder", "decoder"}) {
      variable(side + "/num_heads", {}, 2, std::string("\2\0", 2));
      joined(side + "/position_encodings/encodings", {"model." + side + ".embed_positions.weight"});
      pair(side + "/layer_norm", {"model." + side + ".layer_norm"}, "gamma", "beta");
      for (int layer = 0; layer < 2; ++layer) write_layer(side, layer);
    }
    joined("decoder/embeddings/weight", {"model.decoder.embed_tokens.weight"});
    for (const std::string conv : {"conv1", "conv2"}) pair("encoder/" + conv, {"model.encoder." + conv}, "weight", "bias");
    std::string head = bytes.substr(0, kHead);
    put(head, count_);
    bytes = head + bytes.substr(kHead);
  }

  std::string bytes;

 private:
  static constexpr std::size_t kHead = 4 + 2 + 12 + 4;

  void write_layer(const std::string& side, int layer) {
    const std::string from = "model." + side + ".layers." + std::to_string(layer) + ".";
    const std::string to = side + "/layer_" + std::to_string(layer) + "/";
    const std::string own = from + "self_attn.", sound = from + "encoder_attn.";
    pair(to + "self_attention/layer_norm", {from + "self_attn_layer_norm"}, "gamma", "beta");
    pair(to + "self_attention/linear_0", {own + "q_proj", own + "k_proj", own + "v_proj"}, "weight", "bias");
    pair(to + "self_attention/linear_1", {own + "out_proj"}, "weight", "bias");
    pair(to + "ffn/layer_norm", {from + "final_layer_norm"}, "gamma", "beta");
    pair(to + "ffn/linear_0", {from + "fc1"}, "weight", "bias");
    pair(to + "ffn/linear_1", {from + "fc2"}, "weight", "bias");
    if (side == "encoder") return;
    pair(to + "attention/layer_norm", {from + "encoder_attn_layer_norm"}, "gamma", "beta");
    pair(to + "attention/linear_0", {sound + "q_proj"}, "weight", "bias");
    pair(to + "attention/linear_1", {sound + "k_proj", sound + "v_proj"}, "weight", "bias");
    pair(to + "attention/linear_2", {sound + "out_proj"}, "weight", "bias");
  }

  void pair(const std::string& name, const std::vector<std::string>& modules, const char* weight, const char* bias) {
    std::vector<std::string> weights, biases;
    for (const std::string& module : modules) {
      weights.push_back(module + ".weight");
      biases.push_back(module + ".bias");
    }
    joined(name + "/" + weight, weights);
    joined(name + "/" + bias, biases);
  }

  void joined(const std::string& name, const std::vector<std::string>& tensors) {
    std::vector<at::Tensor> parts;
    for (const std::string& each : tensors)
      parts.push_back(weights_.has(each) ? weights_.load(each, at::kFloat) : at::zeros({32}));  // CTranslate2 gives keys a bias of zeros
    const at::Tensor all = at::cat(parts).contiguous();
    variable(name, all.sizes().vec(), 0, std::string(static_cast<const char*>(all.const_data_ptr()), all.nbytes()));
  }

  void variable(const std::string& name, const std::vector<std::int64_t>& shape, std::uint8_t type, const std::string& data) {
    put_text(bytes, name);
    put(bytes, static_cast<std::uint8_t>(shape.size()));
    for (const std::int64_t size : shape) put(bytes, static_cast<std::uint32_t>(size));
    put(bytes, type);
    put(bytes, static_cast<std::uint32_t>(data.size()));
    bytes += data;
    ++count_;
  }

  HuggingFaceFolder package_;
  ModelWeights weights_;
  std::uint32_t count_ = 0;
};

class CTranslate2Whisper : public ::testing::Test {
 protected:
  CTranslate2Whisper() {
    fs::copy_file(golden_english() + "/tokenizer.json", folder_.file("tokenizer.json"));
    folder_.write("config.json", R"({"suppress_ids": [0, 2], "suppress_ids_begin": [220], "lang_ids": [], "alignment_heads": []})");
    folder_.write("model.bin", written_.bytes);
  }

  c10::InferenceMode inference_;
  test::ScratchFolder folder_;
  const WrittenModel written_;
};

TEST_F(CTranslate2Whisper, HearsAsTheFolderThatItWasMadeOf) {
  const std::unique_ptr<ModelPackage> package = open_package(folder_.path());
  const SpeechModel model = load_speech_model({*package, at::kCPU, {}, {}, {}, {}});
  const HuggingFaceFolder golden(golden_english());
  const SpeechModel expected = load_speech_model({golden, at::kCPU, {}, {}, {}, {}});
  EXPECT_EQ(model.network->config().width, expected.network->config().width);
  EXPECT_EQ(model.network->config().tokens.suppressed, (std::vector<std::int64_t>{0, 2}));
  const at::Tensor features = at::linspace(-1.0, 1.0, 80 * 200).view({80, 200});
  const at::Tensor states = model.network->encode(features, {});
  EXPECT_TRUE(at::equal(states, expected.network->encode(features, {})));
  const std::vector<std::int64_t> prompt = {expected.network->config().tokens.start, 40, 41};
  WhisperModel::Window here(*model.network, states), there(*expected.network, states);
  EXPECT_TRUE(at::equal(here.all_logits(prompt), there.all_logits(prompt)));
}

TEST_F(CTranslate2Whisper, EveryCutFileIsRefused) {
  for (std::size_t bytes = 64; bytes + 1 < written_.bytes.size(); bytes += bytes < 2'000 ? 37 : 9'973) {
    folder_.write("model.bin", written_.bytes.substr(0, bytes));
    EXPECT_THROW(open_package(folder_.path()), Exception) << bytes;
  }
  std::string other = written_.bytes;
  other[8] = 'X';
  folder_.write("model.bin", other);
  test::expect_error(ErrorCode::kUnsupportedModel, "only Whisper's are read", [&] { open_package(folder_.path()); });
}

}  // namespace
}  // namespace winnow::speech_test
