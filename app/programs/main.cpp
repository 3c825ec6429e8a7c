// The window program: makes the services of every layer, wires them, runs. Order of construction is reverse order of destruction: the
// window goes first, then preview, engine and store join their threads.
#include <QApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QUrl>
#include <algorithm>

#include "app/chats/chat/chat_store.h"
#include "app/chats/settings/app_folders.h"
#include "app/chats/settings/settings.h"
#include "app/chats/settings/speed_file.h"
#include "app/engine/cache_store/conversation_caches.h"
#include "app/engine/cache_store/keeping_engine.h"
#include "app/engine/cache_store/kept_transcripts.h"
#include "app/engine/host/engine_host.h"
#include "app/engine/process/retrying_engine.h"
#include "app/engine/remote/connect_to_server.h"
#include "app/engine/remote/key_ring.h"
#include "app/engine/remote/switching_engine.h"
#include "app/engine/source/engine_source.h"
#include "app/engine/source/in_process_option.h"
#include "app/ground/diagnostics/log.h"
#include "app/ground/diagnostics/logged_engine.h"
#include "app/ground/diagnostics/system_report.h"
#include "app/ground/process/instance_door.h"
#include "app/ground/process/process_start.h"
#include "app/ground/resources/bundled_files.h"
#include "app/library/downloads/download_queue.h"
#include "app/library/downloads/model_folder.h"
#include "app/library/downloads/model_offers.h"
#include "app/library/downloads/package_download.h"
#include "app/library/gpu/gpu_library_fetch.h"
#include "app/library/gpu/gpu_probe.h"
#include "app/library/hub/hub_cache.h"
#include "app/library/models/known_models.h"
#include "app/library/models/model_finder.h"
#include "app/library/models/model_shelf.h"
#include "app/library/models/model_uses.h"
#include "app/media/files/media_opener.h"
#include "app/media/process/kernel_sandbox.h"
#include "app/media/process/process_media_reader.h"
#include "app/programs/bootstrap/live_clips.h"
#include "app/programs/bootstrap/options.h"
#include "app/programs/server/api_server.h"
#include "app/words/english_plurals.h"
#include "ui/model_library/hub_models.h"
#include "ui/models/media_preview_thread.h"
#include "ui/shell/turns/heard_videos.h"
#include "ui/shell/window/main_window.h"
#include "ui/theme/theme.h"

int main(int argc, char** argv) {
  using namespace winnow;
  app::beginProcess();
  const bool inProcess = app::followInProcessOption(argc, argv);
  app::followRequireSandboxOption(argc, argv);
  QApplication application(argc, argv);
  app::keepDecimalPoint();
  QApplication::setApplicationName("winnow");
  QApplication::setApplicationDisplayName("Winnow");
  QApplication::setApplicationVersion(WINNOW_VERSION);
  QApplication::setDesktopFileName("io.github.winnow.winnow");
  app::installEnglishPlurals(application);
  ui::Theme::instance().install(application);
  const std::optional<bootstrap::Options> options = bootstrap::parseOptions(application);
  if (!options) return 2;

  const app::AppFolders folders = app::AppFolders::standard();
  app::makePrivate(folders);
  app::Log log(folders.state, app::logLevel(qgetenv("WINNOW_LOG")));
  log.captureQtMessages();
  const auto report = [] {
    return app::systemReport({{QStringLiteral("libtorch"), QString::fromStdString(libtorch_version())},
                              {QStringLiteral("FFmpeg"), QString::fromStdString(app::ffmpegVersion())}});
  };

  ui::InitialState initial = bootstrap::initialState(*options);
  const QString models = app::modelsFolder(folders.data);
  app::InstanceDoor door(folders.data);
  if (door.enter(bootstrap::startRequest(initial)) == app::InstanceDoor::Entry::kHandedOver) return 0;
  log.write(app::LogLevel::kInfo, "app", QStringLiteral("started: ") + report().trimmed().replace(QLatin1Char('\n'), QLatin1String("; ")));

  app::Passwords passwords;
  const std::unique_ptr<app::MediaReader> reader = app::makeMediaReader(inProcess, &passwords);
  app::ChatStore store(app::ChatFolders{folders.data, folders.cache});
  app::SpeedFile speeds(folders.cache);
  app::ConversationCaches caches(QFile::encodeName(QDir(folders.data).filePath("kept")).toStdString());
  app::ConversationCaches videos(QFile::encodeName(QDir(folders.data).filePath("kept/videos")).toStdString());
  app::KeyRing keys(std::make_unique<app::DesktopSecrets>());
  app::EngineHost engine([&] {
    auto switching = std::make_unique<app::SwitchingEngine>([&] { return app::makeOwnEngine(reader.get(), &speeds, &passwords); },
                                                            [&](const app::ServerAddress& address, const InterruptToken& interrupt) {
                                                              return app::connectToServer(address, &keys, reader.get(), interrupt);
                                                            },
                                                            app::SwitchingEngine::Begin::kWithOwn);
    auto logged = std::make_unique<app::LoggedEngine>(std::move(switching), log);
    return std::make_unique<app::RetryingEngine>(std::make_unique<app::KeepingEngine>(std::move(logged), caches));
  });
  const auto logFault = [&log](const Error& error) { log.write(app::LogLevel::kError, "chats", app::errorLine(error)); };
  QObject::connect(&store, &app::ChatStore::failed, [logFault](app::RequestToken, const Error& error) { logFault(error); });
  QObject::connect(&store, &app::ChatStore::openFailed,
                   [logFault](app::RequestToken, const app::StorageFailure& failure) { logFault(failure.error); });
  QObject::connect(&store, &app::ChatStore::damaged, [logFault](const app::StorageFailure& failure) { logFault(failure.error); });
  const QString pasted = QDir(folders.data).absoluteFilePath(QStringLiteral("pasted"));
  // Chats that are not saved leave nothing, and numbers of theirs are those of other chats.
  bool saves = false;
  caches.setUse(app::CacheUse::kNone);
  videos.setUse(app::CacheUse::kNone);
  app::Settings settings([&store](const QString& key, const QString& value) { store.setSetting(key, value); });
  const auto keep = [&] {
    const app::CacheUse ofSaved = settings.keepConversations() ? app::CacheUse::kKeep : app::CacheUse::kForgetOnly;
    caches.setUse(saves ? ofSaved : app::CacheUse::kNone);
    videos.setUse(settings.keepConversations() ? app::CacheUse::kKeep : app::CacheUse::kNone);
  };
  QObject::connect(&settings, &app::Settings::changed, keep);
  QObject::connect(&store, &app::ChatStore::opened, [&](app::RequestToken, const app::StoreOpened& opened) {
    saves = opened.saves;
    keep();
    if (!saves) return;
    for (const app::Attachment& file : opened.left) {
      app::forgetTranscripts(folders.data, file.sha256);
      if (const QString path = QFile::decodeName(file.path); path.startsWith(pasted + QLatin1Char('/'))) QFile::remove(path);
    }
  });
  ui::MediaPreviewThread preview(app::makeMediaReader(inProcess, &passwords), pasted, passwords);

  const app::ModelDownloads downloads = app::packageDownloads(models);
  app::ModelFinder finder(app::modelFolders(folders.data, QDir::homePath()));

  const auto hears = [folder = models](const QByteArray& path, const QByteArray& sha256) -> std::optional<Transcribe> {
    const QString model = app::fetchedSpeechModel(folder);
    if (model.isEmpty()) return std::nullopt;
    Transcribe request = app::hearingRequest(path.toStdString(), model);
    request.content = sha256.toStdString();
    return request;
  };
  const std::unique_ptr<app::MediaReader> served = app::makeMediaReader(inProcess);
  const auto serve = [&](const app::RequestDefaults& defaults) {
    app::ApiOptions api;
    api.defaults = defaults;
    api.storeFolder = QFile::encodeName(QDir(folders.cache).filePath("served")).toStdString();
    api.hearing = [hears] { return hears({}, {}); };
    api.version = WINNOW_VERSION;
    return std::make_unique<app::ApiServer>(engine, *served, api);
  };

  app::ModelShelf shelf(app::ModelPlaces::standard(folders.data, {.bytes = app::memoryBytes()}));
  const app::HubPlace hubPlace = app::HubPlace::fromEnvironment();
  // Asked only when the hub wants one: the desktop may ask its user first.
  const auto typedToken = [&keys, endpoint = hubPlace.endpoint.toStdString()](const InterruptToken& interrupt) {
    try {
      return QByteArray::fromStdString(keys.find(app::serverAddressOf(endpoint), interrupt));
    } catch (const Exception&) {
      return QByteArray();
    }
  };
  const auto fitting = [&shelf, typedToken](const app::HubName& name) {
    app::HubRequest request = app::HubRequest::of(name, shelf.memory().largest());
    request.typedToken = typedToken;
    return request;
  };
  const std::vector<app::KnownModel> known = app::knownModels(app::resourceFolder());
  const auto seeing = [&]() -> std::optional<ui::OfferedModel> {
    if (!shelf.isMeasured()) return std::nullopt;
    const app::KnownModel* best = app::bestThatSees(known, shelf.memory());
    if (best == nullptr) return std::nullopt;
    return ui::seeingOffer(*best, shelf.memory(), fitting({best->repository, {}}));
  };
  const auto unfinished = [&folders, &hubPlace] {
    std::vector<app::QueuedDownload> downloads = app::unfinishedDownloads(folders.data);
    for (app::QueuedDownload& each : downloads) {
      const std::optional<app::HubName> name = app::readHubName(each.key);
      if (name) each.come = std::min(each.toCome, app::HubCache(hubPlace.cache, name->repository).incompleteBytes());
    }
    return downloads;
  };
  const ui::HubModels hub{
      known,
      QUrl(hubPlace.endpoint).host(),
      [&fitting](const app::HubName& name) -> std::unique_ptr<app::ModelDownload> {
        return std::make_unique<app::HubDownload>(fitting(name));
      },
      unfinished,
      [&folders](const std::vector<app::QueuedDownload>& downloads) { app::noteUnfinishedDownloads(folders.data, downloads); },
      &keys,
      hubPlace.endpoint.toStdString()};

  app::GpuProbe gpuProbe(app::GpuPlaces::standard(folders.data));
  QObject::connect(&gpuProbe, &app::GpuProbe::used, &shelf, [&shelf](const app::GpuFacts& facts) { shelf.setGpuBytes(facts.bytes); });
  // Few machines have a GPU that lacks them: read where one does.
  const auto libraries = [] { return app::gpuLibraries(app::resourceFolder()); };
  const ui::GpuService gpu{gpuProbe, [&] { return libraries().bytes(); },
                           [&] {
                             const app::GpuLibraries wanted = libraries();
                             const app::DownloadSource source = app::DownloadSource::fromEnvironment();
                             return std::make_unique<app::GpuLibraryDownload>(wanted, app::gpuLibraryFolder(folders.data, wanted), source);
                           }};

  const auto heardFile = [data = folders.data](const Transcribe& request) { return app::transcriptFile(data, request, app::kSubtitles); };
  const app::ModelOffer& ears = app::speechOffers().front();
  const ui::HearingService hearing{hears, heardFile, ears.name, ears.wheelBytes, [&] { return downloads.make(ears); }};
  preview.setTranscripts([hears, heardFile](const std::string& sha256) {
    const std::optional<Transcribe> request = hears({}, QByteArray::fromStdString(sha256));
    return request ? heardFile(*request) : std::string();
  });
  preview.setScans(
      [data = folders.data](const std::string& sha256, const QString& languages) { return app::scannedFile(data, sha256, languages, {}); });

  const auto noteUse = [&folders](const QString& path) { app::noteModelUse(folders.data, path, QDateTime::currentDateTime()); };
  ui::WindowServices services{engine, store,  settings, preview,    app::liveClips(), list_methods(), WINNOW_VERSION,
                              keys,   report, &caches,  &downloads, &finder,          serve,          noteUse,
                              seeing, &shelf, &hub,     &gpu,       &hearing};
  services.videos = &videos;
  ui::MainWindow window(services, initial);
  QObject::connect(&door, &app::InstanceDoor::knocked, &window, &ui::MainWindow::openFrom);
  if (!inProcess && !app::kernelSandboxes() && !app::sandboxIsRequired()) window.tellUnprotected();
  window.show();
  return QApplication::exec();
}
