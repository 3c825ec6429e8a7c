// Tokens to cells to patches, on origins made by hand.
#include "ui/kept_map/prompt_parts.h"

#include <gtest/gtest.h>

namespace winnow::ui {
namespace {

TokenOrigin visual(int media, int frame, int row, int column) {
  return {Modality::kVisual, media, frame, static_cast<std::int16_t>(row), static_cast<std::int16_t>(column)};
}
const TokenOrigin kSystemToken{Modality::kSystem, -1, -1, -1, -1};
const TokenOrigin kTextToken{};

// Stretches of whole lines, unless a line is long.
TEST(PromptParts, ADocumentIsStretchesOfItsLines) {
  std::vector<TokenOrigin> tokens = {kTextToken};
  for (int i = 0; i < 100; ++i) tokens.push_back({Modality::kDocument, 1, i / 10, -1, -1});
  for (int i = 0; i < 130; ++i) tokens.push_back({Modality::kDocument, 1, 20, -1, -1});
  tokens.push_back(kTextToken);
  const std::vector<PromptPart> parts = promptParts(tokens, {MediaKind::kImage, MediaKind::kDocument});
  ASSERT_EQ(parts.size(), 6U);
  EXPECT_EQ(parts[1].kind, PartKind::kLines);
  EXPECT_EQ(parts[1].media, 1);
  EXPECT_FALSE(parts[1].visual());
  EXPECT_TRUE(parts[1].attached());
  EXPECT_EQ(parts[1].frame, 0);
  EXPECT_EQ(parts[1].lastLine, 4);
  EXPECT_EQ(parts[1].tokens.size(), 50U);
  EXPECT_EQ(parts[2].frame, 5);
  EXPECT_EQ(parts[2].lastLine, 9);
  EXPECT_EQ(parts[3].frame, 20);
  EXPECT_EQ(parts[3].tokens.size(), 96U) << "twice the least of a stretch";
  EXPECT_EQ(parts[4].tokens.size(), 34U);
  EXPECT_EQ(parts[5].kind, PartKind::kText);
}

TEST(PromptParts, AVideoIsItsFramesInThePatchGrid) {
  std::vector<TokenOrigin> tokens = {kSystemToken, kSystemToken, kTextToken};
  for (int frame = 0; frame < 2; ++frame) {
    for (int patch = 0; patch < 6; ++patch) tokens.push_back(visual(0, frame, patch / 3, patch % 3));
  }
  tokens.push_back(visual(0, -1, -1, -1));
  tokens.insert(tokens.end(), 2, kTextToken);
  const std::vector<PromptPart> parts = promptParts(tokens, {MediaKind::kVideo});
  ASSERT_EQ(parts.size(), 5U);
  EXPECT_EQ(parts[0].kind, PartKind::kSystem);
  EXPECT_EQ(parts[0].tokens, (std::vector<int>{0, 1}));
  EXPECT_EQ(parts[1].kind, PartKind::kText);
  EXPECT_EQ(parts[1].number, 1);
  EXPECT_EQ(parts[2].kind, PartKind::kFrame);
  EXPECT_EQ(parts[2].frame, 0);
  EXPECT_EQ(parts[2].rows, 2);
  EXPECT_EQ(parts[2].columns, 3);
  EXPECT_EQ(parts[2].cells, (std::vector<int>{3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(parts[2].lineEnds.empty());
  EXPECT_EQ(parts[3].frame, 1);
  EXPECT_EQ(parts[3].cells, (std::vector<int>{9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(parts[3].lineEnds, (std::vector<int>{15})) << "a video's newline belongs to its last frame";
  EXPECT_EQ(parts[3].tokens.size(), 7U);
  EXPECT_EQ(parts[4].number, 2);
  EXPECT_EQ(parts[4].tokens, (std::vector<int>{16, 17}));
}

TEST(PromptParts, WhatIsSaidBetweenFramesIsAPartOfItsOwn) {
  const auto said = [](int line) { return TokenOrigin{Modality::kSubtitle, 0, line, -1, -1}; };
  const std::vector<TokenOrigin> tokens = {kTextToken, visual(0, 0, 0, 0),    said(0),   said(0), said(1), visual(0, 1, 0, 0),
                                           said(2),    visual(0, -1, -1, -1), kTextToken};
  const std::vector<PromptPart> parts = promptParts(tokens, {MediaKind::kVideo});
  ASSERT_EQ(parts.size(), 6U);
  EXPECT_EQ(parts[1].kind, PartKind::kFrame);
  EXPECT_EQ(parts[2].kind, PartKind::kLines);
  EXPECT_EQ(parts[2].media, 0);
  EXPECT_EQ(parts[2].frame, 0);
  EXPECT_EQ(parts[2].lastLine, 1);
  EXPECT_EQ(parts[2].tokens, (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(parts[3].frame, 1);
  EXPECT_EQ(parts[3].tokens, (std::vector<int>{5, 7})) << "the video's newline, behind the line";
  EXPECT_EQ(parts[3].lineEnds, (std::vector<int>{7}));
  EXPECT_EQ(parts[4].kind, PartKind::kLines);
  EXPECT_EQ(parts[4].frame, 2);
  EXPECT_EQ(parts[5].kind, PartKind::kText);
}

TEST(PromptParts, TilesOfAnImageAreOneGrid) {
  std::vector<TokenOrigin> tokens;
  for (int patch = 0; patch < 4; ++patch) tokens.push_back(visual(0, 0, patch / 2, patch % 2));  // tokens 0 to 3
  // Two tiles side by side, three rows of five columns left after unpadding, each row ended by a newline.
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 5; ++column) tokens.push_back(visual(0, column < 3 ? 1 : 2, row, column));
    tokens.push_back(visual(0, 2, -1, -1));
  }
  const std::vector<PromptPart> parts = promptParts(tokens, {MediaKind::kImage});
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].kind, PartKind::kWhole);
  EXPECT_EQ(parts[0].rows, 2);
  EXPECT_EQ(parts[0].cells, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(parts[1].kind, PartKind::kTiles);
  EXPECT_EQ(parts[1].rows, 3);
  EXPECT_EQ(parts[1].columns, 5);
  EXPECT_EQ(parts[1].cells, (std::vector<int>{4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 16, 17, 18, 19, 20}));
  EXPECT_EQ(parts[1].lineEnds, (std::vector<int>{9, 15, 21}));
}

TEST(PromptParts, SeveralMediaAndWhatAMethodPrunedBeforeTheDecoder) {
  std::vector<TokenOrigin> tokens;
  tokens.push_back(visual(0, 0, 0, 0));
  tokens.push_back(visual(0, 0, 1, 1));
  tokens.push_back(visual(0, 0, -1, -1));
  tokens.push_back(visual(1, 0, 0, 1));  // of a 2 x 2 grid one patch is left
  tokens.push_back(visual(1, 1, 1, 1));
  const std::vector<PromptPart> parts = promptParts(tokens, {MediaKind::kImage, MediaKind::kVideo});
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].media, 0);
  EXPECT_EQ(parts[0].cells, (std::vector<int>{0, PromptPart::kNoToken, PromptPart::kNoToken, 1}));
  EXPECT_EQ(parts[0].lineEnds, (std::vector<int>{2}));
  EXPECT_EQ(parts[1].media, 1);
  EXPECT_EQ(parts[1].rows, 2) << "frames of one video share a grid";
  EXPECT_EQ(parts[1].cells, (std::vector<int>{PromptPart::kNoToken, 3, PromptPart::kNoToken, PromptPart::kNoToken}));
  EXPECT_EQ(parts[2].cells, (std::vector<int>{PromptPart::kNoToken, PromptPart::kNoToken, PromptPart::kNoToken, 4}));
  EXPECT_TRUE(promptParts({}, {}).empty());
}

}  // namespace
}  // namespace winnow::ui
