// Documents in the window: attached, prepared, planned, asked about, saved, shown again, and their words in the kept-token map.
#include <QFile>
#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>

#include "app/media/files/media_opener.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_card.h"
#include "ui/composer/document_viewer.h"
#include "ui/composer/plan_line.h"
#include "ui/composer/preparation_line.h"
#include "ui/composer/viewer_parts.h"
#include "ui/inspector/charts.h"
#include "ui/kept_map/kept_map_dialog.h"
#include "ui/kept_map/kept_text.h"
#include "ui/kept_map/token_text_view.h"
#include "ui/models/media_preview_thread.h"
#include "ui/shell/turns/kept_map_pages.h"
#include "ui/theme/find_bar.h"

namespace winnow::test {
namespace {

class DocumentsTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    m_settings->setUnasked({app::Unasked::kAlways, app::Unasked::kNever});
    app::NamedRecipe recipe{.spec = {.method = "self-study", .retention = 0.2}};
    m_settings->setDefaultRecipe(recipe);
    m_window->page().startNew();
  }
  void attach(const QByteArray& file) { ASSERT_TRUE(attaches(file)); }
  ui::AttachmentCard* card() { return composer()->tray()->card(0); }
  ui::PreparationLine* preparation() { return inWindow<ui::PreparationLine>(); }
  ui::KeptMapDialog* map() { return inWindow<ui::KeptMapPages>()->page(); }
};

TEST_F(DocumentsTest, IsReadInTheBackgroundAndItsCardSaysHowLongItIs) {
  m_log->holdPreparations(true);
  attach("/notes/report.txt");
  EXPECT_TRUE(waitUntil([this] { return card()->detail().contains(QStringLiteral("1,512 words · 200 tokens")); }))
      << card()->detail().toStdString();
  EXPECT_TRUE(waitUntil([this] { return inWindow<ui::PlanLine>()->plan().text.startsWith(QStringLiteral("1,512 words · ")); }));
  EXPECT_TRUE(inWindow<ui::PlanLine>()->plan().detail.contains(QStringLiteral("(200 for the document, ")));
  ASSERT_TRUE(waitUntil([this] { return preparation()->view().text == QStringLiteral("Reading the document…"); }))
      << preparation()->view().text.toStdString();
  m_log->holdPreparations(false);
  EXPECT_TRUE(waitUntil([this] { return preparation()->view().text.startsWith(QStringLiteral("Ready. ")); }));
  const auto& asked = std::get<MediaItem>(m_log->prepares().back().turn.messages.back().items.front()).media;
  EXPECT_EQ(asked.kind, MediaKind::kDocument);
  EXPECT_EQ(asked.most_tokens, 0);
}

TEST_F(DocumentsTest, OneThatIsTooLongIsCutToWhatFits) {
  attach("/notes/long.txt");
  ASSERT_TRUE(waitUntil([this] { return card()->tooLong(); }));
  EXPECT_TRUE(card()->detail().contains(QStringLiteral("5,000 tokens")));
  const QString offered = card()->offerButton()->text();
  ASSERT_TRUE(offered.startsWith(QStringLiteral("Use the first "))) << offered.toStdString();
  type(QStringLiteral("What is it about?"));
  EXPECT_FALSE(composer()->sendButton()->isEnabled());
  card()->offerButton()->click();
  const qint64 most = card()->attachment().mostTokens;
  EXPECT_GT(most, 2000);
  EXPECT_LT(most, 4096);
  EXPECT_TRUE(waitUntil([this] { return inWindow<ui::PlanLine>()->plan().fit != ui::PlanFit::kDoesNotFit; }));
  EXPECT_FALSE(card()->tooLong());
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && !session().answers.busy(); }));
  EXPECT_TRUE(transcript()->messageAt(0).attachments.front().detail.contains(QStringLiteral("of 5,000 tokens")));
}

TEST_F(DocumentsTest, IsSavedWithTheChatAndSpokenOfAsADocument) {
  attach("/notes/report.txt");
  QTest::keyClick(card(), Qt::Key_P);
  ask(QStringLiteral("Who wrote it?"));
  const auto turns = m_log->requests();
  const auto& turn = std::get<Turn>(turns.back().body);
  EXPECT_EQ(turn.pins, std::vector<Pin>{Pin{0}}) << "a pinned document is pinned whole";
  const auto detail = [this] { return transcript()->messageAt(0).attachments.front().detail; };
  EXPECT_EQ(detail(), QStringLiteral("1,512 words · 200 tokens · pinned"));
  const auto labelled = [this](const QString& label) {
    const auto bars = m_window->findChildren<ui::KeptBar*>();
    return waitUntil([&] { return std::any_of(bars.begin(), bars.end(), [&](ui::KeptBar* bar) { return bar->label() == label; }); });
  };
  EXPECT_TRUE(labelled(QStringLiteral("Document")));
  ASSERT_TRUE(reopened(2));
  EXPECT_EQ(detail(), QStringLiteral("1,512 words · 200 tokens · pinned"));
  EXPECT_EQ(transcript()->messageAt(0).attachments.front().kind, MediaKind::kDocument);
  EXPECT_TRUE(labelled(QStringLiteral("Document")));
  Q_EMIT transcript()->attachmentActivated(transcript()->messageAt(0).id, 0);
  auto* viewer = m_window->findChild<ui::DocumentViewer*>();
  ASSERT_NE(viewer, nullptr);
  EXPECT_TRUE(viewer->pinButton()->isChecked());
  viewer->close();
}

TEST_F(DocumentsTest, AnAnswerQuotesTheLinesThatFitIt) {
  m_preview->passages["/notes/report.txt"] = {{app::LineKind::kPassage, -1, -1, 11, 0, QStringLiteral("The committee met in Boston.")},
                                              {app::LineKind::kPassage, -1, -1, 40, 0, QStringLiteral("Snow fell.")}};
  attach("/notes/report.txt");
  ask(QStringLiteral("Where was the committee?"));
  const auto click = [this](ui::Action action) {
    QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(last().id, action).center());
  };
  ASSERT_TRUE(last().citable);
  EXPECT_TRUE(last().quotes.isEmpty());
  click(ui::Action::kCite);
  ASSERT_TRUE(waitUntil([this] { return !last().quotes.isEmpty(); }));
  EXPECT_EQ(last().quotes, QStringList{QStringLiteral("report.txt · line 12 · The committee met in Boston.")});
  click(ui::Action::kQuote);
  auto* viewer = m_window->findChild<ui::DocumentViewer*>();
  ASSERT_NE(viewer, nullptr);
  viewer->close();
}

TEST_F(DocumentsTest, TheMapShowsItsWordsAndFindsThem) {
  attach("/notes/report.txt");
  ask(QStringLiteral("Who wrote it?"));
  ASSERT_TRUE(reopened(2));
  QTest::keyClick(m_window.get(), Qt::Key_T, Qt::ControlModifier);
  ASSERT_NE(map(), nullptr);
  ASSERT_TRUE(waitUntil([this] { return !map()->showsSentence(); }));
  ui::KeptMapModel& model = map()->model();
  const ui::PromptPart& part = model.parts()[static_cast<std::size_t>(model.part())];
  ASSERT_EQ(part.kind, ui::PartKind::kLines) << "the document is what was asked about";
  EXPECT_TRUE(model.partName(model.part()).startsWith(QStringLiteral("Line")));
  ASSERT_EQ(map()->text()->tokens().size(), 200U) << "all of it, whichever stretch is chosen";
  EXPECT_EQ(map()->text()->tokenTexts()[12], QStringLiteral(" word12"));
  EXPECT_TRUE(model.describeToken(map()->text()->tokens()[12]).startsWith(QStringLiteral("line 2 · ")));
  EXPECT_FALSE(model.describeToken(map()->text()->tokens()[12]).isEmpty());

  QTest::keyClick(map(), Qt::Key_F, Qt::ControlModifier);
  ASSERT_TRUE(map()->findBar()->isVisible());
  QTest::keyClicks(map()->findBar()->box(), QStringLiteral("WORD19"));
  EXPECT_EQ(map()->text()->foundCount(), 11) << "word19 and word190 to word199";
  EXPECT_EQ(map()->findBar()->countText(), QStringLiteral("1 of 11"));
  QTest::keyClick(map()->findBar()->box(), Qt::Key_Return);
  EXPECT_EQ(map()->findBar()->countText(), QStringLiteral("2 of 11"));
  EXPECT_TRUE(map()->isVisible()) << "Enter closes no page in which one searches";
  map()->findBar()->box()->setText(QStringLiteral(":20"));
  EXPECT_EQ(map()->text()->foundCount(), 1);
  map()->findBar()->box()->setText(QStringLiteral("nowhere"));
  EXPECT_EQ(map()->findBar()->countText(), QStringLiteral("Not found"));
  QTest::keyClick(map()->findBar()->box(), Qt::Key_Escape);
  EXPECT_FALSE(map()->findBar()->isVisible());
  EXPECT_TRUE(map()->isVisible());
  EXPECT_EQ(map()->text()->foundCount(), 0);
}

TEST(KeptText, GoesToTheClipboardAndToPaper) {
  const std::vector<ui::KeptToken> tokens = {{QStringLiteral("<b>"), 1.0}, {QStringLiteral(" gone\n"), 0.0}, {QStringLiteral("half"), 0.5}};
  const std::unique_ptr<QMimeData> mime(ui::keptTextMime(tokens));
  EXPECT_EQ(mime->text(), QStringLiteral("<b> gone\nhalf"));
  EXPECT_TRUE(mime->html().contains(QStringLiteral("&lt;b&gt;"))) << "what looks like markup is text";
  EXPECT_TRUE(mime->html().contains(QStringLiteral("line-through")));
  const QByteArray page = ui::keptTextHtml(QStringLiteral("Layer 3"), tokens);
  EXPECT_TRUE(page.contains("Layer 3"));
  const QByteArray pdf = ui::keptTextPdf(QStringLiteral("Layer 3"), tokens);
  EXPECT_TRUE(pdf.startsWith("%PDF"));
  EXPECT_GT(pdf.size(), 1000);
}

// With the files themselves.
TEST(DocumentFiles, AreProbedReadAndKept) {
  QTemporaryDir folder;
  const auto file = [&folder](const char* name, const QByteArray& content) {
    QFile out(folder.filePath(QLatin1String(name)));
    EXPECT_TRUE(out.open(QIODevice::WriteOnly) && out.write(content) == content.size());
    return QFile::encodeName(out.fileName());
  };
  app::Passwords passwords;
  ui::MediaPreviewThread preview(std::make_unique<app::FfmpegMediaOpener>(), folder.filePath(QStringLiteral("pasted")), passwords);
  QList<ui::MediaSummary> probed;
  QStringList read;
  QList<QByteArray> stored;
  std::vector<Error> failed;
  QObject::connect(&preview, &ui::MediaPreview::probed, &preview, [&](ui::PreviewToken, const ui::MediaSummary& of) { probed << of; });
  QObject::connect(&preview, &ui::MediaPreview::textRead, &preview, [&](ui::PreviewToken, const QString& text) { read << text; });
  QObject::connect(&preview, &ui::MediaPreview::stored, &preview, [&](ui::PreviewToken, const QByteArray& path) { stored << path; });
  QObject::connect(&preview, &ui::MediaPreview::failed, &preview, [&](ui::PreviewToken, const Error& error) { failed.push_back(error); });

  preview.probe(file("notes.md", "# Notes\n\nthree more words\n"), {});
  ASSERT_TRUE(waitUntil([&] { return probed.size() == 1; }));
  EXPECT_EQ(probed[0].kind, MediaKind::kDocument);
  EXPECT_EQ(probed[0].words, 5);
  EXPECT_TRUE(probed[0].poster.isNull());
  for (const QByteArray& binary : {QByteArray("%PDF-1.7\n1 0 obj\n"),
                                   QByteArray("\x7f"
                                              "ELF\x02\x01\x01\x00",
                                              8),
                                   QByteArray("\1\0\2\0\3more", 9)})
    preview.probe(file(("binary" + QByteArray::number(binary.size())).constData(), binary), {});
  ASSERT_TRUE(waitUntil([&] { return failed.size() == 3; }));
  for (const Error& error : failed) EXPECT_EQ(error.code, ErrorCode::kUnsupportedFormat) << error.reason;

  const QString text = QStringLiteral("  GNU General Public License,\nVersion 3: “what a program is” and so on and so forth");
  preview.storeText(text);
  preview.storeText(text);
  ASSERT_TRUE(waitUntil([&] { return stored.size() == 2; }));
  EXPECT_EQ(stored[0], stored[1]) << "the same text is one file";
  EXPECT_EQ(QFileInfo(QFile::decodeName(stored[0])).fileName().toStdString(), "Pasted text, gnu general public license version 3.txt");
  preview.readText(stored[0], {});
  ASSERT_TRUE(waitUntil([&] { return read.size() == 1; }));
  EXPECT_EQ(read[0], text);
}

}  // namespace
}  // namespace winnow::test
