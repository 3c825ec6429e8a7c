#include "app/library/hub/hub_place.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>

#include "app/ground/process/path_variable.h"

namespace winnow::app {
namespace {

constexpr qint64 kMostTokenBytes = 4096;

QString firstOf(std::initializer_list<QString> values) {
  const auto found = std::ranges::find_if(values, [](const QString& each) { return !each.isEmpty(); });
  return found == values.end() ? QString() : *found;
}

bool isTrue(const char* name) {
  const QString value = qEnvironmentVariable(name).trimmed().toUpper();
  return value == QLatin1String("1") || value == QLatin1String("ON") || value == QLatin1String("YES") || value == QLatin1String("TRUE");
}

QString hubHome(const QString& home) {
  const QString cache = firstOf({pathVariable("XDG_CACHE_HOME"), home + QStringLiteral("/.cache")});
  return firstOf({pathVariable("HF_HOME"), cache + QStringLiteral("/huggingface")});
}

// Text that could end a header, or is no token, is none.
QByteArray tokenOf(const QByteArray& text) {
  const QByteArray token = text.trimmed();
  return std::ranges::all_of(token, [](char c) { return c > ' ' && c < 127; }) ? token : QByteArray();
}

QByteArray storedToken(const QString& home) {
  QFile file(firstOf({pathVariable("HF_TOKEN_PATH"), hubHome(home) + QStringLiteral("/token")}));
  if (isTrue("HF_HUB_DISABLE_IMPLICIT_TOKEN") || !QFileInfo(file.fileName()).isFile() || !file.open(QIODevice::ReadOnly)) return {};
  return tokenOf(file.read(kMostTokenBytes));
}

// "https://huggingface.co/a/b/blob/main/c.gguf?download=true" -> "a/b/blob/main/c.gguf". Empty: it is no address of the hub.
QString pathOfAddress(const QString& text) {
  static const QRegularExpression address(
      QStringLiteral("^(?:(?:https?://)?(?:www\\.)?(?:huggingface\\.co|hf\\.co)/|hf://)([^?#]*)(?:[?#].*)?$"),
      QRegularExpression::CaseInsensitiveOption);
  QString path = address.match(text).captured(1);
  while (path.endsWith(QLatin1Char('/'))) path.chop(1);
  return path;
}

// The name in the path of a page or a file: "a/b/blob/main/folder/c.gguf" -> "a/b@main:c.gguf"; what is none of them stays.
QString nameInPath(const QString& path) {
  static const QRegularExpression page(QStringLiteral("^([^/]+/[^/]+)/(tree|blob|resolve|raw|commit)/([^/]+)(?:/(.*))?$"));
  const QRegularExpressionMatch match = page.match(path);
  if (!match.hasMatch()) return path;
  const QString revision = match.captured(3) == QLatin1String("main") ? QString() : QLatin1Char('@') + match.captured(3);
  const QString file = match.captured(4).section(QLatin1Char('/'), -1);
  return match.captured(1) + revision + (file.endsWith(QLatin1String(".gguf")) ? QLatin1Char(':') + file : QString());
}

}  // namespace

QString hubCacheFolder(const QString& home) {
  return firstOf({pathVariable("HF_HUB_CACHE"), pathVariable("HUGGINGFACE_HUB_CACHE"), hubHome(home) + QStringLiteral("/hub")});
}

HubPlace HubPlace::fromEnvironment() {
  HubPlace place{.endpoint = qEnvironmentVariable("HF_ENDPOINT").trimmed()};
  if (place.endpoint.isEmpty()) place.endpoint = QStringLiteral("https://huggingface.co");
  while (place.endpoint.endsWith(QLatin1Char('/'))) place.endpoint.chop(1);
  place.cache = hubCacheFolder(QDir::homePath());
  place.token = tokenOf(qgetenv("HF_TOKEN"));
  if (place.token.isEmpty()) place.token = storedToken(QDir::homePath());
  place.offline = isTrue("HF_HUB_OFFLINE") || isTrue("TRANSFORMERS_OFFLINE");
  return place;
}

std::optional<HubName> readHubName(const QString& typed) {
  const QString path = pathOfAddress(typed.trimmed());
  const QString text = path.isEmpty() ? typed.trimmed() : nameInPath(path);
  // Names that the hub allows: none begins or ends with a sign, none has "--" or "..".
  static const QRegularExpression whole(
      QStringLiteral("^([A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?/[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?)"
                     "(?:@([A-Za-z0-9][A-Za-z0-9._/-]{0,99}))?(?::([A-Za-z0-9][A-Za-z0-9._-]{0,199}))?$"));
  const QRegularExpressionMatch match = whole.match(text);
  const QString repository = match.captured(1);
  const QString revision = match.captured(2) == QLatin1String("main") ? QString() : match.captured(2);
  if (!match.hasMatch() || repository.contains(QLatin1String("--"))) return std::nullopt;
  if (repository.contains(QLatin1String("..")) || revision.contains(QLatin1String("..")) || revision.endsWith(QLatin1Char('/')))
    return std::nullopt;
  return HubName{repository, match.captured(3), revision};
}

}  // namespace winnow::app
