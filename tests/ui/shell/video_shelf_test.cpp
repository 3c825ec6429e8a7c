// A folder of videos as a page of the window: prepared in the background, asked one question, and gone on with after a restart.
#include "ui/shell/turns/video_shelf.h"

#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>
#include <fstream>
#include <map>

#include "app/chats/chat/chat_database.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_card.h"
#include "ui/composer/folder_chooser.h"
#include "ui/contents/contents_list.h"
#include "ui/contents/video_contents.h"
#include "ui/theme/rooms.h"

namespace winnow::test {
namespace {

class VideoShelfTest : public WindowTest {
 protected:
  void SetUp() override {
    m_script = [this](const Request& request) { return answer(request); };
    m_model = m_folder.filePath(QStringLiteral("model"));
    QDir().mkpath(m_model);
    QDir().mkpath(QFile::decodeName(films()));
    std::ofstream(m_model.toStdString() + "/config.json") << "{}";
    std::ofstream(m_model.toStdString() + "/model.safetensors") << std::string(1000, 'w');
    WindowTest::SetUp();
    m_settings->setUnasked({app::Unasked::kAlways, app::Unasked::kNever, app::Unasked::kNever});
    begin();
  }
  // A window that has just been opened: with these films and a model that lies on the disk.
  void begin(int count = 3) {
    ui::FolderContents folder;
    for (int i = 1; i <= count; ++i) {
      const QByteArray path = "/films/" + QByteArray::number(i) + (i == 2 ? " star.mp4" : ".mp4");
      folder.files.push_back({path, MediaKind::kVideo, {}, 1'000'000});
      m_preview->hashes[path] = "content of " + path;
    }
    m_preview->folders[films()] = folder;
    session().model.load(m_model);
    ASSERT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady && session().model.folder() == m_model; }));
  }
  void restart() {
    close();
    start();
    begin();
    ASSERT_TRUE(waitUntil([this] { return m_store->isOpen(); }));
  }
  // As an engine with a star in one film.
  Script answer(const Request& request) {
    if (const auto* save = std::get_if<SaveConversation>(&request.body)) {
      std::ofstream(save->path) << "kept";
      m_kept[save->path] = m_log->prepares().back().turn.messages;
      return {{{}, Say{Saved{4}}}};
    }
    if (const auto* load = std::get_if<LoadConversation>(&request.body)) {
      Restored restored;
      restored.prepared = m_kept[load->path];
      return {{{}, Say{restored}}};
    }
    const auto* turn = std::get_if<Turn>(&request.body);
    if (turn == nullptr) return default_script(request);
    const auto* film = std::get_if<MediaItem>(&turn->messages.front().items.front());
    const std::string asked = std::get<TextItem>(turn->messages.back().items.back()).text;
    const bool star = film != nullptr && film->media.path.find("star") != std::string::npos;
    return answer_script(request, asked.starts_with("When") ? "At 12 seconds." : star ? "Yes, there is a star." : "No.");
  }
  QByteArray films() const { return QFile::encodeName(m_folder.filePath(QStringLiteral("films"))); }
  ui::VideoShelfPage* page() { return inWindow<ui::VideoShelfPage>(); }
  void openShelf() {
    composer()->addFile(films());
    ASSERT_TRUE(waitUntil([this] { return inWindow<ui::FolderChooser>() != nullptr; }));
    inWindow<ui::FolderChooser>()->allButton()->click();
    ASSERT_TRUE(waitUntil([this] { return page() != nullptr && page()->isVisible(); }));
  }
  void reopenShelf() {
    m_window->page().openDialog(ui::ChatPage::Dialog::kVideoShelf);
    ASSERT_TRUE(waitUntil([this] { return page() != nullptr; }));
  }
  enum Column : int { kName = 0, kFacts, kState };
  QString row(int at, int column = kState) { return page()->list()->topLevelItem(at)->text(column); }
  bool asked(const char* question) {
    page()->question()->setText(QLatin1String(question));
    QTest::keyClick(page()->question(), Qt::Key_Return);
    return waitUntil([this] {
      return page()->askButton()->text() == QStringLiteral("Ask all") && page()->summary()->text().contains(QStringLiteral("3 answered"));
    });
  }
  template <typename Body>
  std::size_t requests() const {
    const std::vector<Request> all = m_log->requests();
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [](const Request& request) { return std::holds_alternative<Body>(request.body); }));
  }
  bool summarySays(const char* words) {
    return waitUntil([&] { return page()->summary()->text().contains(QLatin1String(words)); });
  }

  QString m_model;
  std::map<std::string, std::vector<Message>> m_kept;  // by file; of the engine's thread
};

TEST_F(VideoShelfTest, EachIsAskedAndASecondQuestionReadsNothingAgain) {
  openShelf();
  ASSERT_TRUE(waitUntil([this] { return row(2, kFacts) == QStringLiteral("2:08") && row(0).startsWith(QStringLiteral("Takes about")); }))
      << row(0).toStdString();
  ASSERT_TRUE(asked("Which of these shows a star?")) << page()->summary()->text().toStdString();
  EXPECT_EQ(m_log->prepares().size(), 3u);
  EXPECT_EQ(row(0, kName), QStringLiteral("2 star.mp4")) << "what shows it comes first";
  EXPECT_EQ(row(0), QStringLiteral("0:12 · Yes, there is a star."));
  EXPECT_EQ(row(1), QStringLiteral("No."));
  EXPECT_TRUE(page()->summary()->text().contains(QStringLiteral("1 yes"))) << page()->summary()->text().toStdString();
  ASSERT_TRUE(asked("Is there a star?"));
  EXPECT_EQ(m_log->prepares().size(), 3u) << "from what is kept";
  EXPECT_EQ(requests<LoadConversation>(), 3u);
}

TEST_F(VideoShelfTest, AnAnswerLeadsToItsFrameAndToANewChatByKeysAlone) {
  openShelf();
  ASSERT_TRUE(page()->question()->hasFocus());
  ASSERT_TRUE(asked("Which of these shows a star?"));
  QTest::keyClick(page()->question(), Qt::Key_Backtab, Qt::ShiftModifier);
  EXPECT_TRUE(page()->moreButton()->hasFocus());
  EXPECT_EQ(page()->frameButton()->text(), QStringLiteral("Show 0:12"));
  page()->list()->setFocus();
  QTest::keyClick(page()->list(), Qt::Key_Return);
  auto* contents = inWindow<ui::VideoContents>();
  ASSERT_NE(contents, nullptr);
  ASSERT_TRUE(waitUntil([&] { return contents->list()->currentIndex().isValid(); }));
  EXPECT_EQ(contents->list()->lines()[contents->list()->currentIndex().row()].startS, 12.0);
  QTest::keyClick(contents, Qt::Key_Escape);
  ASSERT_TRUE(waitUntil([this] { return inWindow<ui::VideoContents>() == nullptr; }));
  EXPECT_TRUE(page()->isVisible()) << "back to the list";
  QTest::keyClick(page()->moreButton(), Qt::Key_Space);
  ASSERT_TRUE(waitUntil([this] { return page() == nullptr && composer()->tray()->count() == 1; }));
  EXPECT_EQ(composer()->tray()->card(0)->attachment().path, "/films/2 star.mp4");
  EXPECT_EQ(composer()->tray()->card(0)->attachment().plan.from_s, 0.0);
  EXPECT_EQ(composer()->tray()->card(0)->attachment().plan.to_s, 42.0);
}

TEST_F(VideoShelfTest, WhatIsSaidInAFilmIsFoundWithoutAChat) {
  m_preview->lines["/films/2 star.mp4"] = {{40.0, 42.0, "The budget was cut."}};
  openShelf();
  ASSERT_TRUE(waitUntil([this] { return row(2, kFacts) == QStringLiteral("2:08"); }));
  QTest::keyClick(page(), Qt::Key_Escape);
  m_window->sidebar()->search()->setText(QStringLiteral("budget"));
  QListView* places = m_window->sidebar()->places();
  ASSERT_TRUE(waitUntil([&] { return places->isVisible(); }));
  ASSERT_EQ(places->model()->rowCount(), 1);
  EXPECT_EQ(places->model()->index(0, 0).data().toString(), QStringLiteral("2 star.mp4 · 0:40"));
  places->setFocus();
  places->setCurrentIndex(places->model()->index(0, 0));
  QTest::keyClick(places, Qt::Key_Return);
  ASSERT_TRUE(waitUntil([this] { return composer()->tray()->count() == 1; }));
  EXPECT_EQ(composer()->tray()->card(0)->attachment().path, "/films/2 star.mp4");
  EXPECT_EQ(composer()->tray()->card(0)->attachment().plan.from_s, 10.0);
  EXPECT_EQ(composer()->tray()->card(0)->attachment().plan.to_s, 70.0);
}

TEST_F(VideoShelfTest, PreparingGivesWayToAQuestionAndIsPaused) {
  m_log->holdPreparations(true);
  openShelf();
  page()->prepareButton()->click();
  ASSERT_TRUE(waitUntil([this] { return m_log->prepares().size() == 1; }));
  EXPECT_TRUE(m_window->statusText().contains(QStringLiteral("Preparing videos: 0 of 3"))) << m_window->statusText().toStdString();
  m_window->leaveRooms();
  ask(QStringLiteral("What is it?"));
  ASSERT_TRUE(waitUntil([this] { return m_log->prepares().size() == 2; })) << "begun anew behind the answer";
  m_log->holdPreparations(false);
  ASSERT_TRUE(waitUntil([this] { return !m_window->statusText().contains(QStringLiteral("Preparing videos")); }));
  EXPECT_EQ(m_log->prepares().size(), 4u);
  reopenShelf();
  EXPECT_TRUE(page()->summary()->text().contains(QStringLiteral("3 prepared"))) << page()->summary()->text().toStdString();
  EXPECT_EQ(row(0, kFacts), QStringLiteral("2:08 · prepared"));
  page()->prepareButton()->click();
  ASSERT_TRUE(waitUntil([this] { return page()->prepareButton()->text() == QStringLiteral("Prepare all"); }));
  EXPECT_EQ(m_log->prepares().size(), 4u) << "what is kept is left out";
}

TEST_F(VideoShelfTest, ItIsPausedAndStoppedInTheMiddle) {
  m_log->holdPreparations(true);
  openShelf();
  page()->prepareButton()->click();
  ASSERT_TRUE(waitUntil([this] { return m_log->prepares().size() == 1; }));
  EXPECT_EQ(page()->prepareButton()->text(), QStringLiteral("Pause preparing"));
  page()->prepareButton()->click();
  EXPECT_EQ(page()->prepareButton()->text(), QStringLiteral("Prepare all"));
  page()->question()->setText(QStringLiteral("Is there a star?"));
  page()->askButton()->click();
  ASSERT_TRUE(waitUntil([this] { return m_log->prepares().size() == 2; }));
  EXPECT_EQ(page()->askButton()->text(), QStringLiteral("Stop"));
  page()->askButton()->click();
  EXPECT_EQ(page()->askButton()->text(), QStringLiteral("Ask all"));
  m_log->holdPreparations(false);
  QTest::qWait(100);
  EXPECT_EQ(m_log->prepares().size(), 2u);
  EXPECT_FALSE(page()->summary()->text().contains(QStringLiteral("answered")));
}

TEST_F(VideoShelfTest, AfterARestartItGoesOnAndKnowsItsAnswers) {
  openShelf();
  ASSERT_TRUE(asked("Which of these shows a star?"));
  const std::map<std::string, std::vector<Message>> kept = m_kept;
  QFile::remove(QFile::decodeName(QByteArray::fromStdString(kept.begin()->first)));
  restart();
  reopenShelf();
  ASSERT_TRUE(summarySays("3 answered, 1 yes") && summarySays("2 prepared")) << page()->summary()->text().toStdString();
  EXPECT_EQ(page()->question()->text(), QStringLiteral("Which of these shows a star?"));
  m_log->holdPreparations(true);
  page()->prepareButton()->click();
  ASSERT_TRUE(waitUntil([this] { return m_log->prepares().size() == 1; }));
  restart();
  ASSERT_TRUE(waitUntil([this] { return requests<SaveConversation>() == 1; })) << "without its page";
  EXPECT_EQ(m_log->prepares().size(), 1u) << "the one that is not kept";
}

TEST_F(VideoShelfTest, ManyFilmsTakeLittle) {
  begin(60);
  openShelf();
  page()->question()->setText(QStringLiteral("Is there a star?"));
  page()->askButton()->click();
  ASSERT_TRUE(waitUntil([this] { return page()->summary()->text().contains(QStringLiteral("60 answered, 1 yes")); }))
      << page()->summary()->text().toStdString();
  close();
  EXPECT_LT(app::ChatDatabase(folders()).settings().value(QStringLiteral("media/video_shelf")).size(), 12'000);
}

TEST_F(VideoShelfTest, AFilmThatCannotBeReadSaysWhyAndIsLeftOut) {
  m_preview->folders[films()].files.push_back({"/films/broken.mp4", MediaKind::kVideo, {}, 1});
  openShelf();
  ASSERT_TRUE(waitUntil([this] { return row(3).contains(QStringLiteral("damaged")); })) << row(3).toStdString();
  EXPECT_TRUE(asked("Is there a star?"));
}

}  // namespace
}  // namespace winnow::test
