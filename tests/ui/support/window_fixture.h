// A whole window on a scripted engine, a store in a temporary folder and painted media.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QListView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest/QTest>
#include <memory>
#include <optional>

#include "app/chats/chat/chat_store.h"
#include "app/engine/cache_store/conversation_caches.h"
#include "app/engine/host/engine_host.h"
#include "app/engine/remote/key_ring.h"
#include "app/library/models/model_finder.h"
#include "app/library/models/model_shelf.h"
#include "tests/support/fake_secret_service.h"
#include "tests/support/scripted_clips.h"
#include "tests/support/scripted_download.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/wait_until.h"
#include "tests/ui/support/fake_media_preview.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/composer/composer.h"
#include "ui/model_library/hub_models.h"
#include "ui/shell/ground/notice_bar.h"
#include "ui/shell/ground/offered_model.h"
#include "ui/shell/turns/chat_session.h"
#include "ui/shell/window/main_window.h"
#include "ui/theme/theme.h"

namespace winnow::test {

inline const QString kDemo = QStringLiteral("/usr/share/winnow/demo/model");  // where a package puts it

class WindowTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(m_folder.isValid());
    ui::theme().setMode(ui::ThemeMode::kLight);
    ui::theme().setZoomPercent(100);
    open();
  }

  void open(const ui::InitialState& initial = {}) {
    start(initial);
    ASSERT_TRUE(waitUntil([this] { return m_store->isOpen() && m_window->session().model.state() != ui::ModelState::kLoading; }));
  }

  // Without waiting for the store, which may have its reasons not to open.
  void start(ui::InitialState initial = {}) {
    m_log = std::make_shared<ScriptedEngineLog>();
    m_store = std::make_unique<app::ChatStore>(folders());
    m_settings = std::make_unique<app::Settings>([this](const QString& key, const QString& value) { m_store->setSetting(key, value); });
    // Nothing is checked or heard that a test did not ask for.
    m_settings->setUnasked({app::Unasked::kOnMains, app::Unasked::kNever, app::Unasked::kNever});
    m_preview = std::make_unique<FakeMediaPreview>();
    m_finder = std::make_unique<app::ModelFinder>(m_modelFolders);
    m_shelf = std::make_unique<app::ModelShelf>(app::ModelPlaces{m_modelFolders, folders().data, {m_memoryBytes, 0}, m_trash});
    m_engine = std::make_unique<app::EngineHost>(
        [this] { return std::make_unique<ScriptedEngine>([this](const Request& request) { return m_script(request); }, m_log); });
    if (initial.modelFolder.isEmpty()) initial.modelFolder = QStringLiteral("/models/shapes-demo");
    m_videos.emplace(m_folder.filePath(QStringLiteral("videos")).toStdString());
    const auto withVideos = [this](ui::WindowServices services) {
      services.videos = &*m_videos;
      return services;
    };
    m_window = std::make_unique<ui::MainWindow>(
        withVideos(ui::WindowServices{*m_engine, *m_store, *m_settings, *m_preview, m_clips.factory(), list_methods(),
                                      QStringLiteral("0.1.0"), m_keys, [] { return QStringLiteral("Winnow: 0.1.0\nQt: six\n"); }, m_caches,
                                      &m_downloads.services, m_finder.get(), m_serve, nullptr, [this] { return m_seeing; }, m_shelf.get(),
                                      &m_hub, m_gpu, m_hearing}),
        initial);
    m_firstSize = m_window->size();
    m_window->resize(1280, 800);
    m_window->show();
  }

  app::ChatFolders folders() const { return {m_folder.filePath(QStringLiteral("data")), m_folder.filePath(QStringLiteral("cache"))}; }

  void close() {
    if (m_window) m_window->close();
    m_window.reset();
    m_engine.reset();
    m_finder.reset();
    m_shelf.reset();
    m_preview.reset();
    m_settings.reset();
    m_store.reset();
  }

  void TearDown() override {
    close();
    ui::theme().setMode(ui::ThemeMode::kLight);
    ui::theme().setZoomPercent(100);
  }

  void reopen() {
    close();
    open();
  }
  // Closed and opened again, it has the chat with so many messages.
  bool reopened(int messages) {
    reopen();
    return waitUntil([this, messages] { return transcript()->messageCount() == messages; });
  }

  ui::ChatSession& session() { return m_window->session(); }
  // A part of the window, by its class and, where there are several, its name.
  template <typename Part>
  Part* inWindow(const QString& name = {}) const {
    return m_window->findChild<Part*>(name);
  }
  // A row of ui/shell/window/notices.h, by its name.
  ui::NoticeBar* noticeBar(const char* row) const { return inWindow<ui::NoticeBar>(QLatin1String(row)); }
  ui::TranscriptView* transcript() { return inWindow<ui::TranscriptView>(QStringLiteral("transcript")); }
  ui::Composer* composer() { return inWindow<ui::Composer>(); }
  void type(const QString& text) { QTest::keyClicks(composer()->prompt(), text); }
  void pressEnter() { QTest::keyClick(composer()->prompt(), Qt::Key_Return); }
  bool idle() {
    return waitUntil([this] { return !session().answers.busy(); });
  }
  // The one attachment's card is filled. With its thumbnails: they have been asked for, too.
  enum class Card : int { kOpened = 1, kWithThumbnails = 2 };
  bool attached(Card card = Card::kOpened) {
    return waitUntil([this, card] {
      return composer()->tray()->count() == 1 && !composer()->tray()->opening() &&
             (card == Card::kOpened || m_preview->thumbnailsAsked > 0);
    });
  }
  bool attaches(const QByteArray& file, Card card = Card::kOpened) {
    composer()->addFile(file);
    return attached(card);
  }
  // As soon as it can.
  bool sends(const QString& text) {
    composer()->prompt()->setPlainText(text);
    const bool can = waitUntil([this] { return composer()->sendButton()->isEnabled(); });
    if (can) pressEnter();
    return can;
  }
  void ask(const QString& text) {
    composer()->prompt()->setPlainText(text);
    ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
    const int before = transcript()->messageCount();
    pressEnter();
    ASSERT_TRUE(waitUntil([&] { return transcript()->messageCount() == before + 2 && !session().answers.busy(); }));
  }
  const ui::MessageContent& last() { return transcript()->messageAt(transcript()->messageCount() - 1); }

  QTemporaryDir m_folder;
  ScriptFunction m_script = answering("The star is **red**. It is a star in the middle of the frame.");
  app::ModelFolders m_modelFolders;       // where models are looked for
  qint64 m_memoryBytes = 16'000'000'000;  // of the machine
  app::MoveToTrash m_trash = [](const QString&) { return false; };
  ui::HubModels m_hub;                       // knows none; what it has is up to a test
  ScriptedClips m_clips;                     // of what is watched
  std::optional<ui::OfferedModel> m_seeing;  // nothing: none is offered
  ScriptedDownloads m_downloads{m_folder.filePath(QStringLiteral("models"))};
  std::shared_ptr<ScriptedEngineLog> m_log;
  std::unique_ptr<app::ChatStore> m_store;
  std::unique_ptr<app::Settings> m_settings;
  std::unique_ptr<FakeMediaPreview> m_preview;
  std::unique_ptr<app::ModelFinder> m_finder;
  std::unique_ptr<app::ModelShelf> m_shelf;
  std::unique_ptr<app::EngineHost> m_engine;
  app::ConversationCaches* m_caches = nullptr;                                                               // null: nothing is kept
  std::shared_ptr<FakeSecretService::Record> m_desktopKeys = std::make_shared<FakeSecretService::Record>();  // shared: m_keys asks it
  app::KeyRing m_keys{std::make_unique<FakeSecretService>(m_desktopKeys)};
  ui::ServeFunction m_serve;                        // null: it cannot be served
  const ui::GpuService* m_gpu = nullptr;            // null: nobody looks
  const ui::HearingService* m_hearing = nullptr;    // null: nothing is heard
  std::optional<app::ConversationCaches> m_videos;  // what is kept of videos that are asked one by one
  QSize m_firstSize;                                // as the program made it
  std::unique_ptr<ui::MainWindow> m_window;
};

}  // namespace winnow::test
