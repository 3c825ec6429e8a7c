#include "app/notices/notice_text.h"

#include <QtGlobal>

#define SAY(text) QT_TRANSLATE_NOOP("winnow::app::NoticeTexts", text)

namespace winnow::app {
namespace {

void put(std::string& text, const char* place, const std::string& value) {
  const std::size_t at = text.find(place);
  if (at != std::string::npos) text.replace(at, 2, value);
}

}  // namespace

const char* noticePattern(const MediaNotice& notice) {
  const bool one = notice.amount == 1;
  switch (notice.code) {
    case NoticeCode::kCutOff:
      return one ? SAY("the file is cut off: 1 byte is missing at the end") : SAY("the file is cut off: %1 bytes are missing at the end");
    case NoticeCode::kDamaged:
      return SAY("parts of the video are damaged");
    case NoticeCode::kNearestShown:
      return SAY("a place in the video cannot be decoded; the nearest frame is shown instead");
    case NoticeCode::kAnimated:
      return SAY("the picture is animated; its first frame is used");
    case NoticeCode::kNoToneMapping:
      return SAY("its high dynamic range colours are shown without tone mapping");
    case NoticeCode::kTurnIgnored:
      return SAY("the file asks for a turn that is no right angle; it is ignored");
    case NoticeCode::kPixelShapeIgnored:
      return SAY("the pixel shape that the file names is implausible and is ignored");
    case NoticeCode::kLengthWrong:
      return SAY("the length that the file claims is wrong");
    case NoticeCode::kTimeJumps:
      return SAY("its time stamps jump; time was counted on from where it was");
    case NoticeCode::kSizeChanged:
      return SAY("the picture's size changed to %1 x %2");
    case NoticeCode::kFramesMissed:
      return one ? SAY("1 frame was missed because it came faster than it was used")
                 : SAY("%1 frames were missed because they came faster than they were used");
    case NoticeCode::kConnectionBroke:
      return SAY("the connection broke off");
    case NoticeCode::kFileGone:
      return SAY("the file is not there any more; what was kept of it answers without it");
    case NoticeCode::kRepeatsLeftOut:
      return one ? SAY("1 of the %2 frames that were asked for shows the same picture as the one before and is left out")
                 : SAY("%1 of the %2 frames that were asked for show the same picture as the one before and are left out");
    case NoticeCode::kPlanFull:
      return SAY("a plan has at most %1 frames: they end after %2 seconds, before the range does");
    case NoticeCode::kInterlaced:
      return SAY("its pictures are interlaced: where their two fields differ, the earlier one is shown");
    case NoticeCode::kShapeDiffers:
      return SAY("pictures of another shape, %1 x %2 pixels, are shown whole between black bars");
    case NoticeCode::kTransparencyIgnored:
      return SAY("its transparency is ignored: what it hides can be seen");
    case NoticeCode::kScaledDown:
      return SAY("the picture of %1 x %2 pixels is scaled down");
    case NoticeCode::kSecondVideo:
      return SAY("another video stands behind this one in the file and is not read");
    case NoticeCode::kEncodingGuessed:
      return SAY("its encoding is guessed: %3");
    case NoticeCode::kBytesReplaced:
      return one ? SAY("1 place in it is no text in %3 and was replaced") : SAY("%1 places in it are no text in %3 and were replaced");
    case NoticeCode::kControlsLeftOut:
      return one ? SAY("1 control character is left out") : SAY("%1 control characters are left out");
    case NoticeCode::kLinesUntimed:
      return one ? SAY("1 line of subtitles without a time that can be read is left out")
                 : SAY("%1 lines of subtitles without a time that can be read are left out");
    case NoticeCode::kLinesRepeated:
      return one ? SAY("1 repeated line of subtitles is told once") : SAY("%1 repeated lines of subtitles are told once");
    case NoticeCode::kSpeakersLeftOut:
      return one ? SAY("1 name of a speaker in the subtitles is left out") : SAY("%1 names of speakers in the subtitles are left out");
    case NoticeCode::kDrawingsLeftOut:
      return one ? SAY("1 drawing in the subtitles is left out") : SAY("%1 drawings in the subtitles are left out");
  }
  return SAY("something about it was noticed that this version has no words for");
}

std::string noticeText(const MediaNotice& notice) {
  std::string text = noticePattern(notice);
  put(text, "%1", std::to_string(notice.amount));
  put(text, "%2", std::to_string(notice.of));
  put(text, "%3", notice.name);  // last: it may hold anything
  return text;
}

}  // namespace winnow::app
