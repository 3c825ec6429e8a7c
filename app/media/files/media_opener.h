// The MediaReader that reads in its own process: FFmpeg and what else app/media/files has.
//
// Used by winnow-media, which is the process for it, and where everything is to run in one (--in-process). Every call opens the file anew;
// of documents that have not changed it remembers what was read.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/media/files/document_source.h"
#include "app/media/files/limits.h"
#include "app/media/files/media_file.h"
#include "app/media/files/media_reader.h"

namespace winnow::app {

// "5.1.6-0+deb12u1"
std::string ffmpegVersion();

class FfmpegMediaOpener final : public MediaReader {
 public:
  explicit FfmpegMediaOpener(const MediaLimits& limits = {}, MediaFiles files = mediaOnDisk)
      : m_limits(limits), m_files(std::move(files)) {}

  std::unique_ptr<MediaSource> openSource(const MediaRequest& request, const InterruptToken& interrupt) const override;
  MediaKind detectKind(const std::string& path, const InterruptToken& interrupt = {}) const override;
  Subtitles readSubtitles(const std::string& path, const std::string& encoding, const InterruptToken& interrupt) const override;

  // The frames of the request, each at most maxSidePx on its longer side. One full-size frame is in memory at a time.
  std::vector<SampledFrame> readThumbnails(const MediaRequest& request, int maxSidePx, const InterruptToken& interrupt) const;

 private:
  const MediaLimits m_limits;
  const MediaFiles m_files;
  std::unique_ptr<ReadDocuments> m_documents = std::make_unique<ReadDocuments>();
};

// Takes from the system now what the first reading would take, for a process that will not be able to open anything later.

// The C library's modules for all encodings, the number of processors, and what codecs and OpenCV look up once. Once, before any thread.
void prepareReading();

}  // namespace winnow::app
