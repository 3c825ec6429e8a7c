#include "ui/shell/turns/video_shelf.h"

#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <algorithm>
#include <utility>

#include "app/engine/cache_store/keeping_engine.h"
#include "app/engine/cache_store/model_fingerprint.h"
#include "app/ground/process/power_supply.h"
#include "app/ground/threads/in_background.h"
#include "app/words/display_text.h"
#include "app/words/error_text.h"
#include "app/words/format_text.h"
#include "engine/recipes/method_info.h"
#include "ui/composer/composer.h"
#include "ui/composer/description_dialog.h"
#include "ui/composer/hearing.h"
#include "ui/contents/video_contents.h"
#include "ui/shell/chat/thread_media.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/model/abilities.h"
#include "ui/shell/turns/chat_session.h"
#include "ui/shell/turns/contents_pages.h"
#include "ui/theme/file_dialog.h"
#include "ui/theme/rooms.h"

namespace winnow::ui {
namespace {

// Nobody's chat, and none of those that other programs hold.
constexpr ConversationId kShelfConversation = app::kFirstUnkeptConversation + (ConversationId{1} << 61);
constexpr int kPowerMs = 30'000;
constexpr QLatin1String kStored("media/video_shelf");  // a row beside the settings, as JSON
constexpr QLatin1String kFolder("folder"), kPreparing("preparing"), kAsking("asking"), kQuestion("question"), kAnswers("answers"),
    kText("text"), kTimes("times_s");

}  // namespace

VideoShelf::VideoShelf(const WindowServices& services, ChatSession& session, Composer& composer, ContentsPages& contents, Hearing* hearing)
    : QObject(&contents),
      m_engine(services.engine),
      m_store(services.store),
      m_settings(services.settings),
      m_preview(services.preview),
      m_caches(*services.videos),
      m_session(session),
      m_composer(composer),
      m_contents(contents),
      m_hearing(hearing),
      m_lines(services.store) {
  m_power.setSingleShot(true);
  m_power.setInterval(kPowerMs);
  connect(&m_power, &QTimer::timeout, this, &VideoShelf::step);
  connect(&m_preview, &MediaPreview::lookedInto, this, [this](PreviewToken token, const FolderContents& contents) {
    if (token == m_looking) take(contents.files);
  });
  connect(&m_preview, &MediaPreview::probed, this, [this](PreviewToken token, const MediaSummary& summary) {
    if (token == m_probe) onProbed(summary);
  });
  connect(&m_preview, &MediaPreview::failed, this, [this](PreviewToken token, const Error& error) {
    if (token == m_looking) return take({});
    if (token != m_probe) return;
    m_probed->looked = true;
    m_probed->unreadable = app::describeError(error).cause;
    look();
  });
  connect(&m_store, &app::ChatStore::opened, this,
          [this](app::RequestToken, const app::StoreOpened& opened) { restore(opened.settings.value(kStored)); });
  connect(&m_composer, &Composer::shelfRequested, this, qOverload<const QByteArray&>(&VideoShelf::open));
  connect(&m_session.model, &ModelSession::opened, this, &VideoShelf::onModel);
  connect(&m_session.model, &ModelSession::changed, this, &VideoShelf::giveWay);
  connect(&m_session.answers, &AnswerRun::stateChanged, this, &VideoShelf::giveWay);
  if (m_hearing != nullptr) connect(m_hearing, &Hearing::heard, this, &VideoShelf::onHeard);
  if (m_session.model.state() == ModelState::kReady) onModel();
}

// ---- the folder --------------------------------------------------------------------------------------------------------------------

void VideoShelf::open() { m_folder.isEmpty() ? chooseFolder() : open(m_folder); }

void VideoShelf::open(const QByteArray& folder) {
  if (folder != m_folder) {
    drop();
    m_preparing = m_asking = false;
    m_question.clear();
    m_answers.clear();
    m_folder = folder;
    save();
  }
  if (m_at != nullptr) return showPage();
  m_opens = true;
  m_looking = m_preview.lookInto(folder);
}

void VideoShelf::chooseFolder() {
  QFileDialog* folders = fileDialog(m_composer.window(), tr("Ask the videos of a folder"), m_settings.lastMediaFolder());
  folders->setFileMode(QFileDialog::Directory);
  folders->setOption(QFileDialog::ShowDirsOnly);
  connect(folders, &QFileDialog::fileSelected, this, [this](const QString& folder) { open(QFile::encodeName(folder)); });
  folders->open();
}

void VideoShelf::take(const std::vector<app::FolderFile>& files) {
  m_looking = m_probe = 0;
  m_probed = nullptr;
  std::vector<ShelfRow> rows;
  for (const app::FolderFile& file : files) {
    if (file.kind != MediaKind::kVideo) continue;
    const ShelfRow* known = find(file.path);
    const bool same = known != nullptr && known->unreadable.isEmpty() && known->video.sizeBytes == file.bytes;
    ShelfRow& row = rows.emplace_back(same ? *known : ShelfRow());
    row.video.kind = MediaKind::kVideo;
    row.video.path = file.path;
    row.video.sizeBytes = file.bytes;
  }
  m_rows = std::move(rows);
  if (m_page != nullptr) m_page->showRows();
  std::exchange(m_opens, false) ? showPage() : look();
}

void VideoShelf::showPage() {
  if (m_page == nullptr) {
    m_page = new VideoShelfPage(m_rows, m_composer.window());
    connect(m_page, &VideoShelfPage::prepareRequested, this, &VideoShelf::prepareAll);
    connect(m_page, &VideoShelfPage::askRequested, this, &VideoShelf::askAll);
    connect(m_page, &VideoShelfPage::stopRequested, this, &VideoShelf::stopAsking);
    connect(m_page, &VideoShelfPage::folderRequested, this, &VideoShelf::chooseFolder);
    connect(m_page, &VideoShelfPage::placeRequested, this, &VideoShelf::showAt);
    connect(m_page, &VideoShelfPage::aroundRequested, this, &VideoShelf::aroundWanted);
  }
  for (ShelfRow& row : m_rows) plan(row);  // the settings may have changed
  show();
  enterRoom(m_page, RoomWidth::kWhole);
  m_page->question()->setFocus();
  look();
}

void VideoShelf::restore(const QString& stored) {
  const QJsonObject kept = QJsonDocument::fromJson(stored.toUtf8()).object();
  m_folder = QByteArray::fromBase64(kept[kFolder].toString().toLatin1());
  m_preparing = kept[kPreparing].toBool();
  m_asking = kept[kAsking].toBool();
  m_question = kept[kQuestion].toString();
  const QJsonObject answers = kept[kAnswers].toObject();
  for (auto video = answers.begin(); video != answers.end(); ++video) {
    app::VideoAnswer& answer = m_answers[video.key().toLatin1()];
    answer.text = (*video)[kText].toString().toStdString();
    answer.verdict = app::verdictOf(answer.text);
    for (const QJsonValue time : (*video)[kTimes].toArray()) answer.timesS.push_back(time.toDouble());
  }
  if (m_preparing || m_asking) m_looking = m_preview.lookInto(m_folder);
}

void VideoShelf::save() {
  QJsonObject answers;
  for (auto answer = m_answers.cbegin(); answer != m_answers.cend(); ++answer) {
    QJsonArray times;
    for (const double time : answer->timesS) times.append(time);
    answers[QString::fromLatin1(answer.key())] = QJsonObject{{kText, QString::fromStdString(answer->text)}, {kTimes, times}};
  }
  const QJsonObject kept{{kFolder, QString::fromLatin1(m_folder.toBase64())},
                         {kPreparing, m_preparing},
                         {kAsking, m_asking},
                         {kQuestion, m_question},
                         {kAnswers, answers}};
  m_store.setSetting(kStored, QString::fromUtf8(QJsonDocument(kept).toJson(QJsonDocument::Compact)));
}

ShelfRow* VideoShelf::find(const QByteArray& path) {
  const auto found = std::ranges::find(m_rows, path, [](const ShelfRow& row) { return row.video.path; });
  return found == m_rows.end() ? nullptr : &*found;
}

// Videos are left alone while nobody looks and nothing is wanted of them.
void VideoShelf::look() {
  if (m_probed != nullptr && m_probed->looked) {
    tell(*m_probed);
    m_probed = nullptr;
    m_probe = 0;
  }
  const auto next = std::ranges::find(m_rows, false, &ShelfRow::looked);
  if (m_probe == 0 && next != m_rows.end() && (m_page != nullptr || m_preparing || m_asking)) {
    m_probed = &*next;
    m_probe = m_preview.probe(m_probed->video.path, {});
  }
  step();
}

void VideoShelf::onProbed(const MediaSummary& summary) {
  ShelfRow& row = *m_probed;
  row.looked = true;
  row.unreadable = summary.kind == MediaKind::kVideo ? QString() : tr("This is no video.");
  row.video.sha256 = summary.sha256;
  row.video.durationS = summary.durationS;
  row.video.widthPx = summary.widthPx;
  row.video.heightPx = summary.heightPx;
  row.video.subtitles = summary.subtitles.isEmpty() ? summary.speech : summary.subtitles;
  row.hasSound = summary.hasSound;
  row.isHeard = summary.isHeard;
  if (row.unreadable.isEmpty()) m_lines.storeOnShelf(summary.sha256, row.video.path);
  if (const auto answer = m_answers.constFind(summary.sha256); answer != m_answers.constEnd()) row.answer = *answer;
  plan(row);
  look();
}

// ---- the model ---------------------------------------------------------------------------------------------------------------------

void VideoShelf::onModel() {
  m_fingerprint.clear();
  if (!lackText(m_session.model, Ability::kKeep).isEmpty()) return show();
  const ModelInfo& info = m_session.model.info();
  app::inBackground(
      this,
      [caches = &m_caches, folder = info.folder, dtype = info.dtype, projector = info.projector]() -> std::string {
        caches->lookAtFolder();
        try {
          return app::modelFingerprint(folder, dtype, projector);
        } catch (const std::exception&) {
          return {};  // what cannot be told from another model is not kept
        }
      },
      [this, model = ++m_models](const std::string& fingerprint) {
        if (model != m_models) return;
        m_fingerprint = fingerprint;
        for (ShelfRow& row : m_rows) {
          row.tried = false;
          plan(row);
        }
        step();
      });
}

bool VideoShelf::wanted() const { return m_session.answers.busy() || m_session.model.state() == ModelState::kLoading; }

void VideoShelf::giveWay() {
  if (wanted()) drop();
  step();
}

QString VideoShelf::obstacle() const {
  if (m_session.model.state() != ModelState::kReady) return m_session.model.blockedReason();
  if (m_session.model.readsNoVideos()) return tr("This model reads no videos");
  return lackText(m_session.model, Ability::kKeep);
}

app::Attachment VideoShelf::begun(const ShelfRow& row) const {
  app::Attachment video = row.video;
  video.plan.frame_count = framesToBeginWith(m_settings, m_session.model.info());
  return video;
}

// The method is that of new chats, if it compresses before a question.
app::UnreadVideo VideoShelf::unread(const ShelfRow& row) const {
  app::ConversationOptions options = m_settings.conversationDefaults();
  if (!describe(options.recipe.spec).value_or(RecipeTraits()).before_question) options.recipe = {};
  app::StoredMessage question;
  question.role = Role::kUser;
  question.attachments = {begun(row)};
  app::UnreadVideo video{m_session.answers.turnOf(kShelfConversation, {question}, options, options.recipe.spec),
                         row.video.sha256.toStdString(), row.video.durationS, m_fingerprint};
  video.turn.guard = Guard::kAlone;
  return video;
}

// Finds out if it is kept, or what it takes.
void VideoShelf::plan(ShelfRow& row) {
  if (m_fingerprint.empty() || !obstacle().isEmpty() || row.video.sha256.isEmpty()) return;
  try {
    const app::UnreadVideo video = unread(row);
    const ConversationId before = std::exchange(row.number, app::keptNumber(video));
    row.prepared = m_caches.has(row.number);
    tell(row);
    if (row.prepared || (row.number == before && row.expectedMs > 0)) return;
    m_engine.post(Plan{video.turn}, this, [this, path = row.video.path](const Event& event) {
      const auto* planned = std::get_if<Planned>(&event.body);
      ShelfRow* of = find(path);
      if (planned == nullptr || of == nullptr) return;
      of->expectedMs = planned->expected_ms;
      tell(*of);
      show();
    });
  } catch (const Exception&) {
    // Preparing it says what is missing.
  }
}

// ---- the work ----------------------------------------------------------------------------------------------------------------------

void VideoShelf::prepareAll(bool on) {
  m_preparing = on;
  for (ShelfRow& row : m_rows) row.tried = false;
  if (!on && !m_asking) drop();
  save();
  look();
}

void VideoShelf::askAll(const QString& question) {
  drop();
  m_question = question;
  m_asking = true;
  m_answers.clear();
  for (ShelfRow& row : m_rows) {
    row.answer.reset();
    row.failure.clear();
    tell(row);
  }
  save();
  look();
}

void VideoShelf::stopAsking() {
  m_asking = false;
  drop();
  save();
  if (m_page != nullptr) m_page->showRows();
  step();
}

// The next video may be one that was not looked at yet: it is waited for.
void VideoShelf::step() {
  show();
  const bool idle = (!m_preparing && !m_asking) || m_looking != 0 || m_rows.empty();
  if (idle || m_at != nullptr || wanted() || m_fingerprint.empty() || !obstacle().isEmpty()) return;
  const auto next = std::ranges::find_if(m_rows, [this](const ShelfRow& row) {
    return row.unreadable.isEmpty() && (m_asking ? !row.answer && row.failure.isEmpty() : !row.prepared && !row.tried);
  });
  if (next == m_rows.end() || (!m_asking && (full() || !m_caches.keeps()))) {
    if (m_asking && m_page != nullptr) m_page->showRows();
    (m_asking ? m_asking : m_preparing) = false;
    save();
    return step();
  }
  if (!next->looked) return;
  const bool always = m_asking || m_settings.unasked().prepare == app::Unasked::kAlways;
  if (always || std::exchange(m_onMains, false)) return begin(*next);
  app::tellMains(this, [this](bool mains) {
    m_onMains = mains;
    if (mains) return step();
    m_power.start();
    show();
  });
}

void VideoShelf::begin(ShelfRow& row) {
  m_at = &row;
  m_power.stop();
  row.failure.clear();
  m_frames.clear();
  m_progress.begin({});
  const bool hears = m_hearing != nullptr && m_hearing->model() == Hearing::Model::kHere && row.hasSound && !row.isHeard;
  m_listening = !m_asking && hears && row.video.subtitles.isEmpty();
  row.doing = m_listening ? tr("Listening…") : m_asking ? tr("Asking…") : tr("Preparing…");
  tell(row);
  show();
  if (m_listening) return m_hearing->listen(row.video.path, row.video.sha256);
  try {
    const std::optional<app::PutQuestion> question = m_asking ? std::optional(app::putToEach(m_question.toStdString())) : std::nullopt;
    m_steps = std::make_shared<app::VideoSteps>(m_caches, unread(row), question);
    advance();
  } catch (const Exception& exception) {
    end(exception.error());
  }
}

void VideoShelf::onHeard(const QByteArray& path, const QString& failure) {
  if (!m_listening || path != m_at->video.path) return;
  m_listening = false;
  ShelfRow& row = *std::exchange(m_at, nullptr);
  row.doing.clear();
  row.hasSound = failure.isEmpty();  // of one that cannot be heard the pictures are read
  row.looked = !failure.isEmpty();
  tell(row);
  look();
}

void VideoShelf::advance() {
  m_request = 0;
  app::inBackground(
      this, [steps = m_steps] { return steps->next(); },
      [this, steps = m_steps](const std::optional<RequestBody>& request) {
        if (steps != m_steps) return;  // given up
        if (!request) return end(steps->error());
        m_request = m_engine.post(*request, this, [this, steps](const Event& event) {
          if (steps == m_steps) onEvent(event);
        });
      });
}

void VideoShelf::onEvent(const Event& event) {
  m_steps->take(event.body);
  if (const auto* progress = std::get_if<Progress>(&event.body); progress != nullptr && progress->phase != Phase::kDecode) {
    m_progress.take(*progress);
    m_at->doing = (m_asking ? tr("Asking: reading it, %1") : tr("Preparing: %1")).arg(app::formatShare(m_progress.share()));
    tell(*m_at);
  } else if (const auto* sampled = std::get_if<MediaSampled>(&event.body)) {
    m_frames = sampled->actual_s;
  } else if (const auto* report = std::get_if<CacheReport>(&event.body)) {
    const QList<app::FileLine> lines = describedLines(report->description, {{m_at->video.path, MediaKind::kVideo, m_frames}}).value(0);
    if (!lines.isEmpty()) m_lines.store(m_at->video.sha256, app::LineKind::kDescribed, lines);
  }
  if (ends_request(event)) advance();
}

void VideoShelf::end(const std::optional<Error>& error) {
  const std::shared_ptr<app::VideoSteps> steps = std::exchange(m_steps, nullptr);
  ShelfRow& row = *std::exchange(m_at, nullptr);
  m_engine.post(ForgetConversation{kShelfConversation});
  row.tried = true;
  row.doing.clear();
  if (error) {
    row.failure = app::describeError(*error).cause;
  } else if (m_asking && !steps->interrupted()) {
    row.answer = steps->answer();
    m_answers[row.video.sha256] = steps->answer();
    save();
  }
  // The first one that is read tells how fast this machine is.
  for (ShelfRow& each : m_rows) {
    if (&each == &row || (m_page != nullptr && !each.prepared && each.expectedMs <= 0)) plan(each);
  }
  tell(row);
  step();
}

void VideoShelf::drop() {
  if (m_at == nullptr) return;
  ShelfRow& row = *std::exchange(m_at, nullptr);
  row.doing.clear();
  tell(row);
  if (std::exchange(m_listening, false)) return m_hearing->stop(row.video.path);
  m_steps.reset();
  m_engine.cancel(std::exchange(m_request, 0));
  m_engine.post(ForgetConversation{kShelfConversation});
}

// One more would push out what is kept of another video of this folder.
bool VideoShelf::full() const {
  const std::vector<app::ConversationCaches::Entry> entries = m_caches.entries();
  std::int64_t bytes = 0, largest = 0;
  for (const app::ConversationCaches::Entry& entry : entries) {
    bytes += entry.bytes;
    largest = std::max(largest, entry.bytes);
  }
  const auto isNext = [&](const ShelfRow& row) { return row.number == entries.back().conversation; };
  return bytes + largest > m_caches.quota().totalBytes && std::ranges::any_of(m_rows, isNext);
}

// ---- what is said ------------------------------------------------------------------------------------------------------------------

void VideoShelf::tell(const ShelfRow& row) {
  if (m_page != nullptr) m_page->showRow(row);
}

void VideoShelf::show() {
  int prepared = 0, answered = 0, showing = 0, readable = 0;
  double lengthS = 0, leftMs = 0;
  for (const ShelfRow& row : m_rows) {
    readable += row.unreadable.isEmpty() ? 1 : 0;
    prepared += row.prepared ? 1 : 0;
    answered += row.answer ? 1 : 0;
    showing += row.answer && row.answer->verdict == app::Verdict::kYes ? 1 : 0;
    lengthS += row.video.durationS;
    if (!row.prepared) leftMs += row.expectedMs;
  }
  QStringList parts{m_rows.empty() ? tr("No videos are found in this folder")
                                   : tr("%Ln video(s)", nullptr, static_cast<int>(m_rows.size()))};
  if (lengthS > 0) parts << app::formatLength(lengthS);
  if (answered > 0) parts << tr("%1 answered, %2 yes").arg(answered).arg(showing);
  if (readable > 0) parts << tr("%1 prepared").arg(prepared);
  if (leftMs > 0) parts << tr("the others take about %1").arg(app::formatSeconds(leftMs));
  if (m_preparing && m_power.isActive()) parts << tr("waits for mains power");
  if ((m_preparing || m_asking) && wanted()) parts << tr("waits for your question");
  if (!m_caches.keeps()) parts << tr("nothing stays prepared: “Save what a chat has read” is off");
  if (prepared < readable && full()) parts << tr("no more room: %1 are kept of videos").arg(app::formatBytes(m_caches.quota().totalBytes));
  const QString name = app::displayText(QFileInfo(QDir::cleanPath(QFile::decodeName(m_folder))).fileName());
  if (m_page != nullptr) m_page->setWork({name, parts.join(QStringLiteral(" · ")), obstacle(), m_preparing, m_asking, m_question});
  const QString text = m_rows.empty() ? QString()
                       : m_asking     ? tr("Asking videos: %1 of %2").arg(answered).arg(readable)
                       : m_preparing  ? tr("Preparing videos: %1 of %2").arg(prepared).arg(readable)
                                      : QString();
  if (std::exchange(m_workText, text) != text) Q_EMIT changed();
}

void VideoShelf::showAt(const ShelfRow& row, double atS) {
  QList<app::FileLine> said;
  const QString text = row.answer ? QString::fromStdString(row.answer->text) : tr("Its beginning");
  for (const double time : row.answer && !row.answer->timesS.empty() ? row.answer->timesS : std::vector<double>{0.0})
    said.append({app::LineKind::kDescribed, time, time, 0, 0, text});
  VideoContents* contents = m_contents.show(begun(row), atS, said);
  connect(contents, &VideoContents::stretchChosen, m_page.data(), &QDialog::accept);  // it is in the box, which is seen then
}

}  // namespace winnow::ui
