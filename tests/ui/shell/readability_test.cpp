// Nothing is cut off and nothing is nameless, at every size that the window promises.
#include <QAbstractButton>
#include <QAccessible>
#include <QLabel>
#include <QScrollArea>
#include <cmath>

#include "tests/ui/support/window_fixture.h"
#include "ui/compare/comparison_setup.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/composer.h"
#include "ui/shell/model/model_offer_box.h"
#include "ui/shell/model/welcome_page.h"
#include "ui/theme/theme.h"

namespace winnow::test {
namespace {

class ReadabilityTest : public WindowTest {
 protected:
  void show(int zoom, const QSize& size) {
    ui::theme().setZoomPercent(zoom);
    m_window->resize(size);
  }
  void expectSize(const QSize& size, const QString& state) {
    EXPECT_LE(m_window->width(), size.width()) << "the window grew past its size: " << state.toStdString();
    EXPECT_LE(m_window->height(), size.height()) << "the window grew past its size: " << state.toStdString();
  }
};

// What is cut off now, a line each.
QStringList cutTexts(const QWidget& root) {
  QStringList cut;
  for (const QWidget* widget : root.findChildren<QWidget*>()) {
    if (!widget->isVisible()) continue;
    if (const auto* label = qobject_cast<const QLabel*>(widget)) {
      // Labels that give way by design draw an ellipsis and carry the text elsewhere.
      if (label->text().isEmpty() || label->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored) continue;
      const bool low = label->height() < (label->wordWrap() ? label->heightForWidth(label->width()) : label->fontMetrics().height());
      const bool narrow = !label->wordWrap() && label->contentsRect().width() < label->fontMetrics().horizontalAdvance(label->text());
      if (low || narrow) cut << label->text();
    } else if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
      const QSize text = button->fontMetrics().size(Qt::TextShowMnemonic, button->text());
      if (!button->text().isEmpty() && (button->width() < text.width() || button->height() < button->fontMetrics().height()))
        cut << button->text();
    }
  }
  return cut;
}

// Once everything has found its place, which takes as long as the machine takes.
void expectTextFits(const QWidget& root, const QString& state) {
  waitUntil([&root] { return cutTexts(root).isEmpty(); });
  EXPECT_EQ(cutTexts(root), QStringList()) << state.toStdString() << ": " << cutTexts(root).join(QStringLiteral(" | ")).toStdString();
}

TEST_F(ReadabilityTest, NoLabelIsClippedAtAnyPromisedSize) {
  const std::pair<int, QSize> promised[] = {{75, QSize(800, 560)},  {100, QSize(800, 560)}, {150, QSize(800, 560)},
                                            {200, QSize(800, 560)}, {75, QSize(480, 400)},  {100, QSize(480, 400)}};
  for (const auto& [zoom, size] : promised) {
    show(zoom, size);
    const QString state = QStringLiteral("empty at %1 %, %2 wide").arg(zoom).arg(size.width());
    expectTextFits(*m_window, state);
    expectSize(size, state);
  }
  ui::theme().setZoomPercent(100);
  m_window->resize(1280, 800);
  ask(QStringLiteral("What color is the star?"));
  for (const int zoom : {100, 200}) {
    show(zoom, zoom == 200 ? QSize(1800, 1200) : QSize(1280, 800));
    m_window->setPanelVisible(true);
    expectTextFits(*m_window, QStringLiteral("panel at %1 %").arg(zoom));
  }
}

TEST_F(ReadabilityTest, TheOfferOfAModelIsReadableInEveryState) {
  close();
  ui::InitialState initial;
  initial.modelFolder = initial.demoModelFolder = QStringLiteral("/usr/share/winnow/demo/model");
  open(initial);
  ui::WelcomePage* page = inWindow<ui::WelcomePage>();
  ui::ModelOfferBox* offer = m_window->findChildren<ui::ModelOfferBox*>().at(1);  // the first is of a model that sees
  const auto expectReadable = [&](const char* state) {
    for (const int zoom : {75, 100, 150, 200}) {
      show(zoom, QSize(800, 560));
      ASSERT_TRUE(offer->isVisibleTo(page)) << state;
      const QString at = QStringLiteral("%1 at %2 %").arg(QLatin1String(state)).arg(zoom);
      expectTextFits(*page, at);
      expectSize(QSize(800, 560), at);
      EXPECT_TRUE(waitUntil([page] { return page->widget()->width() <= page->viewport()->width(); }))
          << state << " at " << zoom << ": it is cut off on the right";
    }
  };
  expectReadable("offered");
  Q_EMIT offer->accepted();
  ASSERT_NE(m_downloads.current, nullptr);
  Q_EMIT m_downloads.current->progressed({app::DownloadStage::kDownloading, 46'435'520, 92'871'040});
  expectReadable("running");
  Q_EMIT m_downloads.current->failed({app::DownloadProblem::kNoTrust, QStringLiteral("files.pythonhosted.org"), QStringLiteral("unknown")});
  expectReadable("failed");
}

TEST_F(ReadabilityTest, EverythingThatTakesTheFocusHasAName) {
  composer()->addFile("/clips/long.mp4");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  int checked = 0;
  for (const QWidget* widget : m_window->findChildren<QWidget*>()) {
    // Internal parts of composite controls are named by the control.
    if (widget->focusPolicy() == Qt::NoFocus || widget->objectName().startsWith(QLatin1String("qt_")) || widget->focusProxy() != nullptr)
      continue;
    const QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
    ASSERT_NE(accessible, nullptr);
    EXPECT_FALSE(accessible->text(QAccessible::Name).isEmpty())
        << widget->metaObject()->className() << " in " << (widget->parent() ? widget->parent()->metaObject()->className() : "");
    ++checked;
  }
  EXPECT_GT(checked, 15);
}

TEST_F(ReadabilityTest, AComparisonIsReadableAndNamedAtAnyPromisedSize) {
  m_script = default_script;
  composer()->prompt()->setPlainText(QStringLiteral("What color is the star?"));
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  QTest::mouseClick(composer()->compareButton(), Qt::LeftButton);
  for (const int zoom : {75, 100, 150, 200}) {
    show(zoom, QSize(800, 560));
    ASSERT_TRUE(composer()->prompt()->isVisible());
    const QString state = QStringLiteral("choosing at %1 %").arg(zoom);
    expectTextFits(*inWindow<ui::ComparisonSetup>(), state);
    expectSize(QSize(800, 560), state);
  }
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison() && !session().answers.busy(); }));
  for (const int zoom : {75, 100, 150, 200}) {
    for (const QSize& size : {QSize(800, 560), QSize(1280, 800)}) {
      show(zoom, size);
      const QString state = QStringLiteral("comparison at %1 %, %2 wide").arg(zoom).arg(size.width());
      expectTextFits(*inWindow<ui::ComparisonView>(), state);
      expectSize(size, state);
    }
  }
  for (const QWidget* widget : inWindow<ui::ComparisonView>()->findChildren<QWidget*>()) {
    if (widget->focusPolicy() == Qt::NoFocus || widget->objectName().startsWith(QLatin1String("qt_")) || widget->focusProxy() != nullptr)
      continue;
    const QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
    ASSERT_NE(accessible, nullptr);
    EXPECT_FALSE(accessible->text(QAccessible::Name).isEmpty()) << widget->metaObject()->className();
  }
}

TEST_F(ReadabilityTest, MessagesAreAccessibleListItems) {
  ask(QStringLiteral("What color is the star?"));
  QAccessibleInterface* list = QAccessible::queryAccessibleInterface(transcript());
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->role(), QAccessible::List);
  ASSERT_EQ(list->childCount(), 2);
  EXPECT_TRUE(list->child(0)->text(QAccessible::Name).contains(QStringLiteral("What color is the star?")));
  EXPECT_EQ(list->child(1)->role(), QAccessible::ListItem);
}

double luminance(const QColor& color) {
  const auto linear = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

double contrast(const QColor& a, const QColor& b) {
  const double la = luminance(a), lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

TEST_F(ReadabilityTest, ColoursAreFarEnoughApart) {
  for (const ui::ThemeMode mode : {ui::ThemeMode::kLight, ui::ThemeMode::kDark}) {
    ui::theme().setMode(mode);
    const ui::Colors& c = ui::theme().colors();
    for (const QColor& ground :
         {c.window, c.sidebar, c.surface, c.raised, c.code, c.userBubble, c.accentSoft, c.dangerSoft, c.warningSoft, c.hover}) {
      EXPECT_GE(contrast(c.text, ground), 4.5) << ground.name().toStdString();
      EXPECT_GE(contrast(c.mutedText, ground), 4.5) << "muted on " << ground.name().toStdString() << (c.dark ? " dark" : " light");
    }
    EXPECT_GE(contrast(c.onAccent, c.accent), 4.5);
    EXPECT_GE(contrast(c.link, c.window), 4.5);
    EXPECT_GE(contrast(c.warning, c.surface), 4.5);
    EXPECT_GE(contrast(c.warning, c.warningSoft), 3.0) << "the line under a marked word";
    EXPECT_GE(contrast(c.danger, c.dangerSoft), 3.0);
    EXPECT_GE(contrast(c.chartVisual, c.sidebar), 3.0);
    EXPECT_GE(contrast(c.strongBorder, c.window), 3.0);
  }
}

}  // namespace
}  // namespace winnow::test
