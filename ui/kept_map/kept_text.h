// A text of the prompt for the clipboard and for paper: every token on the colour of the share of heads that keep it, what the layer
// dropped struck out.
//
// Used by kept_map_dialog.h. In the light theme's colours whatever the present one. UI thread only.
#pragma once

#include <QByteArray>
#include <QString>
#include <vector>

class QMimeData;

namespace winnow::ui {

struct KeptToken {
  QString text;
  double kept = 0.0;  // share of heads
};

// Rich text, and the plain words. The caller owns it.
QMimeData* keptTextMime(const std::vector<KeptToken>& tokens);
QByteArray keptTextHtml(const QString& title, const std::vector<KeptToken>& tokens);  // a whole page
QByteArray keptTextPdf(const QString& title, const std::vector<KeptToken>& tokens);   // A4

}  // namespace winnow::ui
