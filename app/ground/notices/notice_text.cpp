#include "app/ground/notices/notice_text.h"

#include <QtGlobal>

#define SAY(text) QT_TRANSLATE_NOOP("winnow::app::NoticeTexts", text)

namespace winnow::app {
namespace {

void put(std::string& text, const char* place, const std::string& value) {
  const std::size_t at = text.find(place);
  if (at != std::string::npos) text.replace(at, 2, value);
}

const char* partUnread(const MediaNotice& notice) {
  if (notice.name == "pages") return SAY("only its first %1 pages of %2 were read");
  if (notice.name == "sheets") return SAY("only its first %1 sheets of %2 were read");
  if (notice.name == "rows") return SAY("only the first %1 rows of a sheet were read");
  return SAY("only its beginning was read: it is too long");
}

}  // namespace

const char* noticePattern(const MediaNotice& notice) {
  const bool one = notice.amount == 1;
  switch (notice.code) {
    case NoticeCode::kCutOff:
      if (notice.amount == 0) return SAY("the file is cut off: its end is missing");
      return one ? SAY("the file is cut off: 1 byte is missing at the end") : SAY("the file is cut off: %1 bytes are missing at the end");
    case NoticeCode::kDamaged: return SAY("parts of the video are damaged");
    case NoticeCode::kNearestShown: return SAY("part of the video cannot be decoded; the nearest frame is shown instead");
    case NoticeCode::kAnimated: return SAY("the picture is animated; only its first frame is used");
    case NoticeCode::kNoToneMapping: return SAY("its high dynamic range colours are shown without tone mapping");
    case NoticeCode::kTurnIgnored: return SAY("the file asks for a rotation that is not a multiple of 90 degrees; it is ignored");
    case NoticeCode::kPixelShapeIgnored: return SAY("the file's pixel aspect ratio is implausible and is ignored");
    case NoticeCode::kLengthWrong: return SAY("the file's stated length is wrong");
    case NoticeCode::kTimeJumps: return SAY("its time stamps jump; time was counted on continuously");
    case NoticeCode::kSizeChanged: return SAY("the picture's size changed to %1 x %2");
    case NoticeCode::kFramesMissed:
      return one ? SAY("1 frame was skipped because it came too fast") : SAY("%1 frames were skipped because they came too fast");
    case NoticeCode::kConnectionBroke: return SAY("the connection was lost");
    case NoticeCode::kFileGone: return SAY("the file is gone; the saved cache answers without it");
    case NoticeCode::kRepeatsLeftOut:
      return one ? SAY("1 of the %2 frames repeats the picture before it and is left out")
                 : SAY("%1 of the %2 frames repeat the picture before them and are left out");
    case NoticeCode::kPlanFull: return SAY("only %1 frames are possible: they end after %2 seconds, before the range does");
    case NoticeCode::kInterlaced: return SAY("the video is interlaced: where the two fields differ, the earlier one is shown");
    case NoticeCode::kShapeDiffers: return SAY("pictures of another shape, %1 x %2 pixels, are shown with black bars");
    case NoticeCode::kTransparencyIgnored: return SAY("its transparency is ignored, so hidden parts are visible");
    case NoticeCode::kScaledDown: return SAY("the picture of %1 x %2 pixels is scaled down");
    case NoticeCode::kSecondVideo:
      return notice.name.empty() ? SAY("%1 bytes behind this video in the file are not read")
                                 : SAY("the file contains a second video (%3), which is not read");
    case NoticeCode::kDolbyVision: return SAY("it is Dolby Vision (profile %1): its colours are shown wrong, mostly in green and purple");
    case NoticeCode::kOtherVideos:
      return one ? SAY("the file has one more video, another programme or track, which is not shown")
                 : SAY("the file has %1 more videos, other programmes or tracks, which are not shown");
    case NoticeCode::kEncodingGuessed: return SAY("its encoding is guessed: %3");
    case NoticeCode::kBytesReplaced:
      return one ? SAY("1 place is not valid %3 and was replaced") : SAY("%1 places are not valid %3 and were replaced");
    case NoticeCode::kControlsLeftOut: return one ? SAY("1 control character is left out") : SAY("%1 control characters are left out");
    case NoticeCode::kLinesUntimed:
      return one ? SAY("1 subtitle line without a readable time is left out")
                 : SAY("%1 subtitle lines without a readable time are left out");
    case NoticeCode::kLinesRepeated:
      return one ? SAY("1 repeated subtitle line is used once") : SAY("%1 repeated subtitle lines are used once");
    case NoticeCode::kSpeakersLeftOut:
      return one ? SAY("1 speaker name in the subtitles is left out") : SAY("%1 speaker names in the subtitles are left out");
    case NoticeCode::kDrawingsLeftOut:
      return one ? SAY("1 drawing in the subtitles is left out") : SAY("%1 drawings in the subtitles are left out");
    case NoticeCode::kLinesBehind:
      return one ? SAY("1 subtitle line begins after the end of the video, at %2 seconds, and is left out")
                 : SAY("%1 subtitle lines begin after the end of the video, from %2 seconds on, and are left out");
    case NoticeCode::kPartUnread: return partUnread(notice);
    case NoticeCode::kMarginsLeftOut:
      return one ? SAY("1 line that repeats at the top or bottom of the pages is left out")
                 : SAY("%1 lines that repeat at the top or bottom of the pages are left out");
    case NoticeCode::kPagesTextless: return one ? SAY("1 of %2 pages has no text") : SAY("%1 of %2 pages have no text");
  }
  return SAY("a newer version of Winnow noticed something about it");
}

std::string noticeText(const MediaNotice& notice) {
  std::string text = noticePattern(notice);
  put(text, "%1", std::to_string(notice.amount));
  put(text, "%2", std::to_string(notice.of));
  put(text, "%3", notice.name);  // last: it may hold anything
  return text;
}

const char* cacheNotePattern(CompressionNote note) {
  switch (note) {
    case CompressionNote::kFallbackRows: return SAY("no text followed the attachment, so its last tokens decided what to keep");
    case CompressionNote::kRaisedToFloor: return SAY("kept more than asked: the method protects some tokens");
    case CompressionNote::kNonFinite: return SAY("some attention values were not finite and were left out");
    case CompressionNote::kPinsAboveBudget: return SAY("kept more than asked: the pinned parts alone need more");
    case CompressionNote::kShortText: return SAY("not compressed: text of fewer than %1 tokens stays whole");
    case CompressionNote::kThreadReadAgain:
      return SAY("this model's chat template rewrites earlier answers, so the chat is read again for each question");
    case CompressionNote::kSystemJoinsQuestion:
      return SAY("this model's chat template has no system prompt, so it was put before the first question");
  }
  return SAY("it did something that this version has no words for");
}

std::string cacheNoteText(CompressionNote note, int shortTextTokens) {
  std::string text = cacheNotePattern(note);
  const std::size_t at = text.find("%1");
  if (at != std::string::npos) text.replace(at, 2, std::to_string(shortTextTokens));
  return text;
}

}  // namespace winnow::app
