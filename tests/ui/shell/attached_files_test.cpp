// Files around a question: what was noticed of them, folders that are dropped, files that changed, went or were moved since.
#include <QComboBox>
#include <QDirIterator>
#include <QFileDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QUrl>

#include "tests/ui/support/window_fixture.h"
#include "ui/chat_view/message_geometry.h"
#include "ui/chat_view/message_note.h"
#include "ui/composer/attachment_card.h"
#include "ui/composer/document_viewer.h"
#include "ui/composer/drop_mark.h"
#include "ui/composer/encoding_choice.h"
#include "ui/composer/folder_chooser.h"
#include "ui/composer/frame_viewer.h"
#include "ui/composer/password_dialog.h"
#include "ui/composer/viewer_parts.h"
#include "ui/contents/video_contents.h"

namespace winnow::test {
namespace {

class AttachedFilesTest : public WindowTest {
 protected:
  ui::AttachmentTray* tray() { return composer()->tray(); }
  ui::DropMark* mark() { return inWindow<ui::DropMark>(); }
  ui::AttachmentCard* card(int index = 0) { return tray()->card(index); }
  bool opened(int count) {
    return waitUntil([this, count] { return tray()->count() == count && !tray()->opening(); });
  }
  QString dropped(const char* name, ui::FolderContents contents) {
    const QString folder = m_folder.filePath(QString::fromUtf8(name));
    EXPECT_TRUE(QDir().mkpath(folder));
    m_preview->folders.insert(QFile::encodeName(folder), std::move(contents));
    QMimeData mime;
    mime.setUrls({QUrl::fromLocalFile(folder)});
    composer()->addMime(mime);
    return folder;
  }
  ui::FolderContents pictures(int count) {
    ui::FolderContents contents;
    for (int i = 1; i <= count; ++i) contents.files.push_back({"/photos/" + QByteArray::number(i) + ".jpg"});
    return contents;
  }
  MediaRequest lastAsked() {
    const auto requests = m_log->requests();
    return std::get<MediaItem>(std::get<Turn>(requests.back().body).messages.back().items.front()).media;
  }
  // The engine reads a file as it is: another one than was attached is refused.
  void readAsTheDiskIs() {
    m_script = [this](const Request& request) {
      const auto* turn = std::get_if<Turn>(&request.body);
      if (turn == nullptr) return default_script(request);
      for (const Message& message : turn->messages) {
        for (const Item& item : message.items) {
          const auto* medium = std::get_if<MediaItem>(&item);
          if (medium == nullptr) continue;
          const QByteArray path = QByteArray::fromStdString(medium->media.path);
          if (m_gone == path) return failure_script(ErrorCode::kFileNotFound, medium->media.path, "the file does not exist");
          if (!medium->media.content.empty() && medium->media.content != m_contents.value(path, "as attached").toStdString())
            return failure_script(ErrorCode::kMediaChanged, medium->media.path, "its bytes have changed");
        }
      }
      return answer_script(request, "A star.");
    };
  }
  void change(const QByteArray& path) {
    m_contents.insert(path, "something else");
    m_preview->hashes.insert(path, "something else");
  }

  QHash<QByteArray, QByteArray> m_contents;
  QByteArray m_gone;
};

TEST_F(AttachedFilesTest, WhatIsNoticedStandsOnTheCardAndStaysWithTheQuestion) {
  m_preview->notices.insert("/clips/cut.mp4", {{NoticeCode::kCutOff, 1234}});
  m_script = [](const Request& request) {
    if (!std::holds_alternative<Turn>(request.body)) return default_script(request);
    return changed<MediaSampled>(answer_script(request, "A star."), [](MediaSampled& sampled) {
      sampled.notices = {{NoticeCode::kCutOff, 1234}, {NoticeCode::kDamaged}};
    });
  };
  composer()->addFile("/clips/cut.mp4");
  ASSERT_TRUE(opened(1));
  EXPECT_EQ(card()->noticed(), QStringLiteral("The file is cut off: 1,234 bytes are missing at the end."));
  ask(QStringLiteral("What is shown?"));
  const QString noted =
      QStringLiteral("cut.mp4: The file is cut off: 1,234 bytes are missing at the end.\ncut.mp4: Parts of the video are damaged.");
  EXPECT_EQ(ui::noteOf(transcript()->messageAt(0)), noted);
  EXPECT_FALSE(ui::wayOn(transcript()->messageAt(0))) << "a question is not answered again for it";
  ASSERT_TRUE(reopened(2));
  EXPECT_EQ(ui::noteOf(transcript()->messageAt(0)), noted);
}

TEST_F(AttachedFilesTest, AGuessedEncodingIsSaidAndCanBeChanged) {
  m_preview->notices.insert("/notes/old.txt", {{NoticeCode::kEncodingGuessed, 0, 0, "windows-1251"}});
  composer()->addFile("/notes/old.txt");
  ASSERT_TRUE(opened(1));
  EXPECT_EQ(card()->noticed(), QString()) << "it is said once";
  EXPECT_EQ(card()->findChild<ui::EncodingChoice*>()->text(), QStringLiteral("Encoding, guessed: windows-1251"));
  m_preview->notices.clear();
  for (QAction* action : card()->findChild<ui::EncodingChoice*>()->menu()->actions()) {
    if (action->text() == QStringLiteral("GB18030")) action->trigger();
  }
  ASSERT_TRUE(opened(1));
  EXPECT_EQ(m_preview->encodingsAsked.last(), QByteArray("GB18030"));
  EXPECT_EQ(card()->findChild<ui::EncodingChoice*>()->text(), QStringLiteral("Encoding: GB18030"));
  ask(QStringLiteral("What does it say?"));
  EXPECT_EQ(lastAsked().encoding, "GB18030");
}

TEST_F(AttachedFilesTest, WhatElseWasNoticedOfAGuessedTextIsStillSaid) {
  m_preview->notices.insert("/notes/old.txt",
                            {{NoticeCode::kEncodingGuessed, 0, 0, "windows-1251"}, {NoticeCode::kBytesReplaced, 2, 0, "windows-1251"}});
  composer()->addFile("/notes/old.txt");
  ASSERT_TRUE(opened(1));
  EXPECT_EQ(card()->noticed(), QStringLiteral("2 places are not valid windows-1251 and were replaced."));
  EXPECT_EQ(card()->findChild<ui::EncodingChoice*>()->text(), QStringLiteral("Encoding, guessed: windows-1251"));
}

TEST_F(AttachedFilesTest, AnEncodingThatIsPlainIsNoMatter) {
  composer()->addFile("/notes/plain.txt");
  ASSERT_TRUE(opened(1));
  EXPECT_TRUE(card()->findChild<ui::EncodingChoice*>()->text().isEmpty());
}

TEST_F(AttachedFilesTest, AFolderOfPicturesIsItsPicturesAsACountAndAGrid) {
  dropped("thirty", pictures(30));
  ASSERT_TRUE(opened(30));
  EXPECT_EQ(session().model.state(), ui::ModelState::kReady) << "no model was looked for";
  EXPECT_EQ(tray()->pictureCount(), QStringLiteral("30 images"));
  EXPECT_EQ(card(29)->attachment().path, QByteArray("/photos/30.jpg"));
  QTest::qWait(50);
  EXPECT_EQ(card(0)->form(), ui::CardForm::kTile);
  EXPECT_EQ(card(0)->y(), card(3)->y()) << "side by side";
  EXPECT_LT(card(0)->y(), card(29)->y());
  card(0)->setFocus();
  QTest::keyClick(card(0), Qt::Key_Delete);
  EXPECT_EQ(tray()->pictureCount(), QStringLiteral("29 images"));
  EXPECT_EQ(QApplication::focusWidget(), card(0)) << "the next one can be removed at once";
}

// Thirty cards of 1,800 pixels stood above the question.
TEST_F(AttachedFilesTest, ManyPicturesAreAFewInTheChatAndHowManyMore) {
  dropped("thirty", pictures(30));
  ASSERT_TRUE(opened(30));
  QTest::qWait(50);
  const QRect all(tray()->removeAllButton()->mapTo(m_window.get(), QPoint()), tray()->removeAllButton()->size());
  EXPECT_TRUE(QRect(tray()->mapTo(m_window.get(), QPoint()), tray()->size()).contains(all)) << "it does not scroll away";
  EXPECT_GE(card(0)->findChild<QLabel*>()->width() * 10, card(0)->width() * 9) << "the picture fills its cell";
  ask(QStringLiteral("How many crosses are there?"));
  const qint64 question = transcript()->messageAt(0).id;
  EXPECT_EQ(transcript()->messageAt(0).attachments.size(), 30u);
  const ui::AttachmentGrid grid(600, transcript()->messageAt(0).attachments);
  EXPECT_LE(grid.height(), 64.0) << "one line";
  EXPECT_EQ(grid.standsForMore(4), 0);
  EXPECT_EQ(grid.standsForMore(5), 25) << "five, and one that says how many more";
  EXPECT_TRUE(grid.rect(6, {}).isEmpty());
  EXPECT_LE(ui::AttachmentGrid(280, transcript()->messageAt(0).attachments).height(), 64.0 * 2 + 8) << "in a narrow window two";
  Q_EMIT transcript()->attachmentActivated(question, 5);
  auto* viewer = m_window->findChild<ui::FrameViewer*>();
  ASSERT_NE(viewer, nullptr);
  EXPECT_EQ(viewer->windowTitle(), QStringLiteral("6.jpg"));
  QTest::keyClick(viewer, Qt::Key_End);
  EXPECT_EQ(viewer->windowTitle(), QStringLiteral("30.jpg")) << "all of them can be seen";
  QTest::keyClick(viewer, Qt::Key_P);
  EXPECT_TRUE(waitUntil([&] { return !session().chat.message(question)->attachments[29].pins.empty(); }));
  EXPECT_TRUE(session().chat.message(question)->attachments[5].pins.empty());
}

// Beside a video many pictures are a grid above its card, wherever they stand among the files.
TEST_F(AttachedFilesTest, AVideoBesideManyPicturesKeepsItsCard) {
  std::vector<ui::AttachmentSummary> attachments(7);
  attachments[2].kind = MediaKind::kVideo;
  const ui::AttachmentGrid grid(600, attachments);
  EXPECT_TRUE(grid.isTile(0));
  EXPECT_FALSE(grid.isTile(2));
  EXPECT_TRUE(grid.isTile(6));
  EXPECT_GT(grid.rect(2, {}).top(), grid.rect(6, {}).bottom());
  EXPECT_EQ(grid.standsForMore(6), 0) << "six are all shown";
  attachments.resize(5);
  EXPECT_FALSE(ui::AttachmentGrid(600, attachments).isTile(0)) << "four pictures are few";
}

// A time in an answer leads to the frame that is nearest to it, where one video is meant.
TEST_F(AttachedFilesTest, ATimeInAnAnswerLeadsToItsFrame) {
  m_script = [](const Request& request) {
    return std::holds_alternative<Turn>(request.body) ? answer_script(request, "It comes at 1:04, not at 9:59.") : default_script(request);
  };
  composer()->addFile("/clips/a.mp4");
  ASSERT_TRUE(opened(1));
  ask(QStringLiteral("When does the star come?"));
  EXPECT_EQ(last().places.timesUpToS, 128.0);
  Q_EMIT transcript()->linkActivated(last().id, QUrl(QStringLiteral("winnow-time:64")));
  auto* viewer = m_window->findChild<ui::FrameViewer*>();
  ASSERT_NE(viewer, nullptr);
  const std::vector<double>& times = session().chat.branch().front().attachments.front().sampled.actualS;
  ASSERT_EQ(times.size(), 64u);
  for (const double time : times) EXPECT_LE(std::abs(times[static_cast<std::size_t>(viewer->index())] - 64.0), std::abs(time - 64.0));
  delete viewer;
  composer()->addFile("/clips/b.mp4");
  ASSERT_TRUE(opened(1));
  ask(QStringLiteral("And in this one?"));
  EXPECT_EQ(last().places.timesUpToS, 0.0) << "of which of the two?";
}

TEST_F(AttachedFilesTest, TheViewerStepsThroughThePicturesAndPinsTheOneShown) {
  dropped("five", pictures(5));
  ASSERT_TRUE(opened(5));
  QTest::keyClick(card(1), Qt::Key_Space);
  auto* viewer = composer()->findChild<ui::FrameViewer*>();
  ASSERT_NE(viewer, nullptr);
  EXPECT_EQ(viewer->index(), 1);
  QTest::keyClick(viewer, Qt::Key_Right);
  EXPECT_EQ(viewer->index(), 2);
  EXPECT_EQ(viewer->windowTitle(), QStringLiteral("3.jpg"));
  QTest::keyClick(viewer, Qt::Key_P);
  EXPECT_TRUE(card(1)->attachment().pins.empty());
  EXPECT_FALSE(card(2)->attachment().pins.empty());
  QTest::keyClick(viewer, Qt::Key_End);
  EXPECT_EQ(viewer->index(), 4);
  viewer->reject();
}

TEST_F(AttachedFilesTest, OfAFolderWithMoreThanFitIsChosen) {
  dropped("many", pictures(70));
  ASSERT_TRUE(waitUntil([this] { return m_window->findChild<ui::FolderChooser*>() != nullptr; }));
  auto* chooser = m_window->findChild<ui::FolderChooser*>();
  EXPECT_EQ(tray()->count(), 0) << "nothing is attached before";
  EXPECT_EQ(m_window->focusWidget(), chooser->list()) << "the keyboard begins at the files";
  EXPECT_EQ(chooser->countText(), QStringLiteral("64 of 70 files chosen · 64 fit"));
  QListWidgetItem* const last = chooser->list()->item(69);
  EXPECT_EQ(last->checkState(), Qt::Unchecked);
  last->setCheckState(Qt::Checked);
  EXPECT_EQ(chooser->countText(), QStringLiteral("65 of 70 files chosen · only 64 fit: leave out 1"));
  EXPECT_FALSE(chooser->attachButton()->isEnabled());
  chooser->list()->setCurrentRow(0);
  QTest::keyClick(chooser->list(), Qt::Key_Space);
  EXPECT_EQ(chooser->list()->item(0)->checkState(), Qt::Unchecked) << "by the keyboard";
  ASSERT_TRUE(chooser->attachButton()->isEnabled());
  chooser->attachButton()->click();
  ASSERT_TRUE(opened(app::kMaxAttachments));
  EXPECT_EQ(card(0)->attachment().path, QByteArray("/photos/2.jpg"));
  EXPECT_EQ(card(63)->attachment().path, QByteArray("/photos/70.jpg"));
}

TEST_F(AttachedFilesTest, PapersOfAFolderAreChosenInTheirOrder) {
  const QDateTime day(QDate(2026, 3, 1), QTime(12, 0));
  ui::FolderContents contents;
  for (int i = 1; i <= 3; ++i)
    contents.files.push_back({"/texts/" + QByteArray::number(i) + ".txt", MediaKind::kDocument, day.addDays(i == 2 ? 9 : i), 1'000});
  contents.files.push_back({"/photos/4.jpg", MediaKind::kImage, day, 2'000});
  dropped("papers", contents);
  ASSERT_TRUE(waitUntil([this] { return m_window->findChild<ui::FolderChooser*>() != nullptr; }));
  auto* chooser = m_window->findChild<ui::FolderChooser*>();
  const auto names = [&] {
    QStringList all;
    for (int row = 0; row < chooser->list()->count(); ++row) all << chooser->list()->item(row)->text().section(QLatin1Char(' '), 0, 0);
    return all.join(QLatin1Char(' '));
  };
  EXPECT_EQ(names(), QStringLiteral("1.txt 2.txt 3.txt 4.jpg"));
  chooser->list()->item(0)->setCheckState(Qt::Unchecked);
  chooser->order()->setCurrentIndex(2);
  EXPECT_EQ(names(), QStringLiteral("2.txt 3.txt 1.txt 4.jpg")) << "newest first";
  EXPECT_EQ(chooser->list()->item(2)->checkState(), Qt::Unchecked) << "what was left out stays so";
  chooser->order()->setCurrentIndex(1);
  EXPECT_EQ(names(), QStringLiteral("4.jpg 1.txt 3.txt 2.txt")) << "oldest first";
  chooser->attachButton()->click();
  ASSERT_TRUE(opened(3));
  EXPECT_EQ(card(0)->attachment().path, QByteArray("/photos/4.jpg"));
  EXPECT_EQ(card(2)->attachment().path, QByteArray("/texts/2.txt"));
}

// Each PDF as pages is many pictures: twelve of each were sent, and the chat could not be saved.
TEST_F(AttachedFilesTest, MorePagesThanFitAreCountedAndNotSent) {
  for (int i = 1; i <= 6; ++i) composer()->addFile("/papers/" + QByteArray::number(i) + ".pdf");
  ASSERT_TRUE(opened(6));
  composer()->prompt()->setPlainText(QStringLiteral("what?"));
  pressEnter();
  EXPECT_EQ(composer()->notice(),
            QStringLiteral("72 files and pages are attached, and 64 fit into one question. Use the text of a PDF, or remove some."));
  card(0)->offerButton()->click();  // use its text
  EXPECT_EQ(tray()->attachments().size(), 61);
  EXPECT_EQ(composer()->notice(), QString()) << "it fits now";
}

TEST_F(AttachedFilesTest, AFolderThatIsAModelLoadsAndOneOfNothingSaysSo) {
  const QString folder = dropped("a-model", {true, {}});
  EXPECT_TRUE(waitUntil([&] { return session().model.folder() == folder; }));
  dropped("papers", {});
  EXPECT_TRUE(waitUntil([this] { return composer()->notice().contains(QStringLiteral("“papers”")); }));
  EXPECT_EQ(tray()->count(), 0);
  EXPECT_EQ(session().model.folder(), folder);
}

TEST_F(AttachedFilesTest, AModelThatDoesNotLoadLeavesTheOneBefore) {
  m_script = [](const Request& request) {
    const auto* load = std::get_if<LoadModel>(&request.body);
    if (load == nullptr || load->folder != "/models/broken") return default_script(request);
    return failure_script(ErrorCode::kNoModel, load->folder, "a model folder has a config.json, this has none");
  };
  const QString before = session().model.folder();
  session().model.load(QStringLiteral("/models/broken"));
  ASSERT_TRUE(waitUntil([this] { return noticeBar("faults")->isVisible(); }));
  EXPECT_EQ(session().model.state(), ui::ModelState::kReady);
  EXPECT_EQ(session().model.folder(), before);
  EXPECT_TRUE(noticeBar("faults")->text().contains(QStringLiteral("“shapes-demo” stays loaded")))
      << noticeBar("faults")->text().toStdString();
  EXPECT_NE(m_settings->lastModelFolder(), QStringLiteral("/models/broken"));
  ask(QStringLiteral("Still there?"));
  EXPECT_EQ(last().status, ui::MessageStatus::kComplete);
}

TEST_F(AttachedFilesTest, WhereMemoryHoldsOneModelTheOneBeforeIsReadAgain) {
  m_script = [](const Request& request) {
    const auto* load = std::get_if<LoadModel>(&request.body);
    if (load == nullptr || load->folder != "/models/broken") return default_script(request);
    Script script = failure_script(ErrorCode::kDamagedFile, "/models/broken/model.safetensors", "offsets overlap");
    script.insert(script.begin(), Step{{}, Say{ModelUnloaded{}}});
    return script;
  };
  const QString before = session().model.folder();
  session().model.load(QStringLiteral("/models/broken"));
  ASSERT_TRUE(waitUntil([&] { return session().model.state() == ui::ModelState::kReady && session().model.folder() == before; }));
  EXPECT_TRUE(noticeBar("faults")->isVisible()) << "what went wrong is still said";
  int loads = 0;
  for (const Request& request : m_log->requests()) loads += std::holds_alternative<LoadModel>(request.body) ? 1 : 0;
  EXPECT_EQ(loads, 3);
}

TEST_F(AttachedFilesTest, AFileThatChangedIsNotReadSilently) {
  readAsTheDiskIs();
  composer()->addFile("/clips/change.mp4");
  ASSERT_TRUE(opened(1));
  ask(QStringLiteral("What is shown?"));
  EXPECT_EQ(last().text, QStringLiteral("A star."));
  EXPECT_EQ(lastAsked().content, "as attached");
  change("/clips/change.mp4");
  session().answers.regenerate(last().id);
  ASSERT_TRUE(waitUntil([this] { return last().status == ui::MessageStatus::kFailed; }));
  EXPECT_EQ(last().error->code, ErrorCode::kMediaChanged);
  ASSERT_TRUE(reopened(2));
  ask(QStringLiteral("And now?"));
  EXPECT_EQ(last().error->code, ErrorCode::kMediaChanged) << "after a restart as well";
}

// Opened from an old question, another file was shown as if nothing had happened.
TEST_F(AttachedFilesTest, TheViewerSaysThatAnotherFileIsThere) {
  readAsTheDiskIs();
  for (const char* path : {"/clips/change.mp4", "/photos/change.png", "/notes/change.txt"}) {
    composer()->addFile(path);
    ASSERT_TRUE(opened(1));
    ask(QStringLiteral("What is shown?"));
    const qint64 question = transcript()->messageAt(transcript()->messageCount() - 2).id;
    const auto note = [&] {
      Q_EMIT transcript()->attachmentActivated(question, 0);
      auto* shown = m_window->findChild<ui::ChangedFileNote*>();
      QTest::qWait(30);
      const bool seen = shown != nullptr && shown->isVisible();
      delete m_window->findChild<ui::FrameViewer*>();
      delete m_window->findChild<ui::DocumentViewer*>();
      return seen;
    };
    EXPECT_FALSE(note()) << path;
    change(path);
    EXPECT_TRUE(note()) << path;
  }
}

// The words that stand between a video's frames are a file too.
TEST_F(AttachedFilesTest, OtherSubtitlesThanBeforeAreSaid) {
  std::string words = "Good morning.";
  m_script = [&words](const Request& request) {
    if (!std::holds_alternative<Turn>(request.body)) return default_script(request);
    return changed<MediaSampled>(answer_script(request, "A star."), [&](MediaSampled& sampled) { sampled.lines = {{0.5, 1.5, words}}; });
  };
  composer()->addFile("/clips/subtitled.mp4");
  ASSERT_TRUE(opened(1));
  card()->offerButton()->click();
  ask(QStringLiteral("What is said?"));
  ask(QStringLiteral("And then?"));
  EXPECT_FALSE(noticeBar("faults")->isVisible());
  const auto found = [this](const char* wanted) {
    session().list.search(QString::fromLatin1(wanted));
    return waitUntil([this] { return !session().list.model().showsAll() && session().list.model().rowCount() == 1; });
  };
  EXPECT_TRUE(found("morning")) << "what is said in a video is found";
  session().list.search({});
  words = "Good night.";
  ask(QStringLiteral("And now?"));
  EXPECT_TRUE(noticeBar("faults")->isVisible());
  EXPECT_TRUE(noticeBar("faults")->text().startsWith(QStringLiteral("The subtitles in “subtitled.srt” have changed")))
      << noticeBar("faults")->text().toStdString();
  EXPECT_TRUE(found("night"));
}

// They were told only once another answer had read them.
TEST_F(AttachedFilesTest, OtherSubtitlesAreSaidBeforeTheNextQuestion) {
  const std::vector<TimedLine> said = {{0.5, 1.5, "Good morning."}};
  m_preview->lines.insert("/clips/subtitled.mp4", said);
  m_script = [&said](const Request& request) {
    if (!std::holds_alternative<Turn>(request.body)) return default_script(request);
    return changed<MediaSampled>(answer_script(request, "A star."), [&](MediaSampled& sampled) { sampled.lines = {said.front()}; });
  };
  composer()->addFile("/clips/subtitled.mp4");
  ASSERT_TRUE(opened(1));
  card()->offerButton()->click();
  ask(QStringLiteral("What is said?"));
  const qint64 question = transcript()->messageAt(0).id;
  const auto note = [&] {
    Q_EMIT transcript()->attachmentActivated(question, 0);
    auto* shown = m_window->findChild<ui::ChangedFileNote*>();
    QTest::qWait(30);
    const QString text = shown != nullptr && shown->isVisible() ? shown->text() : QString();
    delete m_window->findChild<ui::VideoContents*>();
    return text.toStdString();
  };
  const auto reword = [&] {
    composer()->editQuestion(*session().answers.beginEdit(0));
    return opened(1);
  };
  EXPECT_EQ(note(), "");
  ASSERT_TRUE(reword());
  EXPECT_EQ(card()->state(), ui::CardState::kReady);
  QTest::keyClick(composer()->prompt(), Qt::Key_Escape);
  m_preview->lines.insert("/clips/subtitled.mp4", {{0.5, 1.5, "Good night."}});
  EXPECT_EQ(note(), "Its subtitles are not those that were asked about: “subtitled.srt” has changed since.");
  ASSERT_TRUE(reword());
  EXPECT_EQ(card()->state(), ui::CardState::kRefused);
  EXPECT_TRUE(card()->detail().startsWith(QStringLiteral("“subtitled.srt” is not the file that was attached.")))
      << card()->detail().toStdString();
  EXPECT_EQ(card()->offerButton()->text(), QStringLiteral("Use the new file"));
  card()->offerButton()->click();
  EXPECT_EQ(card()->state(), ui::CardState::kReady);
  EXPECT_EQ(card()->attachment().subtitles, QByteArray("/clips/subtitled.srt"));
}

TEST_F(AttachedFilesTest, RewordingSaysThatTheFileIsAnotherOneAndCanTakeIt) {
  readAsTheDiskIs();
  composer()->addFile("/clips/change.mp4");
  ASSERT_TRUE(opened(1));
  ask(QStringLiteral("What is shown?"));
  change("/clips/change.mp4");
  composer()->editQuestion(*session().answers.beginEdit(0));
  ASSERT_TRUE(opened(1));
  EXPECT_EQ(card()->state(), ui::CardState::kRefused);
  EXPECT_TRUE(card()->detail().startsWith(QStringLiteral("“change.mp4” is not the file that was attached.")))
      << card()->detail().toStdString();
  EXPECT_FALSE(composer()->sendButton()->isEnabled());
  EXPECT_EQ(card()->offerButton()->text(), QStringLiteral("Use the new file"));
  card()->offerButton()->click();
  EXPECT_EQ(card()->state(), ui::CardState::kReady);
  EXPECT_EQ(card()->attachment().sha256, QByteArray("something else"));
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  pressEnter();
  ASSERT_TRUE(idle());
  EXPECT_EQ(lastAsked().content, "something else");
}

TEST_F(AttachedFilesTest, AFileThatWasMovedIsFoundForTheCardAndForAnOldQuestion) {
  readAsTheDiskIs();
  composer()->addFile("/clips/moved.mp4");
  ASSERT_TRUE(opened(1));
  ask(QStringLiteral("What is shown?"));
  m_gone = "/clips/moved.mp4";
  session().answers.regenerate(last().id);
  ASSERT_TRUE(waitUntil([this] { return last().status == ui::MessageStatus::kFailed; }));
  m_window->grab();
  const QRectF find = transcript()->actionRect(last().id, ui::Action::kFindFile);
  ASSERT_FALSE(find.isEmpty());
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, find.center().toPoint());
  auto* dialog = m_window->findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  Q_EMIT dialog->fileSelected(QStringLiteral("/archive/moved.mp4"));
  dialog->close();
  ASSERT_TRUE(waitUntil([this] { return last().text == QStringLiteral("A star."); }));
  EXPECT_EQ(lastAsked().path, "/archive/moved.mp4");
  EXPECT_EQ(lastAsked().content, "as attached") << "another file under that name is still another file";
  ASSERT_TRUE(reopened(2));
  EXPECT_EQ(transcript()->messageAt(0).attachments.front().path, QStringLiteral("/archive/moved.mp4"));

  m_preview->gone = "/clips/elsewhere.mp4";
  composer()->addFile("/clips/elsewhere.mp4");
  ASSERT_TRUE(opened(1));
  EXPECT_EQ(card()->offerButton()->text(), QStringLiteral("Find it…"));
  card()->offerButton()->click();
  auto* finder = card()->findChild<QFileDialog*>();
  ASSERT_NE(finder, nullptr);
  Q_EMIT finder->fileSelected(QStringLiteral("/archive/elsewhere.mp4"));
  finder->close();
  ASSERT_TRUE(opened(1));
  EXPECT_EQ(card()->state(), ui::CardState::kReady);
  EXPECT_EQ(card()->attachment().path, QByteArray("/archive/elsewhere.mp4"));
}

// A chat keeps no password: the next run of the program asks for it when the file has to be read again.
TEST_F(AttachedFilesTest, AKeptChatAsksForThePasswordOfItsDocumentAgain) {
  m_script = [this](const Request& request) {
    const bool locked = m_preview->passwords.value("/papers/encrypted.pdf") != QLatin1String("secret");
    if (!std::holds_alternative<Turn>(request.body)) return default_script(request);
    if (locked) return failure_script(ErrorCode::kPasswordNeeded, "/papers/encrypted.pdf", "the PDF is encrypted and needs a password");
    return answer_script(request, "A star.");
  };
  m_preview->unlock("/papers/encrypted.pdf", QStringLiteral("secret"));
  composer()->addFile("/papers/encrypted.pdf");
  ASSERT_TRUE(opened(1));
  ask(QStringLiteral("What is shown?"));
  EXPECT_EQ(last().text, QStringLiteral("A star."));
  close();
  QDirIterator files(m_folder.path(), QDir::Files, QDirIterator::Subdirectories);
  while (files.hasNext()) {
    QFile file(files.next());
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_FALSE(file.readAll().contains("secret")) << file.fileName().toStdString();
  }
  open();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  ask(QStringLiteral("And now?"));
  EXPECT_EQ(last().error->code, ErrorCode::kPasswordNeeded);
  Q_EMIT transcript()->findFileRequested(last().id);
  auto* dialog = m_window->findChild<ui::PasswordDialog*>();
  ASSERT_NE(dialog, nullptr);
  QTest::keyClicks(dialog->box(), QStringLiteral("secret"));
  QTest::keyClick(dialog->box(), Qt::Key_Return);
  ASSERT_TRUE(waitUntil([this] { return last().text == QStringLiteral("A star."); }));
}

TEST_F(AttachedFilesTest, RefusedFilesAreCountedDownAndTheTrayStaysWhereItIs) {
  for (int i = 1; i <= 6; ++i) composer()->addFile("/clips/video " + QByteArray::number(i) + ".mp4");
  for (const char* file : {"/clips/broken 1.mp4", "/clips/broken 2.mp4", "/clips/broken 3.mp4"}) composer()->addFile(file);
  ASSERT_TRUE(opened(9));
  composer()->prompt()->setPlainText(QStringLiteral("what?"));
  pressEnter();
  EXPECT_EQ(composer()->notice(), QStringLiteral("3 files cannot be used. Remove them, then send."));
  QTest::qWait(50);
  const auto inView = [this](int index) {
    const QRect at(card(index)->mapTo(tray()->viewport(), QPoint()), card(index)->size());
    return tray()->viewport()->rect().intersects(at);
  };
  EXPECT_TRUE(inView(6)) << "the first one to be removed";
  card(6)->setFocus();
  QTest::keyClick(card(6), Qt::Key_Delete);
  EXPECT_EQ(composer()->notice(), QStringLiteral("2 files cannot be used. Remove them, then send."));
  QTest::qWait(50);
  EXPECT_TRUE(inView(6)) << "the next one to be removed";
  EXPECT_FALSE(inView(0)) << "it jumped to the first video";
  QTest::keyClick(card(6), Qt::Key_Delete);
  EXPECT_EQ(composer()->notice(), QStringLiteral("One file cannot be used. Remove it, then send."));
  QTest::keyClick(card(6), Qt::Key_Delete);
  EXPECT_TRUE(composer()->notice().isEmpty());
}

TEST_F(AttachedFilesTest, WhereADropLandsIsMarkedWhileFilesAreDragged) {
  QMimeData file, text;
  file.setUrls({QUrl::fromLocalFile(QStringLiteral("/clips/a.mp4"))});
  text.setText(QStringLiteral("words"));
  const auto enter = [this](const QMimeData& mime) {
    QDragEnterEvent event(QPoint(20, 20), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &event);
  };
  enter(file);
  EXPECT_TRUE(mark()->isVisible());
  EXPECT_EQ(mark()->size(), composer()->size());
  QDragLeaveEvent leave;
  QApplication::sendEvent(m_window.get(), &leave);
  EXPECT_FALSE(mark()->isVisible());
  enter(text);
  EXPECT_FALSE(mark()->isVisible()) << "text is written, not attached";
  enter(file);
  QDropEvent drop(QPointF(20, 20), Qt::CopyAction, &file, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(m_window.get(), &drop);
  EXPECT_FALSE(mark()->isVisible());
  EXPECT_TRUE(opened(1));
}

}  // namespace
}  // namespace winnow::test
