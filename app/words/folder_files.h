// The files of a folder that can be attached, by their names' endings alone: what a file is says its content when it is opened.
//
// Used by the window, where a folder is dropped, and by the terminal's --image, --video and --document. Folders within it are left out.
// Errors: Exception(kFileUnreadable). Any thread.
#pragma once

#include <QByteArray>
#include <QDateTime>
#include <QString>
#include <vector>

#include "engine/media/frame_source.h"

namespace winnow::app {

struct FolderFile {
  QByteArray path;
  MediaKind kind = MediaKind::kImage;
  QDateTime changed{};
  qint64 bytes = 0;
};

// By their names, as people count. Documents are papers and texts that people write; sources of programs and subtitles are none.
std::vector<FolderFile> filesIn(const QString& folder);

}  // namespace winnow::app
