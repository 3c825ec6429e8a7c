// A video's subtitles as ordinary tokens between those of its frames.
//
// Used where media become tokens (media_encoder.h, encoded_media.h); families know nothing of subtitles. A line stands behind the last
// frame that was asked for at or before the line's beginning, and with it behind all frames that are one set of tokens
// (ModelTraits::joined_frames); one that begins before the first frame stands behind that too, because what families write before a frame
// leads straight to it. So does every line before what a family writes behind the last frame (a newline embedding). Its words are attached
// as the frames are, so methods compress them with the video; they belong to no frame, so pins of frames do not hold them. Their positions
// are text's; with three axes the frames behind a line are a block of their own (models/vision/time_positions.h). Engine thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/token_origin.h"
#include "engine/media/frame_source.h"
#include "engine/models/vision_language_model.h"
#include "engine/text/tokenizer.h"

namespace winnow {

struct SubtitleTokens {
  std::vector<TimedLine> lines{};
  std::vector<double> frames_s;           // when the video's frames are, as they were asked for
  std::vector<std::int64_t> ids{};        // of all lines, each with its end of line
  std::vector<TokenOrigin> origins{};     // one per id: kSubtitle, `frame` the line, `media` at -1
  std::vector<std::int64_t> line_ends{};  // per line: how many ids it and those before it have
};

// Special tokens in a line count as text. Errors: those of Tokenizer::encode().
SubtitleTokens subtitle_tokens(const Tokenizer& tokenizer, std::vector<TimedLine> lines, std::vector<double> frames_s);

// origins: of the video's tokens, in the order of their frames.
std::vector<TokenOrigin> with_subtitles(std::span<const TokenOrigin> origins, const SubtitleTokens& subtitles);
MediaFeatures with_subtitles(const VisionLanguageModel& model, MediaFeatures video, const SubtitleTokens& subtitles);

// Names what a source delivers: its content_hash(), with the words that were read of it, which no hash of bytes tells (their encoding may
// be chosen, subtitles lie in another file).
std::string name_of_content(const FrameSource& source);

}  // namespace winnow
