// The subtitles of a video: which there are, beside it or inside, and what they say.
//
// Used by FfmpegMediaOpener; the window and the terminal offer those that are found. Beside: a file of
// the video's name (clip.srt, .vtt, .ass, .ssa of clip.mp4), or with a tag between (clip.en.srt; the first by name). Inside: text
// streams (SubRip, WebVTT, MP4's timed text, ASS), of which the one that the file marks as default is read, else the first; nothing is
// decoded, their packets are text. Beside and inside, what is forced (the few lines in another language, signs) comes behind what is whole.
// Streams of pictures are no text. Times of a stream count from the video's first frame, as frames' do. Errors: subtitle_text.h,
// document_text.h; kUnsupportedFormat where a video has no text stream; Interrupted. Plain functions.
#pragma once

#include <limits>
#include <string>

#include "app/media/files/limits.h"
#include "app/media/files/media_file.h"
#include "app/media/files/media_reader.h"
#include "app/media/files/subtitle_text.h"
#include "engine/base/interrupt.h"

struct AVFormatContext;

namespace winnow::app {

// The file beside the video; empty: there is none. Paths are bytes.
std::string subtitlesBeside(const std::string& video);
// The subtitles offered for a video: the file beside it, else the video itself if it holds text; empty: none.
std::string subtitlesOf(const std::string& video, const MediaInfo& info);

// The text stream of an open container; -1: there is none.
int textStreamOf(const AVFormatContext& format);

// file: a text, or a video. encoding: that the words are in; empty: by their bytes.
Subtitles readSubtitles(const MediaFile& file, const std::string& encoding, const MediaLimits& limits, const InterruptToken& interrupt);

// Leaves out the lines that begin when the video is over, and says so of those that were to be read: up to wantedToS. Such a file is of
// another video. playsS: MediaInfo's.
void leaveOutBehind(Subtitles& subtitles, double playsS, double wantedToS = std::numeric_limits<double>::infinity());

}  // namespace winnow::app
