// One share, bytes apart, and a peak that is none below its value.
#include "engine/metrics/kept_figures.h"

#include <gtest/gtest.h>

namespace winnow {
namespace {

TurnFigures answered() {
  TurnFigures figures{.tokens = {.thread_visual = 500, .thread_text = 60},
                      .kv_bytes = {.full = 56'000, .after_event = 16'000, .end = 26'000, .peak = 30'000, .full_end = 66'000}};
  figures.layers.resize(2);
  figures.layers[0].kept_visual = 150;
  figures.layers[1].kept_visual = 50;
  for (LayerFigures& layer : figures.layers) layer.kept_text = 60;
  for (LayerFigures& layer : figures.layers) layer.end = {layer.kept_visual, layer.kept_text, 100, 0};
  return figures;
}

// The share of a long answer was told as "58 % kept": its own words counted as kept of the video.
TEST(KeptFigures, TheShareIsOfWhatIsAttachedHoweverLongTheAnswer) {
  TurnFigures figures = answered();
  EXPECT_DOUBLE_EQ(kept_share(figures), 0.2);
  for (LayerFigures& layer : figures.layers) layer.end.generated = 5000;
  EXPECT_DOUBLE_EQ(kept_share(figures), 0.2);
  for (LayerFigures& layer : figures.layers) layer.end = {};
  EXPECT_DOUBLE_EQ(kept_share(figures), 0.2) << "as the event left it";
}

TEST(KeptFigures, MemoryIsThatOfBlocksAndOfStates) {
  TurnFigures figures = answered();
  figures.kv_bytes.allocated = 32'768;
  EXPECT_EQ(memory_bytes(figures.kv_bytes), 32'768);
  figures.kv_bytes.states = 4096;
  EXPECT_EQ(memory_bytes(figures.kv_bytes), 36'864);
}

TEST(KeptFigures, WithoutAnythingAttachedItIsOfTheText) {
  TurnFigures figures = answered();
  figures.tokens.thread_visual = 0;
  for (LayerFigures& layer : figures.layers) layer.end = {0, 30, 100, 0};
  EXPECT_DOUBLE_EQ(kept_share(figures), 0.5);
  figures.tokens.thread_text = 0;
  EXPECT_DOUBLE_EQ(kept_share(figures), 1.0) << "there was nothing to drop";
  EXPECT_DOUBLE_EQ(kept_share(TurnFigures()), 1.0);
}

TEST(KeptFigures, WhatLeavesWhileWritingLowersIt) {
  TurnFigures figures = answered();
  for (LayerFigures& layer : figures.layers) layer.end.visual = 25;
  EXPECT_DOUBLE_EQ(kept_share(figures), 0.05);
}

TEST(KeptFigures, TheAnswersBytesAreApart) {
  const HeldBytes held = held_bytes(answered());
  EXPECT_EQ(held.answer, 10'000);
  EXPECT_EQ(held.prompt, 16'000);
  EXPECT_EQ(held_bytes(KvBytes{.after_event = 16'000}, {}).prompt, 16'000) << "nothing is written yet";
}

// "At most 1.4 MiB" stood under "5.0 MiB" while a long answer was written.
TEST(KeptFigures, APeakIsNeverBelowItsValue) {
  KvBytes kv{.after_event = 1000, .end = 1000, .peak = 1400};
  EXPECT_EQ(peak_bytes(kv), 1400);
  kv.end = 5000;
  EXPECT_EQ(peak_bytes(kv), 5000);
  EXPECT_GE(peak_bytes(kv), bytes_now(kv));
}

}  // namespace
}  // namespace winnow
