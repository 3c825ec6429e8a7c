#include "app/engine/remote/server_address.h"

#include <QUrl>
#include <QUrlQuery>
#include <utility>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr std::pair<const char*, KeySource::Kind> kKeyWords[] = {{"env", KeySource::Kind::kEnvironment}, {"file", KeySource::Kind::kFile}};

constexpr char kDesktopWord[] = "desktop";

[[noreturn]] void refuse(const std::string& text, const std::string& why) { throw Exception(ErrorCode::kInvalidArgument, text, why); }

std::string cutBehind(std::string text, std::string_view end) {
  if (text.ends_with(end)) text.resize(text.size() - end.size());
  return text;
}

QString valueOf(const QUrlQuery& query, const char* name) { return query.queryItemValue(QLatin1String(name), QUrl::FullyDecoded); }

// Percent-encoded, with what a query gives a meaning to.
QString encoded(const std::string& value) { return QString::fromLatin1(QUrl::toPercentEncoding(QString::fromStdString(value), ":/")); }

}  // namespace

std::string textOf(const KeySource& source) {
  if (source.kind == KeySource::Kind::kDesktop) return kDesktopWord;
  for (const auto& [word, kind] : kKeyWords) {
    if (kind == source.kind) return std::string(word) + ":" + source.name;
  }
  return {};
}

KeySource keySourceOf(const std::string& text) {
  if (text == kDesktopWord) return {KeySource::Kind::kDesktop};
  for (const auto& [word, kind] : kKeyWords) {
    const std::string begin = std::string(word) + ":";
    if (text.starts_with(begin) && text.size() > begin.size()) return {kind, text.substr(begin.size())};
  }
  if (!text.empty()) refuse(text, "a key is named by env:NAME, file:/PATH or desktop");
  return {};
}

std::string ServerAddress::host() const {
  const QUrl where(QString::fromStdString(url));
  return where.authority().toStdString();
}

std::string ServerAddress::origin() const {
  const QUrl where(QString::fromStdString(url));
  return (where.scheme() + QLatin1String("://") + where.authority()).toStdString();
}

std::string ServerAddress::root() const { return cutBehind(url, "/v1"); }

bool isServerAddress(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

ServerAddress serverAddressOf(const std::string& text) {
  QString typed = QString::fromStdString(text).trimmed();
  if (!typed.contains(QLatin1String("://"))) typed.prepend(QLatin1String("http://"));
  QUrl url(typed, QUrl::StrictMode);
  const bool web = url.scheme() == QLatin1String("http") || url.scheme() == QLatin1String("https");
  if (!url.isValid() || !web || url.host().isEmpty()) refuse(text, "a server's address looks like http://localhost:8000/v1");
  if (!url.userInfo().isEmpty()) refuse(url.host().toStdString(), "an address holds no password: name the key's file or variable");
  const QUrlQuery said(url.fragment(QUrl::FullyEncoded));
  url.setFragment({});
  url.setQuery(QString());
  ServerAddress address{.url = url.toString(QUrl::FullyEncoded | QUrl::StripTrailingSlash).toStdString()};
  for (const char* endpoint : {"/chat/completions", "/models"}) address.url = cutBehind(address.url, endpoint);
  while (address.url.ends_with('/')) address.url.pop_back();
  if (QUrl(QString::fromStdString(address.url)).path().isEmpty()) address.url += "/v1";
  address.model = valueOf(said, "model").toStdString();
  address.key = keySourceOf(valueOf(said, "key").toStdString());
  return address;
}

std::string textOf(const ServerAddress& address) {
  QString said;
  if (!address.model.empty()) said += QStringLiteral("model=") + encoded(address.model);
  if (const std::string key = textOf(address.key); !key.empty()) {
    said += (said.isEmpty() ? QString() : QStringLiteral("&")) + QStringLiteral("key=") + encoded(key);
  }
  return address.url + (said.isEmpty() ? "" : "#" + said.toStdString());
}

}  // namespace winnow::app
