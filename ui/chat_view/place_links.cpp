#include "ui/chat_view/place_links.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include "app/words/format_text.h"

namespace winnow::ui {
namespace {

const QString kTimeScheme = QStringLiteral("winnow-time");
const QString kPageScheme = QStringLiteral("winnow-page");

double secondsOf(const QRegularExpressionMatch& match) {
  const double first = match.capturedView(1).toDouble(), second = match.capturedView(2).toDouble();
  return match.hasCaptured(3) ? 3600 * first + 60 * second + match.capturedView(3).toDouble() : 60 * first + second;
}

// The address of what was matched; empty: there is no such place.
QString addressOf(const QRegularExpressionMatch& match, const LinkedPlaces& places) {
  if (match.hasCaptured(4)) {
    const int page = match.capturedView(4).toInt();
    const bool there = page >= places.pages.first && page <= places.pages.last && page > 0;
    return there ? kPageScheme + QLatin1Char(':') + QString::number(page) : QString();
  }
  const double seconds = secondsOf(match);
  const bool there = places.timesUpToS > 0 && seconds <= places.timesUpToS;
  return there ? kTimeScheme + QLatin1Char(':') + QString::number(seconds, 'f', 0) : QString();
}

struct PlaceLinks {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::PlaceLinks)
};

}  // namespace

void linkPlaces(std::vector<TextRun>& runs, const LinkedPlaces& places) {
  if (places == LinkedPlaces()) return;
  // A time; or a page, with which a range of pages begins: "pages 3–7".
  static const QRegularExpression kPlace(
      QStringLiteral(
          "(?<![\\d:.,])(\\d{1,3}):([0-5]\\d)(?::([0-5]\\d))?(?![\\d:])"
          "|(?<![\\w-])(?:pages?|pp?\\.)[ \\x{a0}]?(\\d{1,5})(?:[ \\x{a0}]?[-\\x{2013}][ \\x{a0}]?\\d{1,5})?(?![\\w%]|[.,:]\\d)"),
      QRegularExpression::CaseInsensitiveOption);
  std::vector<TextRun> linked;
  for (TextRun& run : runs) {
    qsizetype at = 0;
    const auto part = [&](qsizetype from, qsizetype to) {
      TextRun piece = run;
      piece.text = run.text.mid(from, to - from);
      return piece;
    };
    if (run.href.isEmpty() && !run.code && !run.formula) {
      for (auto it = kPlace.globalMatch(run.text); it.hasNext();) {
        const QRegularExpressionMatch match = it.next();
        const QString address = addressOf(match, places);
        if (address.isEmpty()) continue;
        if (match.capturedStart() > at) linked.push_back(part(at, match.capturedStart()));
        linked.push_back(part(match.capturedStart(), match.capturedEnd()));
        linked.back().href = address;
        at = match.capturedEnd();
      }
    }
    if (at < run.text.size() || run.text.isEmpty()) linked.push_back(at == 0 ? std::move(run) : part(at, run.text.size()));
  }
  runs = std::move(linked);
}

std::optional<double> timeOf(const QUrl& link) {
  if (link.scheme() != kTimeScheme) return std::nullopt;
  return link.path().toDouble();
}

std::optional<int> pageOf(const QUrl& link) {
  if (link.scheme() != kPageScheme) return std::nullopt;
  return link.path().toInt();
}

QString linkText(const QUrl& link) {
  if (const std::optional<double> seconds = timeOf(link)) return PlaceLinks::tr("Show the frame at %1").arg(app::formatClock(*seconds));
  if (const std::optional<int> page = pageOf(link)) return PlaceLinks::tr("Show page %1").arg(*page);
  return link.toString(QUrl::FullyEncoded);
}

}  // namespace winnow::ui
