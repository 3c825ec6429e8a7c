#include "app/library/network/bare_request.h"

namespace winnow::app {

QNetworkRequest bareRequest(const QUrl& address) {
  QNetworkRequest request(address);
  request.setAttribute(QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::ManualRedirectPolicy);
  request.setAttribute(QNetworkRequest::Http2AllowedAttribute, false);
  request.setAttribute(QNetworkRequest::CacheLoadControlAttribute, QNetworkRequest::AlwaysNetwork);
  request.setAttribute(QNetworkRequest::CookieLoadControlAttribute, QNetworkRequest::Manual);
  request.setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
  request.setRawHeader("Accept-Encoding", "identity");  // what is counted is what comes
  request.setRawHeader("User-Agent", "winnow");
  return request;
}

// Qt's HTTP thread hears the bound only once it has the request: a GET at once, a POST when the event loop has begun it. A bound that was
// told earlier is lost, and everything that arrives is held (Qt 6.4).
void boundHeldBytes(QNetworkReply& reply) {
  const auto tell = [&reply] { reply.setReadBufferSize(kMostHeldBytes); };
  tell();
  QMetaObject::invokeMethod(&reply, tell, Qt::QueuedConnection);
}

}  // namespace winnow::app
