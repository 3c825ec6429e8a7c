// Numbers as people read them, in the language and number format of the user. Percent exists only here.
//
// Used by every view. UI thread only (translations).
#pragma once

#include <QString>

namespace winnow::ui {

QString formatBytes(qint64 bytes);      // "1.2 MiB"
QString formatShare(double share);      // 0.2 -> "20 %", below 1 % with one decimal
QString formatMilliseconds(double ms);  // "85 ms", "1.4 s"
QString formatClock(double seconds);    // "0:07", "2:08", "1:02:03"
QString formatCount(double count);      // "612", "34.5"

}  // namespace winnow::ui
