// Lines of attached files: what was heard in them, their subtitles, what a model wrote of a video for itself, passages of documents.
//
// Kept by a file's content (Attachment::sha256), so that chats with the same file share them. Shown as a video's contents and found by
// search. Values; pure functions; any thread.
#pragma once

#include <QByteArray>
#include <QList>
#include <QString>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/media/frame_source.h"
#include "engine/media/timed_line.h"

namespace winnow::app {

// Stored enums are never renumbered.
enum class LineKind : int {
  kHeard = 1,  // by a speech model
  kSubtitle = 2,
  kDescribed = 3,  // by the model that was asked, for itself, before any question
  kPassage = 4,    // of a document
};

struct FileLine {
  LineKind kind = LineKind::kHeard;
  double startS = -1.0;  // of a video or a sound; negative: not known, of what an older version kept in one piece
  double endS = -1.0;
  int line = 0;  // of a document: the line that it begins with, from 0
  int page = 0;  // likewise, from 1; 0: the document has no pages
  QString text{};

  friend bool operator==(const FileLine&, const FileLine&) = default;
};

// The place in an attached file at which something was found.
struct FoundPlace {
  QByteArray path;
  QByteArray sha256;
  MediaKind medium = MediaKind::kVideo;
  FileLine line;
};

QList<FileLine> fileLines(const std::vector<TimedLine>& lines, LineKind kind);
// Lines of subtitles: those of a file that have a time.
std::vector<TimedLine> timedLines(const QList<FileLine>& lines);
// The paragraphs of a text, long ones in pieces that end with a line. pageLines: SampledTimes::pageLines.
QList<FileLine> passagesOf(std::string_view text, const std::vector<std::int32_t>& pageLines);

}  // namespace winnow::app
