// The needle test's videos and its map. Whether the demo model reads the drawn cards is measured by `eval --needle` itself.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "app/evaluation/needle_map.h"
#include "app/evaluation/needle_video.h"
#include "app/evaluation/scene_painter.h"
#include "app/media/media_opener.h"
#include "engine/base/error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::app {
namespace {

using test::ScratchFolder;

LetterSheet letters() {
  MediaRequest sheet;
  sheet.path = source_folder() + "/resources/demo/evaluation/letters.png";
  return LetterSheet(FfmpegMediaOpener().open(sheet, {})->read(0, 1, {}).front().image);
}

// Share of the shape's square that its colour covers, drawn white on black.
double covered(SceneShape shape) {
  SceneLook look;
  look.shape = shape;
  look.color = {255, 255, 255};
  look.half = 0.4;
  const RgbImage image = paintScene(200, 200, {{0, 0, 0}, {0, 0, 0}, 0.0}, look, letters());
  double sum = 0.0;
  for (std::size_t i = 0; i < image.rgb.size(); i += 3) sum += image.rgb[i] / 255.0;
  return sum / (160.0 * 160.0);
}

TEST(ScenePainter, ShapesCoverTheirGeometry) {
  EXPECT_NEAR(covered(SceneShape::kCircle), std::numbers::pi / 4, 0.005);
  EXPECT_NEAR(covered(SceneShape::kSquare), 1.0, 0.005);
  EXPECT_NEAR(covered(SceneShape::kTriangle), 0.5, 0.005);
  EXPECT_NEAR(covered(SceneShape::kCross), 5.0 / 9.0, 0.005);
  EXPECT_NEAR(covered(SceneShape::kDiamond), 0.5, 0.005);
  // Ten triangles between tip 1 and notch 0.4 with 36 degrees between.
  EXPECT_NEAR(covered(SceneShape::kStar), 10 * 0.5 * 0.4 * std::sin(std::numbers::pi / 5) / 4, 0.005);
  EXPECT_EQ(covered(SceneShape::kNothing), 0.0);
}

TEST(ScenePainter, EveryLetterIsDarkInkOfItsOwnForm) {
  const LetterSheet sheet = letters();
  std::set<std::vector<int>> forms;
  for (const char letter : kCardLetters) {
    std::vector<int> form;
    double ink = 0.0;
    for (int y = 0; y < 16; ++y) {
      for (int x = 0; x < 16; ++x) {
        form.push_back(sheet.ink(letter, (x + 0.5) / 16, (y + 0.5) / 16) > 0.5 ? 1 : 0);
        ink += form.back() / 256.0;
      }
    }
    EXPECT_TRUE(forms.insert(form).second) << letter;
    EXPECT_GT(ink, 0.15) << letter;
    EXPECT_LT(ink, 0.85) << letter;
  }
  SceneLook look;
  look.shape = SceneShape::kCard;
  look.letter = 'L';
  const RgbImage image = paintScene(100, 100, {}, look, sheet);
  const auto at = [&](double u, double v) {  // of the card's square
    const auto x = static_cast<std::size_t>(50 + u * 20);
    const auto y = static_cast<std::size_t>(50 + v * 20);
    return static_cast<int>(image.rgb[(y * 100 + x) * 3]);
  };
  EXPECT_GT(at(0.1, -0.3), 200);  // an L is open there
  EXPECT_LT(at(0.0, 0.65), 80);   // and has its foot there
  EXPECT_LT(at(0.9, 0.0), 80);    // beside the card is the ground
}

TEST(NeedleVideo, HasOneCardForTwoFramesAtItsDepth) {
  for (const int frames : {4, 32, 64, 128, 256}) {
    for (const int depth : {0, 10, 50, 90, 100}) {
      for (int trial = 0; trial < 4; ++trial) {
        SCOPED_TRACE(needleName({frames, depth, trial}));
        const NeedleScenes scenes = needleScenes({frames, depth, trial});
        ASSERT_EQ(scenes.lookOfFrame.size(), static_cast<std::size_t>(frames));
        EXPECT_EQ(scenes.firstCardFrame, std::lround(depth / 100.0 * (frames - 2)));
        int cards = 0;
        for (int frame = 0; frame < frames; ++frame) {
          const SceneLook& look = scenes.looks.at(static_cast<std::size_t>(scenes.lookOfFrame[static_cast<std::size_t>(frame)]));
          if (look.shape != SceneShape::kCard) continue;
          ++cards;
          EXPECT_EQ(look.letter, scenes.letter);
          EXPECT_TRUE(frame == scenes.firstCardFrame || frame == scenes.firstCardFrame + 1);
        }
        EXPECT_EQ(cards, 2);
        EXPECT_NE(scenes.letter, 'A');
        EXPECT_LE(scenes.looks.size(), 37U);
      }
    }
  }
}

TEST(NeedleVideo, IsTheSameEveryTimeAndOpensByName) {
  NeedleOpener opener(std::make_unique<FfmpegMediaOpener>(), letters());
  const std::vector<EvaluationItem> items = needleItems({16, 32}, 11, 2);
  EXPECT_EQ(items.size(), 2U * 11U * 2U);
  std::set<std::string> golds;
  for (const EvaluationItem& item : items) golds.insert(item.golds.at(0));
  EXPECT_GT(golds.size(), 10U);
  const auto source = opener.open(items[3].media[0], {});
  EXPECT_EQ(source->frame_count(), 16);
  EXPECT_EQ(source->kind(), MediaKind::kVideo);
  const auto again = opener.open(items[3].media[0], {});
  EXPECT_EQ(source->content_hash(), again->content_hash());
  EXPECT_NE(source->content_hash(), opener.open(items[4].media[0], {})->content_hash());
  EXPECT_EQ(source->read(5, 2, {}).at(1).image.rgb, again->read(6, 1, {}).at(0).image.rgb);
  MediaRequest file;
  file.path = source_folder() + "/resources/demo/samples/picture.png";
  EXPECT_EQ(opener.open(file, {})->kind(), MediaKind::kImage) << "other names are files";
}

TEST(NeedleVideo, RefusesMalformedNames) {
  EXPECT_FALSE(needleSpec("clip.mp4"));
  for (const char* name :
       {"needle:", "needle:64:50", "needle:64:50:1x", "needle:64:101:0", "needle:2:50:0", "needle:9999:50:0", "needle:64:50:-1"}) {
    EXPECT_THROW(needleSpec(name), Exception) << name;
  }
}

TEST(NeedleMap, HasEveryCellAndShowsWhatWasNotAsked) {
  const ScratchFolder scratch;
  ItemLog log(scratch.file("log.jsonl"), "s");
  const std::vector<EvaluationItem> items = needleItems({32, 64}, 3, 2);
  const EvaluationPlan plan{recipeGrid({"full", "snapkv"}, {0.1, 0.01}), {0}};
  for (const EvaluationItem& item : items) {
    const NeedleSpec spec = *needleSpec(item.id);
    if (spec.frames == 64) continue;
    AnswerRecord record;
    record.item = item.id;
    record.recipe = "snapkv@0.1";
    record.achievedRetention = 0.125;
    record.score = spec.depthPercent == 100 || spec.trial == 1 ? 1.0 : 0.0;
    log.add(record);
  }
  const std::vector<NeedleMap> maps = needleMaps(items, plan, log);
  ASSERT_EQ(maps.size(), 3U);
  ASSERT_EQ(maps[1].recipe.name, "snapkv@0.1");
  ASSERT_EQ(maps[1].cells.size(), 6U);
  EXPECT_DOUBLE_EQ(maps[1].cells[0].score, 0.5);
  EXPECT_DOUBLE_EQ(maps[1].cells[2].score, 1.0);
  EXPECT_EQ(maps[1].cells[3].answers, 0);
  EXPECT_NE(needleCsv(maps).find("\nsnapkv@0.1,snapkv,0.1,32,100,2,1\n"), std::string::npos);
  const std::string svg = needleSvg(maps, "a < b");
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_NE(svg.find("snapkv@0.1, 32 frames, depth 0 %: 50 % of 2"), std::string::npos);
  EXPECT_NE(svg.find("full, 64 frames, depth 50 %: not asked"), std::string::npos);
  EXPECT_NE(svg.find(">10 %, kept 12 %<"), std::string::npos) << "what was really kept is named";
  EXPECT_EQ(svg.find("<svg"), 0U);
}

}  // namespace
}  // namespace winnow::app
