// A Whisper file as whisper.cpp has it, beside a folder of the same random weights: both hear the same; damage is refused.
#include "engine/model_files/ggml_whisper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "engine/model_files/open_package.h"
#include "engine/speech/transcription.h"
#include "engine/text/byte_alphabet.h"
#include "engine/weights/model_weights.h"
#include "engine/weights/safetensors_writer.h"
#include "tests/engine/speech/golden_sound.h"
#include "tests/kernels/random_blocks.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::speech_test {
namespace {

constexpr std::int64_t kWidth = 32;
constexpr std::int64_t kEnd = 50'256;  // <|endoftext|> of English alone
constexpr std::uint32_t kF32 = 0, kF16 = 1;
const std::vector<std::string> kSymbolWords = {" -", " '", "((", " >>", "\xE2\x99", " \xE2\x99", "♪♪♪", "」"};

std::vector<std::string> words_of_english() {
  std::vector<std::string> words;
  for (int byte = 0; byte < 256; ++byte) words.emplace_back(1, static_cast<char>(byte));
  words.insert(words.end(), kSymbolWords.begin(), kSymbolWords.end());
  while (std::ssize(words) < kEnd) words.push_back(" w" + std::to_string(words.size()));
  return words;
}

template <class Number>
std::string number(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The file up to its tensors. sizes: in the order of the format, without the last two.
std::string head_of(const std::vector<std::uint32_t>& sizes, std::uint32_t bins, std::uint32_t type,
                    const std::vector<std::string>& words) {
  std::string bytes = number(0x67676d6cU);
  for (const std::uint32_t size : sizes) bytes += number(size);
  bytes += number(bins) + number(type) + number(bins) + number(201U) + std::string(sizeof(float) * bins * 201, '\0');
  bytes += number(static_cast<std::uint32_t>(words.size()));
  for (const std::string& word : words) bytes += number(static_cast<std::uint32_t>(word.size())) + word;
  return bytes;
}
std::string english_head(const std::vector<std::string>& words, std::uint32_t vocabulary = 51'864, std::uint32_t type = 1) {
  return head_of({vocabulary, 100, kWidth, 2, 2, 40, kWidth, 2, 2}, 80, type, words);
}

std::string tensor_bytes(const std::string& name, std::uint32_t type, const std::vector<std::uint32_t>& dims, const std::string& data) {
  std::string bytes = number(static_cast<std::uint32_t>(dims.size())) + number(static_cast<std::uint32_t>(name.size())) + number(type);
  for (const std::uint32_t dim : dims) bytes += number(dim);
  return bytes + name + data;
}

std::string data_of(const at::Tensor& tensor) {
  const at::Tensor whole = tensor.contiguous();
  return {static_cast<const char*>(whole.const_data_ptr()), whole.nbytes()};
}

// Random weights under both names, as whisper.cpp's converter stores them: matrices in fp16, the rest in fp32.
class TwoForms {
 public:
  TwoForms() {
    for (const std::string side : {"encoder", "decoder"}) {
      const bool hears = side == "encoder";
      add(side + ".positional_embedding", side + ".embed_positions.weight", at::randn({hears ? 100 : 40, kWidth}, generator_));
      norm(side + (hears ? ".ln_post" : ".ln"), side + ".layer_norm");
      for (int layer = 0; layer < 2; ++layer) {
        const std::string from = side + ".blocks." + std::to_string(layer) + ".", to = side + ".layers." + std::to_string(layer) + ".";
        attention(from + "attn", to + "self_attn");
        if (!hears) attention(from + "cross_attn", to + "encoder_attn");
        linear(from + "mlp.0", to + "fc1", 4 * kWidth, kWidth);
        linear(from + "mlp.2", to + "fc2", kWidth, 4 * kWidth);
        norm(from + "mlp_ln", to + "final_layer_norm");
      }
    }
    half("decoder.token_embedding.weight", "decoder.embed_tokens.weight", {51'864, kWidth});
    for (const std::string conv : {"conv1", "conv2"}) {
      half("encoder." + conv + ".weight", "encoder." + conv + ".weight", {kWidth, conv == "conv1" ? 80 : kWidth, 3});
      const at::Tensor bias = values({kWidth});
      folder.emplace_back("model.encoder." + conv + ".bias", bias);
      file += tensor_bytes("encoder." + conv + ".bias", kF32, {1, kWidth}, data_of(bias));
    }
  }

  std::string file;  // the tensors' part
  std::vector<std::pair<std::string, at::Tensor>> folder;

 private:
  at::Tensor values(at::IntArrayRef shape) { return at::randn(shape, generator_).mul(0.2); }
  void add(const std::string& from, const std::string& to, const at::Tensor& tensor) {
    std::vector<std::uint32_t> dims(tensor.sizes().rbegin(), tensor.sizes().rend());
    file += tensor_bytes(from, tensor.scalar_type() == at::kHalf ? kF16 : kF32, dims, data_of(tensor));
    folder.emplace_back("model." + to, tensor);
  }
  void half(const std::string& from, const std::string& to, at::IntArrayRef shape) { add(from, to, values(shape).to(at::kHalf)); }
  void linear(const std::string& from, const std::string& to, std::int64_t out, std::int64_t in) {
    half(from + ".weight", to + ".weight", {out, in});
    if (!from.ends_with(".key")) add(from + ".bias", to + ".bias", values({out}));
  }
  void norm(const std::string& from, const std::string& to) {
    add(from + ".weight", to + ".weight", values({kWidth}).add(1.0));
    add(from + ".bias", to + ".bias", values({kWidth}));
  }
  void attention(const std::string& from, const std::string& to) {
    linear(from + ".query", to + ".q_proj", kWidth, kWidth);
    linear(from + ".key", to + ".k_proj", kWidth, kWidth);
    linear(from + ".value", to + ".v_proj", kWidth, kWidth);
    linear(from + ".out", to + ".out_proj", kWidth, kWidth);
    norm(from + "_ln", to + "_layer_norm");
  }

  at::Generator generator_ = at::detail::createCPUGenerator(11);
};

// What an answer does not have, by OpenAI's rule, of words_of_english().
std::vector<std::int64_t> expected_suppressed() {
  std::vector<std::int64_t> ids = {kEnd + 1, 50'357, 50'358, 50'359, 50'360, 50'361};
  for (const char symbol : std::string("\"#()*+/:;<=>@[\\]^_`{|}~")) ids.push_back(static_cast<unsigned char>(symbol));
  for (std::int64_t i = 0; i < std::ssize(kSymbolWords); ++i) ids.push_back(256 + i);
  std::ranges::sort(ids);
  return ids;
}

void write_folder(const test::ScratchFolder& folder, const TwoForms& forms, const std::vector<std::string>& words) {
  Json vocabulary = Json::object(), added = Json::array();
  for (std::size_t id = 0; id < words.size(); ++id) vocabulary[ByteAlphabet::instance().text_of(words[id])] = id;
  const auto special = [&](std::int64_t id, const std::string& name) {
    added.push_back({{"id", id},
                     {"content", "<|" + name + "|>"},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  };
  special(kEnd, "endoftext");
  special(kEnd + 1, "startoftranscript");
  special(50'362, "notimestamps");
  const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const Json model = {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array()}};
  folder.write("tokenizer.json", Json({{"version", "1.0"},
                                       {"added_tokens", added},
                                       {"normalizer", nullptr},
                                       {"pre_tokenizer", bytes},
                                       {"post_processor", nullptr},
                                       {"decoder", bytes},
                                       {"model", model}})
                                     .dump());
  folder.write("config.json", Json({{"model_type", "whisper"},
                                    {"d_model", kWidth},
                                    {"encoder_layers", 2},
                                    {"decoder_layers", 2},
                                    {"encoder_attention_heads", 2},
                                    {"decoder_attention_heads", 2},
                                    {"encoder_ffn_dim", 4 * kWidth},
                                    {"decoder_ffn_dim", 4 * kWidth},
                                    {"num_mel_bins", 80},
                                    {"max_source_positions", 100},
                                    {"max_target_positions", 40},
                                    {"vocab_size", 51'864}})
                                  .dump());
  folder.write(
      "generation_config.json",
      Json({{"suppress_tokens", expected_suppressed()}, {"begin_suppress_tokens", {kEnd, 32}}, {"is_multilingual", false}}).dump());
  write_safetensors(folder.file("model.safetensors"), forms.folder);
}

class GgmlWhisperFile : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes) const { return folder_.write("ggml-tiny.en.bin", bytes); }
  std::unique_ptr<ModelPackage> opened(const std::string& bytes) const { return open_package(write(bytes)); }
  void refuses(ErrorCode code, const std::string& words, const std::string& bytes) const {
    test::expect_error(code, words, [&] { opened(bytes); });
  }
  // A tensor behind a head with few words.
  static std::string with_tensor(const std::string& tensor, std::uint32_t type = 1) {
    return english_head({"a", "b"}, 51'864, type) + tensor;
  }

  c10::InferenceMode inference_;
  test::ScratchFolder folder_;
};

TEST_F(GgmlWhisperFile, HearsAsTheFolderOfItsWeights) {
  const TwoForms forms;
  const std::vector<std::string> words = words_of_english();
  test::ScratchFolder saved;
  write_folder(saved, forms, words);
  const std::unique_ptr<ModelPackage> file = opened(english_head(words) + forms.file), folder = open_package(saved.path());
  EXPECT_EQ(file->name(), "ggml-tiny.en");
  const SpeechModel here = load_speech_model({*file, at::kCPU, {}, {}, {}, {}});
  const SpeechModel there = load_speech_model({*folder, at::kCPU, {}, {}, {}, {}});
  EXPECT_EQ(here.dtype, there.dtype);
  const WhisperTokens& tokens = here.network->config().tokens;
  std::vector<std::int64_t> suppressed = tokens.suppressed;
  std::ranges::sort(suppressed);
  EXPECT_EQ(suppressed, there.network->config().tokens.suppressed);
  EXPECT_EQ(tokens.suppressed_first, there.network->config().tokens.suppressed_first);
  EXPECT_TRUE(tokens.languages.empty());
  MemorySound sound(golden_sound(5 * kSoundRate));
  HeardSound heard(sound, here.network->config().mel_bins, nullptr, {}, {});
  const at::Tensor features = heard.window(0, 200, 200, {});
  const at::Tensor states = here.network->encode(features, {});
  EXPECT_TRUE(at::equal(states, there.network->encode(features, {})));
  const std::vector<std::int64_t> prompt = {tokens.start, 40, 41};
  WhisperModel::Window first(*here.network, states), second(*there.network, states);
  EXPECT_TRUE(at::equal(first.all_logits(prompt), second.all_logits(prompt)));
  const FallbackRules greedy = {{0.0}, 1e9, -1e9, 2.0};
  MemorySound once(golden_sound(5 * kSoundRate)), again(golden_sound(5 * kSoundRate));
  const Transcript transcript = transcribe(here, once, {nullptr, "", greedy}, {}, {});
  EXPECT_EQ(transcript.lines, transcribe(there, again, {nullptr, "", greedy}, {}, {}).lines);
  EXPECT_FALSE(transcript.lines.empty());
}

TEST_F(GgmlWhisperFile, TheVocabularysSizeSaysWhichLanguagesThereAre) {
  WhisperConfig config = read_whisper_config(*opened(english_head({"a", "", " "}, 51'865)));
  EXPECT_EQ(config.tokens.languages.size(), 99U);
  EXPECT_EQ(config.tokens.language("en"), 50'259);
  EXPECT_EQ(config.tokens.language("su"), 50'357);
  EXPECT_EQ(config.tokens.transcribe, 50'359);
  EXPECT_EQ(config.tokens.first_time(), 50'364);
  EXPECT_EQ(config.tokens.suppressed_first, (std::vector<std::int64_t>{50'257, 2}));
  config = read_whisper_config(*opened(english_head({"a"}, 51'866)));
  EXPECT_EQ(config.tokens.language("yue"), 50'358);
  EXPECT_EQ(config.tokens.first_time(), 50'365);
  config = read_whisper_config(*opened(english_head({"a"}, 51'864)));
  EXPECT_EQ(config.tokens.first_time(), 50'363);
  refuses(ErrorCode::kUnsupportedModel, "no Whisper has a vocabulary of 51867", english_head({"a"}, 51'867));
}

TEST_F(GgmlWhisperFile, BlocksAreThoseOfGgufFiles) {
  const std::vector<std::pair<std::uint32_t, kernels::BlockType>> types = {{2, kernels::BlockType::kQ4_0},
                                                                           {3, kernels::BlockType::kQ4_1},
                                                                           {6, kernels::BlockType::kQ5_0},
                                                                           {7, kernels::BlockType::kQ5_1},
                                                                           {8, kernels::BlockType::kQ8_0}};
  for (const auto& [type, block] : types) {
    const std::vector<std::uint8_t> blocks = kernels::random_blocks(block, 3 * 64, 7);
    const std::string data(blocks.begin(), blocks.end());
    const std::string tensor = tensor_bytes("decoder.blocks.11.cross_attn.key.weight", type, {64, 3}, data);
    const std::unique_ptr<ModelPackage> package = opened(with_tensor(tensor, 2'007));
    ModelWeights weights(package->tensors(), {});
    const at::Tensor loaded = weights.load("model.decoder.layers.11.encoder_attn.k_proj.weight", {3, 64}, at::kFloat);
    at::Tensor expected = at::empty({3, 64});
    kernels::dequantise(block, blocks.data(), expected.numel(), expected.mutable_data_ptr<float>());
    EXPECT_TRUE(at::equal(loaded, expected)) << type;
    refuses(ErrorCode::kUnsupportedFormat, "the layout of before May 2023", with_tensor(tensor, 7));
  }
}

TEST_F(GgmlWhisperFile, WhatDoesNotFitIsRefusedByName) {
  const std::string name = "encoder.conv1.weight";
  const auto refused = [&](ErrorCode code, const std::string& words, std::uint32_t type, const std::vector<std::uint32_t>& dims) {
    refuses(code, words, with_tensor(tensor_bytes(name, type, dims, std::string(64, '\0'))));
  };
  refused(ErrorCode::kDamagedFile, "ends too early", kF32, {17, 1});
  refused(ErrorCode::kDamagedFile, "more elements than fit 64 bits", kF32, {1U << 31, 1U << 31, 1U << 31});
  refused(ErrorCode::kDamagedFile, "a dimension is 0", kF32, {0, 16});
  refused(ErrorCode::kDamagedFile, "5 dimensions", kF32, {1, 1, 1, 1, 16});
  refused(ErrorCode::kUnsupportedFormat, "type IQ1_S", 19, {16});
  refused(ErrorCode::kUnsupportedFormat, "does not know", 99, {16});
  refuses(ErrorCode::kDamagedFile, "not whole blocks of Q8_0", with_tensor(tensor_bytes(name, 8, {16, 2}, std::string(34, '\0')), 2'007));
  const std::string tensor = tensor_bytes(name, kF32, {1}, "four");
  refuses(ErrorCode::kDamagedFile, "the tensor occurs twice", with_tensor(tensor + tensor));
  std::string filters = english_head({});
  for (const std::size_t bins : {40, 48}) filters.replace(bins, 4, number(1U << 20));
  refuses(ErrorCode::kDamagedFile, "its filters", filters);
  std::string longest = english_head({});
  longest.replace(longest.size() - 4, 4, number(1U) + number(0x7FFFFFFFU));
  refuses(ErrorCode::kDamagedFile, "a text of 2147483647 bytes", longest);
  longest.replace(longest.size() - 8, 4, number(0xFFFFFFFFU));
  refuses(ErrorCode::kDamagedFile, "its words are more", longest);
  std::string other = english_head({"a"});
  other[0] = 'x';
  test::expect_error(ErrorCode::kDamagedFile, "does not begin as a file of whisper.cpp", [&] { GgmlWhisper(write(other)); });
  refuses(ErrorCode::kUnsupportedFormat, "GGML file of before 2023", english_head({"a"}, 32'000));
  const std::string path = write(english_head({"a"}));
  test::expect_error(ErrorCode::kInvalidArgument, "belongs to a GGUF file", [&] { open_package(path, "mmproj.gguf"); });
  test::expect_error(ErrorCode::kUnsupportedModel, "does not chat", [&] { open_package(path)->chat_template(""); });
}

TEST_F(GgmlWhisperFile, EveryCutFileIsRefused) {
  const TwoForms forms;
  const std::string whole = english_head({"a", " ", "ccc"}) + forms.file;
  for (std::size_t bytes = 8; bytes < whole.size(); bytes += bytes < 60 || (bytes > 64'370 && bytes < 64'600) ? 1 : 40'009) {
    const std::string path = write(whole.substr(0, bytes));
    EXPECT_THROW(load_speech_model({*open_package(path), at::kCPU, {}, {}, {}, {}}), Exception) << bytes;
  }
  EXPECT_NO_THROW(load_speech_model({*opened(whole), at::kCPU, {}, {}, {}, {}}));
}

TEST_F(GgmlWhisperFile, ChangedBytesOpenOrAreRefused) {
  const std::string whole = with_tensor(tensor_bytes("encoder.conv1.weight", kF16, {3, 80, 2}, std::string(960, '\1')) +
                                        tensor_bytes("decoder.ln.bias", kF32, {4}, std::string(16, '\1')));
  const std::size_t filters_end = 56 + sizeof(float) * 80 * 201;
  int opens = 0, refused = 0;
  std::uint32_t random = 1;
  for (int i = 0; i < 1'000; ++i) {
    random = random * 1'664'525 + 1'013'904'223;
    std::size_t at = (random >> 8) % (56 + whole.size() - filters_end);
    if (at >= 56) at += filters_end - 56;
    std::string changed = whole;
    changed[at] = static_cast<char>(random >> 24);
    try {
      const std::unique_ptr<ModelPackage> package = opened(changed);
      for (const auto& file : package->tensors().files) {
        for (const auto& [name, tensor] : file->tensors()) EXPECT_LE(tensor.end, changed.size()) << name;
      }
      ++opens;
    } catch (const Exception& exception) {
      EXPECT_FALSE(exception.error().reason.empty());
      ++refused;
    }
  }
  EXPECT_GT(opens, 100);
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace winnow::speech_test
