// Large text in a small window: one thing at a time, and that one whole. At every zoom from 100 to 200 %, in 800 x 560 and 1280 x 800.
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStatusBar>
#include <QTabWidget>
#include <functional>

#include "tests/ui/support/whole_widget.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/compare/column_view.h"
#include "ui/compare/comparison_setup.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/method_control.h"
#include "ui/composer/plan_line.h"
#include "ui/composer/preparation_line.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/shell/chat/conversation_sidebar.h"

namespace winnow::test {
namespace {

class SmallWindow : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    m_script = default_script;
    m_window->activateWindow();
    ask(QStringLiteral("What color is the star?"));
  }

  void atEverySize(const std::function<void()>& check) {
    for (const QSize& size : {QSize(800, 560), QSize(1280, 800)}) {
      for (const int zoom : {100, 125, 150, 175, 200}) {
        SCOPED_TRACE(testing::Message() << size.width() << " x " << size.height() << " at " << zoom << " %");
        ui::theme().setZoomPercent(zoom);
        m_window->resize(size);
        QTest::qWait(50);
        check();
        EXPECT_LE(m_window->width(), size.width());
        EXPECT_LE(m_window->height(), size.height());
      }
    }
  }
  QRect place(const QWidget* widget) const { return {widget->mapTo(m_window.get(), QPoint(0, 0)), widget->size()}; }
  static int lines(const QWidget* widget) { return widget->height() / QFontMetrics(ui::theme().font(ui::TextRole::kBody)).lineSpacing(); }
  // Shown as a whole inside of the window, at no less than its least size.
  void expectWhole(const QWidget* widget, const char* what) {
    ASSERT_TRUE(widget->isVisible()) << what;
    EXPECT_TRUE(m_window->rect().contains(place(widget))) << what << " reaches out of the window";
    EXPECT_TRUE(isWhole(widget)) << what << " is cut";
    const int least = widget->minimumHeight() > 0 ? widget->minimumHeight() : widget->minimumSizeHint().height();
    EXPECT_GE(widget->height(), least) << what << " is squeezed";
    const QStatusBar* status = m_window->statusBar();
    EXPECT_FALSE(status->isVisible() && place(widget).intersects(place(status))) << what << " stands over the status bar";
  }
  void expectUsableBox() {
    QTest::qWait(20);  // what was brought back is laid out
    expectWhole(composer(), "the box");
    expectWhole(composer()->prompt(), "the question");
    EXPECT_GE(lines(composer()->prompt()), 1);
    expectWhole(composer()->sendButton(), "Send");
    expectWhole(composer()->method(), "the method");
    EXPECT_LE(composer()->prompt()->fontMetrics().horizontalAdvance(composer()->prompt()->placeholderText()),
              composer()->prompt()->viewport()->width())
        << "the hint is cut";
  }
  void expectWholeSetup(const ui::ComparisonSetup& setup) {
    expectUsableBox();
    expectWhole(&setup, "the choice");
    expectWhole(setup.compareButton(), "Compare");
    expectWhole(setup.orderBox(), "the order");
    EXPECT_FALSE(place(&setup).intersects(place(composer())));
  }
};

TEST_F(SmallWindow, TheChatShowsSeveralLinesAboveAWholeBox) {
  m_window->setPanelVisible(false);
  atEverySize([this] {
    ASSERT_TRUE(transcript()->isVisible());
    EXPECT_GE(lines(transcript()), 8);
    expectUsableBox();
    expectWhole(transcript(), "the chat");
  });
}

TEST_F(SmallWindow, ThePanelLeavesAUsableBoxOrTakesAllOfTheWindow) {
  atEverySize([this] {
    m_window->setPanelVisible(true);
    QTest::qWait(20);
    expectWhole(m_window->inspector(), "the panel");
    EXPECT_GE(lines(m_window->inspector()), 7);
    if (composer()->isVisible()) {
      expectUsableBox();
      EXPECT_GE(lines(transcript()), 5);
    } else {
      EXPECT_FALSE(m_window->sidebar()->isVisible());
      EXPECT_TRUE(waitUntil([this] { return m_window->inspector()->isAncestorOf(QApplication::focusWidget()); }));
      // Esc and whatever needs the chat bring it back.
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
      expectUsableBox();
      EXPECT_TRUE(waitUntil([this] { return composer()->prompt()->hasFocus(); }));
      m_window->setPanelVisible(true);
      m_window->page().writeQuestion();
      expectUsableBox();
      m_window->togglePanel();
      EXPECT_FALSE(composer()->isVisible());
      m_window->togglePanel();
      expectUsableBox();
      m_window->setPanelVisible(true);
      m_window->toggleSidebar();
      EXPECT_TRUE(m_window->sidebar()->isVisible());
      EXPECT_FALSE(m_window->inspector()->isVisible());
    }
    m_window->setPanelVisible(false);
  });
}

TEST_F(SmallWindow, ThePanelComesBackWithTheRoom) {
  ui::theme().setZoomPercent(200);
  m_window->resize(800, 560);
  m_window->setPanelVisible(true);
  EXPECT_FALSE(composer()->isVisible());
  m_window->page().writeQuestion();
  EXPECT_FALSE(m_window->inspector()->isVisible());
  ui::theme().setZoomPercent(100);
  m_window->resize(1280, 800);
  QTest::qWait(50);
  EXPECT_TRUE(m_window->inspector()->isVisible()) << "it was only stepping aside";
  expectUsableBox();
}

TEST_F(SmallWindow, TheChatsLeaveAUsableBoxOrTakeItsPlace) {
  atEverySize([this] {
    m_window->setSidebarVisible(true);
    QTest::qWait(20);
    expectWhole(m_window->sidebar()->list(), "the chats");
    if (composer()->isVisible()) {
      expectUsableBox();
    } else {
      m_window->sidebar()->list()->setFocus();
      QTest::keyClick(m_window->sidebar()->list(), Qt::Key_Return);
      expectUsableBox();
      EXPECT_TRUE(composer()->prompt()->hasFocus());
    }
    m_window->setSidebarVisible(false);
  });
}

// Names were cut at 25 letters on a screen of 1,920 pixels.
TEST_F(SmallWindow, NamesOfChatsHaveRoomOnAWideScreen) {
  m_window->resize(1280, 800);
  QTest::qWait(30);
  EXPECT_NEAR(inWindow<ui::ConversationSidebar>()->width(), 230, 12);
  m_window->resize(1920, 1000);
  QTest::qWait(30);
  EXPECT_NEAR(inWindow<ui::ConversationSidebar>()->width(), 330, 12);
}

TEST_F(SmallWindow, TheChoiceOfMethodsScrollsAboveAWholeBox) {
  m_window->setPanelVisible(false);
  m_window->page().compareOrLeave();
  auto* setup = inWindow<ui::ComparisonSetup>();
  atEverySize([this, setup] {
    expectWholeSetup(*setup);
    for (int i = 0; i < setup->count(); ++i) {
      setup->control(i)->setFocus(Qt::TabFocusReason);
      QTest::qWait(10);
      EXPECT_TRUE(isWhole(setup->control(i))) << "method " << i;
    }
  });
}

// The third method stood half under the order's box.
TEST_F(SmallWindow, MethodsAreWholeAboveAVideoToo) {
  m_window->setPanelVisible(false);
  composer()->addFile("/clips/long.mp4");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  composer()->prompt()->setPlainText(QStringLiteral("What color is the star?"));
  m_window->page().compareOrLeave();
  auto* setup = inWindow<ui::ComparisonSetup>();
  atEverySize([this, setup] {
    expectWholeSetup(*setup);
    if (ui::theme().zoomPercent() > 100) return;  // they scroll
    for (int i = 0; i < setup->count(); ++i) {
      EXPECT_TRUE(isWhole(setup->control(i))) << "method " << i;
      EXPECT_FALSE(place(setup->control(i)).intersects(place(setup->orderBox()))) << "method " << i;
    }
  });
}

TEST_F(SmallWindow, AComparisonShowsItsAnswers) {
  m_window->setPanelVisible(false);
  // With a video the line on later questions stands under the box.
  composer()->addFile("/clips/long.mp4");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  composer()->prompt()->setPlainText(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  m_window->page().compareOrLeave();
  composer()->prompt()->setFocus();
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison() && !session().answers.busy(); }));
  atEverySize([this] {
    auto* view = inWindow<ui::ComparisonView>();
    const ui::ColumnView* first = view->columns().front();
    expectWhole(view, "the comparison");
    expectWhole(first->header(), "the first header");
    expectWhole(first->transcript(), "the first answer");
    expectWhole(first->useButton(), "Use this answer");
    EXPECT_GE(lines(first->transcript()), 3);
    if (composer()->isVisible()) expectUsableBox();
  });
}

// A long red bar was cut at its last line, and so was the line under the box.
TEST_F(SmallWindow, ALongErrorIsWholeAndSoIsWhatStandsUnderTheBox) {
  m_window->setPanelVisible(false);
  composer()->addFile("/clips/long.mp4");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  ask(QStringLiteral("What color is the star?"));
  const Error longest{ErrorCode::kDamagedFile, "/home/somebody/videos/a-rather-long-name-of-a-video-that-was-recorded-in-summer.mp4",
                      "moov atom not found"};
  auto* bar = noticeBar("faults");
  bar->present(ui::noticeOf(longest));
  atEverySize([this, bar] {
    const auto* text = bar->findChild<QLabel*>();
    const auto* scroll = bar->findChild<QScrollArea*>();
    // In full, or scrolled by wheel and keys.
    EXPECT_TRUE(waitUntil([&] {
      const bool all = text->height() >= text->heightForWidth(text->width());
      const bool inView = isWhole(scroll) && (isWhole(text) || scroll->verticalScrollBar()->isVisible());
      return all && inView && scroll->viewport()->height() >= 2 * text->fontMetrics().lineSpacing();
    })) << text->height()
        << " of " << text->heightForWidth(text->width()) << ", in view " << scroll->viewport()->height();
    EXPECT_EQ(scroll->focusPolicy() != Qt::NoFocus, scroll->verticalScrollBar()->isVisible());
    for (const QWidget* line : {static_cast<QWidget*>(inWindow<ui::PreparationLine>()), static_cast<QWidget*>(inWindow<ui::PlanLine>())}) {
      if (!line->isVisible()) continue;
      expectWhole(line, "the line under the box");
      for (const QLabel* label : line->findChildren<QLabel*>()) {
        if (!label->isVisible() || label->text().isEmpty()) continue;
        EXPECT_TRUE(isWhole(label)) << label->text().toStdString();
        EXPECT_GE(label->height(), label->wordWrap() ? label->heightForWidth(label->width()) : label->fontMetrics().height())
            << label->text().toStdString();
      }
      for (const QPushButton* button : line->findChildren<QPushButton*>()) {
        EXPECT_TRUE(button->isHidden() || button->height() >= button->fontMetrics().height());
      }
    }
    expectUsableBox();
  });
  // Where little is shown at once, the lines come back when it is closed.
  ui::theme().setZoomPercent(200);
  m_window->resize(800, 560);
  auto* line = inWindow<ui::PreparationLine>();
  EXPECT_TRUE(waitUntil([line] { return !line->isVisible(); }));
  bar->dismiss();
  EXPECT_TRUE(waitUntil([line] { return line->isVisible(); }));
}

TEST_F(SmallWindow, TheSettingsFit) {
  for (const int which : {static_cast<int>(Qt::Key_Comma), static_cast<int>(Qt::Key_Slash)}) {
    atEverySize([this, which] {
      m_window->activateWindow();
      ASSERT_TRUE(waitUntil([this] { return QApplication::activeWindow() == m_window.get(); }));
      QTest::keyClick(m_window.get(), static_cast<Qt::Key>(which), Qt::ControlModifier);
      QDialog* dialog = nullptr;
      ASSERT_TRUE(waitUntil([&] {
        for (auto* each : m_window->findChildren<QDialog*>()) dialog = each->isVisible() ? each : dialog;
        return dialog != nullptr;
      }));
      QTest::qWait(20);
      EXPECT_LE(dialog->width(), m_window->width());
      EXPECT_LE(dialog->height(), m_window->height());
      for (const auto* button : dialog->findChildren<QPushButton*>()) {
        if (button->isVisibleTo(dialog) && button->visibleRegion().isEmpty()) continue;  // scrolled out of view
        EXPECT_TRUE(dialog->rect().contains(QRect(button->mapTo(dialog, QPoint(0, 0)), button->size()))) << button->text().toStdString();
      }
      delete dialog;
    });
  }
}

}  // namespace
}  // namespace winnow::test
