// The way into media for everybody: opens images, videos and documents for the engine, probes them, and reads subtitles.
//
// Used by the engine (as MediaOpener), the window and the terminal program. Who reads is FfmpegMediaOpener in this process, or
// ProcessMediaReader (app/media/process) in one that may die. Calls may come from several threads at a time. A call that takes a token ends
// with Interrupted soon after the token is raised. Errors: Exception with the path as subject and a reason that can follow "FILE: "; a file
// is judged by its content, and a request whose kind is another than the file's is refused with kUnsupportedFormat.
#pragma once

#include <memory>
#include <string>

#include "app/media/files/media_info.h"
#include "app/media/files/media_source.h"
#include "app/media/files/subtitle_text.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

class MediaReader : public MediaOpener {
 public:
  std::unique_ptr<FrameSource> open(const MediaRequest& request, const InterruptToken& interrupt) final {
    return openSource(request, interrupt);
  }
  // The same with what is known about the file.
  virtual std::unique_ptr<MediaSource> openSource(const MediaRequest& request, const InterruptToken& interrupt) const = 0;
  // Image, video or document, by content.
  virtual MediaKind detectKind(const std::string& path, const InterruptToken& interrupt = {}) const = 0;
  // Subtitles in a text or a video (subtitles.h). encoding: of the words; empty: found by their bytes.
  virtual Subtitles readSubtitles(const std::string& path, const std::string& encoding, const InterruptToken& interrupt) const = 0;

  // encoding: that a document is read in; empty: by its bytes.
  MediaInfo probe(const std::string& path, const InterruptToken& interrupt = {}, const std::string& encoding = {}) const;
};

}  // namespace winnow::app
