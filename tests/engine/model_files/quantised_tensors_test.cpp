// Quantised matrices of folders as blocks: codes worked out by hand for each layout, and folders whose parts do not fit together.
#include "engine/model_files/quantised_tensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/model_files/hugging_face_folder.h"
#include "kernels/api/block_types.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

struct Part {
  std::string type;
  std::vector<std::int64_t> shape;
  std::string bytes;
};
using Parts = std::map<std::string, Part>;

template <class Number>
Part part(const std::string& type, std::vector<std::int64_t> shape, const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return {type, std::move(shape), bytes};
}
Part words(std::vector<std::int64_t> shape, const std::vector<std::uint32_t>& numbers) { return part("I32", std::move(shape), numbers); }
// 0x3C00 is one in 16 bits, 0x3800 a half, 0x4000 two.
Part halves(std::vector<std::int64_t> shape, const std::vector<std::uint16_t>& numbers) { return part("F16", std::move(shape), numbers); }

const std::string kAwq = R"({"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm"})";
const std::string kGptq = R"({"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": false, "desc_act": true})";
const std::string kPacked =
    R"({"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"a": {"weights": {"num_bits": 4}}}})";

class QuantisedFolder {
 public:
  QuantisedFolder(const std::string& config, const Parts& parts) : folder_(scratch_.path()) {
    scratch_.write("config.json", "{\"quantization_config\":" + config + "}");
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    std::string data;
    for (const auto& [name, part] : parts) {
      header[name] = {{"dtype", part.type}, {"shape", part.shape}, {"data_offsets", {data.size(), data.size() + part.bytes.size()}}};
      data += part.bytes;
    }
    const std::string text = header.dump();
    std::string length(8, '\0');
    const std::uint64_t size = text.size();
    std::memcpy(length.data(), &size, sizeof size);
    scratch_.write("model.safetensors", length + text + data);
  }

  const TensorFiles& tensors() const { return folder_.tensors(); }

  // The numbers of m.weight, read `step` bytes at a time; inputs as they are stored.
  std::vector<float> values(StoredType type, std::size_t step = 1 << 20) const {
    const TensorFile& file = *tensors().files.front();
    const StoredTensor& stored = file.tensor("m.weight");
    EXPECT_EQ(stored.type, type) << stored_type_name(stored.type);
    std::vector<std::byte> blocks(stored.bytes());
    for (std::size_t at = 0; at < blocks.size(); at += step)
      file.read(stored, at, std::span(blocks).subspan(at, std::min(step, blocks.size() - at)));
    std::vector<float> values(stored.elements());
    kernels::dequantise(*block_type(stored.type), blocks.data(), std::ssize(values), values.data());
    return values;
  }

 private:
  test::ScratchFolder scratch_;
  HuggingFaceFolder folder_;
};

// 32 inputs, 8 outputs. Word 0x76543210 of an input: its nibbles are the codes of outputs 0, 2, 4, 6, 1, 3, 5, 7.
Parts awq() {
  return {{"m.qweight", words({32, 1}, std::vector<std::uint32_t>(32, 0x76543210))},
          {"m.qzeros", words({1, 1}, {0x00000021})},  // 1 for output 0, 2 for output 2
          {"m.scales", halves({1, 8}, {0x3C00, 0x3800, 0x4000, 0x3C00, 0x3C00, 0x3C00, 0x3C00, 0x3C00})}};
}

TEST(QuantisedTensors, OfAwqByHand) {
  const QuantisedFolder folder(kAwq, awq());
  const std::vector<float> values = folder.values(StoredType::kU4Z);
  ASSERT_EQ(values.size(), 256U);
  const auto output = [&](std::size_t row) { return values[row * 32 + 5]; };
  EXPECT_EQ(output(0), -1.0F) << "(0 - 1) * 1";
  EXPECT_EQ(output(1), 2.0F) << "4 * 1/2";
  EXPECT_EQ(output(2), -2.0F) << "(1 - 2) * 2";
  EXPECT_EQ(output(3), 5.0F);
  EXPECT_EQ(output(4), 2.0F);
  EXPECT_EQ(output(5), 6.0F);
  EXPECT_EQ(output(6), 3.0F);
  EXPECT_EQ(output(7), 7.0F);
  EXPECT_EQ(folder.tensors().files.front()->tensors().size(), 1U) << "the parts are no tensors of their own";
}

TEST(QuantisedTensors, OfAwqWithoutZeroPointsTheMiddleIsZero) {
  Parts parts = awq();
  parts.erase("m.qzeros");
  const std::vector<float> values = QuantisedFolder(kAwq, parts).values(StoredType::kQ4_0);
  EXPECT_EQ(values[0], -8.0F);
  EXPECT_EQ(values[7 * 32], -1.0F);
}

// 64 inputs in two groups, 8 outputs; input i of every output has code i % 8.
Parts gptq() {
  std::vector<std::int32_t> groups(64);
  for (std::size_t i = 0; i < 64; ++i) groups[i] = static_cast<std::int32_t>(i % 2);
  std::vector<std::uint16_t> scales(16, 0x3C00);
  scales[0] = 0x3800;  // group 0 of output 0
  return {{"m.qweight", words({8, 8}, std::vector<std::uint32_t>(64, 0x76543210))},
          {"m.qzeros", words({2, 1}, {0x00000010, 0xFFFFFFFF})},  // less one: output 1 has zero 2 in group 0; group 1 has 0 everywhere
          {"m.scales", halves({2, 8}, scales)},
          {"m.g_idx", part("I32", {64}, groups)}};
}

TEST(QuantisedTensors, OfGptqByHandWithAListOfGroups) {
  const QuantisedFolder folder(kGptq, gptq());
  const StoredTensor& stored = folder.tensors().files.front()->tensor("m.weight");
  ASSERT_NE(stored.column_of, nullptr);
  EXPECT_EQ((*stored.column_of)[0], 0);
  EXPECT_EQ((*stored.column_of)[1], 2);
  EXPECT_EQ((*stored.column_of)[31], 62);
  EXPECT_EQ((*stored.column_of)[32], 1);
  const std::vector<float> values = folder.values(StoredType::kU4Z);
  EXPECT_EQ(values[0], -0.5F) << "output 0, input 0: (0 - 1) / 2";
  EXPECT_EQ(values[1], 0.5F) << "input 2: (2 - 1) / 2";
  EXPECT_EQ(values[32], 1.0F) << "input 1, of group 1: 1 - 0";
  EXPECT_EQ(values[64], -2.0F) << "output 1, input 0: 0 - 2";
  EXPECT_EQ(values[64 + 33], 3.0F) << "output 1, input 3, of group 1";
}

TEST(QuantisedTensors, TheSecondVersionOfGptqStoresZeroPointsAsTheyAre) {
  Parts parts = gptq();
  std::string config = kGptq;
  config.insert(1, R"("checkpoint_format": "gptq_v2", )");
  EXPECT_EQ(QuantisedFolder(config, parts).values(StoredType::kU4Z)[64], -1.0F);
}

TEST(QuantisedTensors, InputsInOrderNeedNoList) {
  Parts parts = gptq();
  std::string config = kGptq;
  config.replace(config.find("true"), 4, "false");
  const QuantisedFolder folder(config, parts);
  EXPECT_EQ(folder.tensors().files.front()->tensor("m.weight").column_of, nullptr);
  EXPECT_EQ(folder.values(StoredType::kU4Z)[1], 0.0F) << "input 1 is of group 0 now: (1 - 1) / 2";
}

// 8 bits, symmetric: four codes a word, 128 is zero.
TEST(QuantisedTensors, OfGptqInEightBits) {
  const std::string config = R"({"quant_method": "gptq", "bits": 8, "group_size": -1, "sym": true})";
  Parts parts = {{"m.qweight", words({8, 4}, std::vector<std::uint32_t>(32, 0xFF008081))},
                 {"m.qzeros", words({1, 1}, {0x7F7F7F7F})},
                 {"m.scales", halves({1, 4}, {0x3C00, 0x3C00, 0x3C00, 0x3800})}};
  const std::vector<float> values = QuantisedFolder(config, parts).values(StoredType::kQ8_0);
  EXPECT_EQ(values[0], 1.0F);
  EXPECT_EQ(values[1], 0.0F);
  EXPECT_EQ(values[2], -128.0F);
  EXPECT_EQ(values[3], 127.0F);
  EXPECT_EQ(values[96], 0.5F);
  parts["m.qzeros"] = words({1, 1}, {0x7F7F7F80});
  const QuantisedFolder other(config, parts);
  test::expect_error(ErrorCode::kDamagedFile, "a zero point that is not the middle", [&] { other.values(StoredType::kQ8_0); });
}

// 3 outputs, 64 inputs, two groups; a word holds eight inputs of one output.
Parts packed() {
  std::vector<std::uint32_t> codes(24, 0xFEDCBA98);
  codes[8] = 0x76543210;
  return {{"m.weight_packed", words({3, 8}, codes)},
          {"m.weight_shape", part("I64", {2}, std::vector<std::int64_t>{3, 64})},
          {"m.weight_scale", part("F32", {3, 2}, std::vector<float>{1.0F, 0.5F, 1.0F, 1.0F, 2.0F, 1.0F})}};
}

TEST(QuantisedTensors, OfPackedCodesByHand) {
  const QuantisedFolder folder(kPacked, packed());
  const std::vector<float> values = folder.values(StoredType::kQ4_0);
  EXPECT_EQ(values[0], 0.0F);
  EXPECT_EQ(values[7], 7.0F);
  EXPECT_EQ(values[39], 3.5F) << "of the second group";
  EXPECT_EQ(values[64], -8.0F) << "the second output's first word";
  EXPECT_EQ(values[64 + 8], 0.0F);
  EXPECT_EQ(values[128 + 1], 2.0F);
  EXPECT_EQ(folder.values(StoredType::kQ4_0, 7), values) << "whatever parts it is read in";
}

TEST(QuantisedTensors, ZeroPointsOfPackedCodesAreWordsOfOutputs) {
  Parts parts = packed();
  parts["m.weight_zero_point"] = words({1, 2}, {0x00000098, 0x00000400});  // outputs 0 and 1 in group 0: 8 and 9; output 2 in group 1: 4
  std::vector<float> values = QuantisedFolder(kPacked, parts).values(StoredType::kU4Z);
  EXPECT_EQ(values[0], 0.0F);
  EXPECT_EQ(values[32], 4.0F) << "(8 - 0) / 2";
  EXPECT_EQ(values[64], -9.0F);
  EXPECT_EQ(values[128 + 32], 4.0F) << "8 - 4";
  parts["m.weight_zero_point"] = part("I8", {3, 2}, std::vector<std::int8_t>{0, -8, 1, -8, -8, -4});  // the same, a byte each
  EXPECT_EQ(QuantisedFolder(kPacked, parts).values(StoredType::kU4Z), values);
}

TEST(QuantisedTensors, AListOfMinusOnesIsNone) {
  Parts parts = packed();
  parts["m.weight_g_idx"] = part("I32", {64}, std::vector<std::int32_t>(64, -1));
  EXPECT_EQ(QuantisedFolder(kPacked, parts).tensors().files.front()->tensor("m.weight").column_of, nullptr);
}

TEST(QuantisedTensors, OfBytesByHand) {
  std::vector<std::int8_t> codes(64, 3);
  codes[1] = -128;
  codes[63] = 127;
  Parts parts = {{"m.weight", part("I8", {2, 32}, codes)},
                 {"m.weight_scale", part("F32", {2, 1}, std::vector<float>{2.0F, 1.0F})},
                 {"n.weight", halves({1, 32}, std::vector<std::uint16_t>(32, 0x3C00))}};
  const QuantisedFolder folder(kPacked, parts);
  const std::vector<float> values = folder.values(StoredType::kQ8_0);
  EXPECT_EQ(values[0], 6.0F);
  EXPECT_EQ(values[1], -256.0F);
  EXPECT_EQ(values[63], 127.0F);
  EXPECT_EQ(folder.tensors().files.front()->tensor("n.weight").type, StoredType::kF16) << "what is not quantised stays";
  parts["m.weight_scale"] = part("F32", {1}, std::vector<float>{3.0F});
  EXPECT_EQ(QuantisedFolder(kPacked, parts).values(StoredType::kQ8_0)[63], 381.0F) << "one scale for all";
  parts["m.weight_scale"] = part("F32", {2, 1}, std::vector<float>{2.0F, 1.0F});
  parts["m.weight_zero_point"] = part("I8", {2, 1}, std::vector<std::int8_t>{1, -128});
  EXPECT_EQ(QuantisedFolder(kPacked, parts).values(StoredType::kU8Z)[63], 255.0F);
}

TEST(QuantisedTensors, PartsThatDoNotFitAreRefusedBeforeAnyIsRead) {
  const auto refused = [](ErrorCode code, const std::string& words, const std::string& config, Parts parts,
                          const std::function<void(Parts&)>& damage) {
    SCOPED_TRACE(words);
    damage(parts);
    const QuantisedFolder folder(config, parts);
    test::expect_error(code, words, [&] { folder.tensors(); });
  };
  const auto damaged = ErrorCode::kDamagedFile;
  const auto shape = [](const std::string& name, std::vector<std::int64_t> wanted) {
    return [name, wanted](Parts& parts) {
      std::int64_t numbers = 1;
      for (const std::int64_t size : wanted) numbers *= size;
      parts[name] = {parts[name].type, wanted, std::string(static_cast<std::size_t>(numbers) * (parts[name].type == "F16" ? 2 : 4), '\0')};
    };
  };
  refused(damaged, "m.qzeros: the folder lacks this part", kGptq, gptq(), [](Parts& parts) { parts.erase("m.qzeros"); });
  refused(damaged, "m.scales: the folder lacks this part", kAwq, awq(), [](Parts& parts) { parts.erase("m.scales"); });
  refused(damaged, "m.g_idx: the folder lacks this part", kGptq, gptq(), [](Parts& parts) { parts.erase("m.g_idx"); });
  refused(damaged, "qweight: it has shape [32, 2]", kAwq, awq(), shape("m.qweight", {32, 2}));
  refused(damaged, "qweight: it has shape [8, 9]", kGptq, gptq(), shape("m.qweight", {8, 9}));
  refused(damaged, "qzeros: it has shape [1, 1]", kGptq, gptq(), shape("m.qzeros", {1, 1}));
  refused(damaged, "outputs that are no whole words", kAwq, awq(), shape("m.scales", {1, 9}));
  refused(damaged, "3 groups do not divide 32 inputs", kAwq, awq(), [&](Parts& parts) {
    shape("m.scales", {3, 8})(parts);
    shape("m.qzeros", {3, 1})(parts);
  });
  refused(ErrorCode::kUnsupportedModel, "groups of 16 inputs", kAwq, awq(), [&](Parts& parts) {
    shape("m.scales", {2, 8})(parts);
    shape("m.qzeros", {2, 1})(parts);
  });
  refused(damaged, "of groups of 64 inputs where config.json says 32", kGptq, gptq(), [&](Parts& parts) {
    shape("m.scales", {1, 8})(parts);
    shape("m.qzeros", {1, 1})(parts);
  });
  refused(damaged, "m.g_idx: it has shape [63]", kGptq, gptq(), shape("m.g_idx", {63}));
  refused(damaged, "groups are not all of one size", kGptq, gptq(), shape("m.g_idx", {64}));
  refused(damaged, "it names group 2 of 2", kGptq, gptq(), [](Parts& parts) { parts["m.g_idx"].bytes[4] = 2; });
  refused(damaged, "it names group -1 of 2", kGptq, gptq(), [](Parts& parts) { parts["m.g_idx"].bytes.replace(4, 4, "\xFF\xFF\xFF\xFF"); });
  refused(damaged, "numbers are of type F32", kAwq, awq(), [](Parts& parts) { parts["m.qweight"].type = "F32"; });
  refused(damaged, "numbers are of type I16", kAwq, awq(), [](Parts& parts) { parts["m.scales"].type = "I16"; });
  refused(ErrorCode::kUnsupportedModel, "3 dimensions", kAwq, awq(), [](Parts& parts) { parts["m.qweight"].shape = {32, 1, 1}; });
  refused(damaged, "it is empty", kAwq, awq(), shape("m.qweight", {0, 1}));
  refused(damaged, "has this matrix twice", kAwq, awq(), [](Parts& parts) { parts["m.weight"] = parts["m.scales"]; });
  refused(damaged, "not the shape of what is packed", kPacked, packed(), [](Parts& parts) { parts["m.weight_shape"].bytes[0] = 4; });
  refused(damaged, "not the shape of what is packed", kPacked, packed(), [](Parts& parts) { parts["m.weight_shape"].bytes[15] = '\x80'; });
  refused(damaged, "weight_packed: it has shape [3, 8]", kPacked, packed(), [](Parts& parts) { parts["m.weight_shape"].bytes[8] = 56; });
  refused(ErrorCode::kUnsupportedModel, "weights of 2 bits", kPacked, packed(),
          [](Parts& parts) { parts["m.weight_shape"].bytes[8] = 120; });
  refused(damaged, "weight_scale: it has shape [2, 2]", kPacked, packed(), shape("m.weight_scale", {2, 2}));
  refused(damaged, "zero_point: it has shape [3, 2]", kPacked, packed(), [](Parts& parts) {
    parts["m.weight_zero_point"] = words({3, 2}, std::vector<std::uint32_t>(6));
  });
  refused(damaged, "weight_shape: the folder lacks this part", kPacked, packed(), [](Parts& parts) { parts.erase("m.weight_shape"); });
}

}  // namespace
}  // namespace winnow
