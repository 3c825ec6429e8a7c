#include "app/words/format_text.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <cmath>

namespace winnow::app {
namespace {
class FormatWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::app::FormatWords)
};
// Keeps a number and its unit on one line.
constexpr char16_t kThinGap = 0x202f;
}  // namespace

QString formatBytes(qint64 bytes) {
  double scaled = std::abs(static_cast<double>(bytes));
  while (scaled >= 1024.0) scaled /= 1024.0;
  return QLocale().formattedDataSize(bytes, scaled >= 100.0 || std::abs(bytes) < 1024 ? 0 : 1, QLocale::DataSizeIecFormat);
}

QString formatMegabytes(qint64 bytes) {
  constexpr qint64 kGigabyte = 1'000'000'000;
  if (bytes >= kGigabyte) return FormatWords::tr("%1 GB").arg(QLocale().toString(static_cast<double>(bytes) / kGigabyte, 'f', 1));
  return FormatWords::tr("%1 MB").arg(QLocale().toString(static_cast<double>(bytes) / 1e6, 'f', 0));
}

QString formatShare(double share) {
  const double percent = share * 100.0;
  const bool whole = percent >= 9.95 || std::abs(percent - std::round(percent)) < 0.05;
  return QLocale().toString(percent, 'f', whole ? 0 : 1) + QChar(kThinGap) + QLatin1Char('%');
}

QString formatMilliseconds(double ms) {
  if (ms < 999.5) return FormatWords::tr("%1 ms").arg(QLocale().toString(ms, 'f', 0));
  const double seconds = ms / 1000.0;
  if (seconds < 599.5) return FormatWords::tr("%1 s").arg(QLocale().toString(seconds, 'f', ms < 99950 ? 1 : 0));
  if (seconds < 5970.0) return FormatWords::tr("%1 min").arg(QLocale().toString(seconds / 60.0, 'f', 0));
  return FormatWords::tr("%1 h").arg(QLocale().toString(seconds / 3600.0, 'f', seconds < 35820.0 ? 1 : 0));
}

QString formatSeconds(double ms) {
  const double seconds = std::max(1.0, std::round(ms / 1000.0));
  if (seconds < 100.0) return FormatWords::tr("%1 s").arg(QLocale().toString(seconds, 'f', 0));
  return FormatWords::tr("%1 min").arg(QLocale().toString(seconds / 60.0, 'f', 0));
}

QString formatLength(double seconds) {
  const qint64 whole = std::isfinite(seconds) && seconds > 0 ? qRound64(std::min(seconds, 1e9)) : 0;
  if (whole < 60) return FormatWords::tr("%1 s").arg(whole);
  if (whole < 3600) return FormatWords::tr("%1 min %2 s").arg(whole / 60).arg(whole % 60);
  return FormatWords::tr("%1 h %2 min").arg(whole / 3600).arg(whole / 60 % 60);
}

QString formatClock(double seconds) {
  const qint64 whole = std::isfinite(seconds) && seconds > 0 ? static_cast<qint64>(std::floor(std::min(seconds, 1e9) + 0.5)) : 0;
  const qint64 h = whole / 3600, m = whole / 60 % 60, s = whole % 60;
  if (h > 0) return QStringLiteral("%1:%2:%3").arg(h).arg(m, 2, 10, QLatin1Char('0')).arg(s, 2, 10, QLatin1Char('0'));
  return QStringLiteral("%1:%2").arg(m).arg(s, 2, 10, QLatin1Char('0'));
}

QString formatWhen(const QDateTime& when, const QDateTime& now) {
  const QLocale locale;
  const QDate day = when.date();
  const qint64 age = day.daysTo(now.date());
  if (age == 0) return when.time().toString(QStringLiteral("HH:mm"));
  if (age == 1) return FormatWords::tr("Yesterday");
  if (age > 1 && age < 7) return locale.dayName(day.dayOfWeek(), QLocale::LongFormat);
  return locale.toString(
      day, day.year() == now.date().year() ? FormatWords::tr("d MMM", "date format") : FormatWords::tr("d MMM yyyy", "date format"));
}

QString formatAge(QDate day, QDate today) {
  if (day >= today) return FormatWords::tr("Today");
  if (day.daysTo(today) == 1) return FormatWords::tr("Yesterday");
  if (day.daysTo(today) < 7) return FormatWords::tr("Previous 7 days");
  const QString month = QLocale().standaloneMonthName(day.month());
  return day.year() == today.year() ? month : FormatWords::tr("%1 %2", "month and year").arg(month).arg(day.year());
}

QString formatCount(double count) {
  const bool whole = std::abs(count - std::round(count)) < 0.05 || count >= 1000;
  return QLocale().toString(count, 'f', whole ? 0 : 1);
}

QString formatSpeed(double tokensPerS) { return FormatWords::tr("%1 tok/s").arg(formatFixed(tokensPerS, tokensPerS < 10 ? 1 : 0)); }

QString formatReal(double value, int significant) { return QLocale().toString(value, 'g', significant); }

QString formatFixed(double value, int decimals) { return QLocale().toString(value, 'f', decimals); }

QString formatParameters(qint64 count) {
  constexpr double kMillion = 1e6, kBillion = 1e9;
  const QLocale locale;
  if (count >= kBillion) return FormatWords::tr("%1 B").arg(locale.toString(double(count) / kBillion, 'f', count < 10 * kBillion ? 1 : 0));
  return FormatWords::tr("%1 M").arg(locale.toString(double(count) / kMillion, 'f', count < 10 * kMillion ? 1 : 0));
}

QCollator nameOrder() {
  const QLocale here;
  QCollator order(here.language() == QLocale::C ? QLocale(QLocale::English) : here);
  order.setNumericMode(true);
  return order;
}

}  // namespace winnow::app
