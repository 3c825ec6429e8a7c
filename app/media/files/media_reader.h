// The way into media for everybody: opens images, videos and documents for the engine, probes them, and reads subtitles.
//
// Used by the engine (as MediaOpener), the window and the terminal program. Who reads is FfmpegMediaOpener in this process, or
// ProcessMediaReader (app/media/process) in one that may die. Calls may come from several threads at a time. A call that takes a token ends
// with Interrupted soon after the token is raised. Errors: Exception with the path as subject and a reason that can follow "FILE: "; a file
// is judged by its content, and a request whose kind is another than the file's is refused with kUnsupportedFormat.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/media/files/subtitle_text.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

// Facts about a media file that are known without decoding it.
//
// Filled by probe() and by opening a source; shown by `winnow-cli probe`, the attachments tray and the pre-send planner. Plain data.
struct MediaInfo {
  MediaKind kind = MediaKind::kImage;
  std::string container{};  // "mp4", "webm", "matroska", "avi", "mpegts", "png", "jpeg", "webp", "bmp", "gif", "text", "pdf"
  std::string codec{};      // "h264", "vp9", "png", "UTF-8", ...
  int widthPx = 0;          // upright and with square pixels: the size of the frames delivered
  int heightPx = 0;
  double durationS = 0.0;      // from the beginning of the file to the end of its last picture; 0 for an image
  double playsS = 0.0;         // from there to the end of all that is played: sound may go on behind the last picture; 0 for an image
  double averageFps = 0.0;     // 0 when unknown and for an image
  int rotationDegrees = 0;     // clockwise turn that is applied
  std::string colourRange{};   // "limited", "full"; empty when the header does not say
  std::string colourMatrix{};  // "rgb", "bt601", "bt709", "bt2020", ...; empty when the header does not say
  std::int64_t fileBytes = 0;
  std::int64_t frameCount = -1;        // -1: not known without reading the whole file
  std::int64_t words = 0;              // of a document
  std::int64_t pages = 0;              // of a document that has pages, or of the PDF that an image is a page of
  std::int64_t evenFrames = -1;        // frameCount, if all of them last the same time; -1: they do not, or nothing tells
  bool holdsText = false;              // of a video: subtitles that are text (subtitles.h)
  bool hasSound = false;               // of a video: sound that can be heard (sound_file.h)
  std::vector<MediaNotice> notices{};  // known without decoding
};

// A FrameSource with what the window and the terminal program want to know besides the pixels. Made by a MediaReader.
class MediaSource : public FrameSource {
 public:
  virtual const MediaInfo& info() const = 0;
  PictureSize picture_size() const override { return {info().widthPx, info().heightPx}; }
  // Times that the plan asks for, in seconds; one 0 for an image.
  virtual const std::vector<double>& askedTimes() const = 0;
  std::vector<double> asked_times_s() const override { return askedTimes(); }
  std::vector<MediaNotice> notices() const override { return info().notices; }
};

class MediaReader : public MediaOpener {
 public:
  std::unique_ptr<FrameSource> open(const MediaRequest& request, const InterruptToken& interrupt) final {
    return openSource(request, interrupt);
  }
  std::unique_ptr<SoundSource> open_sound(const SoundRequest& request, const InterruptToken& interrupt) final {
    return openSound(request, interrupt);
  }
  // The sound of a video, or of a file of sound alone (sound_file.h).
  virtual std::unique_ptr<SoundSource> openSound(const SoundRequest& request, const InterruptToken& interrupt) const = 0;
  // The same as open() with what is known about the file. A document may be sound: then MediaRequest::subtitles names a text of what was
  // heard in it, which is its text.
  virtual std::unique_ptr<MediaSource> openSource(const MediaRequest& request, const InterruptToken& interrupt) const = 0;
  // Image, video or document, by content.
  virtual MediaKind detectKind(const std::string& path, const InterruptToken& interrupt = {}) const = 0;
  // Subtitles in a text or a video (subtitles.h). encoding: of the words; empty: found by their bytes.
  virtual Subtitles readSubtitles(const std::string& path, const std::string& encoding, const InterruptToken& interrupt) const = 0;

  // encoding: that a document is read in; empty: by its bytes.
  MediaInfo probe(const std::string& path, const InterruptToken& interrupt = {}, const std::string& encoding = {}) const;
};

}  // namespace winnow::app
