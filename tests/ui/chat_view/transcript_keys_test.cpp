// What is in the conversation is opened by keys as by the pointer: links of answers, attachments of questions, buttons of a message.
#include <QMenu>
#include <QMessageBox>
#include <QTimer>

#include "tests/ui/support/window_fixture.h"
#include "ui/composer/frame_viewer.h"

namespace winnow::test {
namespace {

class TranscriptKeys : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    m_window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
  }
  void answerWith(const QString& text) {
    m_script = [answer = text.toStdString()](const Request& request) {
      if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
      return answer_script(request, answer);
    };
    ask(QStringLiteral("Where can I read more?"));
    transcript()->setFocus(Qt::TabFocusReason);
  }
  static void key(int which, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    ASSERT_NE(QApplication::focusWidget(), nullptr);
    QTest::keyClick(QApplication::focusWidget(), static_cast<Qt::Key>(which), modifiers);
  }
  QString questionAbout() {
    QMessageBox* box = nullptr;
    EXPECT_TRUE(waitUntil([&] {
      box = m_window->findChild<QMessageBox*>();
      return box != nullptr && box->isVisible();
    }));
    if (box == nullptr) return {};
    const QString address = box->informativeText();
    box->reject();
    EXPECT_TRUE(waitUntil([this] { return m_window->findChild<QMessageBox*>() == nullptr; }));
    m_window->activateWindow();  // the offscreen platform does not
    EXPECT_TRUE(waitUntil([this] { return QApplication::activeWindow() == m_window.get(); }));
    return address;
  }
};

TEST_F(TranscriptKeys, TabWalksTheLinksOfAnAnswerAndEnterOpensThem) {
  answerWith(
      QStringLiteral("See [the **first** page](https://example.org/a) and https://example.org/b.\n\n| more |\n|---|\n| "
                     "[here](https://example.org/c) |\n"));
  ASSERT_TRUE(transcript()->hasFocus());
  EXPECT_TRUE(transcript()->accessibleDescription().isEmpty()) << "the answer itself comes first";
  const QImage message = transcript()->grab().toImage();
  QImage before = message;
  for (const QString& link :
       {QStringLiteral("https://example.org/a"), QStringLiteral("https://example.org/b"), QStringLiteral("https://example.org/c")}) {
    key(Qt::Key_Tab);
    ASSERT_TRUE(transcript()->hasFocus()) << link.toStdString();
    EXPECT_EQ(transcript()->accessibleDescription(), link);
    const QImage now = transcript()->grab().toImage();
    EXPECT_NE(now, before) << "the ring goes along";
    before = now;
    key(Qt::Key_Return);
    EXPECT_EQ(questionAbout(), link);
    transcript()->setFocus(Qt::OtherFocusReason);
  }
  key(Qt::Key_Backtab, Qt::ShiftModifier);
  EXPECT_EQ(transcript()->accessibleDescription(), QStringLiteral("https://example.org/b"));
  key(Qt::Key_Tab);
  key(Qt::Key_Tab);
  EXPECT_FALSE(transcript()->hasFocus()) << "behind the last link Tab leaves";
  key(Qt::Key_Backtab, Qt::ShiftModifier);
  ASSERT_TRUE(transcript()->hasFocus());
  EXPECT_EQ(transcript()->accessibleDescription(), QStringLiteral("https://example.org/c")) << "and comes back to it";
  for (int i = 0; i < 3; ++i) key(Qt::Key_Backtab, Qt::ShiftModifier);
  ASSERT_TRUE(transcript()->hasFocus()) << "the answer itself";
  EXPECT_TRUE(transcript()->accessibleDescription().isEmpty());
  EXPECT_EQ(transcript()->grab().toImage(), message);
  key(Qt::Key_Backtab, Qt::ShiftModifier);
  EXPECT_FALSE(transcript()->hasFocus());
}

TEST_F(TranscriptKeys, AnAnswerWithoutLinksIsOneStop) {
  answerWith(QStringLiteral("No [link](file:///etc/passwd), and no address: me@home."));
  key(Qt::Key_Tab);
  EXPECT_FALSE(transcript()->hasFocus());
}

TEST_F(TranscriptKeys, ALinkOutOfViewIsBroughtIntoView) {
  answerWith(QStringLiteral("[Top](https://example.org/top)\n\n") + QStringLiteral("A paragraph.\n\n").repeated(120) +
             QStringLiteral("[End](https://example.org/end)"));
  ASSERT_TRUE(transcript()->atEnd());
  key(Qt::Key_Tab);
  EXPECT_EQ(transcript()->accessibleDescription(), QStringLiteral("https://example.org/top"));
  EXPECT_FALSE(transcript()->atEnd());
  key(Qt::Key_Tab);
  EXPECT_TRUE(transcript()->atEnd());
}

TEST_F(TranscriptKeys, AttachmentsOfAQuestionOpen) {
  ASSERT_TRUE(attaches("/clips/long.mp4"));
  answerWith(QStringLiteral("Red."));
  key(Qt::Key_Up, Qt::ControlModifier);
  key(Qt::Key_Tab);
  ASSERT_TRUE(transcript()->hasFocus());
  key(Qt::Key_Return);
  EXPECT_TRUE(waitUntil([this] {
    const auto* viewer = m_window->findChild<ui::FrameViewer*>();
    return viewer != nullptr && viewer->isVisible();
  }));
}

// Whatever a pointer presses at a message is in its menu.
TEST_F(TranscriptKeys, TheMenuOfAMessageHasItsButtons) {
  answerWith(QStringLiteral("Red."));
  key(Qt::Key_R, Qt::ControlModifier);
  ASSERT_TRUE(waitUntil([this] { return last().branchCount == 2 && !session().answers.busy(); }));
  ASSERT_EQ(last().branch, 1);
  transcript()->setFocus(Qt::TabFocusReason);
  bool offered = false;
  QTimer::singleShot(0, this->transcript(), [&offered] {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    ASSERT_NE(menu, nullptr);
    for (QAction* action : menu->actions()) {
      if (action->text() != QStringLiteral("Previous answer")) continue;
      offered = true;
      action->trigger();
    }
    menu->close();
  });
  key(Qt::Key_Menu);
  EXPECT_TRUE(offered);
  EXPECT_TRUE(waitUntil([this] { return last().branch == 0; }));
}

}  // namespace
}  // namespace winnow::test
