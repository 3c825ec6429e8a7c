#include "app/library/hub/hub_place.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
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

}  // namespace

QString hubCacheFolder(const QString& home) {
  return firstOf({pathVariable("HF_HUB_CACHE"), pathVariable("HUGGINGFACE_HUB_CACHE"), hubHome(home) + QStringLiteral("/hub")});
}

HubPlace HubPlace::fromEnvironment() {
  HubPlace place;
  place.endpoint = qEnvironmentVariable("HF_ENDPOINT").trimmed();
  if (place.endpoint.isEmpty()) place.endpoint = QStringLiteral("https://huggingface.co");
  while (place.endpoint.endsWith(QLatin1Char('/'))) place.endpoint.chop(1);
  place.cache = hubCacheFolder(QDir::homePath());
  place.token = tokenOf(qgetenv("HF_TOKEN"));
  if (place.token.isEmpty()) place.token = storedToken(QDir::homePath());
  place.offline = isTrue("HF_HUB_OFFLINE") || isTrue("TRANSFORMERS_OFFLINE");
  return place;
}

}  // namespace winnow::app
