#include "ui/shell/window/notices.h"

#include <QApplication>
#include <QClipboard>
#include <QDateTime>
#include <QDesktopServices>
#include <QFile>
#include <QFileInfo>
#include <QLocale>
#include <QStringList>
#include <QUrl>
#include <optional>

#include "app/chats/chat/chat_store.h"
#include "app/chats/settings/settings.h"
#include "app/engine/host/engine_host.h"
#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/download_words.h"
#include "app/words/fault_texts.h"
#include "app/words/format_text.h"
#include "ui/shell/chat/chat_list.h"
#include "ui/shell/chat/open_chat.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/model/model_session.h"
#include "ui/shell/model/serving.h"

namespace winnow::ui {
namespace {

constexpr int kUndoMs = 10000;

}  // namespace

// ---- saved chats -------------------------------------------------------------------------------------------------------------------

NoticeBar* Notices::storage(app::ChatStore& store) {
  using app::ChatStore;
  auto* bar = new NoticeBar(QStringLiteral("storage"));
  const auto fails = [bar, &store](const app::StorageFailure& failure, Chats chats) { bar->present(ofFailure(store, failure, chats)); };
  QObject::connect(&store, &ChatStore::opened, bar,
                   [bar, &store](app::RequestToken, const app::StoreOpened& report) { bar->present(ofOpened(store, report)); });
  QObject::connect(&store, &ChatStore::openFailed, bar,
                   [fails](app::RequestToken, const app::StorageFailure& failure) { fails(failure, Chats::kClosed); });
  QObject::connect(&store, &ChatStore::damaged, bar, [fails](const app::StorageFailure& failure) { fails(failure, Chats::kOpen); });
  QObject::connect(&store, &ChatStore::failed, bar, [fails, &store](app::RequestToken, const Error& error) {
    if (store.isOpen() && is_storage(error.code) && error.code != ErrorCode::kStorageDamaged)
      fails(app::StorageFailure{error, {}}, Chats::kOpen);
  });
  const auto saved = [bar] { bar->end(NoticeAbout::kUnsaved); };
  const auto turnSaved = [bar, saved] {
    saved();
    bar->end(NoticeAbout::kUnsavedTurn);
  };
  QObject::connect(&store, &ChatStore::turnCommitted, bar, turnSaved);
  QObject::connect(&store, &ChatStore::turnFinished, bar, turnSaved);
  QObject::connect(&store, &ChatStore::saved, bar, saved);
  return bar;
}

NoticeAction Notices::showFolder(const app::ChatStore& store) {
  return {tr("Show folder"), [folder = store.folders().data] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); }};
}

Notice Notices::ofOpened(const app::ChatStore& store, const app::StoreOpened& report) {
  if (!report.saves) return {.text = tr("Nothing is saved from now on. Everything new is lost when Winnow closes."), .closable = false};
  if (report.setAside.isEmpty()) return {};
  return {.text = tr("Your previous chats file is kept as “%1”.").arg(app::displayText(QFileInfo(report.setAside).fileName())),
          .actions = {showFolder(store)}};
}

Notice Notices::ofFailure(app::ChatStore& store, const app::StorageFailure& failure, Chats chats) {
  const ErrorCode code = failure.error.code;
  const bool open = chats == Chats::kOpen;
  Notice notice = failure.folder ? noticeOf(failure.error) : noticeOf(app::describeFolderFault(failure.folder, failure.error));
  notice.closable = open;
  // A change that was refused for its own sake says nothing of others, such as the draft's: only a question that is saved does.
  if (open) notice.about = code == ErrorCode::kStorage ? NoticeAbout::kUnsavedTurn : NoticeAbout::kUnsaved;
  const NoticeAction tryAgain{tr("Try again"), [&store] { store.open(); }};
  const NoticeAction startEmpty{tr("Start with an empty list"), [&store] { store.setAsideAndOpen(); }};
  const NoticeAction goOn{tr("Continue without saving"), [&store] { store.openInMemory(); }};
  if (code == ErrorCode::kStorageDamaged) {
    for (const app::Backup& backup : failure.backups) {
      const QDateTime made = QDateTime::fromMSecsSinceEpoch(backup.madeMs);
      notice.actions.push_back({tr("Restore the backup of %1").arg(QLocale().toString(made, QLocale::ShortFormat)),
                                [&store, file = backup.file] { store.setAsideAndOpen(file); }});
    }
    notice.actions.push_back(startEmpty);
    if (!open) notice.actions.push_back(goOn);
    notice.actions.push_back(showFolder(store));
  } else if (code == ErrorCode::kStorageNewer) {
    notice.actions = {goOn, startEmpty};
  } else if (!open) {
    notice.actions = {tryAgain, goOn, showFolder(store)};
  } else if (code == ErrorCode::kStorageFull || code == ErrorCode::kStorageReadOnly) {
    notice.actions = {goOn};
  }
  return notice;
}

// ---- the chat on screen ------------------------------------------------------------------------------------------------------------

NoticeBar* Notices::faults(app::EngineHost& engine, OpenChat& chat) {
  auto* bar = new NoticeBar(QStringLiteral("faults"));
  QObject::connect(&chat, &OpenChat::problem, bar, [bar](const Error& error) { bar->present(noticeOf(error, NoticeAbout::kChat)); });
  QObject::connect(&chat, &OpenChat::aboutToShow, bar, [bar] { bar->end(NoticeAbout::kChat); });
  // Only for the chat on screen, and calmly: its media are read again, no more. The line under the box tells of another model.
  QObject::connect(&engine, &app::EngineHost::cacheSetAside, bar, [bar, &chat](const Error& why, ConversationId conversation) {
    if (conversation != chat.id() || why.subject.empty()) return;
    Notice notice = noticeOf(why, NoticeAbout::kChat);
    notice.error = false;
    // It is the file that the program keeps, and none that somebody could copy again.
    if (why.code != ErrorCode::kCacheOutdated)
      notice.text = tr("What was kept of this chat for later questions is damaged. Nothing is lost: the chat is read again.");
    bar->present(notice);
  });
  QObject::connect(&chat, &OpenChat::subtitlesChanged, bar, [bar](const QByteArray& file) {
    const QString text =
        tr("The subtitles in “%1” have changed since a question was asked about them. Answers are about the new ones from now on.");
    bar->present({.text = text.arg(app::attachedName(QFile::decodeName(file))), .about = NoticeAbout::kChat});
  });
  return bar;
}

NoticeBar* Notices::undo(ChatList& list) {
  auto* bar = new NoticeBar(QStringLiteral("undo"));
  QObject::connect(&list, &ChatList::removed, bar, [bar, &list](ConversationId, ConversationId, const QString& title) {
    bar->present(
        {.text = tr("“%1” was deleted.").arg(title), .actions = {{tr("Undo"), [&list] { list.undoRemove(); }}}, .durationMs = kUndoMs});
  });
  QObject::connect(&list, &ChatList::restored, bar, &NoticeBar::dismiss);
  QObject::connect(&list, &ChatList::imported, bar, [bar](const app::ImportedChats& chats) {
    QStringList words{tr("%Ln chat(s) imported.", nullptr, chats.chats)};
    if (chats.there > 0) words << tr("%Ln had been imported before.", nullptr, chats.there);
    if (chats.tooLong > 0) words << tr("%Ln with a message of more than a million characters stayed behind.", nullptr, chats.tooLong);
    bar->present({.text = words.join(QLatin1Char(' '))});
  });
  QObject::connect(&list, &ChatList::importFailed, bar, [bar](const Error& error) {
    Notice notice = noticeOf(error);
    if (error.code == ErrorCode::kUnsupportedFormat)
      notice.text =
          tr("“%1” has no chats of ChatGPT or Open WebUI in it. Take the conversations.json of ChatGPT’s export, or the file that "
             "Open WebUI’s settings export.")
              .arg(app::attachedName(QString::fromStdString(error.subject)));
    bar->present(notice);
  });
  return bar;
}

// ---- this machine ------------------------------------------------------------------------------------------------------------------

NoticeBar* Notices::serving(Serving& serving) {
  auto* bar = new NoticeBar(QStringLiteral("serving"));
  QObject::connect(&serving, &Serving::changed, bar, [bar, &serving] {
    const app::ApiServer* server = serving.server();
    if (server == nullptr) return bar->dismiss();
    QStringList words{tr("Other programs ask this model at %1").arg(serving.address()),
                      tr("Answered: %1 · waiting: %2").arg(server->answered()).arg(server->waiting())};
    if (server->isAnswering()) words << tr("one is being answered");
    bar->present({.text = words.join(QStringLiteral(" · ")),
                  .actions = {{tr("Stop serving"), [&serving] { serving.setOn(false); }}},
                  .closable = false});
  });
  return bar;
}

NoticeBar* Notices::gpu(const GpuService& service, app::Settings& settings, ModelSession& model) {
  const QString key = QStringLiteral("gpu"), name = tr("NVIDIA's libraries");
  auto* bar = new NoticeBar(key);
  auto* queue = new app::DownloadQueue(bar);  // of one
  const auto fetch = [queue, key, name, service] { queue->add(key, name, service.make); };
  QObject::connect(&service.probe, &app::GpuProbe::found, bar, [bar, service, &settings, fetch](const app::UnusedGpu& gpu) {
    if (settings.atStart().offerGpu) bar->present(ofUnused(gpu, service.bytes, fetch));
  });
  QObject::connect(bar, &NoticeBar::closed, bar, [&settings] {
    app::AtStart atStart = settings.atStart();
    atStart.offerGpu = false;
    settings.setAtStart(atStart);
  });
  QObject::connect(queue, &app::DownloadQueue::changed, bar, [bar, queue, key, fetch] {
    const std::optional<app::QueuedDownload> download = queue->find(key);
    if (!download || !download->onItsWay()) return;
    const auto pause = [bar, queue, key, fetch] {
      queue->pause(key);
      bar->present({.text = app::downloadWords(*queue->find(key)), .actions = {{tr("Go on"), fetch}}});
    };
    bar->present({.text = app::downloadWords(*download), .actions = {{tr("Pause"), pause}}, .closable = false});
  });
  QObject::connect(queue, &app::DownloadQueue::finished, bar, [bar, service, &model] {
    service.probe.look();  // other models fit now
    Notice ready{.text = tr("The GPU is ready. A model uses it when it is loaded.")};
    const QString path = model.folder();
    if (!path.isEmpty()) ready.actions.push_back({tr("Load this model again"), [&model, path] { model.load(path); }});
    bar->present(ready);
  });
  QObject::connect(queue, &app::DownloadQueue::failed, bar, [bar, name, fetch](const QString&, const app::DownloadFault& fault) {
    Notice failed = noticeOf(app::describeDownloadFault(fault, name));
    failed.actions.push_back({tr("Try again"), fetch});
    bar->present(failed);
  });
  return bar;
}

Notice Notices::ofUnused(const app::UnusedGpu& gpu, const std::function<qint64()>& libraryBytes, const std::function<void()>& fetch) {
  const QString name = app::displayText(gpu.name);
  if (gpu.lack == app::GpuReadiness::kNoPlugIn) {
    const auto copy = [] { QApplication::clipboard()->setText(QStringLiteral("sudo apt install ./winnow-cuda_*.deb")); };
    return {
        .text =
            tr("This computer has a GPU (%1), and Winnow answers on the processor. The package winnow-cuda lets it use the GPU.").arg(name),
        .actions = {{tr("Copy the command"), copy}}};
  }
  return {.text = tr("This computer has a GPU (%1), and Winnow answers on the processor. To use it, Winnow needs NVIDIA's libraries: %2 "
                     "from PyPI, under NVIDIA's licence.")
                      .arg(name, app::formatMegabytes(libraryBytes())),
          .actions = {{tr("Download them"), fetch}}};
}

}  // namespace winnow::ui
