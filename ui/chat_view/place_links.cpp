#include "ui/chat_view/time_links.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include "app/words/format_text.h"

namespace winnow::ui {
namespace {

const QString kScheme = QStringLiteral("winnow-time");

double secondsOf(const QRegularExpressionMatch& match) {
  const double first = match.capturedView(1).toDouble(), second = match.capturedView(2).toDouble();
  return match.hasCaptured(3) ? 3600 * first + 60 * second + match.capturedView(3).toDouble() : 60 * first + second;
}

}  // namespace

void linkTimes(std::vector<TextRun>& runs, double upToS) {
  static const QRegularExpression kTime(QStringLiteral("(?<![\\d:.,])(\\d{1,3}):([0-5]\\d)(?::([0-5]\\d))?(?![\\d:])"));
  std::vector<TextRun> linked;
  for (TextRun& run : runs) {
    qsizetype at = 0;
    const auto part = [&](qsizetype from, qsizetype to) {
      TextRun piece = run;
      piece.text = run.text.mid(from, to - from);
      return piece;
    };
    if (run.href.isEmpty() && !run.code && !run.formula) {
      for (auto it = kTime.globalMatch(run.text); it.hasNext();) {
        const QRegularExpressionMatch match = it.next();
        const double seconds = secondsOf(match);
        if (seconds > upToS) continue;
        if (match.capturedStart() > at) linked.push_back(part(at, match.capturedStart()));
        linked.push_back(part(match.capturedStart(), match.capturedEnd()));
        linked.back().href = kScheme + QLatin1Char(':') + QString::number(seconds, 'f', 0);
        at = match.capturedEnd();
      }
    }
    if (at < run.text.size() || run.text.isEmpty()) linked.push_back(at == 0 ? std::move(run) : part(at, run.text.size()));
  }
  runs = std::move(linked);
}

std::optional<double> timeOf(const QUrl& link) {
  if (link.scheme() != kScheme) return std::nullopt;
  return link.path().toDouble();
}

QString linkText(const QUrl& link) {
  const std::optional<double> seconds = timeOf(link);
  if (!seconds) return link.toString(QUrl::FullyEncoded);
  return QCoreApplication::translate("winnow::ui::TimeLinks", "Show the frame at %1").arg(app::formatClock(*seconds));
}

}  // namespace winnow::ui
