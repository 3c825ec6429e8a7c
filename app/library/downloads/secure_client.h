// HTTP for downloads: https only, with the certificates and the proxy of this machine.
//
// Used by address_fetch.h, which follows redirects: none is followed here. Replies come as they are on the wire (no compression), so that
// their bytes can be counted and taken up again.
// Errors: faultOf() names what ended a reply. Threads: confined to one, with an event loop.
#pragma once

#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QSslConfiguration>
#include <QUrl>
#include <optional>

#include "app/library/downloads/download_fault.h"
#include "app/library/downloads/download_source.h"

namespace winnow::app {

class SecureClient {
 public:
  // Throws DownloadError(kNoCertificates) where those that the source names cannot be read.
  explicit SecureClient(const DownloadSource& source);

  // Throws DownloadError(kInsecure) for an address that is not https, kNoTrust where this Qt has no TLS.
  void requireAllowed(const QUrl& address) const;
  // From that byte on. `bearer` authorises; empty: nobody is named. The caller owns the reply and waits for its `finished`; its address has
  // been checked.
  QNetworkReply* get(const QUrl& address, qint64 fromByte, const QByteArray& bearer = {});
  // The fault of a reply that has finished; nothing: it is complete, as far as HTTP knows.
  std::optional<DownloadFault> faultOf(const QNetworkReply& reply) const;

 private:
  bool isAllowed(const QUrl& address) const;

  const DownloadSource m_source;
  QSslConfiguration m_tls;
  QNetworkAccessManager m_manager;
};

int statusOf(const QNetworkReply& reply);  // 0: none came

}  // namespace winnow::app
