// Pictures of comparisons and of a checked answer, for people to look at.
#include <QPushButton>
#include <QToolButton>

#include "tests/support/scripted_comparison.h"
#include "tests/ui/support/screenshot.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/compare/column_view.h"
#include "ui/compare/comparison_setup.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/attachment_tray.h"

namespace winnow::test {
namespace {

using namespace std::chrono_literals;

class ComparisonScreenshots : public WindowTest {
 protected:
  void SetUp() override {
    m_script = [this](const Request& request) {
      if (std::holds_alternative<Compare>(request.body)) return compare_script(request, m_answers, m_delay, 8);
      if (std::holds_alternative<Score>(request.body)) return score_script(request, m_answers[0]);
      if (std::holds_alternative<Turn>(request.body)) return answer_script(request, m_answers[1], 0ms, 8);
      return default_script(request);
    };
    WindowTest::SetUp();
    app::NamedRecipe full, vl, snap, fastv;
    full.spec.method = "full";
    vl.spec.method = "vl-cache";
    vl.spec.retention = 0.1;
    snap.spec.method = "snapkv";
    snap.spec.retention = 0.1;
    fastv.spec.method = "fastv";
    fastv.spec.retention = 0.5;
    m_sets = {{full, vl, snap}, {full, vl, snap, fastv}};
    m_settings->setComparedRecipes(m_sets[0]);
  }

  void attachAndType() {
    composer()->addFile("/samples/a minute of shapes.mp4");
    composer()->prompt()->setPlainText(QStringLiteral("What color is the star, and what comes after it?"));
    ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled() && m_preview->thumbnailsAsked > 0; }));
    QTest::qWait(250);
  }
  void openSetup() { QTest::keyClick(composer()->prompt(), Qt::Key_K, Qt::ControlModifier); }
  void compare() {
    attachAndType();
    openSetup();
    composer()->prompt()->setFocus();
    pressEnter();
    ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison(); }));
  }
  bool ended() {
    return waitUntil([this] { return !session().answers.busy() && inWindow<ui::ComparisonView>()->model()->comparison().id != 0; });
  }
  void shoot(const QString& name) { saveScreenshot(name, m_window.get()); }

  std::vector<std::string> m_answers = {
      "The star is **red**. After it come:\n\n1. a blue circle\n2. a card with the letter K\n3. a green square\n\nThe star is seen from 0 "
      "to 8 seconds.",
      "The star is **red**. After it come:\n\n1. a blue circle\n2. a card with the letter R\n3. a green square\n\nThe star is seen from 0 "
      "to 9 seconds.",
      "The star is **orange**. After it come:\n\n1. a circle\n2. a card with the letter K\n\nThe star is seen from 0 to 8 seconds.",
      "A star, a circle and a card."};
  std::chrono::milliseconds m_delay{0};
  std::vector<std::vector<app::NamedRecipe>> m_sets;
};

TEST_F(ComparisonScreenshots, Setup) {
  attachAndType();
  openSetup();
  EXPECT_FALSE(inWindow<ui::ComparisonSetup>()->isHidden());
  shoot(QStringLiteral("compare_setup"));
  m_settings->setTheme(app::Theme::kDark);
  m_settings->setZoom(2.0);
  m_window->resize(800, 560);
  shoot(QStringLiteral("compare_setup_dark_zoom200_800x560"));
  EXPECT_LE(m_window->height(), 560);
  EXPECT_LE(m_window->width(), 800);
}

TEST_F(ComparisonScreenshots, RunningAndEnded) {
  m_delay = 25ms;
  compare();
  ASSERT_TRUE(waitUntil([this] { return inWindow<ui::ComparisonView>()->model()->answer(1).text.size() > 60; }));
  shoot(QStringLiteral("compare_running"));
  ASSERT_TRUE(ended());
  shoot(QStringLiteral("compare"));
  m_window->resize(1600, 900);
  shoot(QStringLiteral("compare_wide"));
  m_window->resize(1280, 800);
  m_settings->setTheme(app::Theme::kDark);
  shoot(QStringLiteral("compare_dark"));
  QTest::mouseClick(inWindow<ui::ComparisonView>()->columns()[1]->header()->aloneButton(), Qt::LeftButton);
  shoot(QStringLiteral("compare_alone_dark"));
  QTest::mouseClick(inWindow<ui::ComparisonView>()->columns()[1]->header()->aloneButton(), Qt::LeftButton);
  m_settings->setTheme(app::Theme::kLight);
  m_window->resize(800, 560);
  shoot(QStringLiteral("compare_800x560"));
  m_settings->setZoom(2.0);
  shoot(QStringLiteral("compare_zoom200_800x560"));
  EXPECT_LE(m_window->width(), 800);
  EXPECT_LE(m_window->height(), 560);
  m_window->resize(1600, 1000);
  shoot(QStringLiteral("compare_zoom200"));
}

TEST_F(ComparisonScreenshots, FourMethodsAndTheEntryInTheChat) {
  m_settings->setComparedRecipes(m_sets[1]);
  compare();
  ASSERT_TRUE(ended());
  m_window->setPanelVisible(false);
  shoot(QStringLiteral("compare_four"));
  QTest::mouseClick(inWindow<ui::ComparisonView>()->columns()[1]->useButton(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  shoot(QStringLiteral("compare_used"));
}

TEST_F(ComparisonScreenshots, CheckedAnswer) {
  attachAndType();
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && last().metrics.valid; }));
  QTest::keyClick(composer()->prompt(), Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(waitUntil([this] { return !last().checked.isEmpty(); }));
  transcript()->setFocus();
  QTest::keyClick(transcript(), Qt::Key_F8);
  shoot(QStringLiteral("checked"));
  m_settings->setTheme(app::Theme::kDark);
  m_settings->setZoom(2.0);
  shoot(QStringLiteral("checked_dark_zoom200"));
}

}  // namespace
}  // namespace winnow::test
