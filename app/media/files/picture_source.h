// One still picture as a FrameSource: an image (media_opener.h) or a page of a PDF (app/media/papers).
//
// It is made anew at each reading, and nothing is kept but the file. Errors: those of whoever makes it; kInvalidArgument for any frame but
// the first. Threads: one at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/media/files/content_hash.h"
#include "app/media/files/media_file.h"
#include "app/media/files/media_reader.h"
#include "engine/base/error.h"

namespace winnow::app {

class PictureSource final : public MediaSource {
 public:
  // Receives what decoding tells of the picture.
  using Make = std::function<RgbImage(const MediaFile& file, MediaInfo& info, const InterruptToken& interrupt)>;

  // info: kind, bytes and the number of frames are filled in here.
  PictureSource(std::unique_ptr<MediaFile> file, MediaInfo info, Make make)
      : m_file(std::move(file)), m_info(std::move(info)), m_make(std::move(make)) {
    m_info.kind = MediaKind::kImage;
    m_info.fileBytes = m_file->sizeBytes();
    m_info.frameCount = 1;
  }

  MediaKind kind() const override { return MediaKind::kImage; }
  double duration_s() const override { return 0.0; }
  int frame_count() const override { return 1; }
  std::string content_hash() const override {
    if (m_hash.empty()) m_hash = contentHash(*m_file);
    return m_hash;
  }
  std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) override {
    if (count == 0 && (first == 0 || first == 1)) return {};
    if (first != 0 || count != 1) throw Exception(ErrorCode::kInvalidArgument, m_file->path(), "an image has one frame");
    interrupt.throw_if_requested();
    std::vector<SampledFrame> frames(1);
    frames[0].image = m_make(*m_file, m_info, interrupt);
    return frames;
  }

  const MediaInfo& info() const override { return m_info; }
  const std::vector<double>& askedTimes() const override { return m_askedS; }

 private:
  std::unique_ptr<MediaFile> m_file;
  MediaInfo m_info;
  Make m_make;  // may look at the file: gone before it
  std::vector<double> m_askedS{0.0};
  mutable std::string m_hash;
};

}  // namespace winnow::app
