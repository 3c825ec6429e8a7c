// Numbers as people read them, in the language and number format of the user. Percent exists only here.
//
// Used by every view. UI thread only (translations).
#pragma once

#include <QCollator>
#include <QDateTime>
#include <QString>

namespace winnow::app {

QString formatBytes(qint64 bytes);      // "1.2 MiB"
QString formatMegabytes(qint64 bytes);  // as download pages count, in millions: "98 MB", "4.7 GB"
QString formatShare(double share);      // 0.2 -> "20 %", below 1 % with one decimal
QString formatMilliseconds(double ms);  // "85 ms", "1.4 s"
QString formatSeconds(double ms);       // of what is foreseen: "8 s", at least one; "3 min"
QString formatLength(double seconds);   // of sound: "12 s", "3 min 12 s", "1 h 2 min"
QString formatClock(double seconds);    // "0:07", "2:08", "1:02:03"
// A day as seen from `now`: "14:05" today, then "Yesterday", the weekday within six days, "3 Mar" within the year, "3 Mar 2025".
QString formatWhen(const QDateTime& when, const QDateTime& now);
// A heading for days of about that age: "Today", "Yesterday", "Previous 7 days", then "March", "March 2025".
QString formatAge(QDate day, QDate today);
QString formatCount(double count);                  // "612", "34.5", "2,034"
QString formatSpeed(double tokensPerS);             // "54 tok/s", below 10 with one decimal
QString formatReal(double value, int significant);  // "0.125", "25": as many digits as matter, at most
QString formatFixed(double value, int decimals);    // "1,234.50"
QString formatParameters(qint64 count);             // of a model: "135 M", "1.7 B"
// Names as people put them in order: 1, 2, 10; in the C locale as well, which compares bytes.
QCollator nameOrder();

}  // namespace winnow::app
