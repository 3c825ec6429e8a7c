#include "engine/models/families/internvl_folder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/models/families/internvl_chat_config.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/source_folder.h"

namespace winnow::internvl_test {
namespace {

std::unique_ptr<Tokenizer> tokenizer(const std::string& folder = "internvl/qwen2_saved") {
  return Tokenizer::from(read_tokenizer_file(source_folder() + "/tests/golden/" + folder + "/model/tokenizer.json"));
}

InternVlTokens tokens_of_side(std::int64_t side) { return {tokenizer(), side, "tokenizer.json"}; }

std::string text_of(const MediumTokens& tokens) {
  constexpr std::string_view kImage = "<IMG_CONTEXT>";
  std::string text = tokenizer()->decode(tokens.ids, SpecialTokens::kKeep);
  for (std::size_t at = text.find(kImage); at != std::string::npos; at = text.find(kImage, at + 1)) text.replace(at, kImage.size(), ".");
  return text;
}

MediaFacts video(std::int64_t frames, std::int64_t before = 0) {
  MediaFacts facts{MediaKind::kVideo, {}, frames, 0.0, true};
  facts.frames_before = before;
  return facts;
}

TEST(InternVlTokens, AnImageStandsBetweenItsMarkers) {
  EXPECT_EQ(text_of(tokens_of_side(2).image({1, 1}, true)), "<img>....</img>");
  EXPECT_EQ(text_of(tokens_of_side(1).image({2, 2}, true)), "<img>.....</img>") << "four tiles and the thumbnail";
  EXPECT_EQ(text_of(tokens_of_side(1).image({2, 2}, false)), "<img>....</img>");
}

// Two by three tiles of 2 x 2 tokens are a grid of 4 x 6; the thumbnail is a grid of its own.
TEST(InternVlTokens, RowsAndColumnsCountOverAllTiles) {
  const MediumTokens tokens = tokens_of_side(2).image({2, 3}, true);
  ASSERT_EQ(tokens.origins.size(), tokens.ids.size());
  std::vector<std::vector<int>> tile(4, std::vector<int>(6, -1));
  int whole = 0, words = 0;
  for (const TokenOrigin& origin : tokens.origins) {
    EXPECT_EQ(origin.modality, Modality::kVisual);
    if (origin.row < 0) {
      ++words;
    } else if (origin.frame == 0) {
      ++whole;
    } else {
      tile.at(static_cast<std::size_t>(origin.row)).at(static_cast<std::size_t>(origin.column)) = origin.frame;
    }
  }
  EXPECT_EQ(tile, (std::vector<std::vector<int>>{{1, 1, 2, 2, 3, 3}, {1, 1, 2, 2, 3, 3}, {4, 4, 5, 5, 6, 6}, {4, 4, 5, 5, 6, 6}}));
  EXPECT_EQ(whole, 4);
  EXPECT_EQ(words, 2);
  // In the prompt a tile comes after the other, each row by row.
  EXPECT_EQ(tokens.origins[1 + 4].frame, 2);
  EXPECT_EQ(tokens.origins[1 + 4].column, 2);
  EXPECT_EQ(tokens.origins[1 + 6 * 4].frame, 0);
}

TEST(InternVlTokens, FramesHaveLinesAndNumbers) {
  const InternVlTokens tokens = tokens_of_side(1);
  const MediumTokens frames = tokens.frames(video(3));
  EXPECT_EQ(text_of(frames), "<img>.</img>\nFrame2: <img>.</img>\nFrame3: <img>.</img>");
  EXPECT_EQ(tokens.around().before, "Frame1: ");
  EXPECT_EQ(frames.origins[3].frame, 1) << "a number is its frame's";
  EXPECT_EQ(frames.origins.back().frame, 2);
  EXPECT_EQ(std::ssize(tokens.frames(video(1)).ids), tokens.picture_tokens());
  EXPECT_EQ(std::ssize(tokens.frames(video(1, 1)).ids), tokens.frame_tokens());
}

TEST(InternVlTokens, FramesOfASourceGoOnAfterEarlierOnes) {
  const InternVlTokens tokens = tokens_of_side(1);
  EXPECT_EQ(text_of(tokens.frames(video(2, 998))), "\nFrame999: <img>.</img>\nFrame1000: <img>.</img>");
  EXPECT_EQ(std::ssize(tokens.frames(video(1, 999)).ids), tokens.stream_frame_tokens());
}

// A tokenizer that puts a space before a text puts none, or one, between two special tokens: as in the whole prompt.
TEST(InternVlTokens, NumbersAreEncodedBetweenTheirNeighbours) {
  const InternVlTokens tokens(tokenizer("internvl/llama_published"), 1, "tokenizer.json");
  const auto whole = tokenizer("internvl/llama_published");
  const std::vector<std::int64_t> ids = whole->encode("<img><IMG_CONTEXT></img>\nFrame2: <img><IMG_CONTEXT></img>", SpecialText::kParse);
  EXPECT_EQ(tokens.frames(video(2)).ids, ids);
}

TEST(InternVlTokens, ATokenizerWithoutTheMarkersIsRefused) {
  test::expect_error(ErrorCode::kDamagedFile, "<img>", [] { InternVlTokens(tokenizer("smolvlm/smolvlm2_split"), 1, "tokenizer.json"); });
}

std::string rendered(const char* name, const std::vector<TemplateMessage>& thread) {
  std::string text;
  for (const TemplatePiece& piece : ChatTemplate(internvl_chat_template(name)).render(thread, {AddGenerationPrompt::kYes}))
    text += piece.text;
  return text;
}

TemplateMessage says(const char* role, const char* text) { return {role, {{TemplateContent::Kind::kText, text}}}; }

// conversation.py: system message, then every turn, each with the separator.
TEST(InternVlConversation, TurnsEndAsTheOriginalsCodeEndsThem) {
  const TemplateMessage picture{"user", {{TemplateContent::Kind::kImage, ""}, {TemplateContent::Kind::kText, "What is it?"}}};
  const std::vector<TemplateMessage> thread = {says("system", "Be brief."), picture, says("assistant", "A fox."), says("user", "Where?")};
  EXPECT_EQ(rendered("internvl2_5", thread),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n<IMG_CONTEXT>\nWhat is it?<|im_end|>\n"
            "<|im_start|>assistant\nA fox.<|im_end|>\n<|im_start|>user\nWhere?<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(rendered("Hermes-2", thread),
            "<|im_start|>system\nBe brief.<|im_end|><|im_start|>user\n<IMG_CONTEXT>\nWhat is it?<|im_end|>"
            "<|im_start|>assistant\nA fox.<|im_end|><|im_start|>user\nWhere?<|im_end|><|im_start|>assistant\n");
}

TEST(InternVlConversation, AThreadWithoutASystemMessageGetsTheModels) {
  EXPECT_EQ(rendered("internlm2-chat", {says("user", "Hi")}),
            "<|im_start|>system\n你是由上海人工智能实验室联合商汤科技开发的书生多模态大模型，英文名叫InternVL, "
            "是一个有用无害的人工智能助手。<|im_end|><|im_start|>user\nHi<|im_end|><|im_start|>assistant\n");
  EXPECT_EQ(internvl_chat_template("phi3-chat"), "");
}

}  // namespace
}  // namespace winnow::internvl_test
