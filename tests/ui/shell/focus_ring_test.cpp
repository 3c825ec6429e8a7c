// Whoever works by keys sees where he is: every stop of the Tab key changes something at that place that can be made out.
#include <QDialog>
#include <QTabWidget>
#include <cmath>
#include <functional>

#include "tests/ui/support/window_fixture.h"
#include "ui/compare/comparison_setup.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/method_control.h"
#include "ui/inspector/inspector_panel.h"

namespace winnow::test {
namespace {

// WCAG 2.2, 2.4.13: between the states at least 3:1, and as much of it as a line of one pixel around the smallest of our controls.
constexpr double kContrast = 3.0;
constexpr int kPixels = 60;

double luminance(QRgb rgb) {
  const auto linear = [](int c) { return c <= 10 ? c / 255.0 / 12.92 : std::pow((c / 255.0 + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(qRed(rgb)) + 0.7152 * linear(qGreen(rgb)) + 0.0722 * linear(qBlue(rgb));
}

int changedPixels(const QImage& a, const QImage& b) {
  int count = 0;
  for (int y = 0; y < a.height(); ++y) {
    const auto* one = reinterpret_cast<const QRgb*>(a.constScanLine(y));
    const auto* two = reinterpret_cast<const QRgb*>(b.constScanLine(y));
    for (int x = 0; x < a.width(); ++x) {
      if (one[x] == two[x]) continue;
      const double la = luminance(one[x]), lb = luminance(two[x]);
      if ((std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05) >= kContrast) ++count;
    }
  }
  return count;
}

class FocusRing : public WindowTest {
 protected:
  static std::string nameOf(const QWidget* widget) {
    return std::string(widget->metaObject()->className()) + " “" + widget->accessibleName().toStdString() + "” in " +
           widget->parentWidget()->metaObject()->className();
  }

  // Of the control and what is right around it; the box for a question lights its frame.
  QImage seen(QWidget* window, QWidget* control) {
    QWidget* const shown = control == composer()->prompt() ? static_cast<QWidget*>(composer()) : control;
    const QRect place(shown->mapTo(window, QPoint(0, 0)), shown->size());
    return window->grab(place.adjusted(-3, -3, 3, 3)).toImage().convertToFormat(QImage::Format_RGB32);
  }

  // Goes once around the window by Tab.
  void expectEveryStopIsSeen(QWidget* window, const std::string& state) {
    window->activateWindow();
    QApplication::processEvents();
    QWidget* const first = window->focusWidget();
    ASSERT_NE(first, nullptr) << state;
    int stops = 0;
    for (QWidget* at = first; stops < 120; ++stops) {
      if (stops > 0 && at == first) break;
      const QImage with = seen(window, at);
      at->clearFocus();
      const QImage without = seen(window, at);
      at->setFocus(Qt::TabFocusReason);
      EXPECT_GE(changedPixels(with, without), kPixels) << state << ", stop " << stops << ": " << nameOf(at);
      QTest::keyClick(at, Qt::Key_Tab);
      QApplication::processEvents();
      QWidget* const next = window->focusWidget();
      ASSERT_NE(next, nullptr) << state;
      if (next == at) break;  // the only one, or it takes the key for itself: then Ctrl+Tab or Escape leaves it
      at = next;
    }
    EXPECT_GT(stops, 0) << state;
    EXPECT_LT(stops, 120) << state << ": Tab does not come back to where it began";
  }
  void expectInEveryTheme(const std::string& state, const std::function<QWidget*()>& open) {
    for (const ui::ThemeMode mode : {ui::ThemeMode::kLight, ui::ThemeMode::kDark}) {
      ui::theme().setMode(mode);
      QWidget* window = open();
      ASSERT_NE(window, nullptr) << state;
      expectEveryStopIsSeen(window, state + (mode == ui::ThemeMode::kLight ? ", light" : ", dark"));
      if (auto* dialog = qobject_cast<QDialog*>(window)) dialog->reject();
      QApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
  }
  QWidget* dialogBy(Qt::Key key, Qt::KeyboardModifiers modifiers) {
    m_window->activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
    QTest::keyClick(m_window.get(), key, modifiers);
    return openDialog();
  }
  QWidget* openDialog() {
    QWidget* found = nullptr;
    EXPECT_TRUE(waitUntil([&] {
      for (auto* dialog : m_window->findChildren<QDialog*>()) found = dialog->isVisible() ? dialog : found;
      return found != nullptr;
    }));
    QTest::qWait(100);  // what it shows may still come from the store, and the focus with it
    return found;
  }
  void attach(const char* path) {
    composer()->addFile(path);
    ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
    QTest::qWait(50);
  }
  QWidget* fromTheBox() {
    composer()->prompt()->setFocus();
    return m_window.get();
  }
};

TEST_F(FocusRing, EveryStopOfAFreshWindowIsSeen) {
  expectInEveryTheme("fresh", [this] { return fromTheBox(); });
}

TEST_F(FocusRing, EveryStopOfAChatWithVideosIsSeen) {
  attach("/clips/long.mp4");
  ask(QStringLiteral("What color is the star?"));
  m_window->setPanelVisible(true);
  attach("/clips/other.mp4");
  for (int page = 0; page < m_window->inspector()->tabs()->count(); ++page) {
    m_window->inspector()->tabs()->setCurrentIndex(page);
    expectInEveryTheme("chat, page " + std::to_string(page), [this] { return fromTheBox(); });
  }
}

TEST_F(FocusRing, EveryStopWhileMethodsAreChosenAndComparedIsSeen) {
  m_script = default_script;
  composer()->prompt()->setPlainText(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
  ASSERT_TRUE(inWindow<ui::ComparisonSetup>()->isVisible());
  expectInEveryTheme("choosing methods", [this] { return m_window.get(); });
  composer()->prompt()->setFocus();
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison() && !session().answers.busy(); }));
  expectInEveryTheme("comparison", [this] { return fromTheBox(); });
}

TEST_F(FocusRing, EveryStopOfTheDialogsIsSeen) {
  attach("/clips/long.mp4");
  ask(QStringLiteral("What color is the star?"));
  expectInEveryTheme("settings", [this] { return dialogBy(Qt::Key_Comma, Qt::ControlModifier); });
  expectInEveryTheme("shortcuts", [this] { return dialogBy(Qt::Key_Slash, Qt::ControlModifier); });
  expectInEveryTheme("kept tokens", [this] { return dialogBy(Qt::Key_T, Qt::ControlModifier); });
  expectInEveryTheme("methods", [this] {
    Q_EMIT composer()->method()->pickRequested();
    return openDialog();
  });
  expectInEveryTheme("recipe", [this] {
    Q_EMIT composer()->method()->changeRequested();
    return openDialog();
  });
}

}  // namespace
}  // namespace winnow::test
