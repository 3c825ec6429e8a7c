// Asks before a link of an answer leaves the program: the address is shown as it really is. UI thread only.
#pragma once

class QUrl;
class QWidget;

namespace winnow::ui {

void askToOpenLink(QWidget* window, const QUrl& url);

}  // namespace winnow::ui
