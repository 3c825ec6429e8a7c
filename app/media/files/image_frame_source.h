// One still picture as a FrameSource. Decodes on the first read and keeps nothing but the file.
//
// Errors: as still_image.h, and kInvalidArgument for frames other than the one. Threads: one at a time.
#pragma once

#include <memory>

#include "app/media/files/content_type.h"
#include "app/media/files/limits.h"
#include "app/media/files/media_file.h"
#include "app/media/files/media_source.h"

namespace winnow::app {

class ImageFrameSource final : public MediaSource {
 public:
  ImageFrameSource(std::unique_ptr<MediaFile> file, ContentType type, const MediaLimits& limits);

  MediaKind kind() const override { return MediaKind::kImage; }
  double duration_s() const override { return 0.0; }
  int frame_count() const override { return 1; }
  std::string content_hash() const override;
  std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) override;

  const MediaInfo& info() const override { return m_info; }
  const std::vector<double>& askedTimes() const override { return m_askedS; }

 private:
  std::unique_ptr<MediaFile> m_file;
  const ContentType m_type;
  const MediaLimits m_limits;
  MediaInfo m_info;
  std::vector<double> m_askedS{0.0};
  mutable std::string m_hash;
};

}  // namespace winnow::app
