#include "app/engine/video_shelf/video_question.h"

#include <QRegularExpression>
#include <QString>
#include <algorithm>

namespace winnow::app {
namespace {

// "a green star" -> "the green star".
QString definite(QString thing) {
  static const QRegularExpression kArticle(QStringLiteral("^(a|an|any|some)\\s+"), QRegularExpression::CaseInsensitiveOption);
  return thing.replace(kArticle, QStringLiteral("the "));
}

}  // namespace

PutQuestion putToEach(const std::string& asked) {
  static const QRegularExpression kWhich(
      QStringLiteral("^\\s*(?:which|what)(?:\\s+ones?)?(?:\\s+of\\s+(?:these|those|them|the))?(?:\\s+(?:videos?|films?|clips?|files?))?"
                     "\\s+(?:shows?|has|have|contains?|includes?)\\s+(.+?)[\\s?]*$"),
      QRegularExpression::CaseInsensitiveOption);
  const QRegularExpressionMatch which = kWhich.match(QString::fromStdString(asked));
  if (!which.hasMatch()) return {asked, {}};
  static const QRegularExpression kOne(QStringLiteral("^(a|an|any|the|one)\\s"), QRegularExpression::CaseInsensitiveOption);
  const QString thing = which.captured(1);
  const bool one = kOne.match(thing).hasMatch();
  return {QStringLiteral("%1 %2?").arg(one ? QStringLiteral("Is there") : QStringLiteral("Are there"), thing).toStdString(),
          QStringLiteral("When %1 %2 appear?").arg(one ? QStringLiteral("does") : QStringLiteral("do"), definite(thing)).toStdString()};
}

Verdict verdictOf(const std::string& answer) {
  static const QRegularExpression kNo(
      QStringLiteral("^\\W*(no|none|not|never)\\b|\\bthere\\s+(is|are|was|were)(\\s+not\\b|n['’]t\\b|\\s+no\\b)"),
      QRegularExpression::CaseInsensitiveOption);
  static const QRegularExpression kYes(QStringLiteral("^\\W*yes\\b|\\bthere\\s+(is|are|was|were)\\b"),
                                       QRegularExpression::CaseInsensitiveOption);
  const QString words = QString::fromStdString(answer);
  if (kNo.match(words).hasMatch()) return Verdict::kNo;
  return kYes.match(words).hasMatch() ? Verdict::kYes : Verdict::kUnclear;
}

std::vector<double> timesIn(const std::string& answer, double durationS) {
  static const QRegularExpression kTime(
      QStringLiteral("(?<![\\d:.,])(?:(\\d{1,3}):([0-5]\\d)(?::([0-5]\\d))?(?![\\d:])|(\\d+(?:\\.\\d+)?)\\s*(?:s|sec|seconds?)\\b)"),
      QRegularExpression::CaseInsensitiveOption);
  std::vector<double> times;
  for (auto it = kTime.globalMatch(QString::fromStdString(answer)); it.hasNext();) {
    const QRegularExpressionMatch match = it.next();
    const double first = match.captured(1).toDouble(), second = match.captured(2).toDouble();
    const double seconds = match.hasCaptured(4)   ? match.captured(4).toDouble()
                           : match.hasCaptured(3) ? 3600 * first + 60 * second + match.captured(3).toDouble()
                                                  : 60 * first + second;
    if (seconds <= durationS && std::ranges::find(times, seconds) == times.end()) times.push_back(seconds);
  }
  return times;
}

}  // namespace winnow::app
