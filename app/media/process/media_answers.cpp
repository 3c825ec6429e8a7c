#include "app/media/process/media_answers.h"

#include <QByteArrayView>
#include <algorithm>
#include <cmath>
#include <string>

#include "engine/messages/wire_value.h"

namespace winnow::app {
namespace {

constexpr double kMostSeconds = 1e9;
constexpr std::int64_t kMostOffset = std::int64_t{1} << 40;
constexpr double kMostFramesPerSecond = 1e6;
constexpr std::size_t kMostTextBytes = static_cast<std::size_t>(kDocumentBytes) * 4;  // of UTF-8 out of another encoding

void requireSound(bool sound, const char* what) {
  if (!sound) throw Exception(ErrorCode::kDamagedFile, "answer", what);
}

void requireText(const std::string& text, std::size_t mostBytes) {
  requireSound(text.size() <= mostBytes && QByteArrayView(text.data(), static_cast<qsizetype>(text.size())).isValidUtf8(),
               "a text is too long or no UTF-8");
}

void requireTimes(const std::vector<double>& times) {
  requireSound(std::ranges::all_of(times, [](double time) { return std::isfinite(time) && std::abs(time) <= kMostSeconds; }),
               "a time is out of range");
}

void requireNotices(const std::vector<MediaNotice>& notices) {
  requireSound(notices.size() <= kMostNotices, "there are too many notices");
  for (const MediaNotice& notice : notices) requireText(notice.name, kMostNameBytes);
}

void requireLines(const std::vector<TimedLine>& lines) {
  requireSound(lines.size() <= kMostSubtitleLines, "there are too many lines");
  for (const TimedLine& line : lines) {
    requireTimes({line.start_s, line.end_s});
    requireSound(line.start_s <= line.end_s && !line.text.empty(), "a line is empty or ends before it begins");
    requireText(line.text, kMostSubtitleBytes);
  }
}

// Pages that are told begin one behind the other, within the text.
void requirePages(const DocumentText& text) {
  const std::vector<std::int32_t>& begins = text.pageLines;
  const auto lines = std::ranges::count(text.utf8, '\n') + 1;
  requireSound(text.pages >= std::ssize(begins) && std::ranges::is_sorted(begins), "pages are out of order");
  requireSound(begins.empty() || (begins.front() >= 0 && begins.back() <= lines), "a page is out of range");
}

void requireInfo(const MediaInfo& info, MediaKind kind, const MediaLimits& limits) {
  requireSound(info.kind == kind, "the file is of another kind");
  for (const std::string* name : {&info.container, &info.codec, &info.colourRange, &info.colourMatrix}) requireText(*name, kMostNameBytes);
  const std::int64_t pixels = std::int64_t{info.widthPx} * info.heightPx;
  const std::int64_t most = std::max(limits.imagePixels, limits.videoFramePixels) * 4;  // pixels that are not square are widened
  requireSound(info.widthPx > 0 && info.heightPx > 0 && pixels <= most, "pictures have a size that is out of range");
  requireTimes({info.durationS, info.playsS});
  requireSound(info.durationS >= 0.0 && std::isfinite(info.averageFps) && info.averageFps >= 0.0 && info.averageFps <= kMostFramesPerSecond,
               "a length is out of range");
  requireSound(info.rotationDegrees % 90 == 0 && info.rotationDegrees >= 0 && info.rotationDegrees < 360, "a rotation is none");
  requireSound(info.frameCount >= -1 && info.evenFrames >= -1 && info.words >= 0 && info.pages >= 0, "a count is negative");
  requireNotices(info.notices);
}

}  // namespace

SourceOpened openedAnswer(AnswerBytes bytes, const MediaRequest& request, std::int64_t fileBytes, const MediaLimits& limits) {
  auto opened = wire::decoded_fields<SourceOpened>(bytes);
  requireInfo(opened.info, request.kind, limits);
  opened.info.fileBytes = fileBytes;
  const std::size_t frames = opened.askedS.size();
  const auto most = static_cast<std::size_t>(request.kind == MediaKind::kImage ? 1 : std::max(limits.plannedFrames, 1));
  requireSound(frames >= 1 && frames <= most, "there are more frames than may be planned");
  requireSound(opened.shownS.size() == frames && (opened.untilS.empty() || opened.untilS.size() == frames),
               "there are times of other frames");
  requireSound(opened.planned >= static_cast<int>(frames) && opened.planned <= static_cast<int>(most),
               "more frames are there than planned");
  for (const auto* times : {&opened.askedS, &opened.shownS, &opened.untilS}) requireTimes(*times);
  requireTimes({opened.durationS});
  requireLines(opened.lines);
  requireNotices(opened.notices);
  return opened;
}

MediaKind detectedAnswer(AnswerBytes bytes) { return wire::decoded_fields<KindDetected>(bytes).kind; }

Subtitles linesAnswer(AnswerBytes bytes) {
  auto subtitles = wire::decoded_fields<Subtitles>(bytes);
  requireLines(subtitles.lines);
  requireNotices(subtitles.notices);
  return subtitles;
}

DocumentText textAnswer(AnswerBytes bytes) {
  auto text = wire::decoded_fields<DocumentText>(bytes);
  requireText(text.utf8, kMostTextBytes);
  requireText(text.encoding, kMostNameBytes);
  requireText(text.container, kMostNameBytes);
  requirePages(text);
  requireNotices(text.notices);
  return text;
}

FramesRead framesAnswer(AnswerBytes bytes, int count, const SourceOpened& opened, const MediaLimits& limits) {
  auto read = wire::decoded_fields<FramesRead>(bytes);
  requireSound(read.frames.size() == static_cast<std::size_t>(count), "there are more or fewer frames than were asked for");
  for (const FrameRead& frame : read.frames) {
    requireSound(frame.widthPx == opened.info.widthPx && frame.heightPx == opened.info.heightPx, "a frame has another size");
    requireTimes({frame.askedS, frame.actualS});
  }
  requireSound(read.offset >= 0 && read.offset <= kMostOffset, "an offset is out of range");
  requireInfo(read.info, opened.info.kind, limits);
  read.info.fileBytes = opened.info.fileBytes;
  requireNotices(read.notices);
  return read;
}

SoundOpened soundOpenedAnswer(AnswerBytes bytes) {
  const auto opened = wire::decoded_fields<SoundOpened>(bytes);
  requireTimes({opened.durationS});
  requireSound(opened.durationS >= 0.0, "a length is out of range");
  return opened;
}

std::vector<float> soundAnswer(AnswerBytes bytes, std::int64_t count) {
  auto read = wire::decoded_fields<SoundRead>(bytes);
  requireSound(std::ssize(read.samples) <= count, "there are more samples than were asked for");
  requireSound(std::ranges::all_of(read.samples, [](float sample) { return std::isfinite(sample); }), "a sample is no number");
  return std::move(read.samples);
}

Error failedAnswer(AnswerBytes bytes) {
  auto error = wire::decoded_fields<Error>(bytes);
  requireSound(error.subject.size() <= kMostReasonBytes, "a text is too long or no UTF-8");  // a path, whose bytes may be anything
  requireText(error.reason, kMostReasonBytes);
  return error;
}

}  // namespace winnow::app
