// The arrows of the kept-token page step the map wherever the focused part has no use for them; Space and Enter press its buttons.
#include <QToolButton>

#include "tests/ui/support/tab_walk.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/kept_map/kept_heat_map.h"
#include "ui/kept_map/kept_map_dialog.h"
#include "ui/shell/turns/kept_map_pages.h"

namespace winnow::test {
namespace {

class KeptMapKeys : public WindowTest {
 protected:
  ui::KeptMapDialog* opened() {
    composer()->addFile("/samples/a minute of shapes.mp4");
    QTest::qWait(50);
    ask(QStringLiteral("What color is the star?"));
    QTest::keyClick(m_window.get(), Qt::Key_T, Qt::ControlModifier);
    ui::KeptMapDialog* page = inWindow<ui::KeptMapPages>()->page();
    EXPECT_TRUE(page != nullptr && waitUntil([page] { return !page->showsSentence(); }));
    return page;
  }
};

TEST_F(KeptMapKeys, StepFromEveryButton) {
  ui::KeptMapDialog* page = opened();
  ASSERT_NE(page, nullptr);
  ui::KeptMapModel& model = page->model();
  int buttons = 0;
  walkByTab(page, [&](QWidget* at) {
    if (!page->isAncestorOf(at) || (qobject_cast<QAbstractButton*>(at) == nullptr && at != page->heatMap())) return;
    ++buttons;
    QTest::keyClick(at, Qt::Key_Home);
    EXPECT_EQ(model.part(), 0) << stopName(at);
    QTest::keyClick(at, Qt::Key_Right);
    EXPECT_EQ(model.part(), 1) << stopName(at);
    QTest::keyClick(at, Qt::Key_Left);
    EXPECT_EQ(model.part(), 0) << stopName(at);
    model.setLayer(0);
    QTest::keyClick(at, Qt::Key_Down);
    EXPECT_EQ(model.layer(), 1) << stopName(at);
    QTest::keyClick(at, Qt::Key_PageUp);
    EXPECT_EQ(model.layer(), 0) << stopName(at);
    QTest::keyClick(at, Qt::Key_End);
    EXPECT_EQ(model.part(), static_cast<int>(model.parts().size()) - 1) << stopName(at);
    EXPECT_TRUE(at->hasFocus()) << stopName(at);
  });
  EXPECT_GE(buttons, 3);
}

}  // namespace
}  // namespace winnow::test
