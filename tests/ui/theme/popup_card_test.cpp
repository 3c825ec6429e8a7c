// Cards stay on the screen at every size of the text, and everything on them can be reached. Run on screens of several sizes.
#include <QComboBox>
#include <QScreen>
#include <QSlider>

#include "tests/ui/support/tab_walk.h"
#include "tests/ui/support/whole_widget.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/compare/comparison_setup.h"
#include "ui/composer/later_choice.h"
#include "ui/composer/method_control.h"
#include "ui/theme/popup_card.h"

namespace winnow::test {
namespace {

class PopupCardTest : public WindowTest {
 protected:
  // Whether all of it is on the screen, inside its card.
  static bool isSeen(const QWidget* control, const QWidget* card) {
    return isWhole(control) && card->screen()->availableGeometry().contains(card->geometry());
  }
  void expectReachable(ui::MethodControl* control, const char* where) {
    for (const int zoom : {100, 125, 150, 175, 200}) {
      SCOPED_TRACE(testing::Message() << where << " at " << zoom << " %");
      ui::theme().setZoomPercent(zoom);
      const QSize room = m_window->screen()->availableSize();
      for (const QSize& size : {QSize(800, 560).boundedTo(room), QSize(1280, 800).boundedTo(room)}) {
        m_window->resize(size);
        QTest::qWait(30);
        control->openCard();
        QTest::qWait(10);
        const QRect at = control->card()->geometry();
        EXPECT_TRUE(m_window->screen()->availableGeometry().contains(at))
            << at.x() << ", " << at.y() << ", " << at.width() << " x " << at.height();
        int stops = 0;
        walkByTab(control->card(), [&](QWidget* at) {
          ++stops;
          EXPECT_TRUE(isSeen(at, control->card())) << stopName(at);
        });
        EXPECT_GE(stops, control->slider()->isEnabled() ? 4 : 2);
        control->card()->hide();
      }
    }
  }
};

TEST_F(PopupCardTest, TheMethodCardIsOnTheScreenAndReachable) {
  expectReachable(composer()->method(), "in the box");
  composer()->method()->openLaterChoice();
  QTest::qWait(10);
  EXPECT_TRUE(composer()->method()->later()->box()->hasFocus());
  EXPECT_TRUE(isSeen(composer()->method()->later()->box(), composer()->method()->card()));
}

// On a dark ground it was a square of nearly the same colour.
TEST_F(PopupCardTest, HasARoundFrameThatIsSeenInTheDark) {
  for (const ui::ThemeMode mode : {ui::ThemeMode::kLight, ui::ThemeMode::kDark}) {
    ui::theme().setMode(mode);
    composer()->method()->openCard();
    QTest::qWait(10);
    const ui::PopupCard* card = composer()->method()->card();
    EXPECT_FALSE(card->mask().contains(QPoint(0, 0)));
    EXPECT_FALSE(card->mask().contains(card->rect().bottomRight()));
    EXPECT_TRUE(card->mask().contains(QPoint(card->width() / 2, 0)));
    const QImage picture = composer()->method()->card()->grab().toImage();
    const QColor line = picture.pixelColor(picture.width() / 2, 0);
    EXPECT_EQ(line, ui::theme().colors().strongBorder);
    EXPECT_NE(line, ui::theme().colors().window);
    composer()->method()->card()->hide();
  }
}

TEST_F(PopupCardTest, TheCardsOfAComparisonToo) {
  m_window->page().compareOrLeave();
  expectReachable(inWindow<ui::ComparisonSetup>()->control(0), "the first of a comparison");
  expectReachable(inWindow<ui::ComparisonSetup>()->control(1), "the second");
}

TEST_F(PopupCardTest, GrowsWithTheTextWhileItIsOpen) {
  composer()->method()->openCard();
  const QSize before = composer()->method()->card()->size();
  ui::theme().setZoomPercent(150);
  QTest::qWait(30);
  EXPECT_GT(composer()->method()->card()->height(), before.height());
  EXPECT_TRUE(m_window->screen()->availableGeometry().contains(composer()->method()->card()->geometry()));
}

}  // namespace
}  // namespace winnow::test
