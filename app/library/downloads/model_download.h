// One model on its way: what the window and the terminal program see of a download, and the services that make one.
//
// PackageDownload and HubDownload are the real ones; tests script their own. One object is one try: it is started once and tells `finished`
// or `failed` once, unless it is destroyed first, which gives it up and keeps what has come. Errors: `failed`. Threads: its owner's, with
// an event loop.
#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <memory>
#include <vector>

#include "app/library/downloads/download_fault.h"
#include "app/library/downloads/model_offers.h"

namespace winnow::app {

enum class DownloadStage : int { kConnecting = 1, kDownloading = 2, kChecking = 3, kUnpacking = 4, kWaiting = 5 };

struct DownloadProgress {
  DownloadStage stage = DownloadStage::kConnecting;
  qint64 done = 0;   // bytes of this stage; kWaiting: total is seconds, as the server asked
  qint64 total = 0;  // 0: not known
};

enum class ChoiceReason : int {
  kNamed = 1,    // it was asked for
  kOnly = 2,     // there is no other
  kSmall = 3,    // so small that nothing has to be lost
  kUsual = 4,    // the usual quantisation, which fits
  kSmaller = 5,  // the usual one does not fit
  kBest = 6,     // there is none of the usual ones; the first that fits
  kFolder = 7,   // no quantisations: weights as they were published
  kStored = 8,   // without the network: what is here
};

// The files of a repository to fetch, and why.
struct DownloadChoice {
  QString what;         // quantisation or file; empty: the folder
  QString projector{};  // file that comes with it; empty: none
  ChoiceReason reason = ChoiceReason::kNamed;
  qint64 bytes = 0;        // of all files
  qint64 memoryBytes = 0;  // of this machine or its GPU, where that decided
};

class ModelDownload : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  virtual void start() = 0;
  virtual void cancel() = 0;  // answered by failed(kCancelled)

 Q_SIGNALS:
  void progressed(const winnow::app::DownloadProgress& progress);  // at most some ten a second
  void chosen(const winnow::app::DownloadChoice& choice);          // where there was something to choose
  void finished(const QString& file);                              // the model, complete and checked
  void failed(const winnow::app::DownloadFault& fault);
};

// The models that can be had, and how.
struct ModelDownloads {
  std::vector<ModelOffer> offers;
  QString folder;  // where models come to lie
  std::function<std::unique_ptr<ModelDownload>(const ModelOffer&)> make;
};

}  // namespace winnow::app
