// Answers of a process that may be in the hands of a file's author: decoded, and held against what a sound one could say.
//
// Sizes are checked before memory is taken for them, times are finite, texts are UTF-8, counts have bounds. What a question already knows
// of a file (its size) is not taken from the answer. Errors: Exception, after which the process is not to be asked again. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/media/process/media_protocol.h"

namespace winnow::app {

using AnswerBytes = std::span<const std::uint8_t>;

inline constexpr std::size_t kMostNotices = 256;
inline constexpr std::size_t kMostNameBytes = 256;      // of a container, a codec, an encoding
inline constexpr std::size_t kMostReasonBytes = 8'192;  // of an error's subject and reason

SourceOpened openedAnswer(AnswerBytes bytes, const MediaRequest& request, std::int64_t fileBytes, const MediaLimits& limits);
MediaKind detectedAnswer(AnswerBytes bytes);
Subtitles linesAnswer(AnswerBytes bytes);
DocumentText textAnswer(AnswerBytes bytes);
// count: frames that were asked for, of a source that was opened as this.
FramesRead framesAnswer(AnswerBytes bytes, int count, const SourceOpened& opened, const MediaLimits& limits);
SoundOpened soundOpenedAnswer(AnswerBytes bytes);
// count: samples that were asked for.
std::vector<float> soundAnswer(AnswerBytes bytes, std::int64_t count);
Error failedAnswer(AnswerBytes bytes);

}  // namespace winnow::app
