// A notice about a medium, as a sentence of the window: "The picture is animated; its first frame is used."
//
// The clauses are those of app/ground/notices, translated. UI thread only.
#pragma once

#include <QString>
#include <vector>

#include "engine/media/media_notice.h"

namespace winnow::app {

QString noticeWords(const MediaNotice& notice);
// A line each.
QString noticeWords(const std::vector<MediaNotice>& notices);

}  // namespace winnow::app
