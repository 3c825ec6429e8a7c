#include "ui/shell/window/main_window.h"
#include "ui/shell/window/shortcuts_dialog.h"

#include <QAction>
#include <QClipboard>
#include <QDialog>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMap>
#include <QMimeData>
#include <QPushButton>
#include <QTabWidget>
#include <QToolButton>
#include <algorithm>

#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_tray.h"
#include "ui/composer/frame_strip.h"
#include "ui/composer/frame_viewer.h"
#include "ui/composer/method_control.h"
#include "ui/composer/viewer_parts.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/shell/chat/conversation_sidebar.h"
#include "ui/shell/ground/notice_bar.h"
#include "ui/shell/model/welcome_page.h"
#include "ui/theme/popup_card.h"

namespace winnow::test {
namespace {

using namespace std::chrono_literals;

using MainWindowTest = WindowTest;

int turnsSeen(const ScriptedEngineLog& log) {
  int turns = 0;
  for (const Request& request : log.requests()) turns += std::holds_alternative<Turn>(request.body);
  return turns;
}

TEST_F(MainWindowTest, EnterSendsAndTheAnswerStreamsAndIsSaved) {
  EXPECT_TRUE(inWindow<ui::WelcomePage>()->isVisible());
  type(QStringLiteral("What color is the star?"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && last().metrics.valid; }));
  EXPECT_FALSE(inWindow<ui::WelcomePage>()->isVisible());
  EXPECT_TRUE(composer()->prompt()->toPlainText().isEmpty());
  EXPECT_EQ(transcript()->messageAt(0).text, QStringLiteral("What color is the star?"));
  EXPECT_EQ(last().text, QStringLiteral("The star is **red**. It is a star in the middle of the frame."));
  EXPECT_EQ(turnsSeen(*m_log), 1);
  EXPECT_TRUE(m_window->statusText().contains(QStringLiteral("shapes-demo")));
  ASSERT_GT(session().answers.monitor().figures().tokensPerS, 0.0);
  EXPECT_FALSE(m_window->statusText().contains(QStringLiteral("tok/s"))) << "beside the method that comes next it would be read as its own";
  reopen();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; })) << "the chat was not reopened";
  EXPECT_TRUE(last().metrics.valid);
}

TEST_F(MainWindowTest, WhatWentWrongInAChatIsNotToldInTheNext) {
  ask(QStringLiteral("What color is the star?"));
  auto* faults = noticeBar("faults");
  Q_EMIT session().chat.problem(Error{ErrorCode::kFileNotFound, "/home/a/film.mp4", "does not exist"});
  ASSERT_TRUE(faults->isVisible());
  QTest::keyClick(composer()->prompt(), Qt::Key_N, Qt::ControlModifier);
  EXPECT_TRUE(waitUntil([&] { return session().chat.id() == 0 && !faults->isVisible(); }));
  faults->present(ui::noticeOf(Error{ErrorCode::kFileNotFound, "/models/gone", "does not exist"}));  // of the program: of every chat
  m_window->sidebar()->step(1);
  ASSERT_TRUE(waitUntil([this] { return session().chat.id() != 0; }));
  EXPECT_TRUE(faults->isVisible());
}

TEST_F(MainWindowTest, StopKeepsThePartialAnswer) {
  m_script = answering("one two three four five six seven eight nine ten eleven twelve thirteen fourteen", 60ms);
  composer()->prompt()->setPlainText(QStringLiteral("count"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && !last().text.isEmpty(); }));
  QTest::mouseClick(composer()->sendButton(), Qt::LeftButton);
  ASSERT_TRUE(idle());
  EXPECT_EQ(last().status, ui::MessageStatus::kInterrupted);
  EXPECT_TRUE(last().text.startsWith(QStringLiteral("one")));
  EXPECT_FALSE(last().text.contains(QStringLiteral("fourteen")));
}

TEST_F(MainWindowTest, RegenerateMakesABranch) {
  ask(QStringLiteral("What color is the star?"));
  const qint64 first = last().id;
  session().answers.regenerate(first);
  ASSERT_TRUE(waitUntil([&] { return last().id != first && last().metrics.valid; }));
  EXPECT_EQ(transcript()->messageCount(), 2);
  EXPECT_EQ(last().branchCount, 2);
  EXPECT_EQ(last().branch, 1);
  session().chat.switchBranch(last().id, -1);
  EXPECT_EQ(last().id, first);
}

TEST_F(MainWindowTest, RenameDeleteAndUndo) {
  ask(QStringLiteral("first chat"));
  const ConversationId id = session().chat.id();
  ui::ConversationListModel& list = session().list.model();
  ASSERT_TRUE(waitUntil([&] { return list.rowOf(id) >= 0; }));
  m_window->sidebar()->select(id);
  m_window->sidebar()->renameSelected();
  auto* editor = m_window->sidebar()->list()->findChild<QLineEdit*>();
  ASSERT_NE(editor, nullptr);
  editor->setText(QStringLiteral("Stars"));
  app::Conversation touched = *list.find(id);
  touched.preview = QStringLiteral("what the store tells meanwhile");
  list.put(touched);
  EXPECT_EQ(editor->text(), QStringLiteral("Stars")) << "what is being typed is overwritten";
  QTest::keyClick(editor, Qt::Key_Return);
  ASSERT_TRUE(waitUntil([&] { return list.find(id) && list.find(id)->title == QStringLiteral("Stars"); }));
  EXPECT_EQ(ui::ConversationListModel::shownTitle(session().chat.loaded().conversation), QStringLiteral("Stars"));
  QTest::keyClick(m_window->sidebar()->list(), Qt::Key_Delete);
  ASSERT_TRUE(waitUntil([&] { return list.rowOf(id) < 0; }));
  EXPECT_NE(session().chat.id(), id);
  EXPECT_TRUE(session().list.canUndoRemove());
  session().list.undoRemove();
  ASSERT_TRUE(waitUntil([&] { return list.rowOf(id) >= 0 && session().chat.id() == id; }));
  EXPECT_EQ(transcript()->messageCount(), 2);
}

// The question that a start brings along is nobody's draft: closed without asking, it leaves no "New chat" in the list.
TEST_F(MainWindowTest, AStartThatIsNotUsedLeavesNoChat) {
  close();
  ui::InitialState initial{.attachedFiles = {"/clips/long.mp4"}, .question = QStringLiteral("Which was the first shape?")};
  open(initial);
  ASSERT_TRUE(waitUntil([this] { return composer()->draft().attachments.size() == 1; }));
  reopen();
  EXPECT_EQ(session().list.model().rowCount(), 0);
  close();
  open(initial);
  ASSERT_TRUE(waitUntil([this] { return composer()->draft().attachments.size() == 1; }));
  QTest::keyClicks(composer()->prompt(), QStringLiteral("Which was the last shape?"));
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("Which was the last shape?")) << "typed in place of what was offered";
  ASSERT_TRUE(waitUntil([this] { return session().list.model().rowCount() == 1; }));
  reopen();
  ASSERT_EQ(session().list.model().rowCount(), 1) << "what was written is kept";
  EXPECT_TRUE(waitUntil([this] { return composer()->prompt()->toPlainText() == QStringLiteral("Which was the last shape?"); }));
}

TEST_F(MainWindowTest, APinnedChatStandsOnTopAndStaysThere) {
  ask(QStringLiteral("first chat"));
  const ConversationId first = session().chat.id();
  session().chat.startNew();
  ask(QStringLiteral("second chat"));
  ui::ConversationListModel& list = session().list.model();
  ASSERT_TRUE(waitUntil([&] { return list.rowCount() == 2 && list.rowOf(first) == 1; }));
  session().chat.open(first);
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == first; }));
  m_window->activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
  QTest::keyClick(m_window.get(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(waitUntil([&] { return list.rowOf(first) == 0; }));
  EXPECT_TRUE(list.index(0).data(Qt::AccessibleTextRole).toString().contains(QStringLiteral("pinned")));
  EXPECT_EQ(m_window->sidebar()->selected(), first) << "the selection goes with it";
  const auto ticked = [this] {
    for (const QAction* action : m_window->actions()) {
      if (action->shortcut() == QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P)) return action->isChecked();
    }
    return false;
  };
  EXPECT_TRUE(waitUntil(ticked));
  reopen();
  ASSERT_TRUE(waitUntil([this] { return session().list.model().rowCount() == 2; }));
  EXPECT_EQ(session().list.model().rowOf(first), 0) << "forgotten";
  Q_EMIT m_window->sidebar()->pinRequested(first, false);
  EXPECT_TRUE(waitUntil([&] { return !session().list.isPinned(first) && session().list.model().rowOf(first) == 1; }));
}

// The line that offers to undo goes when it was undone by keys.
TEST_F(MainWindowTest, UndoByKeysTakesItsNoticeAway) {
  ask(QStringLiteral("first chat"));
  const ConversationId id = session().chat.id();
  session().list.remove(id);
  const auto said = [this] {
    for (const ui::NoticeBar* bar : m_window->findChildren<ui::NoticeBar*>()) {
      if (bar->text().contains(QStringLiteral("was deleted"))) return true;
    }
    return false;
  };
  ASSERT_TRUE(waitUntil(said));
  m_window->activateWindow();
  QTest::keyClick(m_window->sidebar(), Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == id; }));
  EXPECT_FALSE(said());
}

// What was typed while the first answer of a chat is written belongs to that chat alone.
TEST_F(MainWindowTest, SaysThatTheSystemRefusesTheSandbox) {
  const auto told = [this] {
    return std::ranges::count_if(m_window->findChildren<ui::NoticeBar*>(), [](const ui::NoticeBar* bar) {
      return bar->isVisible() && bar->text().contains(QStringLiteral("--require-sandbox"));
    });
  };
  EXPECT_EQ(told(), 0);
  m_window->tellUnprotected();
  EXPECT_EQ(told(), 1);
}

TEST_F(MainWindowTest, ADraftStaysInTheChatInWhichItWasWritten) {
  m_script = answering("one two three four five six seven eight nine ten", 40ms);
  composer()->prompt()->setPlainText(QStringLiteral("count"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && !last().text.isEmpty(); }));
  const ConversationId first = session().chat.id();
  type(QStringLiteral("a second thought"));
  m_window->activateWindow();
  QTest::keyClick(composer()->prompt(), Qt::Key_N, Qt::ControlModifier);
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() != first; }));
  EXPECT_TRUE(composer()->prompt()->toPlainText().isEmpty()) << composer()->prompt()->toPlainText().toStdString();
  ASSERT_TRUE(idle());
  session().chat.open(first);
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == first; }));
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("a second thought"));
}

// What was written and not sent stays in its chat, whether that has a number yet or not; the new box is empty.
TEST_F(MainWindowTest, ANewChatBeginsWithAnEmptyBoxAndLeavesTheDraftBehind) {
  for (const bool saved : {false, true}) {
    SCOPED_TRACE(saved);
    const QString text = saved ? QStringLiteral("saved before") : QStringLiteral("just typed");
    composer()->prompt()->setPlainText(text);
    if (saved) {
      m_window->page().saveNow();
      ASSERT_TRUE(waitUntil([this] { return session().chat.id() != 0; }));
    }
    const int chats = session().list.model().rowCount();
    m_window->activateWindow();
    QTest::keyClick(composer()->prompt(), Qt::Key_N, Qt::ControlModifier);
    ASSERT_TRUE(waitUntil([this] { return composer()->prompt()->toPlainText().isEmpty() && session().chat.id() == 0; }));
    ASSERT_TRUE(waitUntil([&] { return session().list.model().rowCount() == chats + (saved ? 0 : 1); }));
    const ConversationId left = session().list.model().idAt(0);
    session().chat.open(left);
    ASSERT_TRUE(waitUntil([&] { return session().chat.id() == left; }));
    EXPECT_EQ(composer()->prompt()->toPlainText(), text);
    QTest::keyClick(composer()->prompt(), Qt::Key_N, Qt::ControlModifier);
    ASSERT_TRUE(waitUntil([this] { return composer()->prompt()->toPlainText().isEmpty() && session().chat.id() == 0; }));
  }
}

TEST_F(MainWindowTest, DeleteOnEmptySpaceDeletesNothing) {
  ask(QStringLiteral("first chat"));
  QListView* list = m_window->sidebar()->list();
  ASSERT_TRUE(waitUntil([this] { return session().list.model().rowCount() == 1; }));
  const QPoint below(list->viewport()->width() / 2, list->viewport()->height() - 4);
  ASSERT_FALSE(list->indexAt(below).isValid());
  QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, below);
  QTest::keyClick(list, Qt::Key_Delete);
  QTest::qWait(50);
  EXPECT_EQ(session().list.model().rowCount(), 1);
  list->setCurrentIndex(session().list.model().index(0));
  QTest::keyClick(list, Qt::Key_Delete);
  EXPECT_TRUE(waitUntil([this] { return session().list.model().rowCount() == 0; }));
}

TEST_F(MainWindowTest, TheMethodCardGivesTheFocusBack) {
  m_window->activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
  composer()->prompt()->setFocus();
  QTest::keyClick(composer()->prompt(), Qt::Key_M, Qt::ControlModifier);
  ASSERT_TRUE(waitUntil([this] { return composer()->method()->card()->isVisible(); }));
  QTest::keyClick(composer()->method()->card(), Qt::Key_Escape);
  ASSERT_TRUE(waitUntil([this] { return !composer()->method()->card()->isVisible(); }));
  EXPECT_EQ(QApplication::focusWidget(), composer()->prompt());
}

// The open chat is in view in the list, also at the start and with many chats.
TEST_F(MainWindowTest, TheOpenChatIsInViewInTheList) {
  ask(QStringLiteral("the oldest"));
  const ConversationId oldest = session().chat.id();
  for (int i = 0; i < 40; ++i) m_store->createConversation(QStringLiteral("chat %1").arg(i), {});
  ui::ConversationListModel& list = session().list.model();
  ASSERT_TRUE(waitUntil([&] { return list.rowCount() == 41; }));
  const auto inView = [&] {
    const QListView* view = m_window->sidebar()->list();
    return view->viewport()->rect().contains(view->visualRect(view->currentIndex())) && m_window->sidebar()->selected() == oldest;
  };
  session().chat.startNew();
  session().chat.open(oldest);
  EXPECT_TRUE(waitUntil([&] { return session().chat.id() == oldest && inView(); })) << "opened";
  reopen();
  EXPECT_TRUE(waitUntil([&] { return session().chat.id() == oldest && inView(); })) << "after a restart";
}

TEST_F(MainWindowTest, ChatsOfOneNameAreToldApart) {
  for (int i = 0; i < 3; ++i) m_store->createConversation(QStringLiteral("Shapes"), {});
  ui::ConversationListModel& list = session().list.model();
  ASSERT_TRUE(waitUntil([&] { return list.rowCount() == 3; }));
  QStringList told;
  for (int row = 2; row >= 0; --row) told << list.data(list.index(row), Qt::AccessibleTextRole).toString();  // the newest stands first
  EXPECT_EQ(told, (QStringList{QStringLiteral("Shapes"), QStringLiteral("Shapes (2)"), QStringLiteral("Shapes (3)")}));
  EXPECT_TRUE(list.data(list.index(0), ui::ConversationListModel::kSubtitleRole).toString().endsWith(QStringLiteral("no. 3 of this name")));
  session().list.remove(list.idAt(2));
  ASSERT_TRUE(waitUntil([&] { return list.rowCount() == 2; }));
  EXPECT_EQ(list.data(list.index(0), Qt::AccessibleTextRole).toString(), QStringLiteral("Shapes (2)"));
}

// Each group is named once, above its first chat, and not among what a search has found.
TEST(ConversationListModel, ChatsAreGroupedByWhenTheyWereUsed) {
  const QDateTime now = QDateTime::currentDateTime();
  QList<app::Conversation> chats;
  const auto add = [&](const QDateTime& when, bool pinned) {
    app::Conversation chat;
    chat.id = chats.size() + 1;
    chat.activity = 100 - chats.size();
    chat.updatedMs = when.toMSecsSinceEpoch();
    chat.pinned = pinned;
    chats.push_back(chat);
  };
  for (const int days : {0, 0, 1, 3, 6}) add(now.addDays(-days), false);
  add(QDateTime(QDate(2024, 3, 5), QTime(12, 0)), false);
  add(now.addDays(-3), true);
  ui::ConversationListModel list;
  list.setConversations(chats);
  const auto groups = [&list] {
    QStringList texts;
    for (int row = 0; row < list.rowCount(); ++row) texts << list.data(list.index(row), ui::ConversationListModel::kGroupRole).toString();
    return texts;
  };
  EXPECT_EQ(groups().join(u'|'), QStringLiteral("Pinned|Today||Yesterday|Previous 7 days||March 2024"));
  list.remove(1);
  EXPECT_EQ(groups().join(u'|'), QStringLiteral("Pinned|Today|Yesterday|Previous 7 days||March 2024")) << "the next one has the name now";
  list.showOnly(ui::ConversationListModel::Found{{2, QString()}});
  EXPECT_EQ(groups(), QStringList{QString()});
}

// A key that can do nothing now says why.
TEST_F(MainWindowTest, RewordingWhileTheEngineIsBusySaysWhyNot) {
  ask(QStringLiteral("first"));
  session().answers.setOccupied(QStringLiteral("An answer is being checked."));
  QTest::keyClick(composer()->prompt(), Qt::Key_Up);
  EXPECT_EQ(composer()->notice(), QStringLiteral("An answer is being checked."));
  session().answers.setOccupied({});
}

// What the menu says of the chats is what is on the screen.
TEST_F(MainWindowTest, ChatsAreTickedOnlyWhileTheyAreShown) {
  const auto ticked = [this] {
    for (const QAction* action : m_window->actions()) {
      if (action->text() == QStringLiteral("&Chats")) return action->isChecked();
    }
    ADD_FAILURE() << "no such action";
    return false;
  };
  EXPECT_TRUE(ticked());
  m_window->resize(500, 700);
  ASSERT_TRUE(waitUntil([this] { return m_window->sidebar()->isHidden(); }));
  EXPECT_FALSE(ticked());
  m_window->resize(1280, 800);
  ASSERT_TRUE(waitUntil([this] { return !m_window->sidebar()->isHidden(); }));
  EXPECT_TRUE(ticked());
}

TEST_F(MainWindowTest, TheColoursThatAreChosenAreTicked) {
  const QStringList names = {QStringLiteral("As the &system"), QStringLiteral("&Light"), QStringLiteral("&Dark")};
  QMap<QString, QAction*> colours;
  for (QAction* action : m_window->actions()) {
    if (names.contains(action->text())) colours[action->text()] = action;
  }
  ASSERT_EQ(colours.size(), names.size());
  const auto ticked = [&] {
    QStringList chosen;
    for (const QAction* action : std::as_const(colours)) {
      if (action->isChecked()) chosen << action->text();
    }
    return chosen;
  };
  EXPECT_EQ(ticked(), QStringList(names[0]));
  colours[names[2]]->trigger();
  EXPECT_EQ(m_settings->theme(), app::Theme::kDark);
  EXPECT_EQ(ticked(), QStringList(names[2]));
  m_settings->setTheme(app::Theme::kLight);  // as the dialog of settings does
  EXPECT_EQ(ticked(), QStringList(names[1]));
}

// Whatever the size of the window, its list of keys fits and can be closed.
TEST_F(MainWindowTest, TheListOfKeysFitsEveryWindow) {
  for (const auto& [zoom, size] : {std::pair{1.0, QSize(480, 400)}, std::pair{2.0, QSize(800, 560)}, std::pair{1.0, QSize(1280, 800)}}) {
    m_settings->setZoom(zoom);
    m_window->resize(size);
    m_window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
    QTest::keyClick(m_window.get(), Qt::Key_Slash, Qt::ControlModifier);
    ui::ShortcutsDialog* dialog = nullptr;
    ASSERT_TRUE(waitUntil([&] { return (dialog = m_window->findChild<ui::ShortcutsDialog*>()) != nullptr && dialog->isVisible(); }));
    QTest::qWait(50);
    EXPECT_LE(dialog->width(), size.width());
    EXPECT_LE(dialog->height(), size.height());
    QString told;
    for (const QLabel* label : dialog->findChildren<QLabel*>()) {
      told += label->text() + QLatin1Char('\n');
      EXPECT_GE(label->height(), label->heightForWidth(label->width())) << label->text().toStdString();
    }
    for (const char* keys : {"Ctrl+K", "Ctrl+Down, Ctrl+Up", "F8"}) EXPECT_TRUE(told.contains(QLatin1String(keys))) << keys;
    auto* button = dialog->findChild<QPushButton*>();
    ASSERT_NE(button, nullptr);
    EXPECT_TRUE(dialog->rect().contains(QRect(button->mapTo(dialog, QPoint()), button->size())));
    button->click();
    ASSERT_TRUE(waitUntil([&] { return m_window->findChild<ui::ShortcutsDialog*>() == nullptr; }));
  }
}

TEST_F(MainWindowTest, DropsAnywhereBecomeAttachmentsAndReachTheEngine) {
  QMimeData mime;
  mime.setUrls({QUrl::fromLocalFile(QStringLiteral("/clips/drop.mp4"))});
  QDragEnterEvent enter(QPoint(20, 300), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(m_window.get(), &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(20, 300), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(m_window.get(), &drop);
  ASSERT_EQ(composer()->tray()->count(), 1);
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  ask(QStringLiteral("What is this?"));
  ASSERT_EQ(transcript()->messageAt(0).attachments.size(), 1u);
  EXPECT_TRUE(transcript()->messageAt(0).attachments[0].detail.startsWith(QStringLiteral("64 frames · ")))
      << transcript()->messageAt(0).attachments[0].detail.toStdString();
  EXPECT_EQ(composer()->tray()->count(), 0);
  const QString shown = transcript()->messageAt(0).attachments[0].detail;
  ASSERT_TRUE(reopened(2));
  EXPECT_EQ(transcript()->messageAt(0).attachments[0].detail, shown) << "what was sampled is not known any more";
}

// What a question says of its video: one number, unless fewer frames came than were asked for.
TEST_F(MainWindowTest, FramesAskedAndDoneAreToldApartOnlyWhereTheyDiffer) {
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    return changed<MediaSampled>(answer_script(request, "Red."), [](MediaSampled& sampled) {
      if (sampled.path.ends_with("long.mp4")) sampled.actual_s.resize(40);
    });
  };
  composer()->addFile("/clips/short.mp4");
  composer()->addFile("/clips/long.mp4");
  ASSERT_TRUE(waitUntil([this] { return composer()->tray()->count() == 2 && !composer()->tray()->opening(); }));
  ask(QStringLiteral("What is this?"));
  ASSERT_EQ(transcript()->messageAt(0).attachments.size(), 2u);
  EXPECT_EQ(transcript()->messageAt(0).attachments[0].detail, QStringLiteral("15 frames · 0:00–0:03"));
  EXPECT_EQ(transcript()->messageAt(0).attachments[1].detail, QStringLiteral("40 of 64 frames read · 0:00–2:08"));
}

TEST_F(MainWindowTest, UpPutsTheLastQuestionIntoTheBoxAndSendingReplacesIt) {
  composer()->addFile("/clips/a.mp4");
  ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  ask(QStringLiteral("What color is the star?"));
  QTest::keyClick(composer()->prompt(), Qt::Key_Up);
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("What color is the star?"));
  EXPECT_EQ(composer()->tray()->count(), 1);
  EXPECT_FALSE(composer()->notice().isEmpty()) << "nothing says that a question is being changed";
  ASSERT_TRUE(sends(QStringLiteral("What color is the circle?")));
  ASSERT_TRUE(waitUntil([this] { return turnsSeen(*m_log) == 2 && !session().answers.busy(); }));
  ASSERT_EQ(transcript()->messageCount(), 2);
  EXPECT_EQ(transcript()->messageAt(0).text, QStringLiteral("What color is the circle?"));
  EXPECT_EQ(transcript()->messageAt(0).branchCount, 2);
  EXPECT_TRUE(composer()->prompt()->toPlainText().isEmpty());
  EXPECT_TRUE(composer()->notice().isEmpty());
  const std::vector<Request> requests = m_log->requests();
  EXPECT_EQ(std::get<Turn>(requests.back().body).messages.size(), 1u) << "the engine still hears the old question";
  // Both wordings stay, also after a restart.
  ASSERT_TRUE(reopened(2));
  m_window->grab();
  const qint64 question = transcript()->messageAt(0).id;
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(question, ui::Action::kPreviousBranch).center());
  EXPECT_EQ(transcript()->messageAt(0).text, QStringLiteral("What color is the star?"));
  EXPECT_EQ(transcript()->messageCount(), 2);
}

TEST_F(MainWindowTest, EscLeavesAQuestionAsItWas) {
  ask(QStringLiteral("first"));
  ask(QStringLiteral("second"));
  QTest::keyClick(composer()->prompt(), Qt::Key_Up);
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("second"));
  QTest::keyClick(composer()->prompt(), Qt::Key_Escape);
  EXPECT_TRUE(composer()->prompt()->toPlainText().isEmpty());
  EXPECT_TRUE(composer()->notice().isEmpty());
  ask(QStringLiteral("third"));
  EXPECT_EQ(transcript()->messageCount(), 6) << "a new question took the place of the old one";
  EXPECT_EQ(transcript()->messageAt(4).branchCount, 1);
}

TEST_F(MainWindowTest, EditingAQuestionNeverDropsWhatIsWritten) {
  ask(QStringLiteral("first"));
  type(QStringLiteral("half a thought"));
  m_window->grab();
  const qint64 question = transcript()->messageAt(0).id;
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(question, ui::Action::kEdit).center());
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("half a thought"));
  EXPECT_FALSE(composer()->notice().isEmpty());
  composer()->prompt()->clear();
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(question, ui::Action::kEdit).center());
  EXPECT_EQ(composer()->prompt()->toPlainText(), QStringLiteral("first"));
}

TEST_F(MainWindowTest, ErrorsBecomeCardsAndTryingAgainWorks) {
  bool fail = true;
  m_script = [&fail](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    return fail ? failure_script(ErrorCode::kContextFull, "", "4200 tokens of 4096") : answer_script(request, "Fine.");
  };
  ask(QStringLiteral("long"));
  ASSERT_TRUE(last().error.has_value());
  EXPECT_EQ(last().error->code, ErrorCode::kContextFull);
  EXPECT_EQ(last().error->reason, "4200 tokens of 4096");
  fail = false;
  m_window->grab();
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(last().id, ui::Action::kRetry).center());
  ASSERT_TRUE(waitUntil([this] { return last().text == QStringLiteral("Fine."); }));
}

TEST_F(MainWindowTest, AFailedModelSaysWhyAndBlocksSending) {
  m_script = [](const Request& request) {
    return failure_script(ErrorCode::kDamagedFile, "/models/x/model.safetensors", "offsets overlap");
  };
  reopen();
  ASSERT_EQ(session().model.state(), ui::ModelState::kFailed) << "there is none before it";
  EXPECT_TRUE(noticeBar("faults")->text().contains(QStringLiteral("model.safetensors")));
  type(QStringLiteral("hello"));
  pressEnter();
  EXPECT_FALSE(composer()->notice().isEmpty());
  EXPECT_EQ(transcript()->messageCount(), 0);
}

TEST_F(MainWindowTest, SwitchingChatsWhileOneStreamsMixesNothing) {
  ask(QStringLiteral("first"));
  const ConversationId first = session().chat.id();
  m_script = [](const Request& request) { return answer_script(request, "slow words of the second answer go on and on", 50ms); };
  session().chat.startNew();
  composer()->prompt()->setPlainText(QStringLiteral("second"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && last().text.contains(QStringLiteral("slow")); }));
  const ConversationId second = session().chat.id();
  session().chat.open(first);
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == first; }));
  const QString before = last().text;
  EXPECT_FALSE(session().answers.blockedReason().isEmpty());
  ASSERT_TRUE(idle());
  EXPECT_EQ(last().text, before);
  session().chat.open(second);
  ASSERT_TRUE(waitUntil([&] { return session().chat.id() == second && transcript()->messageCount() == 2; }));
  EXPECT_EQ(last().text, QStringLiteral("slow words of the second answer go on and on"));
}

TEST_F(MainWindowTest, DraftsComeBack) {
  ask(QStringLiteral("first"));
  type(QStringLiteral("not sent yet"));
  reopen();
  ASSERT_TRUE(waitUntil([this] { return composer()->prompt()->toPlainText() == QStringLiteral("not sent yet"); }));
}

// Pinned while composing, sent, kept over a restart; pinned otherwise later, the next answer is asked for so (and the engine reads
// everything again for it: Pins.OfEarlierMediaReadTheThreadAgainWhenTheyChange).
TEST_F(MainWindowTest, PinsAreSentKeptAndChanged) {
  ASSERT_TRUE(attaches("/clips/a.mp4", Card::kWithThumbnails));
  ui::FrameStrip* strip = composer()->tray()->card(0)->strip();
  QTest::keyClick(strip, Qt::Key_Up);
  QTest::keyClick(strip, Qt::Key_P);
  const app::PinnedRanges pinned = composer()->draft().attachments[0].pins;
  ASSERT_EQ(pinned.size(), 1U);
  ask(QStringLiteral("What color is the star?"));
  const auto lastTurn = [this] {
    Turn seen;
    for (const Request& request : m_log->requests()) {
      if (const auto* turn = std::get_if<Turn>(&request.body)) seen = *turn;
    }
    return seen;
  };
  const std::vector<Pin> sent = lastTurn().pins;
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_GT(session().answers.monitor().figures().pinnedTokens, 0);
  EXPECT_TRUE(transcript()->messageAt(0).attachments.at(0).detail.contains(QStringLiteral("pinned")));
  ask(QStringLiteral("And then?"));
  EXPECT_EQ(lastTurn().pins, sent) << "of the whole thread; nothing about them has changed";

  ASSERT_TRUE(reopened(4));
  const qint64 question = transcript()->messageAt(0).id;
  EXPECT_EQ(session().chat.message(question)->attachments[0].pins, pinned);
  ask(QStringLiteral("And now?"));

  // The first frame of the sent video, unpinned in the viewer.
  Q_EMIT transcript()->attachmentActivated(question, 0);
  auto* viewer = m_window->findChild<ui::FrameViewer*>();
  ASSERT_NE(viewer, nullptr);
  EXPECT_TRUE(viewer->pinButton()->isChecked());
  EXPECT_TRUE(viewer->pinButton()->toolTip().contains(QStringLiteral("reads the whole chat again")));
  QTest::keyClick(viewer, Qt::Key_P);
  EXPECT_FALSE(viewer->pinButton()->isChecked());
  viewer->close();
  EXPECT_NE(session().chat.message(question)->attachments[0].pins, pinned);
  ask(QStringLiteral("And without it?"));
  const std::vector<Pin> changed = lastTurn().pins;
  EXPECT_NE(changed, sent);
  ask(QStringLiteral("And once more?"));
  EXPECT_EQ(lastTurn().pins, changed);
}

TEST_F(MainWindowTest, F6GoesRoundWhatIsOnScreen) {
  m_window->activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(m_window.get()));
  ask(QStringLiteral("What color is the star?"));
  composer()->prompt()->setFocus();
  const auto after = [this] {
    m_window->focusNextRegion();
    return QApplication::focusWidget();
  };
  EXPECT_TRUE(m_window->inspector()->tabs()->isAncestorOf(after())) << "the panel takes no focus itself";
  EXPECT_EQ(after(), m_window->sidebar()->list());
  EXPECT_EQ(after(), transcript());
  EXPECT_EQ(after(), composer()->prompt());
  m_window->setPanelVisible(false);
  EXPECT_EQ(after(), m_window->sidebar()->list()) << "what is hidden is left out";
  m_window->sidebar()->list()->clearFocus();
  m_window->setPanelVisible(true);
  EXPECT_TRUE(m_window->inspector()->tabs()->isAncestorOf(after())) << "from nowhere it goes on from the box";
}

TEST_F(MainWindowTest, InitialStateIsOneEnterAway) {
  close();
  ui::InitialState initial{.attachedFiles = {"/samples/one.mp4", "/samples/two.mp4"},
                           .question = QStringLiteral("What color is the star?")};
  open(initial);
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  EXPECT_EQ(composer()->tray()->count(), 2) << "all files of the command line";
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && last().metrics.valid; }));
}

}  // namespace
}  // namespace winnow::test
