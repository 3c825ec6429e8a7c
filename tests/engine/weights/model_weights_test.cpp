#include "engine/weights/model_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "engine/weights/gguf_file.h"
#include "engine/weights/weight_files.h"
#include "kernels/api/block_types.h"
#include "tests/engine/weights/safetensors_bytes.h"
#include "tests/support/expect_error.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::test {
namespace {

std::string bytes_of(const at::Tensor& tensor) { return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()}; }

// A file with one tensor.
std::string shard(const std::string& name, const std::string& dtype, const std::string& shape, const std::string& data) {
  return safetensors(
      "{\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":[0," + std::to_string(data.size()) + "]}}",
      data);
}

std::string floats(std::initializer_list<float> values) { return bytes_of(at::tensor(std::vector<float>(values))); }

void write_index(const test::ScratchFolder& folder, const std::string& map) {
  folder.write("model.safetensors.index.json", R"({"metadata":{"total_size":8},"weight_map":)" + map + "}");
}

constexpr std::array<WeightNameRule, 1> kRules = {{{"model.image_newline", "image_newline"}}};

ModelWeights weights_of(const std::string& folder) { return {open_weight_files(folder), kRules}; }

TEST(ModelWeights, LoadsAndConvertsEveryStoredType) {
  const at::Tensor values = at::tensor(std::vector<float>{1.5F, -2.0F, 0.25F, 1024.0F});  // exact in all three
  for (const auto& [name, type] : {std::pair{"F32", at::kFloat}, std::pair{"F16", at::kHalf}, std::pair{"BF16", at::kBFloat16}}) {
    const test::ScratchFolder folder;
    folder.write("model.safetensors", shard("w", name, "[2,2]", bytes_of(values.to(type))));
    ModelWeights weights = weights_of(folder.path());
    EXPECT_EQ(weights.total_bytes(), 4 * at::elementSize(type));
    EXPECT_EQ(weights.parameter_count(), 4);
    for (const at::ScalarType wanted : {at::kFloat, at::kHalf, at::kBFloat16}) {
      const at::Tensor loaded = weights.load("w", wanted);
      EXPECT_EQ(loaded.scalar_type(), wanted);
      EXPECT_TRUE(loaded.is_contiguous());
      EXPECT_TRUE(at::equal(loaded.to(at::kFloat), values.view({2, 2})));
    }
  }
}

TEST(ModelWeights, LoadsTensorsLargerThanOneChunk) {
  const std::int64_t elements = (std::int64_t{16} << 20) / 2 + 12'345;  // 16 MiB of bf16 and some
  const at::Tensor values = at::arange(elements, at::kInt).remainder(251).to(at::kBFloat16);
  const test::ScratchFolder folder;
  folder.write("model.safetensors", shard("w", "BF16", "[" + std::to_string(elements) + "]", bytes_of(values)));
  ModelWeights weights = weights_of(folder.path());
  EXPECT_TRUE(at::equal(weights.load("w", at::kFloat), values.to(at::kFloat)));
  EXPECT_TRUE(at::equal(weights.load("w", at::kBFloat16), values));
}

TEST(ModelWeights, UnpacksTheBlocksOfGgufByWayOfFp32) {
  const std::string folder = source_folder() + "/tests/golden/gguf/";
  const test_support::GoldenTensors golden(folder + "blocks.safetensors");
  ModelWeights weights({folder, {std::make_shared<GgufFile>(folder + "every_type.gguf")}}, {});
  int blocks = 0;
  for (const std::string& name : weights.names()) {
    const StoredType stored = weights.stored_type(name);
    if (!block_type(stored)) continue;
    ++blocks;
    const std::vector<std::int64_t> shape = weights.shape(name);
    const at::Tensor expected =
        golden.load(std::string(stored_type_name(stored)) + ".values").narrow(0, 0, shape[0] * shape[1]).view(shape);
    EXPECT_TRUE(at::equal(weights.load(name, at::kFloat).nan_to_num(7, 8, 9), expected.nan_to_num(7, 8, 9))) << name;
    EXPECT_TRUE(at::equal(weights.load(name, at::kBFloat16).nan_to_num(7, 8, 9), expected.to(at::kBFloat16).nan_to_num(7, 8, 9))) << name;
  }
  EXPECT_EQ(blocks, 15);
  EXPECT_EQ(weights.parameter_count(), 6 * 2 * 512 + 6 * 2 * 64 + 3 * 4 + 1);
}

TEST(ModelWeights, UnpacksBlocksLargerThanOneChunk) {
  const std::int64_t blocks = (std::int64_t{16} << 20) / 128 + 3;  // 16 MiB of fp32 and three blocks
  std::string bytes;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::uint16_t scale = static_cast<std::uint16_t>(0x3000 + i % 1024);
    bytes.append(reinterpret_cast<const char*>(&scale), sizeof scale).append(16, static_cast<char>(i % 251));
  }
  at::Tensor expected = at::empty({blocks, 32}, at::kFloat);
  kernels::dequantise(kernels::BlockType::kQ4_0, bytes.data(), blocks * 32, expected.data_ptr<float>());
  const test::ScratchFolder folder;
  const std::string path =
      folder.write("m.gguf", test::GgufWriter().tensor("w", {32, static_cast<std::uint64_t>(blocks)}, 2, bytes).bytes());
  ModelWeights weights(open_gguf_files(path).tensors, {});
  EXPECT_TRUE(at::equal(weights.load("w", at::kFloat), expected));
  EXPECT_TRUE(at::equal(weights.load("w", at::kHalf), expected.to(at::kHalf)));
}

TEST(ModelWeights, ChecksTheShapeBeforeReading) {
  const test::ScratchFolder folder;
  folder.write("model.safetensors", shard("w", "F32", "[1,2]", floats({1, 2})));
  ModelWeights weights = weights_of(folder.path());
  EXPECT_NO_THROW(weights.load("w", {1, 2}, at::kFloat));
  expect_error(ErrorCode::kDamagedFile, "w: the weight has shape [1, 2] where the configuration says [2, 1]", [&] {
    weights.load("w", {2, 1}, at::kFloat);
  });
  expect_error(ErrorCode::kDamagedFile, "v: the folder lacks this weight", [&] { weights.load("v", at::kFloat); });
}

TEST(ModelWeights, NamesTypesThatItDoesNotRead) {
  const test::ScratchFolder folder;
  folder.write("model.safetensors", shard("w", "I64", "[1]", std::string(8, '\0')));
  ModelWeights weights = weights_of(folder.path());
  expect_error(ErrorCode::kUnsupportedFormat, "w: weights of type I64", [&] { weights.load("w", at::kFloat); });
}

TEST(ModelWeights, ResolvesNamesAndRefusesAWeightUnderTwo) {
  const test::ScratchFolder folder;
  folder.write("model.safetensors", shard("model.image_newline", "F32", "[1]", floats({3})));
  ModelWeights weights = weights_of(folder.path());
  EXPECT_EQ(weights.names(), std::vector<std::string>{"image_newline"});
  EXPECT_EQ(weights.load("image_newline", at::kFloat).item<float>(), 3.0F);
  folder.write("model.safetensors", safetensors(R"({"image_newline":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                                R"("model.image_newline":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                                                floats({1, 2})));
  expect_error(ErrorCode::kDamagedFile, "twice, under the names of two layouts", [&] { weights_of(folder.path()); });
}

TEST(ModelWeights, ReadsShardsAndReportsThem) {
  const test::ScratchFolder folder;
  folder.write("one.safetensors", shard("a", "F32", "[1]", floats({1})));
  folder.write("two.safetensors", shard("b", "F32", "[1]", floats({2})));
  write_index(folder, R"({"a":"one.safetensors","b":"two.safetensors"})");
  ModelWeights weights = weights_of(folder.path());
  std::vector<WeightProgress> seen;
  weights.set_progress([&](const WeightProgress& progress) { seen.push_back(progress); });
  EXPECT_EQ(weights.load("b", at::kFloat).item<float>(), 2.0F);
  EXPECT_EQ(weights.load("a", at::kFloat).item<float>(), 1.0F);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].read_bytes, 0U);
  EXPECT_EQ(seen[1].shards_started, 1);
  EXPECT_EQ(seen[2].shards_started, 2);
  EXPECT_EQ(seen[2].shard_count, 2);
  EXPECT_EQ(seen[2].read_bytes, seen[2].total_bytes);
}

TEST(ModelWeights, StopsWhenInterrupted) {
  const test::ScratchFolder folder;
  folder.write("model.safetensors", shard("w", "F32", "[1]", floats({1})));
  ModelWeights weights = weights_of(folder.path());
  InterruptSource source;
  weights.set_interrupt(source.token());
  EXPECT_NO_THROW(weights.load("w", at::kFloat));
  source.request_cancel();
  EXPECT_THROW(weights.load("w", at::kFloat), Interrupted);
}

// 16 MiB are read and converted in some ten milliseconds: what a cancel waits for, however large the tensor is.
TEST(ModelWeights, AnInterruptWithinATensorStopsAfterAtMost16MiB) {
  class Counted : public TensorFile {
   public:
    Counted(const InterruptSource& cancel, StoredType type) : cancel_(cancel) {
      constexpr std::int64_t kElements = std::int64_t{96} << 20;
      const StoredBlock block = stored_block(type);
      tensors_.emplace("w", StoredTensor{type, {kElements / 256, 256}, 0, kElements / block.elements * block.bytes});
    }
    const std::string& path() const noexcept override { return path_; }
    void read(const StoredTensor&, std::uint64_t, std::span<std::byte> target) const override {
      if (++reads_ == 2) cancel_.request_cancel();  // while the second part is read
      if (cancel_.token().requested()) bytes += target.size();
      std::ranges::fill(target, std::byte{0});
    }
    mutable std::uint64_t bytes = 0;  // from when the cancel came

   private:
    mutable InterruptSource cancel_;
    mutable int reads_ = 0;
    std::string path_ = "counted";
  };
  for (const StoredType type : {StoredType::kF32, StoredType::kBF16, StoredType::kF16, StoredType::kQ8_0}) {
    const InterruptSource cancel;
    const auto file = std::make_shared<Counted>(cancel, type);
    ModelWeights weights(TensorFiles{"counted", {file}}, {});
    weights.set_interrupt(cancel.token());
    EXPECT_THROW(weights.load("w", at::kBFloat16), Interrupted);
    EXPECT_GT(file->bytes, 0U);
    EXPECT_LE(file->bytes, std::uint64_t{16} << 20) << stored_type_name(type);
  }
}

TEST(ModelWeights, RefusesIndexesThatDoNotMatchTheirShards) {
  const test::ScratchFolder folder;
  folder.write("one.safetensors", shard("a", "F32", "[1]", floats({1})));
  folder.write("two.safetensors", shard("a", "F32", "[1]", floats({2})));
  const auto open = [&](const std::string& map) {
    write_index(folder, map);
    weights_of(folder.path());
  };
  expect_error(ErrorCode::kFileNotFound, "three.safetensors", [&] { open(R"({"a":"three.safetensors"})"); });
  expect_error(ErrorCode::kDamagedFile, "does not list this tensor", [&] { open(R"({"b":"one.safetensors"})"); });
  expect_error(ErrorCode::kDamagedFile, "lists tensors that the shard does not have",
               [&] { open(R"({"a":"one.safetensors","b":"one.safetensors"})"); });
  expect_error(ErrorCode::kDamagedFile, "in another shard", [&] { open(R"({"a":"one.safetensors","b":"two.safetensors"})"); });
  expect_error(ErrorCode::kDamagedFile, "\"a\" occurs twice", [&] { open(R"({"a":"one.safetensors","a":"two.safetensors"})"); });
  for (const char* name : {"../one.safetensors", "/one.safetensors", "sub/one.safetensors", "", ".", "..", ".safetensors", "one.bin",
                           "a\\\\b.safetensors", "c:one.safetensors", "a\\u0000.safetensors"}) {
    expect_error(ErrorCode::kDamagedFile, "plain .safetensors file name", [&] { open(std::string("{\"a\":\"") + name + "\"}"); });
  }
  for (const char* map : {"{}", "[]", "7", R"("x")"}) expect_error(ErrorCode::kDamagedFile, "weight_map", [&] { open(map); });
  expect_error(ErrorCode::kDamagedFile, "not a string", [&] { open(R"({"a":1})"); });
}

TEST(ModelWeights, RefusesLinksOutOfTheFolderButNotIntoItsCache) {
  const test::ScratchFolder entry;
  const std::string bytes = shard("a", "F32", "[1]", floats({1}));
  std::filesystem::create_directories(entry.file("snapshots/rev"));
  std::filesystem::create_directories(entry.file("blobs"));
  entry.write("blobs/hash", bytes);
  entry.write("outside", bytes);
  const std::string folder = entry.file("snapshots/rev");
  std::filesystem::create_symlink("../../blobs/hash", folder + "/model.safetensors");
  EXPECT_NO_THROW(weights_of(folder));
  std::filesystem::remove(folder + "/model.safetensors");
  std::filesystem::create_symlink("../../outside", folder + "/model.safetensors");
  expect_error(ErrorCode::kFileUnreadable, "leads out of the model folder", [&] { weights_of(folder); });
  std::filesystem::remove(folder + "/model.safetensors");
  std::filesystem::create_symlink("model.safetensors", folder + "/model.safetensors");
  expect_error(ErrorCode::kFileUnreadable, "cannot be opened", [&] { weights_of(folder); });
}

TEST(ModelWeights, RefusesFoldersWithoutSafetensors) {
  const test::ScratchFolder folder;
  expect_error(ErrorCode::kFileNotFound, "does not exist", [&] { weights_of(folder.file("none")); });
  expect_error(ErrorCode::kFileUnreadable, "this is not one", [&] { weights_of(folder.write("file", "x")); });
  expect_error(ErrorCode::kFileNotFound, "neither model.safetensors nor", [&] { weights_of(folder.path()); });
  folder.write("pytorch_model.bin", "x");
  expect_error(ErrorCode::kUnsupportedFormat, "convert the model to safetensors", [&] { weights_of(folder.path()); });
}

TEST(ModelWeights, RefusesWeightsWithoutElementsAndTruncationWhileLoaded) {
  const test::ScratchFolder folder;
  folder.write("model.safetensors", shard("w", "F32", "[0,3]", ""));
  expect_error(ErrorCode::kDamagedFile, "w: a weight without elements", [&] { weights_of(folder.path()); });
  folder.write("model.safetensors", shard("w", "F32", "[2]", floats({1, 2})));
  ModelWeights weights = weights_of(folder.path());
  std::filesystem::resize_file(folder.file("model.safetensors"), std::filesystem::file_size(folder.file("model.safetensors")) - 1);
  expect_error(ErrorCode::kDamagedFile, "became shorter", [&] { weights.load("w", at::kFloat); });
}

}  // namespace
}  // namespace winnow::test
