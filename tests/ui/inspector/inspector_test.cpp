#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QtTest/QTest>
#include <algorithm>

#include "app/words/format_text.h"
#include "ui/inspector/charts.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/models/cache_monitor.h"
#include "ui/models/layer_table_model.h"

namespace winnow::ui {
namespace {

CacheReport report() {
  CacheReport report{.kv_bytes = {.full = 4000, .after_event = 1000}};
  for (int i = 0; i < 90; ++i) report.tokens.push_back({Modality::kVisual, 0, i, 0, 0});
  for (int i = 0; i < 10; ++i) report.tokens.push_back({Modality::kText, -1, -1, -1, -1});
  for (const auto& [kept, visual] : {std::pair{40.0, 30.0}, std::pair{20.0, 10.0}}) {
    LayerFigures layer;
    layer.budget = static_cast<std::int64_t>(kept);
    layer.kept = kept;
    layer.kept_visual = visual;
    layer.kept_text = kept - visual;
    layer.bytes = static_cast<std::int64_t>(kept) * 16;
    report.layers.push_back(layer);
  }
  return report;
}

RecipeSpec recipe(const char* method, double retention) { return {.method = method, .retention = retention}; }

TEST(CacheMonitor, CarriesTheEnginesFigures) {
  CacheMonitor monitor;
  monitor.showRunning();
  monitor.begin(recipe("vl-cache", 0.2));
  monitor.take(Progress{Phase::kPrefill, 63, 100});
  EXPECT_EQ(phaseText(monitor.figures().phase, monitor.figures().phaseDone, monitor.figures().phaseTotal),
            QStringLiteral("Reading the prompt: 63\u202F%"));
  monitor.take(report());
  EXPECT_EQ(monitor.figures().visualTokens, 90);
  EXPECT_DOUBLE_EQ(CacheMonitor::keptVisual(monitor.figures()), 20.0);
  EXPECT_DOUBLE_EQ(monitor.figures().keptShare, 20.0 / 90.0);
  for (int i = 0; i < 1000; ++i) monitor.take(DecodeSample{i, 40.0, 1100, 4400, {}});
  EXPECT_FALSE(monitor.speedHistory().empty());
  EXPECT_LE(monitor.speedHistory().size(), app::TurnTimeline::kMostPoints);
  EXPECT_DOUBLE_EQ(monitor.figures().keptShare, 20.0 / 90.0) << "of what is attached, whatever is written";
}

// What runs in another chat is gathered, and is not what this chat shows.
TEST(CacheMonitor, WhatRunsElsewhereIsGatheredUnseen) {
  CacheMonitor monitor;
  app::Run stored;
  stored.recipe.spec = recipe("snapkv", 0.1);
  stored.figures.layers = report().layers;
  stored.figures.kv_bytes.after_event = 77;
  monitor.begin(recipe("vl-cache", 0.2));
  monitor.showStored(stored);
  monitor.take(report());
  app::Run cause;
  cause.recipe.spec = recipe("vl-cache", 0.2);
  cause.makers = {{{{}, recipe("self-study", 0.3)}, true}, {cause.recipe, false}};
  monitor.setCause(cause);
  EXPECT_EQ(monitor.figures().held.prompt, 77);
  EXPECT_EQ(monitor.figures().makers.front().spec.method, "snapkv");
  monitor.showRunning();
  EXPECT_EQ(monitor.figures().held.prompt, 1000);
  ASSERT_EQ(monitor.figures().makers.size(), 1);
  EXPECT_EQ(monitor.figures().makers.front().spec.method, "self-study");
  ASSERT_TRUE(monitor.figures().ofNew.has_value());
  EXPECT_EQ(monitor.figures().ofNew->spec.method, "vl-cache");
}

// Figures of an older answer were nowhere to be seen.
TEST(InspectorPanel, AnEarlierAnswerHasItsNumberAndAWayBack) {
  CacheMonitor monitor;
  InspectorPanel panel(monitor);
  panel.show();
  app::Run run{.recipe = {.spec = recipe("snapkv", 0.1)}, .figures = {.layers = report().layers}};
  const auto back = [&panel]() -> QPushButton* {
    for (QPushButton* button : panel.findChildren<QPushButton*>()) {
      if (button->text() == QStringLiteral("Back to the last answer") && !button->isHidden()) return button;
    }
    return nullptr;
  };
  const auto says = [&panel](const QString& words) {
    const QList<QLabel*> labels = panel.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->text().startsWith(words); });
  };
  monitor.showStored(run, app::AttachedKind::kMixed, FiguresOf::kAnswer, EarlierAnswer{7, 2});
  QTest::qWait(250);
  EXPECT_TRUE(says(QStringLiteral("Answer 2")));
  ASSERT_NE(back(), nullptr);
  QSignalSpy asked(&panel, &InspectorPanel::lastAnswerRequested);
  back()->click();
  EXPECT_EQ(asked.count(), 1);
  monitor.showStored(run);
  QTest::qWait(250);
  EXPECT_TRUE(says(QStringLiteral("Last answer")));
  EXPECT_EQ(back(), nullptr);
}

TEST(InspectorPanel, RefreshesAtMostTenTimesASecondAndNeverWhileHidden) {
  CacheMonitor monitor;
  monitor.showRunning();
  InspectorPanel panel(monitor);
  monitor.begin(recipe("vl-cache", 0.2));
  monitor.take(report());
  QTest::qWait(250);
  EXPECT_EQ(panel.refreshCount(), 0);
  panel.show();
  const int before = panel.refreshCount();
  QElapsedTimer timer;
  timer.start();
  while (timer.elapsed() < 1000) {
    monitor.take(DecodeSample{1, 40.0, 1100, 4400, {}});
    QTest::qWait(2);
  }
  const int refreshes = panel.refreshCount() - before;
  EXPECT_GE(refreshes, 1);
  EXPECT_LE(refreshes, static_cast<int>(timer.elapsed() / 100) + 1);
  panel.hide();
  const int hidden = panel.refreshCount();
  monitor.take(report());
  QTest::qWait(250);
  EXPECT_EQ(panel.refreshCount(), hidden);
}

// Five headings over dashes.
TEST(InspectorPanel, HeadsNothingThatIsNotThereYet) {
  CacheMonitor monitor;
  monitor.showRunning();
  InspectorPanel panel(monitor);
  panel.show();
  const auto seen = [&](const char* heading) {
    return std::ranges::any_of(panel.findChildren<QLabel*>(),
                               [&](const QLabel* label) { return label->text() == QString::fromLatin1(heading) && label->isVisible(); });
  };
  monitor.begin(recipe("snapkv", 0.5));
  monitor.take(Progress{Phase::kPrefill, 1, 4});
  ASSERT_TRUE(QTest::qWaitFor([&] { return seen("Figures follow when the prompt is read."); }, 5000));
  const char* const headings[] = {"Cache", "Kept, mean over layers", "Speed", "Layers"};
  for (const char* heading : headings) EXPECT_FALSE(seen(heading)) << heading;
  EXPECT_FALSE(seen("–"));
  monitor.take(report());
  ASSERT_TRUE(QTest::qWaitFor([&] { return seen("Cache"); }, 5000));
  for (const char* heading : headings) EXPECT_TRUE(seen(heading)) << heading;
  EXPECT_FALSE(seen("Figures follow when the prompt is read."));
}

TEST(InspectorPanel, TellsTheBytesOfStatesWhereThereAreSome) {
  CacheMonitor monitor;
  monitor.showRunning();
  InspectorPanel panel(monitor);
  panel.show();
  const auto told = [&](const QString& text) {
    return QTest::qWaitFor(
        [&] { return std::ranges::any_of(panel.findChildren<QLabel*>(), [&](const QLabel* label) { return label->text() == text; }); },
        5000);
  };
  CacheReport hybrid = report();
  monitor.begin(recipe("snapkv", 0.5));
  monitor.take(hybrid);
  const QString peak = QStringLiteral("Peak %1").arg(app::formatBytes(1000));
  EXPECT_TRUE(told(peak));
  hybrid.kv_bytes.states = 3 << 20;
  monitor.take(hybrid);
  EXPECT_TRUE(told(peak + QStringLiteral(" · States: 3.0 MiB")));
}

TEST(InspectorPanel, SaysWhereCompressionDidOtherwise) {
  CacheMonitor monitor;
  monitor.showRunning();
  InspectorPanel panel(monitor);
  panel.show();
  monitor.begin(recipe("snapkv", 0.01));
  CacheReport noted = report();
  noted.notes = {CompressionNote::kRaisedToFloor};
  monitor.take(noted);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !panel.notesLine().isEmpty(); }, 5000));
  EXPECT_EQ(panel.notesLine(), notesText({CompressionNote::kRaisedToFloor}, 256));
  monitor.begin(recipe("snapkv", 0.5));
  monitor.take(report());
  ASSERT_TRUE(QTest::qWaitFor([&] { return panel.notesLine().isEmpty(); }, 5000));
  app::Run run;
  TurnFigures& stored = run.figures;
  stored.layers = report().layers;
  stored.notes = {CompressionNote::kFallbackRows, CompressionNote::kNonFinite};
  monitor.showStored(run);
  ASSERT_TRUE(QTest::qWaitFor([&] { return panel.notesLine() == notesText(stored.notes, 256); }, 5000));
}

TEST(InspectorPanel, TellsApartWhatTheTimeToTheFirstWordWentTo) {
  CacheMonitor monitor;
  monitor.showRunning();
  InspectorPanel panel(monitor);
  panel.show();
  app::Run run;
  run.figures.layers = report().layers;
  run.figures.timings_ms = {
      .media = 120, .preprocess = 8, .vision = 1400, .prefill = 310, .statistics = 12, .compress = 0.3, .ttft = 9900, .waited = 8000};
  monitor.showStored(run);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !panel.firstWordLine().isEmpty(); }, 5000));
  EXPECT_EQ(panel.firstWordLine(), QStringLiteral("Of that: waiting 8.0 s · decoding video 120 ms · resizing 8 ms · encoding frames 1.4 s "
                                                  "· prefill 310 ms · judging 12 ms · other 50 ms"))
      << "compressing took no millisecond";
  run.figures.timings_ms = {.prefill = 310, .ttft = 310};
  monitor.showStored(run);
  ASSERT_TRUE(QTest::qWaitFor([&] { return panel.firstWordLine() == QStringLiteral("Of that: prefill 310 ms"); }, 5000));
  run.figures.timings_ms = {.ttft = 310};  // of a version that told nothing apart
  monitor.showStored(run);
  EXPECT_TRUE(QTest::qWaitFor([&] { return panel.firstWordLine().isEmpty(); }, 5000));
}

TEST(InspectorPanel, ShowsWhatLeavesWhileTheAnswerIsWritten) {
  CacheMonitor monitor;
  monitor.showRunning();
  InspectorPanel panel(monitor);
  panel.show();
  monitor.begin(recipe("h2o", 0.2));
  monitor.take(report());
  DecodeSample sample{5, 40.0, 1100, 4400, {{26.0, 9.0, 5.0}, {7.0, 8.0, 5.0}}};
  monitor.take(sample);
  const QAbstractItemModel* table = panel.table()->model();
  const auto cell = [&](int row, int column) { return table->index(row, column).data(Qt::UserRole).toDouble(); };
  ASSERT_TRUE(QTest::qWaitFor([&] { return table->rowCount() == 2 && cell(0, LayerTableModel::kWritten) == 5.0; }, 5000));
  EXPECT_EQ(cell(0, LayerTableModel::kEvicted), 5.0);
  EXPECT_EQ(cell(0, LayerTableModel::kNow), 40.0);
  EXPECT_EQ(cell(1, LayerTableModel::kEvicted), 5.0);
  EXPECT_EQ(cell(1, LayerTableModel::kNow), 20.0);
  EXPECT_TRUE(panel.layerBars()->describe(1).contains(QStringLiteral("5 evicted while writing")))
      << panel.layerBars()->describe(1).toStdString();
  // The stored figures of the finished answer show the same.
  app::Run run;
  TurnFigures& stored = run.figures;
  stored.layers = report().layers;
  stored.layers[0].end = sample.layers[0];
  stored.layers[1].end = sample.layers[1];
  monitor.clear();
  monitor.showStored(run);
  ASSERT_TRUE(QTest::qWaitFor([&] { return table->rowCount() == 2 && cell(1, LayerTableModel::kEvicted) == 5.0; }, 5000));
}

TEST(InspectorPanel, SaysWhyALayerGotItsBudget) {
  CacheMonitor monitor;
  monitor.showRunning();
  InspectorPanel panel(monitor);
  panel.show();
  monitor.begin(recipe("aircache", 0.2));
  CacheReport with = report();
  with.layers[0].why = {{"strength", 0.75}, {"skew", 1.5}};
  with.layers[1].why = {{"strength", 0.25}, {"skew", -0.5}};
  monitor.take(with);
  const QAbstractItemModel* table = panel.table()->model();
  ASSERT_TRUE(QTest::qWaitFor([&] { return table->columnCount() == LayerTableModel::kFirstReason + 2; }, 5000));
  EXPECT_EQ(table->headerData(LayerTableModel::kFirstReason, Qt::Horizontal).toString(), QStringLiteral("Strength"));
  EXPECT_FALSE(table->headerData(LayerTableModel::kFirstReason + 1, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
  EXPECT_EQ(table->index(1, LayerTableModel::kFirstReason + 1).data(Qt::UserRole).toDouble(), -0.5);
  EXPECT_TRUE(panel.whyLine().contains(QStringLiteral("Skew"))) << panel.whyLine().toStdString();
  EXPECT_TRUE(panel.layerBars()->describe(0).contains(QStringLiteral("Strength 0.75"))) << panel.layerBars()->describe(0).toStdString();
  // Another method, without numbers: the columns go.
  monitor.begin(recipe("snapkv", 0.2));
  monitor.take(report());
  ASSERT_TRUE(QTest::qWaitFor([&] { return table->columnCount() == LayerTableModel::kFirstReason; }, 5000));
  EXPECT_TRUE(panel.whyLine().isEmpty());
}

TEST(InspectorPanel, TableTwinSortsAndCopies) {
  CacheMonitor monitor;
  monitor.showRunning();
  InspectorPanel panel(monitor);
  panel.show();
  monitor.begin(recipe("vl-cache", 0.2));
  monitor.take(report());
  ASSERT_TRUE(QTest::qWaitFor([&] { return panel.table()->model()->rowCount() == 2; }, 5000));
  panel.table()->sortByColumn(LayerTableModel::kKept, Qt::AscendingOrder);
  EXPECT_EQ(panel.table()->model()->index(0, LayerTableModel::kLayer).data().toString(), QStringLiteral("1"));
  panel.copyTable();
  EXPECT_EQ(QApplication::clipboard()->text(),
            QStringLiteral("Layer\tBudget\tKept\tAttached\tText\tWritten\tEvicted\tNow\tKV "
                           "KiB\n1\t20\t20\t10\t10\t0\t0\t20\t0.3125\n0\t40\t40\t30\t10\t0\t0\t40\t0.625\n"));
  const QByteArray csv = QApplication::clipboard()->mimeData()->data(QStringLiteral("text/csv"));
  EXPECT_EQ(QString::fromUtf8(csv), QApplication::clipboard()->text().replace(QLatin1Char('\t'), QLatin1Char(',')));
}

TEST(Inspector, AnOutlineHoldsWhatStoodThereBefore) {
  LayerFigures layer{.budget = 100, .kept = 60.0};
  EXPECT_EQ(LayerBars::allowed(layer), 100.0);
  layer.kept = 190.0;  // a second video was granted 100 slots beside the 90 of the first
  EXPECT_EQ(LayerBars::allowed(layer), 190.0);
}

}  // namespace
}  // namespace winnow::ui
