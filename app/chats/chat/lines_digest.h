// The digest of the lines that stand between a video's frames: SampledTimes::linesDigest, by which other subtitles than before are known.
//
// Used by the window: when an answer has read them, and where a file of before is attached or looked at again. Pure.
#pragma once

#include <QByteArray>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "engine/media/timed_line.h"

namespace winnow::app {

// Empty where there are none.
QByteArray digestOf(const std::vector<TimedLine>& lines);

// lines: all of its subtitles now, as they are delivered with it. Whether the last answer read others. False where none has read any.
bool linesDiffer(const Attachment& video, std::vector<TimedLine> lines);

}  // namespace winnow::app
