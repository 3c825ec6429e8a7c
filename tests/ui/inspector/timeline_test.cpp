#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QMimeData>
#include <QTabWidget>
#include <QTableView>
#include <QtTest/QTest>
#include <map>

#include "ui/inspector/chart_export.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/inspector/timeline_chart.h"
#include "ui/inspector/timeline_page.h"
#include "ui/models/cache_monitor.h"
#include "ui/models/timeline_recorder.h"
#include "ui/models/timeline_table_model.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

using app::TimelinePoint;
using app::TurnTimeline;
using Mark = TimelinePoint::Mark;

// 100 tokens of 40 bytes, 60 of them visual; 25 stay.
CacheReport timedReport() {
  CacheReport report{.kv_bytes = {.full = 4000, .after_event = 1000, .peak = 3000}};
  for (int i = 0; i < 60; ++i) report.tokens.push_back({Modality::kVisual, 0, i, 0, 0});
  for (int i = 0; i < 40; ++i) report.tokens.push_back({Modality::kText, -1, -1, -1, -1});
  LayerFigures layer{.kept = 25.0, .kept_visual = 15.0, .kept_text = 10.0};
  report.layers = {layer};
  return report;
}

DecodeSample sample(double visual, double image, double generated, std::int64_t now) {
  return {1, 40.0, now, 4000 + static_cast<std::int64_t>(40 * generated), {{visual, 10.0, generated, image}}};
}

TEST(TimelineRecorder, SharesTheEnginesBytesByWhatTheSlotsHold) {
  TimelineRecorder recorder;
  recorder.take(timedReport());
  EXPECT_TRUE(recorder.timeline().empty()) << "nothing was asked yet";
  recorder.begin();
  recorder.take(Progress{Phase::kCompress, 0, 1});
  recorder.take(timedReport());
  recorder.take(sample(15.0, 5.0, 5.0, 1200));
  recorder.take(sample(15.0, 5.0, 10.0, 1400));
  recorder.take(sample(13.0, 4.0, 12.0, 1400));
  recorder.take(sample(12.0, 4.0, 13.0, 1400));
  recorder.take(Finished{});
  const std::vector<TimelinePoint>& points = recorder.timeline().points;
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[0].mark, Mark::kPrefillEnd);
  EXPECT_DOUBLE_EQ(points[0].total(), 3000.0) << "the most that was held";
  EXPECT_DOUBLE_EQ(points[0].full, 4000.0);
  EXPECT_DOUBLE_EQ(points[0].text, 1200.0);
  EXPECT_DOUBLE_EQ(points[0].image, 600.0) << "known from the first sample: a third of what is visual";
  EXPECT_EQ(points[1].mark, Mark::kEvent);
  EXPECT_DOUBLE_EQ(points[1].total(), 1000.0);
  EXPECT_DOUBLE_EQ(points[1].video, 400.0);
  EXPECT_DOUBLE_EQ(points[2].generated, 200.0);
  EXPECT_EQ(points[3].mark, Mark::kNone);
  EXPECT_EQ(points[4].mark, Mark::kEviction) << "the first that left";
  EXPECT_EQ(points[5].mark, Mark::kEnd);
  for (std::size_t i = 1; i < points.size(); ++i) EXPECT_GE(points[i].ms, points[i - 1].ms);
}

TEST(TurnTimeline, StaysShortAndKeepsItsMarksAndItsEnd) {
  TurnTimeline turn;
  for (int i = 0; i < 5000; ++i) {
    TimelinePoint point{.ms = static_cast<double>(i)};
    if (i == 1 || i == 1777) point.mark = i == 1 ? Mark::kEvent : Mark::kEviction;
    turn.add(point);
  }
  EXPECT_LE(turn.points.size(), TurnTimeline::kMostPoints);
  EXPECT_GE(turn.points.size(), TurnTimeline::kMostPoints / 2 - 1);
  EXPECT_EQ(turn.points.front().ms, 0.0);
  EXPECT_EQ(turn.points.back().ms, 4999.0);
  const auto marked =
      std::count_if(turn.points.begin(), turn.points.end(), [](const TimelinePoint& point) { return point.mark != Mark::kNone; });
  EXPECT_EQ(marked, 2);
}

TEST(TimelineChart, AxesEndAtRoundValuesAndMoveInSteps) {
  EXPECT_EQ(roundSeconds(0.0), 0.01);
  EXPECT_DOUBLE_EQ(roundSeconds(0.3), 0.5);
  EXPECT_EQ(roundSeconds(1.0), 1.0);
  EXPECT_EQ(roundSeconds(1.01), 2.0);
  EXPECT_EQ(roundSeconds(21.0), 50.0);
  EXPECT_EQ(roundSeconds(501.0), 1000.0);
  constexpr double kMiB = 1024.0 * 1024.0;
  EXPECT_EQ(roundBytes(0.0).end, 1024.0);
  EXPECT_EQ(roundBytes(2.4 * kMiB).end, 3.0 * kMiB);
  EXPECT_EQ(roundBytes(2.4 * kMiB).parts, 3) << "at 1, 2 and 3 MiB";
  EXPECT_EQ(roundBytes(95.0 * kMiB).end, 100.0 * kMiB);
  EXPECT_EQ(roundBytes(95.0 * kMiB).parts, 5);
  EXPECT_EQ(roundBytes(1001.0 * 1024.0).end, kMiB);
  TimelineChart chart;
  chart.resize(400, 260);
  TurnTimeline turn;
  int moves = 0;
  double before = 0.0;
  for (int i = 0; i <= 100; ++i) {
    TimelinePoint point{.ms = i * 100.0, .text = 1000.0, .generated = i * 40.0, .full = 4000.0 + i * 40.0};
    turn.add(point);
    chart.setTurns({turn});
    if (chart.axisSeconds() != before) ++moves;
    before = chart.axisSeconds();
  }
  EXPECT_EQ(chart.axisSeconds(), 10.0);
  EXPECT_EQ(moves, 8) << "0.01, 0.1, 0.2, 0.5, 1, 2, 5 and 10 seconds in a hundred samples";
  EXPECT_EQ(chart.axisBytes(), 1024.0 * 8.0);
  EXPECT_TRUE(chart.describeAt(QPointF(388, 150)).contains(QStringLiteral("Turn 1")));
  EXPECT_TRUE(chart.describeAt(QPointF(0, 0)).isEmpty());
}

// Three short turns beside a long one: by a common clock they would lie within one pixel.
TEST(TimelineChart, TurnsStandSideBySideWithEqualWidths) {
  TimelineChart chart;
  chart.resize(400, 260);
  std::vector<TurnTimeline> turns(4);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    for (const double share : {0.0, 1.0}) {
      TimelinePoint point{.ms = 440.0 + share * (i == 0 ? 50'000.0 : 10.0), .text = 1000.0 * static_cast<double>(i + 1), .full = 8000.0};
      turns[i].add(point);
    }
  }
  chart.setTurns(turns);
  std::map<QString, int> widths;  // in pixels near one of its points
  for (int x = 0; x < chart.width(); ++x) {
    const QString turn = chart.describeAt(QPointF(x, 150)).section(QLatin1Char(','), 0, 0);
    if (!turn.isEmpty()) ++widths[turn];
  }
  ASSERT_EQ(widths.size(), 4u);
  for (const auto& [turn, width] : widths) EXPECT_NEAR(width, widths.begin()->second, 20) << turn.toStdString();
  // And each has an area: the colour of text stands in the lower part of every quarter.
  const QImage picture = chart.grab().toImage();
  const QColor text = theme().colors().chartText;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    int painted = 0;
    const auto quarter = [&](double part) { return static_cast<int>(70.0 + (392.0 - 70.0) * (static_cast<double>(i) + part) / 4.0); };
    for (int x = quarter(0.1); x < quarter(0.9); ++x) {
      for (int y = 0; y < picture.height(); ++y) painted += picture.pixelColor(x, y) == text ? 1 : 0;
    }
    EXPECT_GT(painted, 200) << "turn " << i + 1;
  }
}

TEST(InspectorPanel, TablesCutNoColumnAtTheRight) {
  CacheMonitor monitor;
  monitor.showRunning();
  InspectorPanel panel(monitor);
  panel.show();
  monitor.begin(RecipeSpec());
  monitor.take(timedReport());
  panel.tabs()->setCurrentWidget(panel.timeline());
  const QTableView* table = panel.timeline()->table();
  ASSERT_TRUE(QTest::qWaitFor([&] { return table->model()->rowCount() == 2; }, 5000));
  for (const int width : {300, 330, 420, 900}) {
    panel.resize(width, 700);
    QTest::qWait(20);
    const int room = table->viewport()->width();
    int whole = 0;
    for (int column = 0; column < table->model()->columnCount(); ++column) {
      const int left = table->columnViewportPosition(column);
      EXPECT_FALSE(left < room && left + table->columnWidth(column) > room) << "column " << column << " at " << width;
      whole += left + table->columnWidth(column) <= room ? 1 : 0;
    }
    EXPECT_GE(whole, 3) << width;
  }
}

TEST(InspectorPanel, TimelineHasATableTwinThatCanBeCopied) {
  CacheMonitor monitor;
  monitor.showRunning();
  InspectorPanel panel(monitor);
  panel.show();
  TurnTimeline earlier;
  TimelinePoint old{.ms = 1500.0, .text = 2048.0, .full = 4096.0, .mark = Mark::kEvent};
  earlier.add(old);
  monitor.setEarlierTurns({earlier, {}});  // the second answer came out of a comparison: nothing is recorded of it
  monitor.begin(RecipeSpec());
  monitor.take(timedReport());
  const QAbstractItemModel* table = panel.timeline()->table()->model();
  ASSERT_TRUE(QTest::qWaitFor([&] { return table->rowCount() == 3; }, 5000));
  copyNumbers(*table);
  const QStringList lines = QApplication::clipboard()->text().split(QLatin1Char('\n'));
  EXPECT_EQ(lines[0], QStringLiteral("Turn\tSeconds\tWhat\tKV KiB\tFull KiB\tText KiB\tImages KiB\tVideos KiB\tAnswer KiB\tTokens/s"));
  EXPECT_EQ(lines[1], QStringLiteral("1\t1.5\tCompressed\t2\t4\t2\t0\t0\t0\t0"));
  EXPECT_TRUE(lines[3].startsWith(QStringLiteral("3\t")) && lines[3].contains(QStringLiteral("\tCompressed\t0.9765625\t")))
      << lines[3].toStdString();
  EXPECT_TRUE(QApplication::clipboard()->mimeData()->hasFormat(QStringLiteral("text/csv")));
  // Another chat: its own turns, nothing of the one that is still recorded.
  monitor.clear();
  monitor.setEarlierTurns({earlier});
  ASSERT_TRUE(QTest::qWaitFor([&] { return monitor.turns().size() == 1; }, 5000));
}

TEST(InspectorPanel, ChartsTakeTheKeyboardAndOfferNumbersAndPicture) {
  CacheMonitor monitor;
  monitor.showRunning();
  InspectorPanel panel(monitor);
  panel.resize(360, 700);
  panel.show();
  monitor.begin(RecipeSpec());
  monitor.take(timedReport());
  panel.tabs()->setCurrentWidget(panel.timeline());
  TimelineChart* chart = panel.timeline()->chart();
  ASSERT_TRUE(QTest::qWaitFor([&] { return panel.timeline()->table()->model()->rowCount() == 2; }, 5000));
  EXPECT_NE(chart->focusPolicy() & Qt::TabFocus, 0);
  EXPECT_EQ(chart->actions().size(), 4);
  QApplication::clipboard()->clear();
  chart->setFocus();
  chart->actions().at(0)->trigger();
  EXPECT_TRUE(QApplication::clipboard()->text().startsWith(QStringLiteral("Turn\t")));
  chart->actions().at(1)->trigger();
  const QImage picture = QApplication::clipboard()->image();
  EXPECT_GE(picture.width(), 2 * chart->width());
  EXPECT_FALSE(chart->accessibleDescription().isEmpty());
}

}  // namespace
}  // namespace winnow::ui
