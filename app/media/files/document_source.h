// A text as a medium: all of it is read when it is opened. Made by FfmpegMediaOpener.
//
// Errors: document_text.h; kInvalidArgument for frames, of which it has none. Threads: one at a time.
#pragma once

#include <memory>

#include "app/media/files/document_text.h"
#include "app/media/files/media_file.h"
#include "app/media/files/media_source.h"

namespace winnow::app {

class DocumentSource final : public MediaSource {
 public:
  // encoding: as readText() takes it.
  explicit DocumentSource(const MediaFile& file, const std::string& encoding = {});
  // Whose words are read already.
  DocumentSource(const MediaFile& file, DocumentText text);

  MediaKind kind() const override { return MediaKind::kDocument; }
  double duration_s() const override { return 0.0; }
  int frame_count() const override { return 0; }
  std::string content_hash() const override { return m_hash; }
  std::string text() const override { return m_text.utf8; }
  std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) override;

  const MediaInfo& info() const override { return m_info; }
  const std::vector<double>& askedTimes() const override { return m_askedS; }
  std::vector<MediaNotice> notices() const override { return m_text.notices; }

 private:
  std::string m_path;
  std::string m_hash;
  DocumentText m_text;
  MediaInfo m_info;
  std::vector<double> m_askedS;
};

}  // namespace winnow::app
