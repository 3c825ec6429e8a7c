// The content of a paste or a drop: which of the forms that a program offers side by side is meant.
//
// Used by prompt_edit.h and composer.h. A copied file offers its name as text, too; a browser's picture its address and an <img>; cells of
// a spreadsheet a picture of themselves. Files come before pictures, and pictures before text that only names them. UI thread only.
#pragma once

#include <QList>
#include <QMimeData>
#include <QString>
#include <QUrl>

namespace winnow::ui {

enum class OfferedKind : int { kNothing = 1, kFiles, kPicture, kText };

struct OfferedContent {
  OfferedKind kind = OfferedKind::kNothing;
  QList<QUrl> urls{};  // any: of kFiles those that are elsewhere, too
  QString text{};      // of kText
};

OfferedContent contentOf(const QMimeData& mime);

}  // namespace winnow::ui
