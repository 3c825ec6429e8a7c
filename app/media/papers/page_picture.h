// One page of a PDF as an image, for a model that sees.
//
// Used by papers.h. The page is drawn on white, upright, as large as the request's most_pixels allow and at most at 300 dots per inch; at
// 120 where the request names none. Remarks are drawn, fields of forms are not; nothing of a page is run. Errors: pdf_file.h;
// kLimitExceeded for a shape that no picture has. Threads: one at a time.
#pragma once

#include <memory>

#include "app/media/files/limits.h"
#include "app/media/files/media_file.h"
#include "app/media/files/media_reader.h"

namespace winnow::app {

std::unique_ptr<MediaSource> openPage(std::unique_ptr<MediaFile> file, const MediaRequest& request, const MediaLimits& limits);

}  // namespace winnow::app
