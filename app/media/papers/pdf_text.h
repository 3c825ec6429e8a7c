// The text of a PDF, page by page, as it is read.
//
// Used by papers.h. Each page begins with a line "[page 3]" (unless it is the only one), which a model can name and a reader can find.
// Pages are read until the text is as long as documents may be, until the time for one step is up, or to number kMostPages; a notice says
// how many were read. Errors: pdf_file.h; Interrupted. Threads: one at a time.
#pragma once

#include "app/media/files/document_text.h"
#include "app/media/files/limits.h"
#include "app/media/files/media_file.h"
#include "engine/base/interrupt.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

inline constexpr int kMostPages = 10'000;

DocumentText readPdf(const MediaFile& file, const PageRange& pages, const MediaLimits& limits, const InterruptToken& interrupt);

}  // namespace winnow::app
