#include "ui/shell/turns/heard_videos.h"

#include <utility>

#include "app/engine/cache_store/kept_transcripts.h"
#include "app/ground/process/power_supply.h"
#include "app/ground/threads/in_background.h"
#include "app/words/download_words.h"
#include "app/words/error_text.h"
#include "app/words/format_text.h"
#include "app/words/transcript_text.h"

namespace winnow::ui {

HeardVideos::HeardVideos(const HearingService& service, app::EngineHost& engine, const app::Settings& settings, QObject* parent)
    : Hearing(parent), m_service(service), m_engine(engine), m_settings(settings) {
  look();
}

HeardVideos::~HeardVideos() = default;

void HeardVideos::look() {
  app::inBackground(
      this, [request = m_service.request] { return request({}, {}).has_value(); },
      [this](bool here) {
        m_here = here;
        Q_EMIT modelChanged();
      });
}

Hearing::Model HeardVideos::model() const { return m_here ? Model::kHere : m_download ? Model::kFetching : Model::kNone; }

QString HeardVideos::modelSize() const { return app::formatMegabytes(m_service.modelBytes); }

void HeardVideos::fetchModel() {
  if (m_here || m_download) return;
  m_download = m_service.makeModel();
  m_share = 0;
  connect(m_download.get(), &app::ModelDownload::progressed, this, [this](const app::DownloadProgress& progress) {
    if (progress.total > 0) m_share = static_cast<double>(progress.done) / static_cast<double>(progress.total);
    Q_EMIT modelChanged();
  });
  const auto ended = [this](bool here, const QString& problem) {
    m_download.release()->deleteLater();
    m_here = here;
    Q_EMIT modelChanged();
    if (!problem.isEmpty()) Q_EMIT heard({}, problem);
  };
  connect(m_download.get(), &app::ModelDownload::finished, this, [ended] { ended(true, {}); });
  connect(m_download.get(), &app::ModelDownload::failed, this, [this, ended](const app::DownloadFault& fault) {
    const app::ErrorText text = app::describeDownloadFault(fault, m_service.modelName);
    ended(false, text.cause + QLatin1Char(' ') + text.remedy);
  });
  m_download->start();
  Q_EMIT modelChanged();
}

void HeardVideos::listen(const QByteArray& path, const QByteArray& sha256) {
  if (m_videos.contains(path)) return;
  m_videos.insert(path, {sha256, 0});
  Q_EMIT progressed(path, 0, 0);
  if (!m_wanted) ask(path);
}

void HeardVideos::listenUnasked(const QByteArray& path, const QByteArray& sha256, double durationS) {
  const app::Unasked when = m_settings.unasked().listen;
  if (when == app::Unasked::kNever || !m_here || durationS >= app::UnaskedWork::kMostHeardS) return;
  if (when == app::Unasked::kAlways) return listen(path, sha256);
  app::tellMains(this, [this, path, sha256](bool mains) {
    if (mains) listen(path, sha256);
  });
}

void HeardVideos::stop(const QByteArray& path) {
  const auto video = m_videos.constFind(path);
  if (video == m_videos.constEnd()) return;
  m_engine.cancel(video->request);
  end(path, {});
}

void HeardVideos::giveWay(bool wanted) {
  if (std::exchange(m_wanted, wanted) == wanted) return;
  for (auto video = m_videos.begin(); video != m_videos.end(); ++video) {
    if (wanted) m_engine.cancel(std::exchange(video->request, 0));
    if (!wanted) ask(video.key());
  }
}

void HeardVideos::ask(const QByteArray& path) {
  app::inBackground(
      this, [request = m_service.request, path, sha256 = m_videos[path].sha256] { return request(path, sha256); },
      [this, path](const std::optional<Transcribe>& request) {
        if (!m_videos.contains(path) || m_wanted) return;
        if (request) return post(path, *request);
        m_here = false;
        end(path, {});
        Q_EMIT modelChanged();
      });
}

void HeardVideos::post(const QByteArray& path, Transcribe request) {
  const std::string file = m_service.file(request);
  Video& video = m_videos[path];
  go_on_behind({0.0, video.soFar.heard_s, 0.0, video.soFar.lines, video.soFar.language}, request);
  video.request = m_engine.post(request, this, [this, path, file](const Event& event) { onEvent(path, file, event); });
}

void HeardVideos::onEvent(const QByteArray& path, const std::string& file, const Event& event) {
  const auto video = m_videos.constFind(path);
  if (video == m_videos.constEnd() || video->request != event.id) return;  // of one that was given up
  if (const auto* lines = std::get_if<LinesHeard>(&event.body)) {
    go_on_behind(*lines, m_videos[path].soFar);
    Q_EMIT progressed(path, lines->heard_s, lines->sound_s);
  } else if (const auto* done = std::get_if<Transcribed>(&event.body)) {
    app::inBackground(
        this,
        [file, lines = done->lines]() -> std::optional<Error> {
          try {
            app::keepTranscript(app::timedTextBeside(file), lines, app::clockedText);
            app::keepTranscript(file, lines, app::webVttText);  // the last: that it is there says that it was heard
          } catch (const Exception& exception) {
            return exception.error();
          }
          return std::nullopt;
        },
        [this, path](const std::optional<Error>& error) { end(path, error ? app::describeError(*error).cause : QString()); });
  } else if (const auto* failed = std::get_if<Failed>(&event.body)) {
    const app::ErrorText text = app::describeError(failed->error);
    end(path, text.cause + QLatin1Char(' ') + text.remedy);
  } else if (std::holds_alternative<Finished>(event.body)) {
    end(path, {});
  }
}

void HeardVideos::end(const QByteArray& path, const QString& failure) {
  if (m_videos.remove(path) > 0) Q_EMIT heard(path, failure);
}

}  // namespace winnow::ui
