// Shares, differences and words of the kept-token page, on a map made by hand.
#include "ui/kept_map/kept_map_model.h"

#include <gtest/gtest.h>

#include "app/words/format_text.h"
#include "ui/models/layer_table_model.h"

namespace winnow::ui {
namespace {

// Two system tokens, two frames of 2 x 2 patches, two text tokens; two layers of two heads.
CacheReport report(std::vector<std::vector<std::vector<std::int32_t>>> kept) {
  CacheReport report;
  report.tokens.assign(2, {Modality::kSystem, -1, -1, -1, -1});
  for (int i = 0; i < 8; ++i) {
    report.tokens.push_back({Modality::kVisual, 0, i / 4, static_cast<std::int16_t>(i % 4 / 2), static_cast<std::int16_t>(i % 2)});
  }
  report.tokens.insert(report.tokens.end(), 2, TokenOrigin{});
  report.kept = std::move(kept);
  return report;
}

app::SharedKeptMap mapOf(const CacheReport& report) { return std::make_shared<const app::KeptMap>(app::KeptMap::fromReport(report)); }

std::vector<MapMedia> video() { return {{MediaKind::kVideo, "/v.mp4", QStringLiteral("v.mp4"), {1.0, 65.0}}}; }

TEST(KeptMapModel, CountsSharesPerLayerPartAndHead) {
  KeptMapModel model;
  model.setMap(mapOf(report({{{0, 1, 2, 3, 10, 11}, {0, 1, 2, 6, 10, 11}}, {{0, 11}, {0, 11}}})), video());
  ASSERT_EQ(model.parts().size(), 4U);
  EXPECT_TRUE(model.headsDiffer());
  EXPECT_EQ(model.part(), 1) << "the frame of which most is kept";
  EXPECT_DOUBLE_EQ(model.share(0, 0), 1.0);
  EXPECT_DOUBLE_EQ(model.share(0, 1), 3.0 / 8.0);
  EXPECT_DOUBLE_EQ(model.share(0, 2), 1.0 / 8.0);
  EXPECT_DOUBLE_EQ(model.share(1, 1), 0.0);
  EXPECT_DOUBLE_EQ(model.share(1, 3), 0.5);
  EXPECT_DOUBLE_EQ(model.meanShare(1), 3.0 / 16.0);
  EXPECT_DOUBLE_EQ(model.kept(3), 0.5);
  EXPECT_EQ(model.describe(0, 2), QStringLiteral("Layer 0 · Frame 2 of 2 · 1:05 · 0.5 of 4 tokens kept (%1)").arg(app::formatShare(0.125)));
  EXPECT_TRUE(model.describeToken(3).contains(QStringLiteral("kept by 1 of 2 heads"))) << model.describeToken(3).toStdString();
  model.setHead(1);
  EXPECT_DOUBLE_EQ(model.share(0, 1), 0.25);
  EXPECT_DOUBLE_EQ(model.share(0, 2), 0.25);
  EXPECT_DOUBLE_EQ(model.kept(3), 0.0);
  EXPECT_TRUE(model.describeToken(3).endsWith(QStringLiteral("dropped")));
}

TEST(KeptMapModel, SelectionStaysInsideAndIsTold) {
  KeptMapModel model;
  model.setMap(mapOf(report({{{0}, {0}}, {{0}, {0}}})), video());
  int told = 0;
  QObject::connect(&model, &KeptMapModel::selectionChanged, [&told] { ++told; });
  model.setLayer(7);
  EXPECT_EQ(model.layer(), 1);
  model.setLayer(1);
  model.setPart(-3);
  EXPECT_EQ(model.part(), 0);
  model.setPart(99);
  EXPECT_EQ(model.part(), 3);
  EXPECT_EQ(told, 3);
  // The next map may have fewer layers.
  model.setMap(mapOf(report({{{0}, {0}}})), video());
  EXPECT_EQ(model.layer(), 0);
}

TEST(KeptMapModel, OpensWhereMostIsKeptAndStaysThere) {
  KeptMapModel model;
  // Of the first frame a token in layer 0; of the second one in layer 0 and three in layer 1.
  model.setMap(mapOf(report({{{2, 6}, {2, 6}}, {{6, 7, 8}, {6, 7, 8}}, {{0}, {0}}})), video());
  EXPECT_EQ(model.part(), 2);
  EXPECT_EQ(model.layer(), 1);
  model.setPart(1);
  model.setLayer(2);
  model.setMap(mapOf(report({{{6}, {6}}, {{6}, {6}}, {{6}, {6}}})), video());
  EXPECT_EQ(model.part(), 1) << "another method of the same prompt";
  EXPECT_EQ(model.layer(), 2);
}

TEST(KeptMapModel, OfTwoVideosAFrameSaysWhose) {
  KeptMapModel model;
  std::vector<MapMedia> both = video();
  model.setMap(mapOf(report({{{6}, {6}}})), both);
  EXPECT_EQ(model.partName(2), QStringLiteral("Frame 2 of 2 · 1:05"));
  both.push_back({MediaKind::kVideo, "/w.mp4", QStringLiteral("w.mp4"), {1.0}});
  model.setMap(mapOf(report({{{6}, {6}}})), both);
  EXPECT_EQ(model.partName(2), QStringLiteral("v.mp4: Frame 2 of 2 · 1:05"));
  EXPECT_EQ(model.partName(0), QStringLiteral("System text"));
}

TEST(KeptMapModel, ALineOfADocumentKnowsItsPage) {
  const MapMedia paper{MediaKind::kDocument, "/p.pdf", QStringLiteral("p.pdf"), {}, {}, {0, 40, 40, 90}};
  EXPECT_EQ(pageOf(&paper, 0), 1);
  EXPECT_EQ(pageOf(&paper, 39), 1);
  EXPECT_EQ(pageOf(&paper, 40), 3) << "the second page is empty";
  EXPECT_EQ(pageOf(&paper, 500), 4);
  const MapMedia text{MediaKind::kDocument, "/t.txt", QStringLiteral("t.txt"), {}};
  EXPECT_EQ(pageOf(&text, 7), 0);
  EXPECT_EQ(pageOf(nullptr, 7), 0);
}

TEST(KeptMapModel, ShowsWhatWasMergedAndPinned) {
  CacheReport merged = report({{{2, 3}, {2, 3}}});
  merged.merged = {{{5, 0}, {1, 2}}};
  merged.pinned = {3};
  KeptMapModel model;
  model.setMap(mapOf(merged), video());
  EXPECT_TRUE(model.merges());
  EXPECT_EQ(model.merged(2), 5);
  EXPECT_EQ(model.merged(3), 2);
  EXPECT_EQ(model.merged(4), 0);
  EXPECT_TRUE(model.describeToken(2).contains(QStringLiteral("merged in: 5")));
  EXPECT_TRUE(model.describeToken(3).contains(QStringLiteral("pinned")));
  model.setHead(0);
  EXPECT_EQ(model.merged(3), 0);
}

TEST(KeptMapModel, TheDifferenceOfTwoMaps) {
  KeptMapModel model;
  const app::SharedKeptMap a = mapOf(report({{{2, 3, 6}, {2, 3, 6}}}));
  const app::SharedKeptMap b = mapOf(report({{{3, 4, 5, 7}, {3, 4, 5, 7}}}));
  ASSERT_TRUE(model.setDifference(a, b, QStringLiteral("snapkv"), QStringLiteral("meda"), video()));
  EXPECT_TRUE(model.isDifference());
  EXPECT_EQ(model.keptBy(2), KeptBy::kFirst);
  EXPECT_EQ(model.keptBy(3), KeptBy::kBoth);
  EXPECT_EQ(model.keptBy(4), KeptBy::kSecond);
  EXPECT_EQ(model.keptBy(8), KeptBy::kNone);
  EXPECT_DOUBLE_EQ(model.share(0, 1), 0.25);
  EXPECT_DOUBLE_EQ(model.share(0, 2), 0.0) << "one each";
  EXPECT_TRUE(model.describe(0, 1).endsWith(
      QStringLiteral("“snapkv” keeps %1 of it, “meda” keeps %2").arg(app::formatShare(0.5), app::formatShare(0.75))))
      << model.describe(0, 1).toStdString();
  EXPECT_TRUE(model.describeToken(4).endsWith(QStringLiteral("kept by meda only")));
  EXPECT_EQ(keptBy(0.0, 0.0), KeptBy::kNone);
  EXPECT_EQ(keptBy(0.5, 0.25), KeptBy::kFirst);
}

TEST(KeptMapModel, ADifferenceNeedsTheSamePrompt) {
  KeptMapModel model;
  const CacheReport whole = report({{{2}, {2}}});
  CacheReport pruned = whole;
  pruned.tokens.erase(pruned.tokens.begin() + 4);
  ASSERT_TRUE(model.setDifference(mapOf(pruned), mapOf(whole), QStringLiteral("a"), QStringLiteral("b"), video()));
  EXPECT_EQ(model.map().tokens(), 12) << "told over the longer prompt, whichever of the two it is";
  EXPECT_EQ(model.keptBy(4), KeptBy::kNone);
  CacheReport other = whole;
  other.tokens.erase(other.tokens.begin() + 5);
  EXPECT_FALSE(model.setDifference(mapOf(pruned), mapOf(other), QStringLiteral("a"), QStringLiteral("b"), video()));
  EXPECT_FALSE(
      model.setDifference(mapOf(whole), mapOf(report({{{2}, {2}}, {{2}, {2}}})), QStringLiteral("a"), QStringLiteral("b"), video()));
  EXPECT_FALSE(model.setDifference(nullptr, mapOf(whole), QStringLiteral("a"), QStringLiteral("b"), video()));
}

TEST(KeptTableModel, HasTheHeatMapsNumbers) {
  KeptMapModel model;
  KeptTableModel table(model);
  EXPECT_EQ(table.rowCount(), 0);
  model.setMap(mapOf(report({{{0, 1, 2, 3}, {0, 1, 2, 3}}, {{0}, {0}}})), video());
  ASSERT_EQ(table.rowCount(), 2);
  ASSERT_EQ(table.columnCount(), 5);
  EXPECT_EQ(table.headerData(2, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("Frame 1 of 2 · 0:01"));
  EXPECT_EQ(table.index(0, 2).data().toString(), app::formatShare(0.5));
  EXPECT_DOUBLE_EQ(table.index(1, 1).data(Qt::UserRole).toDouble(), 0.5);
  const QString text = separatedValues(table, {}, QLatin1Char('\t'));
  EXPECT_EQ(text.section(QLatin1Char('\n'), 1, 1), QStringLiteral("0\t1\t0.5\t0\t0"));
  EXPECT_EQ(text.section(QLatin1Char('\n'), 2, 2), QStringLiteral("1\t0.5\t0\t0\t0"));
}

}  // namespace
}  // namespace winnow::ui
