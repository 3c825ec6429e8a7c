#include "app/programs/server/remote_media.h"

#include <QHostAddress>
#include <QHostInfo>
#include <QNetworkAccessManager>
#include <QNetworkProxy>
#include <QNetworkReply>
#include <QNetworkRequest>
#include <QUrl>
#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "app/library/network/awaited_reply.h"
#include "app/programs/server/api_refusal.h"

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
QNetworkRequest fetchOf(const QUrl& url, const std::string& address) {
  QUrl direct = url;
  direct.setHost(QString::fromStdString(address));
  direct.setFragment({});
  QNetworkRequest request = bareRequest(direct);
  const QString host = url.host(QUrl::FullyEncoded);
  const QByteArray name = host.contains(QLatin1Char(':')) ? "[" + host.toUtf8() + "]" : host.toUtf8();
  request.setRawHeader("Host", url.port() > 0 ? name + ":" + QByteArray::number(url.port()) : name);
  request.setPeerVerifyName(host);
  return request;
}

}  // namespace

RemoteMedia::RemoteMedia(RemoteMediaLimits limits, InterruptToken interrupt)
    : m_limits(std::move(limits)), m_interrupt(std::move(interrupt)), m_begun(std::chrono::steady_clock::now()) {}

std::vector<std::uint8_t> RemoteMedia::fetch(const std::string& text, const std::string& param) {
  const QUrl url = checkedUrl(text, param);
  const std::string address = publicAddressOf(url, param, m_limits);
  QNetworkAccessManager manager;
  manager.setProxy(QNetworkProxy::NoProxy);
  const std::unique_ptr<QNetworkReply> reply(manager.get(fetchOf(url, address)));
  std::vector<std::uint8_t> bytes;
  const auto take = [&](std::string_view piece) {
    m_bytes += std::ssize(piece);
    if (m_bytes > m_limits.bytes) refuseMedia(param, "leads to more than " + std::to_string(m_limits.bytes >> 20) + " MiB");
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  };
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - m_begun);
  const int leftMs = std::max(1, m_limits.wholeMs - static_cast<int>(spent.count()));
  const ReplyEnd end = awaitReply(*reply, {0, m_limits.silenceMs, leftMs}, take, m_interrupt);
  if (end.interrupt != Interrupt::kNone) refuseMedia(param, "is not waited for any more");
  if (end.waitedMs > 0) refuseMedia(param, "answers too slowly");
  const int status = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
  if (status / 100 == 3) refuseMedia(param, "leads to another one, which is not followed");
  if (status != 0 && status != 200) refuseMedia(param, "was answered with status " + std::to_string(status));
  if (reply->error() != QNetworkReply::NoError) refuseMedia(param, "cannot be read");
  if (bytes.empty()) refuseMedia(param, "holds no bytes");
  return bytes;
}

}  // namespace winnow::app
