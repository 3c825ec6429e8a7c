#include "engine/models/registry.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <limits>

#include "engine/base/error.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/weights/block_packing.h"
#include "tests/engine/models/folder_copy.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/memory_media.h"
#include "tests/support/plain_processor.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support {
namespace {

Error error_of(const ModelSource& source) {
  try {
    load_model(source);
  } catch (const Exception& exception) {
    return exception.error();
  }
  return {ErrorCode::kInternal, "", "it was loaded"};
}

constexpr const char* kQuery = "language_model.model.layers.1.self_attn.q_proj.weight";

TEST(Registry, NamesAnUnknownFamily) {
  const FolderCopy folder("gqa_tied");
  folder.write("config.json", R"({"architectures": ["MambaForCausalLM"], "model_type": "mamba"})");
  const Error error = error_of(folder.source());
  EXPECT_EQ(error.code, ErrorCode::kUnsupportedModel);
  EXPECT_NE(error.reason.find("MambaForCausalLM"), std::string::npos) << error.reason;
}

TEST(Registry, AFolderWithoutTypeIsRefused) {
  const FolderCopy folder("gqa_tied");
  folder.write("config.json", "{}");
  EXPECT_EQ(error_of(folder.source()).code, ErrorCode::kUnsupportedModel);
  folder.write("config.json", R"({"architectures": 7})");
  EXPECT_EQ(error_of(folder.source()).code, ErrorCode::kDamagedFile);
}

TEST(Registry, AFolderInFewBitsIsRefusedByItsMethod) {
  const FolderCopy folder("gqa_tied");
  Json config = folder.source().package->required(ModelPart::kConfig).content;
  config["quantization_config"] = {{"bits", 4}, {"quant_method", "hqq"}};
  folder.write("config.json", config.dump());
  const Error error = error_of(folder.source());
  EXPECT_EQ(error.code, ErrorCode::kUnsupportedModel);
  EXPECT_NE(error.reason.find("quantised with \"hqq\""), std::string::npos) << error.reason;
}

TEST(Registry, AMissingFolderIsNotFound) {
  ModelSource source{.package = std::make_shared<HuggingFaceFolder>("/nonexistent/model")};
  EXPECT_EQ(error_of(source).code, ErrorCode::kFileNotFound);
}

TEST(Registry, RefusesTypesThatNoModelRunsIn) {
  const FolderCopy folder("gqa_tied");
  ModelSource source = folder.source();
  source.plan.arithmetic = at::kHalf;
  EXPECT_EQ(error_of(source).code, ErrorCode::kInvalidArgument);
}

// hostile_weights_test.cpp asks it of every tensor of every family, whose errors may name a part.
TEST(Registry, AMissingTensorAndOneOfAnotherShapeAreNamed) {
  using Tensors = std::map<std::string, at::Tensor>;
  for (const auto change : {+[](Tensors& tensors) { tensors.erase(kQuery); },
                            +[](Tensors& tensors) { tensors[kQuery] = tensors[kQuery].narrow(0, 0, 24).contiguous(); }}) {
    const FolderCopy folder("gqa_tied");
    folder.rewrite_weights(change);
    const Error error = error_of(folder.source());
    EXPECT_EQ(error.code, ErrorCode::kDamagedFile);
    EXPECT_NE((error.subject + error.reason).find(kQuery), std::string::npos) << error.subject << ": " << error.reason;
  }
}

TEST(Registry, WeightsThatAreNotNumbersAreNamed) {
  for (const float poison : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const FolderCopy folder("gqa_tied");
    folder.rewrite_weights([&](auto& tensors) { tensors[kQuery][3][5] = poison; });
    const Error error = error_of(folder.source());
    EXPECT_EQ(error.code, ErrorCode::kDamagedFile);
    EXPECT_EQ(error.subject, kQuery);
  }
}

// fp16 reaches 65504 and bf16 as far as fp32, so that infinities of fp16 stay what they are; finite fp32 may become one in bf16.
TEST(Registry, InfinitiesOfFp16AndOfConversionAreNamed) {
  const auto load_as = [](at::ScalarType stored, at::ScalarType held, double value) {
    const FolderCopy folder("gqa_tied");
    folder.rewrite_weights([&](auto& tensors) {
      for (auto& [name, tensor] : tensors) tensor = tensor.to(stored);
      tensors[kQuery][3][5] = value;
    });
    ModelSource source = folder.source();
    source.plan.arithmetic = held;
    return error_of(source);
  };
  for (const at::ScalarType held : {at::kFloat, at::kBFloat16}) {
    EXPECT_EQ(load_as(at::kHalf, held, 65504.0).reason, "it was loaded");
    EXPECT_EQ(load_as(at::kHalf, held, -std::numeric_limits<double>::infinity()).subject, kQuery);
  }
  EXPECT_EQ(load_as(at::kFloat, at::kFloat, 3.4e38).reason, "it was loaded");
  const Error rounded = load_as(at::kFloat, at::kBFloat16, 3.4e38);
  EXPECT_EQ(rounded.code, ErrorCode::kDamagedFile);
  EXPECT_EQ(rounded.subject, kQuery);
}

TEST(Registry, ProgressCountsToTheEndAndAnInterruptStopsIt) {
  const FolderCopy folder("select_default");
  ModelSource source = folder.source();
  std::uint64_t last = 0;
  std::int64_t shards = 0;
  source.progress = [&](const WeightProgress& progress) {
    EXPECT_GE(progress.read_bytes, last);
    last = progress.read_bytes;
    shards = progress.shard_count;
  };
  load_model(source);
  EXPECT_GT(last, 0U);
  EXPECT_EQ(shards, 2);
  last = 0;
  InterruptSource cancel;
  cancel.request_cancel();
  source.interrupt = cancel.token();
  EXPECT_THROW(load_model(source), Interrupted);
}

// A format of its own: documents and tensors that lie in memory, as another kind of file would translate them.
class PackageInMemory : public ModelPackage {
 public:
  explicit PackageInMemory(const HuggingFaceFolder& folder) : tensors_{path(), {}} {
    for (const ModelPart part : {ModelPart::kConfig, ModelPart::kGeneration, ModelPart::kProcessor, ModelPart::kImageProcessor,
                                 ModelPart::kVideoProcessor, ModelPart::kWinnow}) {
      if (const ModelDocument* found = folder.document(part)) documents_[part] = {found->content, subject(part)};
    }
    for (const auto& file : folder.tensors().files) tensors_.files.push_back(std::make_shared<InMemory>(*file));
  }
  const std::string& path() const override { return path_; }
  std::string name() const override { return "in memory"; }
  const ModelDocument* document(ModelPart part) const override {
    const auto found = documents_.find(part);
    return found != documents_.end() ? &found->second : nullptr;
  }
  std::string subject(ModelPart part) const override { return path_ + ": part " + std::to_string(static_cast<int>(part)); }
  TokenizerFile tokenizer() const override { return {}; }
  TemplateText chat_template(std::string_view fallback) const override { return {std::string(fallback), "", ""}; }
  const TensorFiles& tensors() const override { return tensors_; }
  std::vector<std::pair<std::string, RegularFile>> files() const override { return {}; }

  void forget(ModelPart part) { documents_.erase(part); }

 private:
  class InMemory : public TensorFile {
   public:
    explicit InMemory(const TensorFile& file) {
      for (const auto& [name, stored] : file.tensors()) {
        StoredTensor tensor = stored;
        tensor.begin = bytes_.size();
        bytes_.resize(bytes_.size() + stored.bytes());
        tensor.end = bytes_.size();
        file.read(stored, 0, std::span(bytes_).subspan(tensor.begin));
        tensors_.emplace(name, tensor);
      }
    }
    const std::string& path() const noexcept override { return path_; }
    void read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const override {
      std::ranges::copy(std::span(bytes_).subspan(tensor.begin + offset, target.size()), target.begin());
    }

   private:
    std::string path_ = "memory";
    std::vector<std::byte> bytes_;
  };

  std::string path_ = "a file of another format";
  std::map<ModelPart, ModelDocument> documents_;
  TensorFiles tensors_;
};

TEST(Registry, AModelNeedsAPackageAndNoFolder) {
  const FolderCopy folder("gqa_tied");
  const ModelSource from_folder = folder.source();
  auto package = std::make_shared<PackageInMemory>(dynamic_cast<const HuggingFaceFolder&>(*from_folder.package));
  ModelSource source{.package = package};
  const c10::InferenceMode inference;
  const auto model = load_model(source);
  EXPECT_EQ(model->info().name, "in memory");
  EXPECT_EQ(model->info().folder, package->path());
  const auto expected = load_model(from_folder);
  EXPECT_EQ(model->info().parameter_count, expected->info().parameter_count);
  const at::Tensor ids = at::arange(12);
  EXPECT_TRUE(at::equal(model->text().embed(ids), expected->text().embed(ids)));
  const MediaFacts frame{MediaKind::kVideo, {16, 16}, 1, 0.0, true};
  const at::Tensor picture = at::linspace(-1, 1, 3 * 16 * 16).view({1, 3, 16, 16});
  EXPECT_TRUE(at::equal(model->encode(frame, {picture, 0, 0}, {}, {}).features, expected->encode(frame, {picture, 0, 0}, {}, {}).features));
  // An error names what the package calls its parts.
  package->forget(ModelPart::kConfig);
  const Error error = error_of(source);
  EXPECT_EQ(error.code, ErrorCode::kFileNotFound);
  EXPECT_EQ(error.subject, package->subject(ModelPart::kConfig));
}

// Matrices of bf16, a format of its own over fp32 arithmetic: half the bytes, and counted.
class InHalves : public MatrixPacking {
 public:
  std::string name() const override { return "halves"; }
  std::optional<double> most_bits(std::int64_t /*in*/) const override { return 16.0; }
  std::shared_ptr<const PackedMatrix> pack(const at::Tensor& dense) const override {
    rows.push_back(dense.size(0));
    return std::make_shared<Matrix>(dense);
  }
  mutable std::vector<std::int64_t> rows;  // of each that was packed

 private:
  class Matrix : public PackedMatrix {
   public:
    explicit Matrix(const at::Tensor& dense) : half_(dense.to(at::kBFloat16)) {}
    std::int64_t out() const override { return half_.size(0); }
    std::int64_t in() const override { return half_.size(1); }
    std::int64_t bytes() const override { return 2 * half_.numel(); }
    at::Tensor times(const at::Tensor& input) const override { return at::linear(input, half_.to(input.scalar_type())); }
    at::Tensor columns(std::int64_t first, std::int64_t count) const override { return half_.narrow(1, first, count).to(at::kFloat); }
    at::Tensor rows(const at::Tensor& ids) const override { return half_.index_select(0, ids).to(at::kFloat); }

   private:
    at::Tensor half_;
  };
};

TEST(Registry, APlanPacksMatricesAndNothingElse) {
  const FolderCopy folder("gqa_tied");
  const auto packing = std::make_shared<InHalves>();
  const c10::InferenceMode inference;
  // Numbers that bf16 holds exactly, so that packing changes no value.
  folder.rewrite_weights([](auto& tensors) {
    for (auto& [name, tensor] : tensors) tensor = tensor.to(at::kBFloat16).to(at::kFloat);
  });
  ModelSource source = folder.source();
  const auto plain = load_model(source);
  source.plan.packing = packing;
  const auto packed = load_model(source);
  const std::int64_t layers = plain->info().layers;
  constexpr std::int64_t kTowerLayers = 2;
  EXPECT_EQ(std::ssize(packing->rows), 4 * layers + 1 + 4 * kTowerLayers + 2)
      << "q, k and v together, output, gate and up together, down; the table, which is the head; the same without a gate; the projector";
  EXPECT_EQ(packed->info().dtype, "fp32, halves");
  EXPECT_EQ(plain->info().dtype, "fp32");
  EXPECT_EQ(packed->info().parameter_count, plain->info().parameter_count);
  EXPECT_EQ(plain->info().weight_bytes, 4 * plain->info().parameter_count);
  EXPECT_LT(packed->info().weight_bytes, plain->info().weight_bytes);
  EXPECT_GT(packed->info().weight_bytes, plain->info().weight_bytes / 2);
  EXPECT_EQ(packed->info().kv_bytes_per_token, plain->info().kv_bytes_per_token) << "the cache holds the arithmetic type";
  const at::Tensor hidden = plain->text().embed(at::arange(12));
  KvCache one(plain->text().kv_shape());
  KvCache two(packed->text().kv_shape());
  EXPECT_TRUE(at::equal(test_support::prefill(plain->text(), hidden.clone(), 0, one),
                        test_support::prefill(packed->text(), hidden.clone(), 0, two)));
  // What the folder stores and no model reads counts, too: it is a bound.
  const auto held = static_cast<std::uint64_t>(packed->info().weight_bytes);
  EXPECT_GE(most_bytes_under(source.plan, source.package->tensors()), held);
  EXPECT_LT(most_bytes_under(source.plan, source.package->tensors()), held + held / 100);
  EXPECT_EQ(most_bytes_under({std::nullopt, nullptr}, source.package->tensors()), source.package->tensors().total_bytes());
}

// Eight bits a number and a scale for 32 of them: half a code of the largest in each of a product's terms. Four bits for the decoder's
// matrices, and eight for the table, the tower and the projector.
TEST(Registry, AFolderIsHeldInEightBitsOrFour) {
  const FolderCopy folder("select_default");
  const c10::InferenceMode inference;
  ModelSource source = folder.source();
  const auto plain = load_model(source);
  const at::Tensor hidden = plain->text().embed(at::arange(12));
  KvCache as_numbers(plain->text().kv_shape());
  const at::Tensor expected = plain->text().logits(test_support::prefill(plain->text(), hidden.clone(), 0, as_numbers));
  double before = 0.0;
  for (const auto& [bits, name] : {std::pair(PackedBits::kEight, "fp32, int8"), std::pair(PackedBits::kFour, "fp32, int4")}) {
    SCOPED_TRACE(name);
    source.plan.packing = std::make_shared<BlockPacking>(bits);
    const auto packed = load_model(source);
    EXPECT_EQ(packed->info().dtype, name);
    EXPECT_EQ(packed->info().parameter_count, plain->info().parameter_count);
    EXPECT_LT(packed->info().weight_bytes, plain->info().weight_bytes);
    // What is stored and not read is foreseen as well, as if it were packed.
    const auto beyond = [](const VisionLanguageModel& model, const ModelSource& from) {
      return static_cast<std::int64_t>(most_bytes_under(from.plan, from.package->tensors())) - model.info().weight_bytes;
    };
    EXPECT_GE(beyond(*packed, source), 0);
    EXPECT_LT(beyond(*packed, source), beyond(*plain, folder.source()));
    KvCache cache(packed->text().kv_shape());
    const at::Tensor found = packed->text().logits(test_support::prefill(packed->text(), packed->text().embed(at::arange(12)), 0, cache));
    const double error = ((found - expected).abs().max() / expected.abs().max()).item<double>();
    EXPECT_GT(error, before);
    EXPECT_LT(error, bits == PackedBits::kEight ? 0.04 : 0.4);
    before = error;
  }
}

TEST(Registry, MatricesThatAreMostlyPaddingOrTooLargeStayNumbers) {
  const c10::InferenceMode inference;
  const BlockPacking packing(PackedBits::kEight);
  EXPECT_EQ(packing.pack(at::ones({4, 33})), nullptr);
  EXPECT_EQ(packing.most_bits(33), std::nullopt);
  EXPECT_EQ(packing.most_bits(64), 8.5);
  EXPECT_EQ(packing.pack(at::full({4, 32}, 1e9)), nullptr) << "beyond a scale's largest number";
  const auto packed = packing.pack(at::full({4, 32}, 254.0));
  ASSERT_NE(packed, nullptr);
  EXPECT_EQ(packed->bytes(), 4 * 34);
  EXPECT_TRUE(at::equal(packed->columns(0, 32), at::full({4, 32}, 254.0)));
}

// Rows of 48 numbers are a block and a half: the other half is zeros, which nobody sees.
TEST(Registry, RowsThatAreNoWholeBlocksAreFilledUp) {
  const c10::InferenceMode inference;
  for (const PackedBits bits : {PackedBits::kEight, PackedBits::kFour}) {
    const BlockPacking packing(bits);
    const std::int64_t block = bits == PackedBits::kEight ? 34 : 20;
    // What both forms hold exactly: codes of every block's own steps.
    const at::Tensor dense = (at::arange(5 * 48).reshape({5, 48}) % 16).to(at::kFloat).mul(bits == PackedBits::kEight ? 127.0 / 15.0 : 1.0);
    const auto packed = packing.pack(dense);
    ASSERT_NE(packed, nullptr);
    EXPECT_EQ(packed->in(), 48);
    EXPECT_EQ(packed->out(), 5);
    EXPECT_EQ(packed->bytes(), 5 * 2 * block);
    EXPECT_DOUBLE_EQ(*packing.most_bits(48), 2.0 * 8.0 * static_cast<double>(block) / 48.0);
    const at::Tensor numbers = packed->columns(0, 48);
    EXPECT_LT((numbers - dense).abs().max().item<double>(), 0.51) << "half a step of eight bits";
    EXPECT_TRUE(at::equal(packed->columns(40, 8), numbers.narrow(1, 40, 8)));
    EXPECT_TRUE(at::equal(packed->rows(at::tensor({3, 0}, at::kLong)), numbers.index_select(0, at::tensor({3, 0}, at::kLong))));
    for (const std::int64_t inputs : {1, 70}) {
      const at::Tensor input = at::sin(at::arange(inputs * 48)).reshape({inputs, 48});
      const at::Tensor error = (packed->times(input) - at::linear(input, numbers)).abs();
      // An input of magnitude up to 1 is rounded by half a step of 127.
      EXPECT_TRUE((error <= 1.001 / 254.0 * numbers.abs().sum(1)).all().item<bool>()) << inputs;
    }
  }
}

// A folder with eyes whose every matrix of whole blocks is packed in eight bits, the tower's too, as compressed-tensors does it, and the
// folder of the numbers that these stand for.
TEST(Registry, ATowerThatIsQuantisedStandsForItsNumbers) {
  const FolderCopy plain("qwen2_5_vl/published");
  const FolderCopy packed("qwen2_5_vl/published");
  const c10::InferenceMode inference;
  int tower = 0;
  const auto quantise = [&](std::map<std::string, at::Tensor>& tensors, bool as_codes) {
    std::map<std::string, at::Tensor> changed;
    for (const auto& [name, tensor] : tensors) {
      const bool whole =
          tensor.dim() == 2 && tensor.size(1) % 32 == 0 && name.ends_with(".weight") && name.find("embed") == std::string::npos;
      if (!whole) {
        changed[name] = tensor;
        continue;
      }
      tower += name.find("visual") != std::string::npos ? 1 : 0;
      const at::Tensor scale = tensor.to(at::kFloat).abs().amax(1, true).div(127.0).to(at::kHalf).to(at::kFloat);
      const at::Tensor codes = tensor.to(at::kFloat).div(scale).round().clamp(-127, 127);
      const std::string module = name.substr(0, name.size() - 6);
      if (!as_codes) {
        changed[name] = codes * scale;
        continue;
      }
      changed[module + "weight_packed"] = (codes + 128).to(at::kByte).contiguous().view(at::kInt);
      changed[module + "weight_scale"] = scale;
      changed[module + "weight_shape"] = at::tensor({tensor.size(0), tensor.size(1)}, at::kLong);
    }
    tensors = changed;
  };
  plain.rewrite_weights([&](auto& tensors) { quantise(tensors, false); });
  packed.rewrite_weights([&](auto& tensors) { quantise(tensors, true); });
  ASSERT_GT(tower, 4);
  Json config = packed.source().package->required(ModelPart::kConfig).content;
  config["quantization_config"] = {{"quant_method", "compressed-tensors"},
                                   {"format", "pack-quantized"},
                                   {"config_groups", {{"group_0", {{"weights", {{"num_bits", 8}, {"strategy", "channel"}}}}}}}};
  packed.write("config.json", config.dump());
  ModelSource source = packed.source();
  source.plan.matrices_as_stored = true;
  const auto model = load_model(source);
  const auto expected = load_model(plain.source());
  EXPECT_EQ(model->info().dtype, "fp32, Q8_0");
  EXPECT_EQ(model->info().parameter_count, expected->info().parameter_count);
  const MediaFacts facts = test_support::image_facts(56, 84);
  const std::vector<RgbImage> picture = {testing::patterned_picture(84, 56, 1)};
  const auto features = [&](const VisionLanguageModel& of) {
    return of.join(facts, of.encode(facts, of.preprocess(facts, picture), {}, {})).features;
  };
  EXPECT_LE(test_support::relative_distance(features(*model), features(*expected)), 3e-2) << "rows are rounded to eight bits";
  const auto exact = test_support::on_a_plain_processor([&] { return load_model(source); });
  EXPECT_LE(test_support::relative_distance(features(*exact), features(*expected)), 1e-5);
}

// Published folders of Qwen3-VL-MoE have experts' matrices turned over, transformers 5 saves them upright.
TEST(Experts, MayBeStoredEitherWay) {
  c10::InferenceMode inference;
  const FolderCopy folder("qwen3_vl/experts");
  const auto logits = [&] {
    const auto model = load_model(folder.source());
    const TextDecoder& text = model->text();
    KvCache cache(text.kv_shape());
    const at::Tensor rows = text.embed(at::tensor({3, 1, 4, 1, 5}, at::kLong));
    at::Tensor hidden = rows.clone();
    const at::Tensor positions = at::arange(5, at::kLong).unsqueeze(0).expand({3, -1});
    const std::vector<std::int32_t> originals = {0, 1, 2, 3, 4};
    for (LayerId layer{0}; layer < text.layers(); ++layer) text.prefill_layer(layer, hidden, positions, originals, cache, nullptr, {}, {});
    return text.logits(hidden);
  };
  const at::Tensor turned = logits();
  const auto turn_over = [](std::map<std::string, at::Tensor>& tensors) {
    for (auto& [name, tensor] : tensors) {
      if (name.find(".experts.") != std::string::npos) tensor = tensor.transpose(1, 2).contiguous();
    }
  };
  folder.rewrite_weights(turn_over);
  EXPECT_TRUE(at::equal(logits(), turned));
  folder.rewrite_weights([](std::map<std::string, at::Tensor>& tensors) {
    for (auto& [name, tensor] : tensors) {
      if (name.ends_with("layers.2.mlp.experts.down_proj")) tensor = tensor.narrow(1, 0, tensor.size(1) - 1).contiguous();
    }
  });
  EXPECT_EQ(error_of(folder.source()).code, ErrorCode::kDamagedFile);
}

}  // namespace
}  // namespace winnow::test_support
