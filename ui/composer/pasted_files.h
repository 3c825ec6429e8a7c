// The files that a drop or a paste is about. Used by composer.h and prompt_edit.h. UI thread only.
#pragma once

#include <QList>
#include <QMimeData>
#include <QUrl>

namespace winnow::ui {

// Its addresses; where it has none, those of a text that is nothing but file:// addresses of files that are there, as some programs copy
// them.
QList<QUrl> pastedUrls(const QMimeData& mime);

}  // namespace winnow::ui
