// A paper page by page: turned, searched, quoted from, by the keyboard alone.
#include "ui/composer/page_viewer.h"

#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>

#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_card.h"
#include "ui/composer/page_list.h"
#include "ui/composer/password_dialog.h"
#include "ui/theme/find_bar.h"

namespace winnow::test {
namespace {

class PageViewerTest : public WindowTest {
 protected:
  ui::PageViewer* viewer() { return m_window->findChild<ui::PageViewer*>(); }
  void attach(const char* path) {
    composer()->addFile(path);
    ASSERT_TRUE(waitUntil([this] { return composer()->tray()->count() == 1 && !composer()->tray()->opening(); }));
  }
  void openFromCard(const char* path) {
    attach(path);
    QTest::keyClick(composer()->tray()->card(0), Qt::Key_Space);
    ASSERT_TRUE(waitUntil([this] { return viewer() != nullptr && viewer()->hasPicture(); }));
  }
  QString selected() { return viewer()->text()->textCursor().selectedText(); }
  int lineAtTop() { return viewer()->text()->textCursor().blockNumber(); }
};

TEST_F(PageViewerTest, IsOpenedFromTheCardAndTurnsItsPages) {
  openFromCard("/papers/a.pdf");
  EXPECT_EQ(viewer()->page(), 1);
  EXPECT_EQ(viewer()->list()->count(), 12);
  EXPECT_EQ(m_window->focusWidget(), viewer()->list()) << "the arrows turn them at once";
  QTest::keyClick(viewer()->list(), Qt::Key_Down);
  EXPECT_EQ(viewer()->page(), 2);
  EXPECT_EQ(lineAtTop(), 4) << "the text follows";
  QTest::keyClick(viewer(), Qt::Key_PageDown);
  QTest::keyClick(viewer()->list(), Qt::Key_Right);
  EXPECT_EQ(viewer()->page(), 4);
  QTest::keyClick(viewer(), Qt::Key_End);
  EXPECT_EQ(viewer()->page(), 12);
  QTest::keyClick(viewer(), Qt::Key_Right);
  EXPECT_EQ(viewer()->page(), 12);
  QTest::keyClick(viewer(), Qt::Key_Home);
  EXPECT_EQ(viewer()->page(), 1);
  const int width = m_preview->widestAsked;
  QTest::keyClick(viewer()->list(), Qt::Key_Plus);
  EXPECT_GT(m_preview->widestAsked, width) << "drawn anew, not stretched";
  QTest::keyClick(viewer(), Qt::Key_Escape);
  ASSERT_TRUE(waitUntil([this] { return viewer() == nullptr; }));
}

TEST_F(PageViewerTest, FindsWordsInAllPages) {
  openFromCard("/papers/a.pdf");
  QTest::keyClick(viewer(), Qt::Key_F, Qt::ControlModifier);
  ASSERT_TRUE(viewer()->findBar()->isVisible());
  QLineEdit* box = viewer()->findBar()->box();
  QTest::keyClicks(box, QStringLiteral("stone of page 1"));
  EXPECT_EQ(viewer()->findBar()->countText(), QStringLiteral("1 of 4")) << "1, 10, 11, 12";
  EXPECT_EQ(viewer()->page(), 1);
  QTest::keyClick(box, Qt::Key_Return);
  EXPECT_EQ(viewer()->page(), 10);
  EXPECT_EQ(selected(), QStringLiteral("stone of page 1"));
  QTest::keyClick(viewer(), Qt::Key_F3);
  EXPECT_EQ(viewer()->page(), 11);
  QTest::keyClick(viewer(), Qt::Key_F3, Qt::ShiftModifier);
  EXPECT_EQ(viewer()->page(), 10);
  QTest::keyClick(box, Qt::Key_Return, Qt::ShiftModifier);
  QTest::keyClick(box, Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(viewer()->page(), 12) << "behind the first comes the last";
  box->setText(QStringLiteral("granite"));
  EXPECT_EQ(viewer()->findBar()->countText(), QStringLiteral("Not found"));
  QTest::keyClick(box, Qt::Key_Escape);
  EXPECT_FALSE(viewer()->findBar()->isVisible());
  EXPECT_TRUE(viewer()->text()->extraSelections().isEmpty());
}

TEST_F(PageViewerTest, SelectedWordsGoIntoTheQuestionWithTheirPage) {
  openFromCard("/papers/a.pdf");
  EXPECT_FALSE(viewer()->quoteButton()->isEnabled());
  QTest::keyClick(viewer(), Qt::Key_End);
  viewer()->text()->setFocus();
  QTest::keyClick(viewer()->text(), Qt::Key_Down);
  QTest::keyClick(viewer()->text(), Qt::Key_Down, Qt::ShiftModifier);
  QTest::keyClick(viewer()->text(), Qt::Key_End, Qt::ShiftModifier);
  ASSERT_TRUE(viewer()->quoteButton()->isEnabled());
  composer()->prompt()->setPlainText(QStringLiteral("Is it true that"));
  composer()->prompt()->moveCursor(QTextCursor::End);
  viewer()->quoteButton()->click();
  ASSERT_TRUE(waitUntil([this] { return viewer() == nullptr; }));
  EXPECT_EQ(composer()->prompt()->toPlainText(),
            QStringLiteral("Is it true that “The stone of page 12 is a basalt of shore 12.” (page 12) "));
}

TEST_F(PageViewerTest, AScanHasPagesAndNoText) {
  openFromCard("/papers/scan.pdf");
  ASSERT_TRUE(waitUntil([this] { return !viewer()->text()->isVisible(); }));
  QTest::keyClick(viewer(), Qt::Key_F, Qt::ControlModifier);
  EXPECT_FALSE(viewer()->findBar()->isVisible());
  QTest::keyClick(viewer(), Qt::Key_Right);
  EXPECT_EQ(viewer()->page(), 2);
}

TEST_F(PageViewerTest, APageThatAnAnswerNamesIsALinkWhereThePaperHasIt) {
  m_script = [](const Request& request) {
    if (!std::holds_alternative<Turn>(request.body)) return default_script(request);
    return changed<MediaSampled>(answer_script(request, "It stands on page 7, not on page 40."),
                                 [](MediaSampled& sampled) { sampled.page_lines = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44}; });
  };
  attach("/papers/a.pdf");
  ModelTraits reads{.sees = false};
  composer()->tray()->suit(reads);
  ask(QStringLiteral("Where does it stand?"));
  const ui::MessageContent answer = transcript()->messageAt(transcript()->messageCount() - 1);
  ASSERT_NE(answer.places.pages, PageRange());
  EXPECT_EQ(answer.places.pages, (PageRange{1, 12}));
  Q_EMIT transcript()->linkActivated(answer.id, QUrl(QStringLiteral("winnow-page:7")));
  ASSERT_TRUE(waitUntil([this] { return viewer() != nullptr && viewer()->hasPicture(); }));
  EXPECT_EQ(viewer()->page(), 7);
  EXPECT_EQ(lineAtTop(), 24);
}

TEST_F(PageViewerTest, AnEncryptedPaperOfAKeptChatAsksForItsPassword) {
  m_preview->unlock("/papers/encrypted.pdf", QStringLiteral("secret"));
  app::Attachment paper{.path = "/papers/encrypted.pdf"};
  m_preview->unlock(paper.path, {});
  auto* shown = new ui::PageViewer(*m_preview, paper, 3, m_window.get());
  shown->open();
  ASSERT_TRUE(waitUntil([&] { return shown->findChild<ui::PasswordDialog*>() != nullptr; }));
  auto* password = shown->findChild<ui::PasswordDialog*>();
  QTest::keyClicks(password->box(), QStringLiteral("secret"));
  QTest::keyClick(password->box(), Qt::Key_Return);
  ASSERT_TRUE(waitUntil([&] { return shown->hasPicture(); }));
  EXPECT_EQ(shown->page(), 3);
}

}  // namespace
}  // namespace winnow::test
