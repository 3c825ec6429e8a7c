// What only Gemma 3 has; what all families promise is in vision_families_test.cpp. Golden folders: tests/golden/gemma3, rebuilt by
// tests/golden/make/make_gemma3_golden.py.

#include <gtest/gtest.h>

#include <array>

#include "engine/base/json_document.h"
#include "engine/models/decoder/transformer_decoder.h"
#include "engine/models/families/gemma3_pixels.h"
#include "engine/weights/weight_files.h"
#include "tests/engine/models/golden_model.h"
#include "tests/engine/models/llava_parts/golden_pictures.h"
#include "tests/support/golden_cases.h"
#include "tests/support/pixel_hash.h"
#include "tests/support/tensor_distance.h"

namespace winnow::test_support::gemma3_test {
namespace {

constexpr std::array<WeightNameRule, 4> kTextNames = {{{"language_model.model.", "text.model."},
                                                       {"language_model.lm_head.", "text.lm_head."},
                                                       {"model.language_model.", "text.model."},
                                                       {"lm_head.", "text.lm_head."}}};

class Gemma3Model : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
};

TEST_F(Gemma3Model, InfoIsComplete) {
  const auto model = load_golden_model("gemma3/narrow_window", at::kBFloat16);
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.layers, 3);
  EXPECT_EQ(info.context_tokens, 2048);
  EXPECT_FALSE(info.traits.reads_videos);
  EXPECT_EQ(info.traits.window, 7);
}

// A picture's tokens, without the words around it; its crops are pictures of their own.
TEST_F(Gemma3Model, ThePicturesTokensSeeEachOther) {
  const auto model = load_golden_model("gemma3/pan_and_scan");
  std::vector<TokenOrigin> origins(3);
  for (std::int32_t image = 0; image < 2; ++image) {
    for (TokenOrigin origin : model->origins_of({MediaKind::kImage, {45, 31}, 1, 0.0, true})) {
      origin.media = image;
      origins.push_back(origin);
    }
  }
  origins.resize(origins.size() + 2);
  const std::vector<RowSpan> spans = model->bidirectional_spans(origins);
  ASSERT_EQ(spans.size(), 6U) << "two images, each whole and in two crops";
  EXPECT_EQ(spans.front(), (RowSpan{4, 4})) << "behind three words and <start_of_image>";
  std::int64_t inside = 0;
  for (const RowSpan& span : spans) {
    EXPECT_EQ(span.count, 4);
    for (std::int64_t row = span.first; row < span.end(); ++row) EXPECT_GE(origins[static_cast<std::size_t>(row)].row, 0);
    inside += span.count;
  }
  EXPECT_EQ(inside, std::ranges::count_if(origins, [](const TokenOrigin& origin) { return origin.row >= 0; }));
  // Of pruned pictures the tokens that are left; one sees itself anyway.
  std::erase_if(origins, [](const TokenOrigin& origin) { return origin.row >= 0 && (origin.column % 2 == 1 || origin.frame == 1); });
  const std::vector<RowSpan> left = model->bidirectional_spans(origins);
  ASSERT_EQ(left.size(), 4U);
  for (const RowSpan& span : left) EXPECT_EQ(span.count, 2);
}

// Two images and a question through all layers, segments and tiles of any size: hidden states.
class TwoImages {
 public:
  explicit TwoImages(const std::string& name)
      : name_(name),
        folder_(read_gemma3(HuggingFaceFolder(golden_folder("gemma3/" + name) + "/model"))),
        ids_(golden_of("gemma3/" + name).load("two_images.input_ids")) {
    for (std::int64_t row = 0; row < rows(); ++row) {
      if (ids_[row].item<std::int64_t>() != folder_.model.image_token_id) continue;
      if (spans_.empty() || spans_.back().end() != row) spans_.push_back({row, 0});
      ++spans_.back().count;
    }
  }

  std::int64_t rows() const { return ids_.size(0); }
  const std::vector<RowSpan>& spans() const { return spans_; }
  // A segment ends before each of `splits`.
  at::Tensor through_layers(std::int64_t tile_rows, std::vector<std::int64_t> splits = {}) const {
    ModelWeights weights(open_weight_files(golden_folder("gemma3/" + name_) + "/model"), kTextNames);
    WeightReader reader(weights, {.arithmetic = at::kFloat}, at::kCPU);
    const TransformerDecoder text(folder_.model.text, reader, "text.", tile_rows);
    KvCache cache(text.kv_shape());
    std::vector<at::Tensor> hidden;
    splits.push_back(rows());
    std::int64_t first = 0;
    for (const std::int64_t end : splits) {
      const AttentionWindow window{.bidirectional = cut_spans(spans_, first, end - first)};
      hidden.push_back(test_support::prefill(text, text.embed(ids_.slice(0, first, end)), first, cache, nullptr, {}, window));
      first = end;
    }
    return at::cat(hidden);
  }

 private:
  std::string name_;
  Gemma3Folder folder_;
  at::Tensor ids_;
  std::vector<RowSpan> spans_;
};

TEST_F(Gemma3Model, TilesOfAnySizeEqualOne) {
  for (const char* const name : {"published", "narrow_window", "plain_pillow"}) {
    const TwoImages images(name);
    ASSERT_GE(images.spans().size(), 2U);
    const at::Tensor whole = images.through_layers(1024);
    for (const std::int64_t tile_rows : {1, 5, 20, 30}) {
      EXPECT_LE(relative_distance(images.through_layers(tile_rows), whole), 1e-5) << name << " in tiles of " << tile_rows;
    }
  }
}

// The second image in a turn of its own: its rows look back over what the cache holds.
TEST_F(Gemma3Model, ASegmentOnTopOfACacheEqualsOnePass) {
  for (const char* const name : {"published", "narrow_window", "plain_pillow"}) {
    const TwoImages images(name);
    const std::int64_t between = images.spans()[0].end() + 1;
    EXPECT_LE(relative_distance(images.through_layers(8, {between, images.rows() - 3}), images.through_layers(1024)), 1e-5) << name;
  }
}

TEST_F(Gemma3Model, TheJudgeSharesOutWhatPatchesLookAt) {
  const auto model = load_golden_model("gemma3/published");
  const GoldenTensors golden = golden_of("gemma3/published");
  const MediaFacts facts = image_facts(golden_pictures(golden, "image").front());
  const EncodedParts parts = model->encode(facts, {pixels_of(golden, "image.pixel_levels.0"), 0, 0}, VisionJudge::kAttention, {});
  ASSERT_EQ(parts.importance.sizes(), at::IntArrayRef({1, 16}));
  EXPECT_NEAR(parts.importance.sum().item<double>(), 0.25, 1e-5) << "the mean of four patches each";
  const MediaFeatures media = model->join(facts, parts);
  EXPECT_EQ(media.importance[0].item<float>(), 0.0F) << "<start_of_image>";
}

TEST(Gemma3Pictures, BytesOfLargePicturesEqualTheReference) {
  const Json golden = load_json(source_folder() + "/tests/golden/gemma3/sizes.json");
  ASSERT_GE(golden["hashes"].size(), 12U);
  for (const Json& row : golden["hashes"]) {
    SCOPED_TRACE(row.dump());
    const std::int64_t height = row[1], width = row[2];
    const RgbImage picture{static_cast<int>(width), static_cast<int>(height), test::golden_picture(height, width, row[3])};
    Gemma3Pixels pixels;
    pixels.image.size = {112, 112};
    pixels.image.filter = static_cast<ResampleFilter>(row[4].get<int>());
    pixels.image.scaling.rescale = pixels.image.scaling.normalize = false;
    if (row[0] == "pillow") pixels.image.arithmetic = ResizeArithmetic::kPillow;
    pixels.crops = {true, 64, 4, 1.2};
    EXPECT_EQ(test::pixel_hash(gemma3_squares(picture, pixels).pixels), row[5].get<std::string>());
  }
}

}  // namespace
}  // namespace winnow::test_support::gemma3_test
