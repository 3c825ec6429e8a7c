// Media for the engine: plain pixels, or the text of a document, and the interface that delivers them.
//
// Codecs live above (app/media/files/files implements MediaOpener and is injected); the engine pulls at most a few frames at a time, so
// that a long video never sits in memory as pixels. No torch here. Threads: a FrameSource is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/media/media_detail.h"
#include "engine/media/media_notice.h"
#include "engine/media/sound_source.h"
#include "engine/media/timed_line.h"

namespace winnow {

enum class MediaKind : int { kImage = 1, kVideo = 2, kDocument = 3 };

// 8-bit RGB, upright (rotation applied), rows top to bottom, tightly packed: rgb[(y * width_px + x) * 3 + channel].
struct RgbImage {
  int width_px = 0;
  int height_px = 0;
  std::vector<std::uint8_t> rgb{};
};

// Which times of a video are wanted; a picture that is on screen at several of them is one frame. Uniform: t_i = from + (i + 0.5) * (to -
// from) / frame_count. Every: t_i = from + i * every_s while t_i < to, at most max_frames. Exactly one of frame_count and every_s is
// positive. For images the plan is ignored.
struct FramePlan {
  int frame_count = 64;
  double every_s = 0.0;
  double from_s = 0.0;
  double to_s = -1.0;  // negative: end of the file
  int max_frames = 1024;
  // An answer that does not wait for all frames takes at least so many of them, in whole sets of set_frames and in coarse_order(). 0: all.
  int taken = 0;
  int set_frames = 1;

  friend bool operator==(const FramePlan&, const FramePlan&) = default;
};

// Pages of a document, from 1, both included.
struct PageRange {
  int first = 0;  // 0: all of them
  int last = 0;

  friend bool operator==(const PageRange&, const PageRange&) = default;
};

struct MediaRequest {
  std::string path{};  // file name as bytes, taken literally: never a URL or a pattern
  MediaKind kind = MediaKind::kImage;
  FramePlan plan{};
  std::int64_t most_tokens = 0;  // of a document, from its beginning; 0: all
  // The file whose lines stand between a video's frames, or the video itself. For a document that is sound: its text. Empty: none.
  std::string subtitles{};
  // The encoding that a document or a video's subtitles are read in, by a name of app/media/files/files/text_encoding.h. Empty: by their
  // bytes.
  std::string encoding{};
  // The content_hash() of the file when it was attached: another one is refused (kMediaChanged) where it is read. Empty: any.
  std::string content{};
  MediaDetail detail{};  // of an image, or of each frame of a video
  PageRange pages{};     // of a document: those that are read. Of an image: the one page of a PDF that it shows
  // The most pixels of such a page's picture, at up to 300 dots per inch; set by the engine, which knows what the detail means to the
  // model. 0: as at 120 dots per inch.
  std::int64_t most_pixels = 0;
};

struct SampledFrame {
  double asked_s = 0.0;   // time that the plan asked for
  double actual_s = 0.0;  // presentation time of the frame delivered, from the start of the file
  RgbImage image{};
};

struct PictureSize {
  int width_px = 0;
  int height_px = 0;
};

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual MediaKind kind() const = 0;
  // The size of every picture that read() delivers, known before anything is decoded. Empty for a document.
  virtual PictureSize picture_size() const = 0;
  // Seconds covered by the plan (to - from); 0 for an image.
  virtual double duration_s() const = 0;
  // Frames that the plan selects; 1 for an image, 0 for a document.
  virtual int frame_count() const = 0;
  // All frames of a video's plan, of which FramePlan::taken may take a part.
  virtual int planned_frames() const { return frame_count(); }
  // When the frames are that read() will deliver, as the plan asks for them (SampledFrame::asked_s).
  virtual std::vector<double> asked_times_s() const {
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(frame_count()));
    for (int i = 0; i < frame_count(); ++i) times.push_back((i + 0.5) * duration_s() / frame_count());
    return times;
  }
  // When their pictures begin to be shown, as far as that is known before anything is decoded (then SampledFrame::actual_s); what a prompt
  // says of their times. Else when they are asked for.
  virtual std::vector<double> shown_times_s() const { return asked_times_s(); }
  // The time until which each frame of a video is known to be on screen: the last of the plan's times that it stands for. A picture that is
  // still there at the next time is delivered once. Empty: each stands for one time.
  virtual std::vector<double> standing_until_s() const { return {}; }
  // Lower-case hex SHA-256 of the file's bytes, or of size + head + tail for files over 64 MiB; names cached features.
  virtual std::string content_hash() const = 0;
  // For a document: all of it, UTF-8, lines ending in "\n". Empty of pictures.
  virtual std::string text() const { return {}; }
  // For a document that has pages: the line of text() at which each page that was read begins, from 0, rising.
  virtual std::vector<std::int32_t> page_lines() const { return {}; }
  // For a video that was asked for with its subtitles: all that begin before its file ends, by their beginnings. content_hash() knows
  // nothing of them.
  virtual std::vector<TimedLine> lines() const { return {}; }
  // Faults found when it was opened, and met in what was read so far.
  virtual std::vector<MediaNotice> notices() const { return {}; }
  // Frames [first, first + count) in order. Throws Exception (damaged file, limits) or Interrupted; polls the token between packets.
  virtual std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) = 0;
};

class MediaOpener {
 public:
  virtual ~MediaOpener() = default;
  // Opens and probes; decodes nothing that the plan does not need. Throws Exception or Interrupted.
  virtual std::unique_ptr<FrameSource> open(const MediaRequest& request, const InterruptToken& interrupt) = 0;
  // The sound of a video or of a file of sound alone. Throws kUnsupportedFormat where there is none, and where nobody reads sound.
  virtual std::unique_ptr<SoundSource> open_sound(const SoundRequest& request, const InterruptToken& interrupt);
};

}  // namespace winnow
