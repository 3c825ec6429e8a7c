#include "ui/composer/composer.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QToolButton>

#include "app/words/error_text.h"
#include "tests/support/scratch_folder.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_card.h"
#include "ui/composer/detail_choice.h"
#include "ui/composer/document_viewer.h"
#include "ui/composer/frame_strip.h"
#include "ui/composer/frame_viewer.h"
#include "ui/composer/method_control.h"
#include "ui/composer/password_dialog.h"
#include "ui/composer/paste_offer.h"
#include "ui/composer/viewer_parts.h"
#include "ui/theme/elided_label.h"

namespace winnow::ui {
namespace {

using test::FakeMediaPreview;
using test::waitUntil;

class ComposerTest : public testing::Test {
 protected:
  void SetUp() override {
    m_composer.resize(760, 400);
    m_composer.show();
  }
  void paste() { QTest::keyClick(m_composer.prompt(), Qt::Key_V, Qt::ControlModifier); }
  AttachmentCard* card(int index = 0) { return m_composer.tray()->card(index); }
  bool opened() {
    return waitUntil([this] { return m_composer.tray()->count() > 0 && !m_composer.tray()->opening(); });
  }

  FakeMediaPreview m_preview;
  Composer m_composer{m_preview, list_methods()};
};

TEST_F(ComposerTest, EnterSendsAndShiftEnterBreaksTheLine) {
  QSignalSpy sent(&m_composer, &Composer::sendRequested);
  QTest::keyClicks(m_composer.prompt(), QStringLiteral("one"));
  const int low = m_composer.prompt()->sizeHint().height();
  QTest::keyClick(m_composer.prompt(), Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_FALSE(m_composer.prompt()->toPlainText().contains(u'\n')) << "an answer is gone on with, or nothing: it is no new line";
  QTest::keyClick(m_composer.prompt(), Qt::Key_Return, Qt::ShiftModifier);
  QTest::keyClicks(m_composer.prompt(), QStringLiteral("two"));
  EXPECT_EQ(sent.size(), 0);
  EXPECT_GT(m_composer.prompt()->sizeHint().height(), low);
  QTest::keyClick(m_composer.prompt(), Qt::Key_Return);
  ASSERT_EQ(sent.size(), 1);
  EXPECT_EQ(sent[0][0].toString(), QStringLiteral("one\ntwo"));
}

TEST_F(ComposerTest, TextFromRightToLeftBeginsAtTheRight) {
  PromptEdit* prompt = m_composer.prompt();
  const auto start = [prompt] {
    QTextCursor cursor(prompt->document());
    cursor.movePosition(QTextCursor::Start);
    prompt->setTextCursor(cursor);
    return prompt->cursorRect().x();
  };
  prompt->setPlainText(QStringLiteral("what is this?"));
  EXPECT_LT(start(), prompt->width() / 4);
  prompt->setPlainText(QStringLiteral("\u0645\u0631\u062d\u0628\u0627"));
  EXPECT_GT(start(), prompt->width() * 3 / 4);
  prompt->clear();
  EXPECT_LT(start(), prompt->width() / 4);
}

TEST_F(ComposerTest, BlockedAndBusySayWhy) {
  QSignalSpy sent(&m_composer, &Composer::sendRequested), stop(&m_composer, &Composer::stopRequested);
  QTest::keyClicks(m_composer.prompt(), QStringLiteral("hello"));
  m_composer.setBlocked(QStringLiteral("Choose a model first."));
  EXPECT_FALSE(m_composer.sendButton()->isEnabled());
  QTest::keyClick(m_composer.prompt(), Qt::Key_Return);
  EXPECT_EQ(m_composer.notice(), QStringLiteral("Choose a model first."));
  m_composer.setBlocked({});
  m_composer.setBusy(true);
  QTest::mouseClick(m_composer.sendButton(), Qt::LeftButton);
  EXPECT_EQ(stop.size(), 1);
  EXPECT_EQ(sent.size(), 0);
}

TEST_F(ComposerTest, PastedPicturesAndFilesBecomeAttachments) {
  QApplication::clipboard()->setImage(FakeMediaPreview::picture(3, {64, 36}));
  paste();
  ASSERT_TRUE(opened());
  EXPECT_EQ(m_preview.storedPictures, 1);
  EXPECT_EQ(card()->attachment().kind, MediaKind::kImage);
  auto* mime = new QMimeData;
  mime->setUrls({QUrl::fromLocalFile(QStringLiteral("/clips/a b.mp4")), QUrl(QStringLiteral("http://example.org/c.mp4"))});
  QApplication::clipboard()->setMimeData(mime);
  paste();
  ASSERT_TRUE(waitUntil([this] { return m_composer.tray()->count() == 2 && !m_composer.tray()->opening(); }));
  EXPECT_EQ(card(1)->attachment().path, QByteArray("/clips/a b.mp4"));
  EXPECT_FALSE(m_composer.notice().isEmpty()) << "the web address was refused without a word";
  EXPECT_TRUE(m_composer.prompt()->toPlainText().isEmpty());
  paste();
  EXPECT_EQ(m_composer.tray()->count(), 2) << "the same file twice";
}

TEST_F(ComposerTest, AnAddressThatIsPastedAsTextIsItsFile) {
  const test::ScratchFolder scratch;
  const std::string clip = scratch.write("a b.mp4", "x");
  QApplication::clipboard()->setText(QStringLiteral("file://%1/a%20b.mp4\n").arg(QString::fromStdString(scratch.path())));
  paste();
  ASSERT_TRUE(waitUntil([this] { return m_composer.tray()->count() == 1 && !m_composer.tray()->opening(); }));
  EXPECT_EQ(card()->attachment().path.toStdString(), clip);
  QApplication::clipboard()->setText(QStringLiteral("file:///nowhere/c.mp4"));
  paste();
  EXPECT_EQ(m_composer.tray()->count(), 1);
  EXPECT_EQ(m_composer.prompt()->toPlainText(), QStringLiteral("file:///nowhere/c.mp4")) << "a text like any other";
}

TEST_F(ComposerTest, RefusedFilesStayWithTheReasonAndDoNotGoAlong) {
  QSignalSpy sent(&m_composer, &Composer::sendRequested);
  m_composer.addFile("/clips/broken.mp4");
  ASSERT_TRUE(opened());
  EXPECT_EQ(card()->state(), CardState::kRefused);
  QTest::keyClicks(m_composer.prompt(), QStringLiteral("what?"));
  QTest::keyClick(m_composer.prompt(), Qt::Key_Return);
  EXPECT_EQ(sent.size(), 0);
  EXPECT_FALSE(m_composer.notice().isEmpty());
  QTest::keyClick(card(), Qt::Key_Delete);
  EXPECT_EQ(m_composer.tray()->count(), 0);
  QTest::keyClick(m_composer.prompt(), Qt::Key_Return);
  EXPECT_EQ(sent.size(), 1);
}

TEST_F(ComposerTest, PicturesAndFramesHaveADetailEachWhereTheModelOffersOne) {
  AttachmentTray* tray = m_composer.tray();
  m_composer.addFile("/pictures/a.png");
  m_composer.addFile("/clips/a.mp4");
  ASSERT_TRUE(waitUntil([&] { return tray->count() == 2 && !tray->opening(); }));
  EXPECT_TRUE(tray->pictureDetail()->isHidden()) << "of a model with one number of tokens";
  tray->offerDetails({DetailKind::kAnySize, 256, 1024, 4096, 28}, {DetailKind::kAnySize, 64, 256, 768, 28});
  EXPECT_EQ(tray->pictureDetail()->text(), QStringLiteral("Picture detail: As the model has it"));
  EXPECT_EQ(tray->frameDetail()->text(), QStringLiteral("Frame detail: As the model has it"));
  QSignalSpy changed(&m_composer, &Composer::draftChanged);
  const QList<QAction*> actions = tray->pictureDetail()->menu()->actions();
  ASSERT_GE(actions.size(), 6);
  EXPECT_EQ(actions[2]->text(), QStringLiteral("Medium: at most 1,024 tokens"));
  actions[2]->trigger();
  EXPECT_FALSE(changed.isEmpty());
  EXPECT_EQ(tray->pictureDetail()->text(), QStringLiteral("Picture detail: Medium: at most 1,024 tokens"));
  const QList<app::Attachment> attached = m_composer.draft().attachments;
  EXPECT_EQ(attached[0].detail.level, DetailLevel::kMedium);
  EXPECT_EQ(attached[1].detail, MediaDetail());
  // The next picture of the chat has it, too; a draft brings its own.
  m_composer.clear();
  m_composer.addFile("/pictures/b.png");
  ASSERT_TRUE(opened());
  EXPECT_EQ(m_composer.draft().attachments[0].detail.level, DetailLevel::kMedium);
  EXPECT_TRUE(tray->frameDetail()->isHidden()) << "no video is there";
  app::Draft draft = m_composer.draft();
  draft.attachments[0].detail = {DetailLevel::kTokens, 512};
  m_composer.setDraft(draft);
  ASSERT_TRUE(opened());
  EXPECT_EQ(m_composer.draft().attachments[0].detail, (MediaDetail{DetailLevel::kTokens, 512}));
  EXPECT_EQ(tray->pictureDetail()->text(), QStringLiteral("Picture detail: At most 512 tokens"));
}

TEST_F(ComposerTest, ADocumentIsACardWithItsLengthAndCanBePinned) {
  m_composer.addFile("/notes/report.md");
  ASSERT_TRUE(opened());
  EXPECT_EQ(card()->attachment().kind, MediaKind::kDocument);
  EXPECT_EQ(card()->attachment().words, 1512);
  EXPECT_EQ(card()->strip(), nullptr);
  EXPECT_TRUE(card()->detail().startsWith(QStringLiteral("1,512 words · "))) << card()->detail().toStdString();
  m_composer.tray()->judgeDocuments({{"/notes/report.md", 2034}});
  EXPECT_TRUE(card()->detail().startsWith(QStringLiteral("1,512 words · 2,034 tokens · "))) << card()->detail().toStdString();
  EXPECT_TRUE(card()->pinButton()->isVisible());
  QTest::keyClick(card(), Qt::Key_P);
  EXPECT_FALSE(m_composer.draft().attachments.first().pins.empty());
  QTest::keyClick(card(), Qt::Key_Return);
  auto* viewer = m_composer.findChild<DocumentViewer*>();
  ASSERT_NE(viewer, nullptr);
  EXPECT_TRUE(waitUntil([viewer] { return viewer->text()->toPlainText().startsWith(QStringLiteral("one red star")); }));
  EXPECT_TRUE(viewer->pinButton()->isChecked());
  viewer->searchBox()->setText(QStringLiteral("BLUE"));
  QTest::keyClick(viewer->searchBox(), Qt::Key_Return);
  EXPECT_EQ(viewer->text()->textCursor().selectedText(), QStringLiteral("blue"));
  viewer->close();
}

// The figures, what can be done, and nothing is sent until it is done.
TEST_F(ComposerTest, ADocumentThatIsTooLongOffersItsBeginning) {
  QSignalSpy sent(&m_composer, &Composer::sendRequested);
  m_composer.addFile("/notes/long.txt");
  ASSERT_TRUE(opened());
  EXPECT_TRUE(card()->offerButton()->isHidden());
  m_composer.tray()->judgeDocuments({{"/notes/long.txt", 12'345, false, 7'600}});
  EXPECT_TRUE(card()->detail().contains(QStringLiteral("12,345 tokens")));
  EXPECT_TRUE(card()->detail().contains(QStringLiteral("its first 7,600 tokens fit")));
  QTest::keyClicks(m_composer.prompt(), QStringLiteral("what?"));
  EXPECT_FALSE(m_composer.sendButton()->isEnabled());
  QTest::keyClick(m_composer.prompt(), Qt::Key_Return);
  EXPECT_EQ(sent.size(), 0);
  EXPECT_TRUE(m_composer.notice().contains(QStringLiteral("too long for the model")));
  EXPECT_EQ(card()->offerButton()->text(), QStringLiteral("Use the first 7,600 tokens"));
  card()->offerButton()->click();
  EXPECT_EQ(m_composer.draft().attachments.first().mostTokens, 7'600);
  EXPECT_TRUE(card()->detail().contains(QStringLiteral("the first 7,600 of 12,345 tokens")));
  EXPECT_EQ(card()->offerButton()->text(), QStringLiteral("Use all of it"));
  QTest::keyClick(m_composer.prompt(), Qt::Key_Return);
  EXPECT_EQ(sent.size(), 1);
}

TEST_F(ComposerTest, APdfIsTextForAModelThatReadsAndPagesForOneThatSees) {
  const ModelTraits sees;
  ModelTraits reads{.sees = false};
  m_composer.tray()->suit(reads);
  m_composer.addFile("/papers/a.pdf");
  ASSERT_TRUE(opened());
  EXPECT_TRUE(card()->detail().startsWith(QStringLiteral("12 pages, as text"))) << card()->detail().toStdString();
  EXPECT_FALSE(card()->thumbnail().isNull()) << "its first page";
  EXPECT_TRUE(card()->offerButton()->isHidden()) << "this model sees nothing";
  ASSERT_EQ(m_composer.draft().attachments.size(), 1);
  EXPECT_EQ(m_composer.draft().attachments[0].kind, MediaKind::kDocument);
  EXPECT_EQ(m_composer.draft().attachments[0].pages, PageRange());

  m_composer.tray()->suit(sees);
  EXPECT_TRUE(card()->detail().startsWith(QStringLiteral("12 pages, as pages"))) << card()->detail().toStdString();
  ASSERT_TRUE(waitUntil([this] { return !m_composer.draft().attachments.last().thumbnailPng.isEmpty(); }));
  const QList<app::Attachment> pages = m_composer.draft().attachments;
  ASSERT_EQ(pages.size(), 12);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(pages[i].kind, MediaKind::kImage);
    EXPECT_EQ(pages[i].pages, (PageRange{i + 1, i + 1}));
    EXPECT_FALSE(pages[i].thumbnailPng.isEmpty());
  }
  EXPECT_EQ(card()->offerButton()->text(), QStringLiteral("Use its text"));
  QTest::mouseClick(card()->offerButton(), Qt::LeftButton);
  EXPECT_EQ(m_composer.draft().attachments.size(), 1);
  m_composer.tray()->suit(reads);
  m_composer.tray()->suit(sees);
  EXPECT_EQ(m_composer.draft().attachments.size(), 1) << "as it was chosen";

  app::Draft draft{.attachments = pages};
  m_composer.setDraft(draft);
  ASSERT_TRUE(opened());
  EXPECT_EQ(m_composer.tray()->count(), 1) << "one card for all pages";
  EXPECT_EQ(m_composer.draft().attachments.size(), 12);
}

TEST_F(ComposerTest, AnEncryptedPdfAsksForItsPasswordUntilItOpens) {
  m_composer.addFile("/papers/encrypted.pdf");
  ASSERT_TRUE(opened());
  ASSERT_TRUE(waitUntil([this] { return card()->findChild<PasswordDialog*>() != nullptr; })) << "at once: it was attached right now";
  auto* dialog = card()->findChild<PasswordDialog*>();
  EXPECT_FALSE(dialog->openButton()->isEnabled());
  EXPECT_EQ(dialog->box()->echoMode(), QLineEdit::Password);
  QTest::keyClicks(dialog->box(), QStringLiteral("wrong"));
  QTest::keyClick(dialog->box(), Qt::Key_Return);
  ASSERT_TRUE(waitUntil([&] { return dialog->told() == QStringLiteral("This is not its password."); }));
  EXPECT_EQ(m_preview.passwords.value("/papers/encrypted.pdf"), QString()) << "a wrong one is forgotten";
  EXPECT_EQ(dialog->box()->selectedText(), QStringLiteral("wrong"));
  QTest::keyClick(dialog->box(), Qt::Key_Escape);
  ASSERT_TRUE(waitUntil([this] { return card()->findChild<PasswordDialog*>() == nullptr; }));
  EXPECT_EQ(card()->state(), CardState::kRefused);
  EXPECT_EQ(card()->offerButton()->text(), QStringLiteral("Enter its password…"));
  card()->offerButton()->click();
  dialog = card()->findChild<PasswordDialog*>();
  ASSERT_NE(dialog, nullptr);
  QTest::keyClicks(dialog->box(), QStringLiteral("secret"));
  QTest::keyClick(dialog->box(), Qt::Key_Return);
  ASSERT_TRUE(waitUntil([this] { return card()->state() == CardState::kReady; }));
  EXPECT_TRUE(card()->detail().startsWith(QStringLiteral("12 pages"))) << card()->detail().toStdString();
}

TEST_F(ComposerTest, AScanIsPagesOrSaysThatItHasNoText) {
  ModelTraits reads{.sees = false};
  m_composer.tray()->suit(reads);
  m_composer.addFile("/papers/scan.pdf");
  ASSERT_TRUE(opened());
  EXPECT_TRUE(card()->detail().contains(QStringLiteral("without text"))) << card()->detail().toStdString();
  m_composer.tray()->suit({});
  EXPECT_TRUE(card()->detail().startsWith(QStringLiteral("12 pages, as pages"))) << card()->detail().toStdString();
  EXPECT_TRUE(card()->offerButton()->isHidden()) << "there is no text";
}

TEST_F(ComposerTest, AScansTextIsReadByTesseractOnlyWhenAsked) {
  m_composer.tray()->suit(ModelTraits{.sees = false});
  m_preview.tesseract = false;
  m_composer.addFile("/papers/scan.pdf");
  ASSERT_TRUE(opened());
  EXPECT_TRUE(card()->attachment().subtitles.isEmpty());
  EXPECT_FALSE(card()->noticed().isEmpty());
  ASSERT_EQ(card()->offerButton()->text(), QStringLiteral("Read the text (Tesseract)"));
  card()->offerButton()->click();
  EXPECT_EQ(card()->offerButton()->text(), QStringLiteral("Stop reading"));
  EXPECT_TRUE(card()->detail().startsWith(QStringLiteral("Tesseract is reading its text"))) << card()->detail().toStdString();
  EXPECT_FALSE(card()->unheard().isEmpty()) << "a question would be asked about nothing";
  ASSERT_TRUE(waitUntil([this] { return card()->unheard().isEmpty(); }));
  EXPECT_TRUE(card()->detail().contains(QStringLiteral("Install Tesseract (tesseract-ocr)"))) << card()->detail().toStdString();
  m_preview.tesseract = true;
  card()->offerButton()->click();
  ASSERT_TRUE(waitUntil([this] { return card()->unheard().isEmpty(); }));
  EXPECT_EQ(card()->attachment().subtitles, QByteArray("/data/transcripts/scan.scan.txt"));
  EXPECT_TRUE(card()->detail().startsWith(QStringLiteral("as text read by Tesseract"))) << card()->detail().toStdString();
  EXPECT_TRUE(card()->noticed().isEmpty()) << "there is text now";
  EXPECT_TRUE(card()->offerButton()->isHidden());
  m_composer.tray()->suit({});
  EXPECT_TRUE(card()->attachment().subtitles.isEmpty()) << "a model that sees gets the pages";
}

TEST_F(ComposerTest, ALongPastedTextIsOfferedAsADocument) {
  const auto* offer = m_composer.findChild<PasteOffer*>();
  QApplication::clipboard()->setText(QString(kLongPaste, QLatin1Char('a')));
  paste();
  EXPECT_TRUE(offer->isHidden()) << "2,000 characters are not more than 2,000";
  m_composer.prompt()->clear();
  const QString text = QStringLiteral("first line\n") + QString(kLongPaste, QLatin1Char('b'));
  QTest::keyClicks(m_composer.prompt(), QStringLiteral("Sum up: "));
  QApplication::clipboard()->setText(text);
  paste();
  ASSERT_TRUE(offer->isVisible());
  EXPECT_EQ(m_composer.prompt()->toPlainText(), QStringLiteral("Sum up: ") + text);
  offer->keepButton()->click();
  EXPECT_TRUE(offer->isHidden());
  EXPECT_TRUE(m_preview.storedTexts.isEmpty());
  paste();
  offer->attachButton()->click();
  EXPECT_EQ(m_composer.prompt()->toPlainText(), QStringLiteral("Sum up: ") + text) << "what was kept before stays";
  EXPECT_EQ(m_preview.storedTexts, QStringList{text});
  ASSERT_TRUE(opened());
  EXPECT_EQ(card()->attachment().kind, MediaKind::kDocument);
}

TEST_F(ComposerTest, SubtitlesOfAVideoAreOfferedWithItsFrames) {
  m_composer.addFile("/clips/subtitled.mp4");
  ASSERT_TRUE(opened());
  EXPECT_TRUE(card()->attachment().subtitles.isEmpty());
  EXPECT_FALSE(card()->detail().contains(QStringLiteral("subtitle")));
  EXPECT_EQ(card()->offerButton()->text(), QStringLiteral("Read its subtitles with the frames"));
  card()->offerButton()->click();
  EXPECT_EQ(m_composer.tray()->count(), 1) << "no document of its own";
  EXPECT_EQ(card()->attachment().subtitles, QByteArray("/clips/subtitled.srt"));
  EXPECT_TRUE(card()->detail().endsWith(QStringLiteral("with 12 subtitle lines"))) << card()->detail().toStdString();
  EXPECT_EQ(card()->offerButton()->text(), QStringLiteral("Leave its subtitles out"));
  EXPECT_EQ(m_composer.draft().attachments.first().subtitles, QByteArray("/clips/subtitled.srt"));
  card()->offerButton()->click();
  EXPECT_TRUE(m_composer.draft().attachments.first().subtitles.isEmpty());
  EXPECT_EQ(card()->offerButton()->text(), QStringLiteral("Read its subtitles with the frames"));
  m_composer.addFile("/clips/other.mp4");
  ASSERT_TRUE(waitUntil([this] { return m_composer.tray()->count() == 2 && !m_composer.tray()->opening(); }));
  EXPECT_TRUE(card(1)->offerButton()->isHidden());
}

// Several refused files: how many, which, until they are gone.
TEST_F(ComposerTest, SeveralFilesCanBeRemovedAtOnce) {
  const QPushButton* all = m_composer.tray()->removeAllButton();
  for (const char* file : {"/clips/a.mp4", "/clips/b.mp4", "/clips/c.mp4"}) {
    EXPECT_TRUE(all->isHidden());
    m_composer.addFile(file);
  }
  EXPECT_FALSE(all->isHidden());
  m_composer.tray()->removeAllButton()->click();
  EXPECT_EQ(m_composer.tray()->count(), 0);
  EXPECT_TRUE(m_composer.draft().attachments.isEmpty());
}

TEST_F(ComposerTest, RefusedFilesAreCountedAndBroughtIntoView) {
  m_composer.resize(760, 320);
  for (const char* file : {"/clips/broken one.mp4", "/clips/a.mp4", "/clips/b.mp4", "/clips/broken two.mp4"}) m_composer.addFile(file);
  ASSERT_TRUE(waitUntil([this] { return m_composer.tray()->count() == 4 && !m_composer.tray()->opening(); }));
  QTest::qWait(80);
  const auto inView = [this](int index) {
    const QRect at(card(index)->mapTo(m_composer.tray()->viewport(), QPoint()), card(index)->size());
    return m_composer.tray()->viewport()->rect().intersects(at);
  };
  QTest::keyClicks(m_composer.prompt(), QStringLiteral("what?"));
  EXPECT_FALSE(m_composer.sendButton()->isEnabled());
  EXPECT_EQ(m_composer.sendButton()->toolTip(), QStringLiteral("2 files cannot be used. Remove them, then send."));
  QTest::keyClick(m_composer.prompt(), Qt::Key_Return);
  EXPECT_EQ(m_composer.notice(), QStringLiteral("2 files cannot be used. Remove them, then send."));
  EXPECT_TRUE(inView(0)) << "the file to be removed";
  QTest::qWait(50);
  QTest::keyClick(card(0), Qt::Key_Delete);
  EXPECT_FALSE(m_composer.notice().isEmpty()) << "one is left";
  QTest::keyClick(m_composer.prompt(), Qt::Key_Return);
  EXPECT_EQ(m_composer.notice(), QStringLiteral("One file cannot be used. Remove it, then send."));
  QTest::keyClick(card(2), Qt::Key_Delete);
  EXPECT_TRUE(m_composer.notice().isEmpty()) << "nothing is refused any more";
  EXPECT_TRUE(m_composer.sendButton()->isEnabled());
}

// Nothing about models in what is said of an attachment.
TEST_F(ComposerTest, ARefusedFormatNamesThoseOfAttachmentsOnly) {
  EXPECT_FALSE(app::describeError({ErrorCode::kUnsupportedFormat, "/clips/notes.txt", "text"}).remedy.contains(QStringLiteral("odel")));
}

TEST_F(ComposerTest, LongNamesAreShortenedInTheMiddle) {
  m_composer.addFile("/clips/" + QByteArray("a name that does not fit ").repeated(12) + "the end.mp4");
  ASSERT_TRUE(opened());
  m_composer.grab();
  const QString shown = card()->findChild<ui::ElidedLabel*>(QStringLiteral("name"))->shownText();
  EXPECT_TRUE(shown.contains(QChar(u'\u2026'))) << shown.toStdString();
  EXPECT_TRUE(shown.endsWith(QStringLiteral("the end.mp4")));
}

// A clip has the frames that it has: no more are asked for, of the whole or of a part, and the card says that these are all.
TEST_F(ComposerTest, NoMoreFramesAreAskedForThanTheClipHas) {
  m_composer.addFile("/clips/short.mp4");
  ASSERT_TRUE(opened());
  EXPECT_EQ(card()->attachment().plan.frame_count, 15);
  EXPECT_EQ(card()->frameCount()->value(), 15);
  EXPECT_EQ(card()->frameCount()->maximum(), 15);
  EXPECT_EQ(card()->planText(), QStringLiteral("All 15 frames · one every 0.20 s · 0:00–0:03"));
  FrameStrip* strip = card()->strip();
  QTest::keyClick(strip, Qt::Key_End);  // the beginning, as late as it goes
  QTest::keyClick(strip, Qt::Key_Home);
  for (int i = 0; i < 2; ++i) QTest::keyClick(strip, Qt::Key_Right, Qt::ShiftModifier);  // two tenths of 3 s
  EXPECT_EQ(card()->attachment().plan.frame_count, 12) << "of the part that is left";
  EXPECT_TRUE(card()->planText().startsWith(QStringLiteral("All 12 frames"))) << card()->planText().toStdString();
  QTest::keyClick(strip, Qt::Key_Home);
  EXPECT_EQ(card()->attachment().plan.frame_count, 15) << "a wider range has them all again";
  card()->frameCount()->setValue(5);
  EXPECT_EQ(card()->attachment().plan.frame_count, 5);
  EXPECT_TRUE(card()->planText().startsWith(QStringLiteral("5 frames · one every 0.60 s"))) << card()->planText().toStdString();
}

TEST_F(ComposerTest, StripSetsRangeAndFramesByKeyboardAndMouse) {
  m_composer.addFile("/clips/long.mp4");
  ASSERT_TRUE(opened());
  FrameStrip* strip = card()->strip();
  ASSERT_NE(strip, nullptr);
  ASSERT_TRUE(waitUntil([&] { return m_preview.thumbnailsAsked > 0; }));
  EXPECT_EQ(m_preview.thumbnailsAsked, strip->pictureCount());
  QTest::keyClick(strip, Qt::Key_Right, Qt::ShiftModifier);  // a tenth of 128 s
  EXPECT_NEAR(card()->attachment().plan.from_s, 12.8, 1e-6);
  QTest::keyClick(strip, Qt::Key_Down);
  QTest::keyClick(strip, Qt::Key_Left);
  EXPECT_NEAR(card()->attachment().plan.to_s, 126.72, 1e-6);
  const QPoint handle = strip->handleRect(true).center().toPoint();
  QTest::mousePress(strip, Qt::LeftButton, {}, handle);
  QTest::mouseMove(strip, QPoint(strip->width() / 2, handle.y()));
  QTest::mouseRelease(strip, Qt::LeftButton, {}, QPoint(strip->width() / 2, handle.y()));
  EXPECT_NEAR(card()->attachment().plan.to_s, 64.0, 1.0);
  card()->frameCount()->setValue(16);
  EXPECT_EQ(card()->attachment().plan.frame_count, 16);
  EXPECT_TRUE(card()->planText().contains(QStringLiteral("16"))) << card()->planText().toStdString();
  EXPECT_EQ(m_composer.draft().attachments[0].plan.frame_count, 16);
}

TEST_F(ComposerTest, FramesArePinnedByKeyMouseAndMenu) {
  m_composer.addFile("/clips/long.mp4");
  ASSERT_TRUE(opened());
  FrameStrip* strip = card()->strip();
  ASSERT_TRUE(waitUntil([&] { return m_preview.thumbnailsAsked > 0; }));
  const int pictures = strip->pictureCount();
  ASSERT_GE(pictures, 4);
  const double slot = 128.0 / pictures;
  const auto pins = [&] { return m_composer.draft().attachments[0].pins; };
  QSignalSpy changed(&m_composer, &Composer::draftChanged);

  QTest::keyClick(strip, Qt::Key_Up);  // from the first handle to the pictures
  QTest::keyClick(strip, Qt::Key_Right);
  EXPECT_EQ(strip->currentPicture(), 1);
  QTest::keyClick(strip, Qt::Key_P);
  ASSERT_EQ(pins().size(), 1U);
  EXPECT_NEAR(pins()[0].fromS, slot, 1e-6);
  EXPECT_NEAR(pins()[0].toS, 2 * slot, 1e-6);
  EXPECT_EQ(changed.count(), 1);
  EXPECT_TRUE(strip->accessibleDescription().contains(QStringLiteral("pinned"))) << strip->accessibleDescription().toStdString();
  EXPECT_TRUE(card()->planText().endsWith(QStringLiteral("pinned"))) << card()->planText().toStdString();

  QTest::mouseClick(strip, Qt::LeftButton, Qt::ShiftModifier, strip->pictureRect(3).center().toPoint());
  ASSERT_EQ(pins().size(), 1U);
  EXPECT_NEAR(pins()[0].toS, 4 * slot, 1e-6);
  EXPECT_EQ(m_composer.findChild<FrameViewer*>(), nullptr) << "Shift pins, it does not open";
  QTest::keyClick(strip, Qt::Key_Left);
  QTest::keyClick(strip, Qt::Key_P);  // the third: a hole in the range
  ASSERT_EQ(pins().size(), 2U);
  EXPECT_NEAR(pins()[0].toS, 2 * slot, 1e-6);

  // In the viewer, and what it changes is seen on the strip.
  QTest::keyClick(strip, Qt::Key_Return);
  auto* viewer = m_composer.findChild<FrameViewer*>();
  ASSERT_NE(viewer, nullptr);
  EXPECT_NEAR(app::plannedTimes(card()->attachment())[viewer->index()], strip->pictureTimes()[2], 1.0 + 1e-6);
  EXPECT_FALSE(viewer->pinButton()->isChecked());
  QTest::keyClick(viewer, Qt::Key_P);
  EXPECT_TRUE(viewer->pinButton()->isChecked());
  EXPECT_EQ(pins().size(), 3U) << "one of 64 frames, in a hole of several";
  QTest::mouseClick(viewer->pinButton(), Qt::LeftButton);
  EXPECT_EQ(pins().size(), 2U);
  viewer->close();

  const QPoint place = strip->pictureRect(0).center().toPoint();
  QContextMenuEvent menu(QContextMenuEvent::Mouse, place, strip->mapToGlobal(place));
  QCoreApplication::sendEvent(strip, &menu);
  auto* shown = strip->findChild<QMenu*>();
  ASSERT_NE(shown, nullptr);
  for (QAction* action : shown->actions()) {
    if (action->text() == QStringLiteral("Unpin all")) action->trigger();
  }
  EXPECT_TRUE(pins().empty());
  shown->close();
}

TEST_F(ComposerTest, TheViewerPinsOneOfTheFramesThatTheModelWillSee) {
  m_composer.addFile("/clips/long.mp4");
  ASSERT_TRUE(opened());
  ASSERT_LT(card()->strip()->pictureCount(), 64);
  QTest::keyClick(card(), Qt::Key_Return);
  auto* viewer = m_composer.findChild<FrameViewer*>();
  ASSERT_NE(viewer, nullptr);
  const auto pins = [&] { return m_composer.draft().attachments[0].pins; };
  QTest::keyClick(viewer, Qt::Key_P);
  EXPECT_TRUE(card()->planText().endsWith(QStringLiteral("· 1 pinned"))) << card()->planText().toStdString();
  EXPECT_EQ(pins(), (app::PinnedRanges{{0.0, 2.0}})) << "64 frames of 128 s";
  QTest::keyClick(viewer, Qt::Key_Right);
  EXPECT_FALSE(viewer->pinButton()->isChecked());
  QTest::keyClick(viewer, Qt::Key_P);
  EXPECT_EQ(pins(), (app::PinnedRanges{{0.0, 4.0}}));
  QTest::keyClick(viewer, Qt::Key_End);
  QTest::keyClick(viewer, Qt::Key_P);
  EXPECT_EQ(pins(), (app::PinnedRanges{{0.0, 4.0}, {126.0, 128.0}}));
  QTest::keyClick(viewer, Qt::Key_Home);
  QTest::keyClick(viewer, Qt::Key_P);
  EXPECT_EQ(pins(), (app::PinnedRanges{{2.0, 4.0}, {126.0, 128.0}}));
  QTest::keyClick(viewer, Qt::Key_P);
  for (int i = 0; i < 10; ++i) QTest::keyClick(viewer, Qt::Key_Right);
  QTest::keyClick(viewer, Qt::Key_P, Qt::ShiftModifier);
  EXPECT_EQ(pins(), (app::PinnedRanges{{0.0, 22.0}, {126.0, 128.0}}));
  EXPECT_TRUE(card()->planText().endsWith(QStringLiteral("· 12 pinned"))) << card()->planText().toStdString();
  viewer->close();
}

TEST_F(ComposerTest, AnImageIsPinnedAsAWholeAndADraftBringsItBack) {
  m_composer.addFile("/photos/one.png");
  ASSERT_TRUE(opened());
  ASSERT_TRUE(card()->pinButton()->isVisibleTo(card()));
  QTest::keyClick(card(), Qt::Key_P);
  EXPECT_TRUE(card()->pinButton()->isChecked());
  const app::Draft draft = m_composer.draft();
  EXPECT_EQ(draft.attachments[0].pins.size(), 1U);
  m_composer.clear();
  m_composer.setDraft(draft);
  ASSERT_TRUE(opened());
  EXPECT_TRUE(card()->pinButton()->isChecked());
  QTest::mouseClick(card()->pinButton(), Qt::LeftButton);
  EXPECT_TRUE(m_composer.draft().attachments[0].pins.empty());
}

TEST_F(ComposerTest, AFrameOpensLargeAndArrowsStep) {
  m_composer.addFile("/clips/long.mp4");
  ASSERT_TRUE(opened());
  FrameStrip* strip = card()->strip();
  ASSERT_TRUE(waitUntil([&] { return m_preview.thumbnailsAsked > 0; }));
  QTest::mouseClick(strip, Qt::LeftButton, {}, strip->pictureRect(1).center().toPoint());
  auto* viewer = m_composer.findChild<FrameViewer*>();
  ASSERT_NE(viewer, nullptr);
  const int first = viewer->index();
  EXPECT_NEAR(app::plannedTimes(card()->attachment())[first], strip->pictureTimes()[1], 1.0 + 1e-6);
  ASSERT_TRUE(waitUntil([&] { return viewer->hasPicture(); }));
  QTest::keyClick(viewer, Qt::Key_Right);
  EXPECT_EQ(viewer->index(), first + 1);
  QTest::keyClick(viewer, Qt::Key_Home);
  EXPECT_EQ(viewer->index(), 0);
  viewer->close();
}

TEST_F(ComposerTest, MethodAndShareAreChosenTogether) {
  MethodControl* method = m_composer.method();
  QSignalSpy changed(&m_composer, &Composer::recipeChanged);
  method->spin()->setValue(35);
  EXPECT_DOUBLE_EQ(method->retention(), 0.35);
  EXPECT_EQ(method->slider()->value(), 35);
  ASSERT_EQ(changed.size(), 1);
  method->stepRetention(-5);
  EXPECT_DOUBLE_EQ(method->retention(), 0.30);
  app::NamedRecipe recipe = method->recipe();
  recipe.spec.method = "full";
  method->setRecipe(recipe);
  EXPECT_EQ(method->text(), QStringLiteral("Full cache"));
  EXPECT_FALSE(method->slider()->isEnabled());
  recipe.spec.method = "vl-cache";
  recipe.spec.budget_tokens = 64;
  recipe.spec.allocator = "meda";
  method->setRecipe(recipe);
  EXPECT_EQ(method->text(), QStringLiteral("VL-Cache, changed · 64 slots"));
  EXPECT_FALSE(method->slider()->isEnabled()) << "the share is not what counts here";
  EXPECT_TRUE(method->about().contains(QStringLiteral("meda"))) << method->about().toStdString();
}

}  // namespace
}  // namespace winnow::ui
