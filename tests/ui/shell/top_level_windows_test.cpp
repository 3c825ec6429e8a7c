// One window is one window: no change of colours, size or language opens another, whatever was opened before.
#include <QAbstractItemView>
#include <QComboBox>
#include <QScreen>
#include <QTranslator>

#include "tests/ui/support/window_fixture.h"
#include "ui/compare/comparison_setup.h"

namespace winnow::test {
namespace {

class TopLevelWindows : public WindowTest {
 protected:
  // What a person would see on the screen.
  static QStringList visible() {
    QStringList names;
    for (const QWidget* widget : QApplication::topLevelWidgets()) {
      if (widget->isVisible()) names << QStringLiteral("%1 “%2”").arg(widget->metaObject()->className(), widget->windowTitle());
    }
    names.sort();
    return names;
  }

  void expectNoMoreAfterEveryChange(const char* state) {
    const QStringList before = visible();
    ASSERT_EQ(before.size(), 1) << state << ": " << before.join(QLatin1String(", ")).toStdString();
    const auto expectSame = [&](const std::string& change) {
      QTest::qWait(20);  // what is put off to the event loop too
      EXPECT_EQ(visible(), before) << state << ", " << change << ": " << visible().join(QLatin1String(", ")).toStdString();
    };
    for (const app::Theme mode : {app::Theme::kDark, app::Theme::kLight, app::Theme::kSystem}) {
      m_settings->setTheme(mode);
      expectSame("theme " + std::to_string(static_cast<int>(mode)));
    }
    for (const double zoom : {0.75, 1.1, 2.0, 1.0}) {
      m_settings->setZoom(zoom);
      expectSame("zoom " + std::to_string(zoom));
    }
    QTranslator translator;
    QApplication::installTranslator(&translator);
    QEvent language(QEvent::LanguageChange);
    QApplication::sendEvent(qApp, &language);
    expectSame("language");
    QEvent locale(QEvent::LocaleChange);
    QApplication::sendEvent(m_window.get(), &locale);
    expectSame("locale");
    QApplication::removeTranslator(&translator);
    expectSame("language back");
  }
};

TEST_F(TopLevelWindows, TheFirstFitsOnTheScreenWithItsTitleBar) {
  const QSize room = m_window->screen()->availableGeometry().size();
  EXPECT_LE(m_firstSize.height() + 40, room.height());
  EXPECT_LE(m_firstSize.width() + 8, room.width());
}

TEST_F(TopLevelWindows, ListsThatDropDownHaveAFrame) {
  QComboBox box;
  box.addItems({QStringLiteral("one"), QStringLiteral("two")});
  box.show();
  box.showPopup();
  const QImage list = box.view()->window()->grab().toImage();
  const QRgb frame = ui::theme().colors().strongBorder.rgb();
  EXPECT_EQ(list.pixel(list.width() / 2, 0), frame);
  EXPECT_EQ(list.pixel(0, list.height() / 2), frame);
  box.hidePopup();
}

TEST_F(TopLevelWindows, AFreshWindowStaysAlone) { expectNoMoreAfterEveryChange("fresh"); }

TEST_F(TopLevelWindows, AChatWithAnAnswerStaysAlone) {
  composer()->addFile("/clips/long.mp4");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  ask(QStringLiteral("What color is the star?"));
  expectNoMoreAfterEveryChange("with an answer");
}

TEST_F(TopLevelWindows, AComparisonStaysAlone) {
  m_script = default_script;
  composer()->prompt()->setPlainText(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  QTest::mouseClick(composer()->compareButton(), Qt::LeftButton);
  expectNoMoreAfterEveryChange("choosing methods");
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison() && !session().answers.busy(); }));
  expectNoMoreAfterEveryChange("comparing");
  QTest::mouseClick(composer()->compareButton(), Qt::LeftButton);
  QTest::mouseClick(composer()->compareButton(), Qt::LeftButton);
  expectNoMoreAfterEveryChange("after comparing");
}

// A window that opens with settings of its own, as after a restart.
TEST_F(TopLevelWindows, ASecondStartWithAnotherThemeAndZoomStaysAlone) {
  m_settings->setTheme(app::Theme::kDark);
  m_settings->setZoom(1.25);
  reopen();
  QTest::qWait(50);
  EXPECT_EQ(visible().size(), 1) << visible().join(QLatin1String(", ")).toStdString();
  expectNoMoreAfterEveryChange("second start");
}

}  // namespace
}  // namespace winnow::test
