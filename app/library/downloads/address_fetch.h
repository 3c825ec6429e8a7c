// The bytes of one address: into memory, or into a part file from where that ended; through redirects, breaks and a server's "later".
//
// Used by package_download.h and app/library/hub. Redirects are followed by hand: each address is checked (secure_client.h), and who is
// authorised at the first host is a stranger to every other. A part file is never touched for what is not its bytes: a page where data
// belong, another part, another length end the fetch and leave what has come. Destroying it ends what is waited for; within progressed()
// and waiting() that is not allowed. Errors: failed(), once. Threads: one, with an event loop.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QTimer>
#include <QUrl>
#include <functional>
#include <memory>

#include "app/library/downloads/download_fault.h"
#include "app/library/downloads/part_file.h"
#include "app/library/downloads/secure_client.h"

namespace winnow::app {

struct FetchTarget {
  QUrl address;
  QString name;              // of what comes, for faults
  QByteArray bearer{};       // authorises at the address's own host
  PartFile* part = nullptr;  // borrowed; null: in memory, of any length up to `bytes`
  qint64 bytes = 0;          // of the whole
  QByteArray linkedHash{};   // that an X-Linked-Etag has to name, where a server sends one; empty: any
  int triesInVain = 4;       // without a byte that is new
};

class AddressFetch : public QObject {
  Q_OBJECT
 public:
  // `client` outlives it.
  AddressFetch(SecureClient& client, DownloadSource source, FetchTarget target);
  ~AddressFetch() override;

  void begin();
  // After finished().
  const QByteArray& body() const { return m_body; }
  QUrl address() const { return m_address; }         // that answered
  const QByteArray& link() const { return m_link; }  // its header Link

 Q_SIGNALS:
  void progressed(qint64 done);
  void waiting(int seconds);  // as the server asked
  void finished();
  void failed(const winnow::app::DownloadFault& fault);

 private:
  void run(const std::function<void()>& step);
  void ask(const QUrl& address, int redirects);
  void take();
  void beginPart();
  void end();
  void follow();
  void requireSameFile() const;
  void requirePace();
  void tryAgain(const DownloadFault& fault);
  void stop();
  qint64 have() const;

  SecureClient& m_client;
  const DownloadSource m_source;
  const FetchTarget m_target;
  std::unique_ptr<QNetworkReply, QScopedPointerDeleteLater> m_reply;
  QUrl m_address;
  QByteArray m_body;
  QByteArray m_link;
  QTimer m_retry;
  QTimer m_pace;
  qint64 m_come = 0;        // bytes of the reply's body
  qint64 m_comeBefore = 0;  // at every second look
  int m_looks = 0;          // of m_pace at this reply
  int m_redirects = 0;
  int m_triesInVain = 0;  // since it last grew beyond what it had been
  qint64 m_most = 0;      // bytes that it ever had
  bool m_begun = false;   // the reply's head was looked at, its bytes are the target's
};

}  // namespace winnow::app
