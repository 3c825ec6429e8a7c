#include "app/hub/hub_name.h"

#include <QRegularExpression>

namespace winnow::app {

std::optional<HubName> readHubName(const QString& typed) {
  QString text = typed.trimmed();
  for (const char* page : {"https://huggingface.co/", "https://hf.co/", "hf.co/", "huggingface.co/", "hf://"}) {
    if (text.startsWith(QLatin1String(page))) text.remove(0, qstrlen(page));
  }
  // As the hub allows them: no name begins or ends with a sign, none has "--" or "..".
  static const QRegularExpression whole(
      QStringLiteral("^([A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?/[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?)"
                     "(?::([A-Za-z0-9][A-Za-z0-9._-]{0,199}))?$"));
  const QRegularExpressionMatch match = whole.match(text);
  const QString repository = match.captured(1);
  if (!match.hasMatch() || repository.contains(QLatin1String("--")) || repository.contains(QLatin1String(".."))) return std::nullopt;
  return HubName{repository, match.captured(2)};
}

}  // namespace winnow::app
