// The reader of documents that are no plain text, for winnow-media: PDF by Qt PDF, the others by libzip, Qt's XML reader and libxml2.
//
// It opens no file: bytes come from a MediaFile. Errors: PaperReader. Threads: one at a time.
#pragma once

#include <memory>

#include "app/media/files/limits.h"
#include "app/media/files/paper_reader.h"

namespace winnow::app {

class Papers final : public PaperReader {
 public:
  explicit Papers(const MediaLimits& limits) : m_limits(limits) {}

  DocumentText readText(const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt) const override;
  std::unique_ptr<MediaSource> openPage(std::unique_ptr<MediaFile> file, const MediaRequest& request) const override;

 private:
  const MediaLimits m_limits;
};

}  // namespace winnow::app
