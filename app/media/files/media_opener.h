// The MediaReader that reads in its own process: FFmpeg and what else app/media/files has.
//
// Used by winnow-media, which is the process for it, and where everything is to run in one (--in-process). Every call opens the file anew;
// of documents that have not changed it remembers what was read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/media/files/document_source.h"
#include "app/media/files/limits.h"
#include "app/media/files/media_file.h"
#include "app/media/files/media_reader.h"
#include "app/media/files/paper_reader.h"

namespace winnow::app {

// "5.1.6-0+deb12u1"
std::string ffmpegVersion();

class FfmpegMediaOpener final : public MediaReader {
 public:
  // papers: null: documents that are no plain text are refused. It outlives the opener.
  explicit FfmpegMediaOpener(const MediaLimits& limits = {}, MediaFiles files = mediaOnDisk, const PaperReader* papers = nullptr);
  FfmpegMediaOpener(const FfmpegMediaOpener&) = delete;
  FfmpegMediaOpener& operator=(const FfmpegMediaOpener&) = delete;

  std::unique_ptr<MediaSource> openSource(const MediaRequest& request, const InterruptToken& interrupt) const override;
  std::unique_ptr<SoundSource> openSound(const SoundRequest& request, const InterruptToken& interrupt) const override;
  MediaKind detectKind(const std::string& path, const InterruptToken& interrupt = {}) const override;
  Subtitles readSubtitles(const std::string& path, const std::string& encoding, const InterruptToken& interrupt) const override;

  // The text of a document's source, without the source.
  DocumentText readDocument(const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt) const;

  // The frames of the request, each at most maxSidePx on its longer side. One full-size frame is in memory at a time.
  std::vector<SampledFrame> readThumbnails(const MediaRequest& request, int maxSidePx, const InterruptToken& interrupt) const;

 private:
  const PaperReader& requirePapers(const std::string& path) const;

  const MediaLimits m_limits;
  const MediaFiles m_files;
  const PaperReader* const m_papers_view;
  std::unique_ptr<ReadDocuments> m_documents;
};

// Takes from the system now what the first reading would take, for a process that will not be able to open anything later.

// The C library's modules for all encodings, the number of processors, and what codecs and OpenCV look up once. Once, before any thread.
void prepareReading();

}  // namespace winnow::app
