// What the live cache panel and an answer's footer say is the same before a chat is left and after it is opened again.
#include <QLabel>
#include <QTabWidget>
#include <QTableView>

#include "tests/ui/support/window_fixture.h"
#include "ui/composer/frame_strip.h"
#include "ui/inspector/charts.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/models/cache_monitor.h"

namespace winnow::test {
namespace {

class ReopenedFigures : public WindowTest {
 protected:
  // Everything that the panel says: its lines, its charts in words, its table, its curve.
  QStringList said() {
    m_window->setPanelVisible(true);
    QTest::qWait(250);  // the panel draws ten times a second
    QStringList all;
    const QWidget* now = m_window->inspector()->tabs()->widget(0);
    for (const QLabel* label : now->findChildren<QLabel*>()) {
      if (!label->isHidden()) all << label->text();
    }
    for (const QWidget* chart : now->findChildren<QWidget*>()) {
      if (!chart->accessibleDescription().isEmpty() && !chart->isHidden())
        all << chart->accessibleName() + QStringLiteral(": ") + chart->accessibleDescription();
    }
    const QAbstractItemModel* table = m_window->inspector()->table()->model();
    for (int row = 0; row < table->rowCount(); ++row) {
      QStringList cells;
      for (int column = 0; column < table->columnCount(); ++column) cells << table->index(row, column).data().toString();
      all << cells.join(QLatin1Char('|'));
    }
    for (const double speed : session().answers.monitor().speedHistory()) all << QString::number(speed, 'f', 1);
    const ui::MessageMetrics& m = last().metrics;
    all << m.method << m.ofNew << QString::number(m.kvBytes) << QString::number(m.kvFullBytes) << QString::number(m.keptShare);
    return all;
  }
  void expectSameAfterReopening(const char* state) {
    const QStringList before = said();
    const ConversationId chat = session().chat.id();
    session().chat.startNew();
    ASSERT_TRUE(waitUntil([this] { return session().chat.id() == 0; }));
    session().chat.open(chat);
    ASSERT_TRUE(waitUntil([&] { return session().chat.id() == chat; }));
    expectSame(before, said(), state, "left and opened");
    reopen();
    ASSERT_TRUE(waitUntil([&] { return session().chat.id() == chat; }));
    expectSame(before, said(), state, "after a restart");
  }
  static void expectSame(const QStringList& before, const QStringList& after, const char* state, const char* how) {
    ASSERT_EQ(before.size(), after.size()) << state << ", " << how;
    for (qsizetype i = 0; i < before.size(); ++i) EXPECT_EQ(before[i], after[i]) << state << ", " << how;
  }
};

TEST_F(ReopenedFigures, AreThoseFromBeforeInEveryTurn) {
  ASSERT_TRUE(attaches("/clips/a.mp4"));
  ask(QStringLiteral("What color is the star?"));
  {
    const ui::CacheFigures& panel = session().answers.monitor().figures();
    EXPECT_EQ(last().metrics.kvBytes, panel.held.prompt) << "under the answer as in the panel";
    EXPECT_EQ(last().metrics.answerBytes, panel.held.answer);
    EXPECT_GT(panel.held.answer, 0);
    EXPECT_EQ(last().metrics.kvFullBytes, panel.kv.full);
    EXPECT_DOUBLE_EQ(last().metrics.keptShare, panel.keptShare);
  }
  expectSameAfterReopening("first turn");
  ask(QStringLiteral("And then?"));
  const ui::CacheFigures& figures = session().answers.monitor().figures();
  EXPECT_GT(figures.visualTokens, 0) << "the second turn's cache still holds the video";
  EXPECT_LE(ui::CacheMonitor::keptText(figures), double(figures.textTokens));
  expectSameAfterReopening("second turn");
}

TEST_F(ReopenedFigures, PinsAreCountedAgain) {
  ASSERT_TRUE(attaches("/clips/a.mp4", Card::kWithThumbnails));
  ui::FrameStrip* strip = composer()->tray()->card(0)->strip();
  QTest::keyClick(strip, Qt::Key_Up);
  QTest::keyClick(strip, Qt::Key_P);
  ask(QStringLiteral("What color is the star?"));
  said();
  EXPECT_FALSE(m_window->inspector()->pinnedLine().isEmpty());
  expectSameAfterReopening("pinned");
}

// A text-only question in a new chat: the answer is part of what an uncompressed cache would hold.
TEST_F(ReopenedFigures, ShareOfTheFullCacheIsNeverAboveOne) {
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    const std::vector<CompressionNote> notes = {CompressionNote::kShortText};
    Script script = answer_script(request, QStringLiteral("word ").repeated(60).toStdString());
    script = changed<CacheReport>(script, [&](CacheReport& report) { report.notes = notes; });
    return changed<Finished>(script, [&](Finished& finished) { finished.figures.notes = notes; });
  };
  ask(QStringLiteral("hello"));
  const ui::CacheFigures& figures = session().answers.monitor().figures();
  EXPECT_DOUBLE_EQ(figures.keptShare, 1.0);
  EXPECT_EQ(last().metrics.kvBytes, last().metrics.kvFullBytes);
  EXPECT_EQ(last().metrics.shortTextTokens, 256);
  const QStringList lines = said();
  EXPECT_TRUE(lines.contains(QStringLiteral("Not compressed: text of fewer than 256 tokens stays whole.")))
      << lines.join('\n').toStdString();
  expectSameAfterReopening("text alone");
}

}  // namespace
}  // namespace winnow::test
