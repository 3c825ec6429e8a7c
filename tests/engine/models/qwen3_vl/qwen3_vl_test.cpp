// What turns on golden folders do not show (engine_golden_test.cpp has those): positions by hand, deepstack features, grouping.
#include "engine/models/qwen3_vl/qwen3_vl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/models/known_family.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/memory_media.h"
#include "tests/support/tensor_distance.h"

namespace winnow::qwen3_vl_test {
namespace {

using test_support::load_golden_model;
using test_support::relative_distance;
using testing::patterned_picture;

const TimeScale kApart{.joined_frames = 2, .sets_apart = true};

MediaFacts video_of(std::int64_t frames) {
  MediaFacts facts{MediaKind::kVideo, {34, 24}, frames, static_cast<double>(frames), true};
  for (std::int64_t i = 0; i < frames; ++i) facts.times_s.push_back(static_cast<double>(i));
  return facts;
}

// A set of joined frames in a prompt: words, its picture, the mark behind it.
void add_set(std::vector<TokenOrigin>& origins, std::size_t words, CellGrid grid, std::int32_t frame) {
  const TokenOrigin word{Modality::kVisual, 0, frame, -1, -1};
  origins.insert(origins.end(), words, word);
  for (TokenOrigin cell : cell_origins(grid, 1, 1)) {
    cell.media = 0;
    cell.frame = frame;
    origins.push_back(cell);
  }
  origins.push_back(word);
}

void expect_positions(const TokenPositions& placed, const std::vector<std::vector<std::int64_t>>& axes, std::int64_t next) {
  for (std::int64_t axis = 0; axis < 3; ++axis)
    EXPECT_TRUE(at::equal(placed.positions[axis], at::tensor(axes[static_cast<std::size_t>(axis)], at::kLong))) << placed.positions;
  EXPECT_EQ(placed.next_position, next);
}

TEST(SetsApart, EachIsAPictureBehindTheTextBeforeIt) {
  std::vector<TokenOrigin> origins(1);
  add_set(origins, 1, {1, 2}, 0);
  add_set(origins, 2, {2, 1}, 2);
  origins.emplace_back();
  const double frame_s[] = {9.0};
  expect_positions(three_axis_positions(origins, 5, frame_s, kApart),
                   {{5, 6, 7, 7, 9, 10, 11, 12, 12, 14, 15},   // time stands still in a picture
                    {5, 6, 7, 7, 9, 10, 11, 12, 13, 14, 15},   // rows
                    {5, 6, 7, 8, 9, 10, 11, 12, 12, 14, 15}},  // columns
                   16);
}

TEST(SetsApart, OfAStreamPicturesStandInTheirPlacesAndShareThem) {
  std::vector<TokenOrigin> origins;
  add_set(origins, 1, {1, 2}, 0);
  add_set(origins, 3, {1, 2}, 2);
  StreamPositions stream{100, 1, 0.5};
  // Four words beside a picture of two positions: every six.
  expect_positions(apart_stream_positions(origins, stream, 2, 4),
                   {{100, 101, 101, 103, 104, 105, 106, 107, 107, 109},
                    {100, 101, 101, 103, 104, 105, 106, 107, 107, 109},
                    {100, 101, 102, 103, 104, 105, 106, 107, 108, 109}},
                   110);
  stream.frames_per_position = 2;
  expect_positions(apart_stream_positions(origins, stream, 2, 4),
                   {{100, 101, 101, 103, 98, 99, 100, 101, 101, 103},
                    {100, 101, 101, 103, 98, 99, 100, 101, 101, 103},
                    {100, 101, 102, 103, 98, 99, 100, 101, 102, 103}},
                   104);
}

class Qwen3VlFolders : public ::testing::TestWithParam<const char*> {
 protected:
  c10::InferenceMode inference_;
};

TEST_P(Qwen3VlFolders, FramesCanBeEncodedInAnyGrouping) {
  const auto model = load_golden_model(GetParam());
  const std::int64_t joined = model->info().traits.joined_frames;
  const MediaFacts facts = video_of(3 * joined);
  std::vector<RgbImage> pictures;
  for (int i = 0; i < facts.frames; ++i) pictures.push_back(patterned_picture(34, 24, i));
  const EncodedParts all = model->encode(facts, model->preprocess(facts, pictures), VisionJudge::kAttention, {});
  ASSERT_EQ(all.features.size(0), 3);
  for (std::int64_t set = 0; set < 3; ++set) {
    const auto own = std::span(pictures).subspan(static_cast<std::size_t>(set * joined), static_cast<std::size_t>(joined));
    const EncodedParts alone = model->encode(facts, model->preprocess(facts, own), VisionJudge::kRollout, {});
    EXPECT_LE(relative_distance(alone.features[0], all.features[set]), 1e-5);
    EXPECT_GT(alone.importance.min().item<float>(), 0.0F);
  }
  const MediaFeatures video = model->join(facts, all);
  EXPECT_EQ(video.features.size(0), std::ssize(video.origins));
  EXPECT_EQ(std::ssize(video.ids), std::ssize(video.origins));
  for (std::size_t token = 0; token < video.origins.size(); ++token) {
    const bool word = video.origins[token].row < 0;
    EXPECT_EQ(video.importance[static_cast<std::int64_t>(token)].item<float>() == 0.0F, word);
  }
  EXPECT_EQ(video.origins.back().frame, 2 * joined);
}

TEST_P(Qwen3VlFolders, BrainFloatIsCloseToFp32) {
  const std::vector<RgbImage> picture = {patterned_picture(61, 47, 3)};
  const MediaFacts facts{MediaKind::kImage, {61, 47}, 1, 0.0, true};
  const auto features = [&](at::ScalarType dtype) {
    const auto model = load_golden_model(GetParam(), dtype);
    return model->encode(facts, model->preprocess(facts, picture), {}, {}).features;
  };
  const at::Tensor rounded = features(at::kBFloat16);
  ASSERT_EQ(rounded.scalar_type(), at::kBFloat16);
  // 8 bits of mantissa through up to four layers with unit-scale activations.
  EXPECT_LE(relative_distance(rounded, features(at::kFloat)), 0.06);
}

TEST_P(Qwen3VlFolders, FoldersWithoutATemplateGetThePublishedOne) {
  const HuggingFaceFolder folder(test_support::golden_folder(GetParam()) + "/model");
  EXPECT_EQ(folder.chat_template("").source, load_golden_model(GetParam())->chat_template());
}

TEST_P(Qwen3VlFolders, TheTowerObeysAnInterrupt) {
  const auto model = load_golden_model(GetParam());
  const std::vector<RgbImage> picture = {patterned_picture(40, 40, 1)};
  const MediaFacts facts{MediaKind::kImage, {40, 40}, 1, 0.0, true};
  const PixelValues pixels = model->preprocess(facts, picture);
  InterruptSource source;
  source.request_cancel();
  EXPECT_THROW(model->encode(facts, pixels, {}, source.token()), Interrupted);
}

INSTANTIATE_TEST_SUITE_P(Folders, Qwen3VlFolders,
                         ::testing::Values("qwen3_vl/published", "qwen3_vl/saved", "qwen3_vl/joined_three", "qwen3_vl/experts"),
                         [](const auto& info) { return std::string(info.param).substr(9); });

// Rows with their deepstack features through all layers; returns what is left of them.
at::Tensor through_layers(const TextDecoder& text, at::Tensor rows) {
  KvCache cache(text.kv_shape());
  std::vector<std::int32_t> originals(static_cast<std::size_t>(rows.size(0)));
  std::iota(originals.begin(), originals.end(), 0);
  const at::Tensor positions = at::arange(rows.size(0), at::kLong).unsqueeze(0).expand({3, -1});
  for (LayerId layer{0}; layer < text.layers(); ++layer) text.prefill_layer(layer, rows, positions, originals, cache, nullptr, {}, {});
  return rows;
}

class Levels : public ::testing::Test {
 protected:
  c10::InferenceMode inference_;
};

TEST_F(Levels, WordsBringNothingAlongAndRowsAreShortBehindTheLastLevel) {
  const auto model = load_golden_model("qwen3_vl/published");
  const TextDecoder& text = model->text();
  const at::Tensor rows = text.embed(at::tensor({1, 2, 3}, at::kLong));
  const std::int64_t hidden = rows.size(1) / 3;
  EXPECT_EQ(rows.narrow(1, hidden, 2 * hidden).abs().max().item<float>(), 0.0F);
  EXPECT_EQ(through_layers(text, rows.clone()).size(1), hidden);
}

// A deepstack feature is added to its own row after its own layer: earlier rows are unaffected, and its index matters.
TEST_F(Levels, EachIsAddedToItsRowBehindItsLayer) {
  const auto model = load_golden_model("qwen3_vl/published");
  const TextDecoder& text = model->text();
  const at::Tensor rows = text.embed(at::tensor({1, 2, 3, 4}, at::kLong));
  const std::int64_t hidden = rows.size(1) / 3;
  const at::Tensor plain = through_layers(text, rows.clone());
  std::vector<at::Tensor> with;
  for (std::int64_t level = 1; level <= 2; ++level) {
    at::Tensor own = rows.clone();
    own[2].narrow(0, level * hidden, hidden).fill_(0.5);
    with.push_back(through_layers(text, own));
    EXPECT_TRUE(at::equal(with.back().narrow(0, 0, 2), plain.narrow(0, 0, 2)));
    EXPECT_FALSE(at::equal(with.back()[2], plain[2]));
    EXPECT_FALSE(at::equal(with.back()[3], plain[3])) << "later layers look at it";
  }
  EXPECT_FALSE(at::equal(with[0][2], with[1][2]));
}

TEST_F(Levels, RowsOfAnotherWidthAreRefused) {
  const auto model = load_golden_model("qwen3_vl/published");
  const TextDecoder& text = model->text();
  EXPECT_THROW(through_layers(text, text.embed(at::tensor({1, 2}, at::kLong)).narrow(1, 0, 48)), Exception);
}

// Frames of a video whose frames are counted together are smaller the more there are; of a source without an end that number is not known.
TEST(FrameSizes, GoByTheNumberOfAllFrames) {
  c10::InferenceMode inference;
  const auto model = load_golden_model("qwen3_vl/published");
  const auto cells = [&](std::int64_t frames, double duration_s) {
    MediaFacts facts = video_of(frames);
    facts.duration_s = duration_s;
    const std::vector<TokenOrigin> origins = model->origins_of(facts);
    return std::ranges::count_if(origins, [](const TokenOrigin& origin) { return origin.frame == 0 && origin.row >= 0; });
  };
  EXPECT_GT(cells(2, 2.0), cells(8, 8.0));
  EXPECT_EQ(cells(2, 0.0), cells(8, 8.0)) << "a clip of two frames is not larger than one of eight";
}

TEST(Qwen3VlFamily, IsKnownByItsConfigurationAlone) {
  const HuggingFaceFolder folder(test_support::golden_folder("qwen3_vl/saved") + "/model");
  const std::optional<KnownFamily> family = known_family(folder.required(ModelPart::kConfig).root());
  ASSERT_TRUE(family);
  EXPECT_EQ(family->model_type, "qwen3_vl");
  EXPECT_TRUE(family->reads_videos);
}

}  // namespace
}  // namespace winnow::qwen3_vl_test
