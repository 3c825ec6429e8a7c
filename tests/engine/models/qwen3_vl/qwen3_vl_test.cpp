// What only Qwen3-VL has: positions by hand, deepstack features. What all families promise is in vision_families_test.cpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/models/vision/patch_grid.h"
#include "engine/models/vision/time_positions.h"
#include "tests/engine/models/golden_model.h"

namespace winnow::test_support::qwen3_vl_test {
namespace {

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

}  // namespace
}  // namespace winnow::test_support::qwen3_vl_test
