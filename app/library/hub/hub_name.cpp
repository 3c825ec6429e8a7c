#include "app/library/hub/hub_name.h"

#include <QRegularExpression>

namespace winnow::app {

namespace {

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
