// The arrows of a viewer step what it shows, whichever of its buttons has the focus ring.
#include <QPlainTextEdit>
#include <QScrollBar>

#include "tests/ui/support/tab_walk.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_card.h"
#include "ui/composer/document_viewer.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/frame_viewer.h"
#include "ui/composer/viewer_parts.h"

namespace winnow::test {
namespace {

class ViewerKeys : public WindowTest {
 protected:
  template <class Viewer>
  Viewer* opened(const char* path) {
    composer()->addFile(path);
    EXPECT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
    QTest::keyClick(composer()->tray()->card(composer()->tray()->count() - 1), Qt::Key_Return);
    Viewer* found = nullptr;
    EXPECT_TRUE(waitUntil([&] {
      for (auto* viewer : m_window->findChildren<Viewer*>()) found = viewer->isVisible() ? viewer : found;
      return found != nullptr;
    }));
    QTest::qWait(50);
    found->activateWindow();
    if (found->focusWidget() == nullptr) QTest::keyClick(found, Qt::Key_Tab);
    return found;
  }
};

TEST_F(ViewerKeys, StepFramesWhateverHasTheRing) {
  auto* viewer = opened<ui::FrameViewer>("/clips/long.mp4");
  ASSERT_NE(viewer, nullptr);
  int stops = 0;
  walkByTab(viewer, [&](QWidget* at) {
    ++stops;
    const auto after = [&](Qt::Key key) {
      QTest::keyClick(viewer->focusWidget() != nullptr ? viewer->focusWidget() : viewer, key);
      return viewer->index();
    };
    EXPECT_EQ(after(Qt::Key_Home), 0) << stopName(at);
    EXPECT_EQ(after(Qt::Key_Right), 1) << stopName(at);
    EXPECT_EQ(after(Qt::Key_Right), 2) << stopName(at);
    EXPECT_EQ(after(Qt::Key_Left), 1) << stopName(at);
    EXPECT_EQ(after(Qt::Key_PageDown), 11) << stopName(at);
    EXPECT_EQ(after(Qt::Key_PageUp), 1) << stopName(at);
    const int last = after(Qt::Key_End);
    EXPECT_GT(last, 11) << stopName(at);
    EXPECT_EQ(after(Qt::Key_Right), last) << stopName(at);
    EXPECT_EQ(after(Qt::Key_Left), last - 1) << stopName(at);
  });
  EXPECT_GE(stops, 3);
}

TEST_F(ViewerKeys, ShiftAndPPinFromTheLastPinnedFrame) {
  auto* viewer = opened<ui::FrameViewer>("/clips/long.mp4");
  ASSERT_NE(viewer, nullptr);
  viewer->pinButton()->setFocus(Qt::TabFocusReason);
  QTest::keyClick(viewer->pinButton(), Qt::Key_Home);
  QTest::keyClick(viewer->pinButton(), Qt::Key_Right);
  QTest::keyClick(viewer->pinButton(), Qt::Key_P);
  EXPECT_TRUE(viewer->pinButton()->isChecked());
  for (int i = 0; i < 4; ++i) QTest::keyClick(viewer->pinButton(), Qt::Key_Right);
  EXPECT_FALSE(viewer->pinButton()->isChecked());
  QTest::keyClick(viewer->pinButton(), Qt::Key_P, Qt::ShiftModifier);
  const app::PinnedRanges pins = composer()->tray()->card(0)->attachment().pins;
  ASSERT_EQ(pins.size(), 1U);
  const std::vector<double> times = app::plannedTimes(composer()->tray()->card(0)->attachment());
  EXPECT_LE(pins[0].fromS, times[1]);
  EXPECT_GE(pins[0].toS, times[5]);
  for (int i = 0; i < 2; ++i) QTest::keyClick(viewer->pinButton(), Qt::Key_Left);
  EXPECT_TRUE(viewer->pinButton()->isChecked()) << "what lies between is pinned";
}

TEST_F(ViewerKeys, StepImages) {
  composer()->addFile("/pictures/one.png");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  auto* viewer = opened<ui::FrameViewer>("/pictures/two.png");
  ASSERT_NE(viewer, nullptr);
  walkByTab(viewer, [&](QWidget* at) {
    QTest::keyClick(at, Qt::Key_Home);
    EXPECT_EQ(viewer->index(), 0) << stopName(at);
    QTest::keyClick(viewer->focusWidget(), Qt::Key_Right);
    EXPECT_EQ(viewer->index(), 1) << stopName(at);
  });
}

TEST_F(ViewerKeys, ScrollADocumentWhateverHasTheRing) {
  auto* viewer = opened<ui::DocumentViewer>("/texts/long.txt");
  ASSERT_NE(viewer, nullptr);
  auto* text = viewer->findChild<QPlainTextEdit*>();
  QString lines;
  for (int i = 0; i < 400; ++i) lines += QStringLiteral("a line\n");
  text->setPlainText(lines);
  walkByTab(viewer, [&](QWidget* at) {
    text->verticalScrollBar()->setValue(0);
    QTest::keyClick(at, Qt::Key_PageDown);
    EXPECT_GT(text->verticalScrollBar()->value(), 0) << stopName(at);
  });
}

}  // namespace
}  // namespace winnow::test
