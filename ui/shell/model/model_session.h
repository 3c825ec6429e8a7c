// The model that answers: loading it, how far that is, what is loaded, what went wrong.
//
// One of the parts of chat_session.h. One model is loaded at a time; asking for another gives up the one that is being loaded. The model of
// before stays until the new one is known to work: where that one does not load, or is given up, it is the loaded one again, read anew
// where memory could not hold both. Every call returns at once. UI thread only.
#pragma once

#include <QObject>
#include <optional>

#include "app/chats/settings/settings.h"
#include "app/engine/host/engine_host.h"

namespace winnow::ui {

enum class ModelState : int { kNone = 1, kLoading = 2, kReady = 3, kFailed = 4 };

class ModelSession : public QObject {
  Q_OBJECT
 public:
  ModelSession(app::EngineHost& engine, app::Settings& settings, QObject* parent = nullptr);

  // Applies to models loaded from now on, as the command line says; kAuto: weights as the settings say.
  void setForm(Device device, WeightFormat format) {
    m_device = device;
    m_format = format;
  }
  WeightFormat weights() const;  // in force
  // From now on, and of later starts; the command line's counts no longer. The present model is loaded again where that changes it.
  void chooseWeights(WeightFormat format);
  // Its folder is just called "model": the window says what it is.
  void setDemoFolder(const QString& folder) { m_demoFolder = folder; }
  QString demoFolder() const { return m_demoFolder; }                                      // empty: it is not there
  bool isDemo() const { return !m_demoFolder.isEmpty() && m_asked.path == m_demoFolder; }  // the one asked for last

  // path: a folder or a GGUF file. name: what the program that keeps it calls it; empty: by its place.
  void load(const QString& path, const QString& name = {});
  ModelState state() const { return m_state; }
  const ModelInfo& info() const { return m_info; }
  // Traits of the loaded model; none: there is none.
  std::optional<ModelTraits> traits() const;
  // It is loaded, and takes no images and videos.
  bool readsTextOnly() const { return m_state == ModelState::kReady && !m_info.traits.sees; }
  // It is loaded, and takes no videos: text alone, or text and images.
  bool readsNoVideos() const { return readsTextOnly() || (m_state == ModelState::kReady && !m_info.traits.reads_videos); }
  QString folder() const { return m_asked.path; }                // or file
  const std::optional<Error>& error() const { return m_error; }  // of the last one asked for, also where the one before stays
  QString progress() const { return m_progress; }
  app::Run newRun() const;        // of an answer that this model writes: its names, nothing else yet
  QString blockedReason() const;  // why nothing can be asked of it; empty: it can

 Q_SIGNALS:
  void aboutToLoad();  // what the present one does is to end
  void gone();         // the present one made room, with all that it had read; a model that does not load leaves it where it is
  void changed();
  void opened(const QString& path);                               // the one that was asked for
  void refused(const winnow::Error& error, const QString& path);  // what was asked for; state() says what is there instead

 private:
  // One that was asked for: where it is, what it is called, and in which bits.
  struct Asked {
    QString path;
    QString name;
    WeightFormat weights = WeightFormat::kAuto;
  };
  void post(const Asked& asked);
  void onEvent(const EventBody& body);
  void keepBefore();
  void followWeights();

  app::EngineHost& m_engine;
  app::Settings& m_settings;
  ModelState m_state = ModelState::kNone;
  ModelInfo m_info;
  Asked m_asked;                  // last
  std::optional<Asked> m_before;  // that m_info is of; none: no model is loaded
  Asked m_lost;                   // that was before, and had to make room
  QString m_progress;
  std::optional<Error> m_error;
  RequestId m_request = 0;
  Device m_device = Device::kAuto;
  WeightFormat m_format = WeightFormat::kAuto;  // the command line's
  QString m_demoFolder;
};

}  // namespace winnow::ui
