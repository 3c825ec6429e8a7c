// Carries out what cards offer: the engine hears a video, and its lines are kept in a file by the video's content hash.
//
// Made by chat_page.h. The speech model is Winnow's own download; while it is not here, its download is offered. A question and
// another model go first: the engine does one thing at a time, so what is heard meanwhile is given up and begun anew behind them. UI thread
// only.
#pragma once

#include <QHash>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/chats/settings/settings.h"
#include "app/engine/host/engine_host.h"
#include "app/library/downloads/model_download.h"
#include "ui/composer/hearing.h"

namespace winnow::ui {

// How a window hears: made by bootstrap.
struct HearingService {
  // The request for a video, and the file of what is heard. Nothing: no speech model is here. Touches the disk: any thread.
  std::function<std::optional<Transcribe>(const QByteArray& path, const QByteArray& sha256)> request;
  std::function<std::string(const Transcribe& request)> file;
  QString modelName;
  qint64 modelBytes = 0;  // of its download
  std::function<std::unique_ptr<app::ModelDownload>()> makeModel;
};

class HeardVideos : public Hearing {
  Q_OBJECT
 public:
  HeardVideos(const HearingService& service, app::EngineHost& engine, const app::Settings& settings, QObject* parent);
  ~HeardVideos() override;

  Model model() const override;
  QString modelSize() const override;
  double modelShare() const override { return m_share; }
  void fetchModel() override;
  void listen(const QByteArray& path, const QByteArray& sha256) override;
  void listenUnasked(const QByteArray& path, const QByteArray& sha256, double durationS) override;
  void stop(const QByteArray& path) override;
  bool isListening(const QByteArray& path) const override { return m_videos.contains(path); }
  void giveWay(bool wanted);  // to a question while it is answered, to a model while it is loaded
  void look();                // if a speech model is here

 private:
  struct Video {
    QByteArray sha256;
    RequestId request = 0;  // 0: not asked for, or given up for a question
    Transcribe soFar{};     // what was told of it, of which alone lines, language and time count
  };
  void ask(const QByteArray& path);
  void post(const QByteArray& path, Transcribe request);
  void onEvent(const QByteArray& path, const std::string& file, const Event& event);
  void end(const QByteArray& path, const QString& failure);

  const HearingService m_service;
  app::EngineHost& m_engine;
  const app::Settings& m_settings;
  bool m_here = false;  // the model
  double m_share = 0;
  bool m_wanted = false;  // the engine, for something else
  std::unique_ptr<app::ModelDownload> m_download;
  QHash<QByteArray, Video> m_videos;  // that are heard, by their paths
};

}  // namespace winnow::ui
