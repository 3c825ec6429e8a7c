#include "engine/models/families/minicpmv_folder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/model_files/family_templates.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/source_folder.h"

namespace winnow::minicpmv_test {
namespace {

std::unique_ptr<Tokenizer> tokenizer(const std::string& folder = "minicpmv/published") {
  return Tokenizer::from(read_tokenizer_file(source_folder() + "/tests/golden/" + folder + "/model/tokenizer.json"));
}

MiniCpmVTokens writer() {
  const auto ids = tokenizer();
  return {*ids, {ids->token_id("<|image_pad|>").value(), ids->token_id("<|video_pad|>").value()}, "tokenizer.json"};
}

// Cells as "." and ":".
std::string text_of(const MediumTokens& tokens) {
  std::string text = tokenizer()->decode(tokens.ids, SpecialTokens::kKeep);
  for (const auto& [pad, mark] : {std::pair("<|image_pad|>", "."), std::pair("<|video_pad|>", ":")}) {
    for (std::size_t at = text.find(pad); at != std::string::npos; at = text.find(pad, at + 1)) text.replace(at, 13, mark);
  }
  return text;
}

constexpr SlicedPicture kWhole{{1, 2}, {}, 0, 0};
constexpr SlicedPicture kCut{{1, 1}, {1, 2}, 2, 2};

TEST(MiniCpmVTokens, APictureStandsBetweenItsMarksAndItsSlicesBehindIt) {
  EXPECT_EQ(text_of(writer().image(kWhole)), "<image>..</image>");
  EXPECT_EQ(text_of(writer().image(kCut)), "<image>.</image><slice>..</slice><slice>..</slice>\n<slice>..</slice><slice>..</slice>");
  EXPECT_EQ(MiniCpmVTokens::before(12), "<image_id>12</image_id>");
}

TEST(MiniCpmVTokens, FramesAreSuchPicturesOfTheVideosToken) {
  EXPECT_EQ(text_of(writer().frames(kWhole, 2)), "<image>::</image><image>::</image>");
  const MediumTokens frames = writer().frames(kCut, 2);
  EXPECT_EQ(text_of(frames).substr(0, 45), "<image>:</image><slice>::</slice><slice>::</s");
  EXPECT_EQ(frames.origins.front().frame, 0);
  EXPECT_EQ(frames.origins.back().frame, 1);
}

TEST(MiniCpmVTokens, RowsAndColumnsOfSlicesCountOverAllOfThem) {
  std::vector<std::vector<int>> slice(2, std::vector<int>(4, -1));
  for (const TokenOrigin& origin : writer().image(kCut).origins) {
    EXPECT_EQ(origin.modality, Modality::kVisual);
    if (origin.row >= 0 && origin.frame > 0)
      slice.at(static_cast<std::size_t>(origin.row)).at(static_cast<std::size_t>(origin.column)) = origin.frame;
  }
  EXPECT_EQ(slice, (std::vector<std::vector<int>>{{1, 1, 2, 2}, {3, 3, 4, 4}}));
  // Of a frame, whose whole has a row of its own above them.
  const MediumTokens frame = writer().frames(kCut, 1);
  EXPECT_EQ(frame.origins[frame.origins.size() - 2].row, 2);
}

TEST(MiniCpmVTokens, AreCountedWithoutBeingWritten) {
  for (const SlicedPicture& cut : {kWhole, kCut}) EXPECT_EQ(writer().count(cut), std::ssize(writer().image(cut).ids));
}

TEST(MiniCpmVTokens, ABoundTakesSlicesFirstAndThenFinerTokens) {
  constexpr PixelSize kPhoto{1080, 1920};
  const MiniCpmVTokens tokens = writer();
  const SliceRules rules;
  const auto under = [&](std::int64_t most) { return tokens.of_at_most(most, kPhoto, rules); };
  const auto taken = [&](const SliceRules& chosen) { return tokens.count(sliced_picture(kPhoto, chosen)); };
  EXPECT_EQ(under(0).most_slices, 9) << "as the files say";
  EXPECT_EQ(sliced_picture(kPhoto, under(1)).slices(), 0) << "the least that there is";
  EXPECT_EQ(sliced_picture(kPhoto, under(700)).slices(), 8);
  EXPECT_EQ(under(1000).joined, 4);
  EXPECT_EQ(under(16'384).joined, 2) << "room for all of its slices";
  EXPECT_GT(sliced_picture(kPhoto, under(16'384)).slices(), 8) << "more than the files' nine may be asked for";
  std::int64_t before = 0;
  for (const std::int64_t most : {80, 150, 300, 500, 800, 1200, 2000, 2500, 3000, 16'384}) {
    EXPECT_LE(taken(under(most)), most);
    EXPECT_GE(taken(under(most)), before);
    before = taken(under(most));
  }
}

TEST(MiniCpmVTokens, ATokenizerWithoutTheMarksIsRefused) {
  test::expect_error(ErrorCode::kDamagedFile, "tokenizer.json", [] {
    MiniCpmVTokens(*tokenizer("qwen3_5/saved"), {1, 2}, "tokenizer.json");
  });
}

// The template for folders without one, as transformers renders it (tests/golden/minicpmv/threads.json, by make_minicpmv_golden.py).
TemplateMessage message_of(const Json& told) {
  TemplateMessage message{.role = told.at("role"), .thought = told.value("reasoning_content", "")};
  for (const Json& part : told.at("content")) {
    const std::string type = part.at("type");
    using Kind = TemplateContent::Kind;
    message.content.push_back({type == "image" ? Kind::kImage : type == "video" ? Kind::kVideo : Kind::kText, part.value("text", "")});
  }
  return message;
}

TEST(MiniCpmVTemplate, RendersThreadsAsTransformers) {
  const Json golden = load_json(source_folder() + "/tests/golden/minicpmv/threads.json");
  EXPECT_EQ(golden.at("template").get<std::string>(), family_template("minicpmv"));
  const ChatTemplate written(family_template("minicpmv"), "", "<|im_end|>");
  ASSERT_EQ(golden.at("rows").size(), 12U);
  for (const Json& row : golden.at("rows")) {
    std::vector<TemplateMessage> messages;
    for (const Json& told : row.at("messages")) messages.push_back(message_of(told));
    TemplateVariables variables{AddGenerationPrompt::kYes, std::nullopt, "2026-11-28"};
    if (!row.at("think").is_null()) variables.thinks = row.at("think").get<bool>();
    std::string text;
    for (const TemplatePiece& piece : written.render(messages, variables)) text += piece.text;
    EXPECT_EQ(text, row.at("expected").get<std::string>()) << row.dump();
  }
}

// How a picture is cut, compared with transformers (tests/golden/minicpmv/sizes.json, by make_minicpmv_golden.py).
TEST(SliceChoice, EqualsTransformers) {
  const Json golden = load_json(source_folder() + "/tests/golden/minicpmv/sizes.json");
  ASSERT_GE(golden.at("rows").size(), 250U);
  for (const Json& row : golden.at("rows")) {
    const SliceRules rules{row[0], row[1], row[2], row[3]};
    const SlicedPicture cut = sliced_picture({row[4], row[5]}, rules);
    EXPECT_EQ(Json::array({cut.whole.rows, cut.whole.columns, cut.rows, cut.columns, cut.slice.rows, cut.slice.columns}),
              Json(std::vector<Json>(row.begin() + 6, row.end())))
        << row.dump();
  }
}

TEST(SliceChoice, ASmallPictureIsMadeLargerAndNotCut) {
  const SlicedPicture small = sliced_picture({10, 10}, {});
  EXPECT_EQ(small.whole, (CellGrid{8, 8}));
  EXPECT_EQ(small.slices(), 0);
  EXPECT_EQ(small.cells(), 64);
}

TEST(SliceChoice, ALargePictureIsCutInItsOwnShape) {
  const SlicedPicture wide = sliced_picture({1080, 1920}, {});
  EXPECT_EQ(wide.rows, 2);
  EXPECT_EQ(wide.columns, 4);
  EXPECT_EQ(wide.cells(), wide.whole.cells() + 8 * wide.slice.cells());
  SliceRules fine{.joined = 2};
  EXPECT_GT(sliced_picture({1080, 1920}, fine).cells(), 3 * wide.cells()) << "four patches a token";
}

TEST(SliceChoice, AStripHasACellAcross) {
  const SlicedPicture strip = sliced_picture({1, 200}, {});
  EXPECT_EQ(strip.whole.rows, 1);
  EXPECT_GT(strip.whole.columns, 100);
  test::expect_error(ErrorCode::kInvalidArgument, "image", [] { sliced_picture({0, 5}, {}); });
}

}  // namespace
}  // namespace winnow::minicpmv_test
