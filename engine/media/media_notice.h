// A fault that was tolerated in a medium: a code and its figures, told to whoever asks about it. Plain data, every layer.
//
// Made by app/media/files/files, delivered by a FrameSource, carried by the engine's events, kept with chats. Words:
// app/ground/notices/notice_text.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace winnow {

// Stored: never renumbered. Behind each what its figures are. A new one needs its words in notice_text.cpp (the compiler misses them).
enum class NoticeCode : int {
  kCutOff = 1,             // amount: bytes that are missing at the end; 0: nobody knows how many
  kDamaged = 2,            // parts of the video cannot be decoded
  kNearestShown = 3,       // a place of the video cannot be decoded
  kAnimated = 4,           // a picture of many frames
  kNoToneMapping = 5,      // high dynamic range
  kTurnIgnored = 6,        // no right angle
  kPixelShapeIgnored = 7,  // implausible
  kLengthWrong = 8,        // what the file claims
  kTimeJumps = 9,          // the clock starts anew on the way
  kSizeChanged = 10,       // of a running source; amount x of: its pixels now
  kFramesMissed = 11,      // of a running source; amount: how many
  kConnectionBroke = 12,   // of a running source
  kRepeatsLeftOut = 21,    // amount of `of` frames that were asked for: a picture that stands longer, taken once
  kPlanFull = 22,          // amount: the most frames, which end after `of` seconds although the range goes on
  kInterlaced = 23,        // fields of two times in one picture
  kShapeDiffers = 24,      // amount x of: the pixels of a picture that has another shape than the file says
  kTransparencyIgnored = 25,
  kScaledDown = 26,   // amount x of: the picture's own pixels
  kSecondVideo = 27,  // amount: bytes behind the video; name: the container of the one that they begin, empty for none
  kFileGone = 30,     // what was kept of the file answers without it
  kDolbyVision = 31,  // colours that only players of Dolby Vision show; amount: its profile
  kOtherVideos = 32,  // amount: of other programmes or tracks in the file
  // For a document or subtitles:
  kEncodingGuessed = 40,  // name: the encoding
  kBytesReplaced = 41,    // amount: places that are no text in it; name: the encoding
  kControlsLeftOut = 42,  // amount: control characters
  kLinesUntimed = 43,     // amount: lines of subtitles whose time cannot be read, or that have none
  kLinesRepeated = 44,    // amount: lines that were told before (captions that roll)
  kSpeakersLeftOut = 45,  // amount: names of who speaks, which players do not show
  kDrawingsLeftOut = 46,  // amount: commands that draw a shape
  kLinesBehind = 47,      // amount: lines that begin behind the end of the video's file; of: the second at which the first of them does
  // For a document that is no plain text:
  kPartUnread = 60,  // amount of `of` pages were read, which are all that fit; name: "pages", "sheets", "rows", "text" (without amounts)
  kMarginsLeftOut = 61,  // amount: lines of headers and footers that repeat on most pages
  kPagesTextless = 62,   // amount of `of` pages hold no text: pictures, or empty
};

struct MediaNotice {
  NoticeCode code = NoticeCode::kDamaged;
  std::int64_t amount = 0;
  std::int64_t of = 0;
  std::string name{};  // UTF-8

  friend bool operator==(const MediaNotice&, const MediaNotice&) = default;
};

// Once each.
inline void add_notice(std::vector<MediaNotice>& notices, MediaNotice notice) {
  if (std::find(notices.begin(), notices.end(), notice) == notices.end()) notices.push_back(std::move(notice));
}
inline void add_notices(std::vector<MediaNotice>& notices, const std::vector<MediaNotice>& more) {
  for (const MediaNotice& notice : more) add_notice(notices, notice);
}

}  // namespace winnow
