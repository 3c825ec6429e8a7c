// Positions of MiniCPM-V 4.7 against transformers' get_rope_index() (tests/golden/minicpmv4_7/canvases.json, rebuilt by
// tests/golden/make/make_minicpmv_golden.py).
#include "engine/models/families/canvas_positions.h"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/models/families/minicpmv_folder.h"
#include "engine/text/tokenizer_file.h"
#include "tests/support/source_folder.h"

namespace winnow::minicpmv_test {
namespace {

constexpr std::int64_t kWord = 7;

std::string golden_file(const std::string& name) { return source_folder() + "/tests/golden/minicpmv4_7/" + name; }

class CanvasPositions : public ::testing::Test {
 protected:
  struct Prompt {
    std::vector<TokenOrigin> origins{};
    std::vector<std::int64_t> ids{};
    std::vector<double> frame_s{};
  };

  void SetUp() override {
    const auto tokenizer = Tokenizer::from(read_tokenizer_file(golden_file("published/model/tokenizer.json")));
    tokens_.emplace(*tokenizer,
                    MiniCpmVTokens::Ids{tokenizer->token_id("<|image_pad|>").value(), tokenizer->token_id("<|video_pad|>").value()}, "");
  }
  std::int64_t line() const { return tokens_->line().front(); }

  void write(Prompt& prompt, const std::string& letters) const {
    for (const char letter : letters) {
      prompt.origins.emplace_back();
      prompt.ids.push_back(letter == 'L' ? line() : kWord);
    }
  }
  // seconds: between frames; 0: an image.
  void attach(Prompt& prompt, const SlicedPicture& cut, std::int64_t frames, double seconds) const {
    MediumTokens medium = seconds > 0.0 ? tokens_->frames(cut, frames) : tokens_->image(cut);
    for (TokenOrigin& origin : medium.origins) origin.media = static_cast<std::int32_t>(prompt.frame_s.size());
    prompt.frame_s.push_back(seconds);
    prompt.origins.insert(prompt.origins.end(), medium.origins.begin(), medium.origins.end());
    prompt.ids.insert(prompt.ids.end(), medium.ids.begin(), medium.ids.end());
  }
  TokenPositions placed(const Prompt& prompt, std::int64_t next = 0) const {
    return canvas_positions({prompt.origins, next, prompt.frame_s, prompt.ids}, line());
  }

  std::optional<MiniCpmVTokens> tokens_;
};

CellGrid grid_of(const Json& medium, const char* key) {
  return medium.contains(key) ? CellGrid{medium[key][0].get<std::int64_t>(), medium[key][1].get<std::int64_t>()} : CellGrid{};
}

TEST_F(CanvasPositions, AreThoseOfTransformers) {
  const Json golden = load_json(golden_file("canvases.json"));
  ASSERT_GE(golden["rows"].size(), 60U);
  for (const Json& row : golden["rows"]) {
    SCOPED_TRACE(row["media"].dump() + row["parted"].dump() + row["after"].dump());
    Prompt prompt;
    write(prompt, std::string(row["before"].get<std::size_t>(), 'w'));
    for (const Json& medium : row["media"]) {
      if (!prompt.frame_s.empty()) write(prompt, row["parted"]);
      const CellGrid slices = grid_of(medium, "grid");
      attach(prompt, {grid_of(medium, "whole"), grid_of(medium, "slice"), slices.rows, slices.columns}, medium["frames"],
             medium["kind"] == "video" ? 0.5 : 0.0);
    }
    write(prompt, row["after"]);
    const TokenPositions ours = placed(prompt);
    std::vector<at::Tensor> axes;
    for (const Json& axis : row["positions"]) axes.push_back(at::tensor(axis.get<std::vector<std::int64_t>>(), at::kLong));
    EXPECT_TRUE(at::equal(ours.positions, at::stack(axes))) << ours.positions << at::stack(axes);
    EXPECT_EQ(ours.next_position, row["next"].get<std::int64_t>());
  }
}

// A question that is read behind media that were read before it.
TEST_F(CanvasPositions, AreTheSameInTwoParts) {
  for (const double seconds : {0.0, 0.5}) {
    for (const char* question : {"Lww", "ww", "L"}) {
      Prompt media;
      write(media, "www");
      attach(media, {{2, 3}, {2, 2}, 2, 3}, 2, seconds);
      Prompt whole = media;
      write(whole, question);
      Prompt after;
      write(after, question);
      const TokenPositions first = placed(media);
      TokensToPlace rest{after.origins, first.next_position, media.frame_s, after.ids, first.positions[0][-1].item<std::int64_t>()};
      const TokenPositions second = canvas_positions(rest, line());
      const TokenPositions together = placed(whole);
      EXPECT_TRUE(at::equal(at::cat({first.positions, second.positions}, 1), together.positions));
      EXPECT_EQ(second.next_position, together.next_position);
    }
  }
}

TEST_F(CanvasPositions, ALineThatIsNotRightBehindAPictureIsText) {
  Prompt prompt;
  write(prompt, "LwL");
  EXPECT_TRUE(at::equal(placed(prompt, 5).positions[1], at::tensor({5, 6, 7}, at::kLong)));
  prompt.ids.clear();
  EXPECT_EQ(placed(prompt, 5).next_position, 8) << "unknown ids are words";
}

// Tokens leave before the decoder; marks stay.
TEST_F(CanvasPositions, OfAPrunedPictureThoseLeftStayWhereTheyWere) {
  for (const bool cut : {false, true}) {
    Prompt whole;
    write(whole, "ww");
    attach(whole, cut ? SlicedPicture{{3, 3}, {3, 3}, 1, 1} : SlicedPicture{{3, 4}, {}, 0, 0}, 1, 0.0);
    const at::Tensor all = placed(whole).positions;
    Prompt left;
    std::vector<std::int64_t> kept;
    for (std::size_t token = 0; token < whole.origins.size(); ++token) {
      if (whole.origins[token].row == 1) continue;  // the last row stays, which says how far the canvas goes
      left.origins.push_back(whole.origins[token]);
      left.ids.push_back(whole.ids[token]);
      kept.push_back(static_cast<std::int64_t>(token));
    }
    left.frame_s = whole.frame_s;
    EXPECT_TRUE(at::equal(placed(left).positions, all.index_select(1, at::tensor(kept, at::kLong))));
  }
}

TEST_F(CanvasPositions, FramesOfAStreamLieWhereAVideosDo) {
  Prompt video;
  attach(video, {{2, 3}, {2, 2}, 1, 2}, 3, 0.5);
  const TokenPositions all = placed(video, 20);
  const TokenPositions stream = canvas_stream_positions(video.origins, {20, 1, 0.5});
  EXPECT_TRUE(at::equal(stream.positions, all.positions));
  EXPECT_EQ(stream.next_position, all.next_position);
  const auto each = static_cast<std::int64_t>(video.origins.size()) / 3;
  const std::span<const TokenOrigin> later = std::span<const TokenOrigin>(video.origins).subspan(static_cast<std::size_t>(each));
  EXPECT_TRUE(at::equal(canvas_stream_positions(later, {20, 1, 0.5}).positions, all.positions.narrow(1, each, 2 * each)));
  const at::Tensor shared = canvas_stream_positions(video.origins, {20, 2, 0.5}).positions;
  EXPECT_TRUE(at::equal(shared.narrow(1, 0, each), shared.narrow(1, each, each))) << "two frames share their positions";
  EXPECT_TRUE(at::equal(shared.narrow(1, 2 * each, each), all.positions.narrow(1, each, each)));
}

}  // namespace
}  // namespace winnow::minicpmv_test
