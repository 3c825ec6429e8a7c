// The way into app/media: opens images, videos and documents for the engine, probes them, and makes the pictures of the frame strip.
//
// Used by app/bootstrap and app/cli (injected into the engine as MediaOpener), by the attachments tray and the planner. Every call
// opens the file anew, so calls may run on several threads at a time; of documents that have not changed it remembers what was read. A call
// that takes a token ends with Interrupted soon after the token is raised. Errors: Exception with the path as subject and a reason that can
// follow "FILE: "; a file is judged by its content, and a request whose kind is another than the file's is refused with kUnsupportedFormat.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/media/limits.h"
#include "app/media/media_info.h"
#include "app/media/media_source.h"
#include "app/media/read_documents.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

// "5.1.6-0+deb12u1"
std::string ffmpegVersion();

class FfmpegMediaOpener final : public MediaOpener {
 public:
  explicit FfmpegMediaOpener(const MediaLimits& limits = {}) : m_limits(limits) {}

  std::unique_ptr<FrameSource> open(const MediaRequest& request, const InterruptToken& interrupt) override;
  // The same with what is known about the file.
  std::unique_ptr<MediaSource> openSource(const MediaRequest& request, const InterruptToken& interrupt) const;

  // Image, video or document, by content.
  MediaKind detectKind(const std::string& path) const;
  // encoding: that a document is read in; empty: by its bytes.
  MediaInfo probe(const std::string& path, const InterruptToken& interrupt = {}, const std::string& encoding = {}) const;

  // The frames of the request, each at most maxSidePx on its longer side. One full-size frame is in memory at a time.
  std::vector<SampledFrame> readThumbnails(const MediaRequest& request, int maxSidePx, const InterruptToken& interrupt) const;

 private:
  MediaLimits m_limits;
  std::unique_ptr<ReadDocuments> m_documents = std::make_unique<ReadDocuments>();
};

}  // namespace winnow::app
