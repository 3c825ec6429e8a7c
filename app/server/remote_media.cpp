#include "app/server/remote_media.h"

#include <QEventLoop>
#include <QHostAddress>
#include <QHostInfo>
#include <QNetworkAccessManager>
#include <QNetworkProxy>
#include <QNetworkReply>
#include <QNetworkRequest>
#include <QTimer>
#include <QUrl>
#include <algorithm>
#include <memory>

#include "app/network/bare_request.h"
#include "app/server/api_refusal.h"

namespace winnow::app {
namespace {

[[noreturn]] void refuseMedia(const std::string& param, const std::string& why) {
  throw ApiRefusal(400, "the address " + why, param, "remote_media_failed");
}

std::vector<std::string> resolved(const std::string& host) {
  std::vector<std::string> addresses;
  for (const QHostAddress& address : QHostInfo::fromName(QString::fromStdString(host)).addresses())
    addresses.push_back(address.toString().toStdString());
  return addresses;
}

std::string publicAddressOf(const QUrl& url, const std::string& param, const RemoteMediaLimits& limits) {
  const std::string host = url.host().toStdString();
  const std::vector<std::string> addresses = limits.resolve ? limits.resolve(host) : resolved(host);
  if (addresses.empty()) refuseMedia(param, "has a host that is not known");
  if (!std::ranges::all_of(addresses, limits.allowed)) refuseMedia(param, "is not one of the public internet");
  return addresses.front();
}

QUrl checkedUrl(const std::string& text, const std::string& param) {
  const QUrl url(QString::fromStdString(text), QUrl::StrictMode);
  const bool web = url.scheme() == QLatin1String("http") || url.scheme() == QLatin1String("https");
  if (!url.isValid() || !web || url.host().isEmpty()) refuseMedia(param, "is not one of http or https");
  if (!url.userInfo().isEmpty()) refuseMedia(param, "must not hold a name or a password");
  return url;
}

// To the address, in the name of the host.
QNetworkRequest requestOf(const QUrl& url, const std::string& address, const RemoteMediaLimits& limits) {
  QUrl direct = url;
  direct.setHost(QString::fromStdString(address));
  direct.setFragment({});
  QNetworkRequest request = bareRequest(direct);
  const QString host = url.host(QUrl::FullyEncoded);
  const QByteArray name = host.contains(QLatin1Char(':')) ? "[" + host.toUtf8() + "]" : host.toUtf8();
  request.setRawHeader("Host", url.port() > 0 ? name + ":" + QByteArray::number(url.port()) : name);
  request.setPeerVerifyName(host);
  request.setTransferTimeout(limits.silenceMs);
  return request;
}

}  // namespace

std::vector<std::uint8_t> fetchRemoteMedia(const std::string& text, const std::string& param, const RemoteMediaLimits& limits) {
  const QUrl url = checkedUrl(text, param);
  const std::string address = publicAddressOf(url, param, limits);
  QNetworkAccessManager manager;
  manager.setProxy(QNetworkProxy::NoProxy);
  const std::unique_ptr<QNetworkReply> reply(manager.get(requestOf(url, address, limits)));
  std::vector<std::uint8_t> bytes;
  bool tooLarge = false, tooSlow = false;
  QEventLoop loop;
  const auto take = [&] {
    const QByteArray piece = reply->readAll();
    tooLarge = tooLarge || static_cast<std::int64_t>(bytes.size()) + piece.size() > limits.bytes;
    if (tooLarge) return reply->abort();
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  };
  QObject::connect(reply.get(), &QNetworkReply::readyRead, &loop, take);
  QObject::connect(reply.get(), &QNetworkReply::finished, &loop, &QEventLoop::quit);
  QTimer whole;
  whole.setSingleShot(true);
  QObject::connect(&whole, &QTimer::timeout, &loop, [&] {
    tooSlow = true;
    reply->abort();
  });
  whole.start(limits.wholeMs);
  if (!reply->isFinished()) loop.exec();
  if (tooLarge) refuseMedia(param, "leads to more than " + std::to_string(limits.bytes >> 20) + " MiB");
  if (tooSlow || reply->error() == QNetworkReply::OperationCanceledError) refuseMedia(param, "answers too slowly");
  const int status = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
  if (status / 100 == 3) refuseMedia(param, "leads to another one, which is not followed");
  if (status != 0 && status != 200) refuseMedia(param, "was answered with status " + std::to_string(status));
  if (reply->error() != QNetworkReply::NoError) refuseMedia(param, "cannot be read");
  if (bytes.empty()) refuseMedia(param, "holds no bytes");
  return bytes;
}

}  // namespace winnow::app
