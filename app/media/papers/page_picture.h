// One page of a PDF as an image, for a model that sees.
//
// Made by papers.h. The page is drawn on white, upright, as large as the request's most_pixels allow and at most at 300 dots per inch; at
// 120 where the request names none. Remarks are drawn, fields of forms are not; nothing of a page is run. Errors: pdf_file.h;
// kLimitExceeded for a shape that no picture has. Threads: one at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/media/files/limits.h"
#include "app/media/files/media_file.h"
#include "app/media/files/media_reader.h"
#include "app/media/papers/pdf_file.h"

namespace winnow::app {

class PagePicture final : public MediaSource {
 public:
  PagePicture(std::unique_ptr<MediaFile> file, const MediaRequest& request, const MediaLimits& limits);

  MediaKind kind() const override { return MediaKind::kImage; }
  double duration_s() const override { return 0.0; }
  int frame_count() const override { return 1; }
  std::string content_hash() const override;
  std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) override;

  const MediaInfo& info() const override { return m_info; }
  const std::vector<double>& askedTimes() const override { return m_askedS; }

 private:
  std::unique_ptr<MediaFile> m_file;
  PdfFile m_pdf;
  int m_page = 0;  // from 0
  MediaInfo m_info;
  std::vector<double> m_askedS{0.0};
  mutable std::string m_hash;
};

}  // namespace winnow::app
