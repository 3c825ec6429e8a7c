// One person's way through the window, by drop, mouse and keys alone: attach, ask, compare three methods, open the map, step through its
// layers, pin a frame, ask again, close. After the restart the same numbers and maps are back.
#include <QComboBox>
#include <QMimeData>
#include <QPushButton>
#include <QScrollBar>
#include <QSlider>

#include "tests/support/scripted_comparison.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/compare/column_view.h"
#include "ui/compare/comparison_setup.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/attachment_tray.h"
#include "ui/composer/frame_viewer.h"
#include "ui/composer/viewer_parts.h"
#include "ui/kept_map/kept_heat_map.h"
#include "ui/kept_map/kept_map_dialog.h"
#include "ui/kept_map/patch_view.h"
#include "ui/shell/turns/kept_map_pages.h"

namespace winnow::test {
namespace {

class Walkthrough : public WindowTest {
 protected:
  void SetUp() override {
    m_script = [](const Request& request) {
      if (std::holds_alternative<Compare>(request.body)) return compare_script(request, {"A red star.", "A blue star.", "A star."});
      return default_script(request);
    };
    WindowTest::SetUp();
  }

  void drop(const QString& file) {
    QMimeData mime;
    mime.setUrls({QUrl::fromLocalFile(file)});
    QDragEnterEvent enter(QPoint(20, 300), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &enter);
    QDropEvent drop(QPointF(20, 300), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &drop);
    ASSERT_TRUE(attached());
  }
  void typeAndSend(const QString& text) {
    const int before = transcript()->messageCount();
    QTest::keyClicks(composer()->prompt(), text);
    ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
    pressEnter();
    ASSERT_TRUE(waitUntil([&] { return transcript()->messageCount() == before + 2 && !session().answers.busy(); }));
  }
  // An action of a message, where it is drawn.
  void click(qint64 message, ui::Action action) {
    m_window->grab();
    QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(message, action).center());
  }
  ui::KeptMapDialog* page() { return inWindow<ui::KeptMapPages>()->page(); }
  void openMap(qint64 answer) {
    click(answer, ui::Action::kKeptMap);
    ASSERT_NE(page(), nullptr);
    ASSERT_TRUE(waitUntil([this] { return !page()->showsSentence(); }));
  }
  std::vector<QString> headers() {
    std::vector<QString> headers;
    for (ui::ColumnView* column : inWindow<ui::ComparisonView>()->columns()) headers.push_back(column->header()->text());
    return headers;
  }
  Turn lastTurn() {
    Turn seen;
    for (const Request& request : m_log->requests()) {
      if (const auto* turn = std::get_if<Turn>(&request.body)) seen = *turn;
    }
    return seen;
  }
};

TEST_F(Walkthrough, FromTheFirstDropToTheRestart) {
  // Attach and ask.
  drop(QStringLiteral("/samples/a minute of shapes.mp4"));
  typeAndSend(QStringLiteral("What color is the star?"));
  ASSERT_EQ(transcript()->messageCount(), 2);
  const qint64 question = transcript()->messageAt(0).id;
  const qint64 answer = transcript()->messageAt(1).id;
  const QString sampled = transcript()->messageAt(0).attachments.at(0).detail;

  // Compare three methods on the same question.
  composer()->prompt()->setFocus();
  QTest::keyClick(composer()->prompt(), Qt::Key_K, Qt::ControlModifier);
  QTest::mouseClick(inWindow<ui::ComparisonSetup>()->compareButton(), Qt::LeftButton);
  const auto compared = [this] {
    const ui::ComparisonModel* model = inWindow<ui::ComparisonView>()->model();
    return m_window->page().showsComparison() && model != nullptr && !model->running() && model->comparison().id != 0;
  };
  ASSERT_TRUE(waitUntil(compared));
  ASSERT_EQ(inWindow<ui::ComparisonView>()->columns().size(), 3U);
  const std::vector<QString> figures = headers();
  const QString shared = inWindow<ui::ComparisonView>()->sharedText();
  QTest::keyClick(inWindow<ui::ComparisonView>(), Qt::Key_Escape);
  ASSERT_TRUE(waitUntil([this] { return !m_window->page().showsComparison(); }));

  // The map of the answer, layer by layer.
  openMap(answer);
  std::vector<QString> lines;
  for (int layer = 0; layer < page()->model().layers(); ++layer) {
    EXPECT_EQ(page()->model().layer(), layer);
    lines.push_back(page()->cellLine());
    QTest::keyClick(page()->heatMap(), Qt::Key_PageDown);
  }
  const app::KeptMap map = page()->model().map();
  ASSERT_EQ(map.layers(), 4);
  QTest::keyClick(page(), Qt::Key_Escape);

  // Pin the first frame of the video in the viewer, and ask again.
  Q_EMIT transcript()->attachmentActivated(question, 0);
  auto* viewer = m_window->findChild<ui::FrameViewer*>();
  ASSERT_NE(viewer, nullptr);
  QTest::keyClick(viewer, Qt::Key_P);
  EXPECT_TRUE(viewer->pinButton()->isChecked());
  QTest::keyClick(viewer, Qt::Key_Escape);
  typeAndSend(QStringLiteral("And what comes last?"));
  EXPECT_EQ(lastTurn().pins.size(), 1U) << "what is pinned now was dropped before: the engine reads the thread again";
  ASSERT_EQ(transcript()->messageCount(), 4);
  const qint64 second = transcript()->messageAt(3).id;
  const app::PinnedRanges pins = session().chat.message(question)->attachments.at(0).pins;
  ASSERT_EQ(pins.size(), 1U);
  const auto run = session().chat.message(second)->run.figures;
  openMap(second);
  const app::KeptMap secondMap = page()->model().map();

  // Closed and opened again: everything is as it was.
  ASSERT_TRUE(reopened(4));
  EXPECT_EQ(transcript()->messageAt(0).attachments.at(0).detail.section(QStringLiteral(" · "), 0, 0),
            sampled.section(QStringLiteral(" · "), 0, 0));
  EXPECT_EQ(session().chat.message(question)->attachments.at(0).pins, pins);
  const TurnFigures again = session().chat.message(second)->run.figures;
  EXPECT_EQ(again.kv_bytes.after_event, run.kv_bytes.after_event);
  EXPECT_EQ(again.kv_bytes.end, run.kv_bytes.end);
  EXPECT_EQ(again.timings_ms.ttft, run.timings_ms.ttft);
  EXPECT_EQ(again.layers.size(), run.layers.size());

  transcript()->verticalScrollBar()->setValue(0);
  click(question, ui::Action::kComparison);
  ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison(); }));
  EXPECT_EQ(headers(), figures);
  EXPECT_EQ(inWindow<ui::ComparisonView>()->sharedText(), shared);
  QTest::keyClick(inWindow<ui::ComparisonView>(), Qt::Key_Escape);

  openMap(answer);
  EXPECT_EQ(page()->model().map(), map);
  for (const QString& line : lines) {
    EXPECT_EQ(page()->cellLine(), line);
    QTest::keyClick(page()->heatMap(), Qt::Key_PageDown);
  }
  QTest::keyClick(page(), Qt::Key_Escape);
  openMap(second);
  EXPECT_EQ(page()->model().map(), secondMap);
}

}  // namespace
}  // namespace winnow::test
