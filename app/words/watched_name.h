// The name of a watched source: "the screen", "the camera /dev/video0", otherwise its address.
//
// Used by the watch bar and the chat. UI thread only (translations).
#pragma once

#include <QString>

namespace winnow::app {

QString watchedName(const QString& address);

}  // namespace winnow::app
