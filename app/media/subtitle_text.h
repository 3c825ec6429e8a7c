// Subtitles as text: the cues of SubRip (.srt) and WebVTT (.vtt), and what is said in one cue without its markup.
//
// Used by subtitles.h. Pure. Lenient where players are: counters, settings, notes and styles are passed over, a cue ends with an empty line
// or the next cue's times, "," and "." part seconds from thousandths, hours may be missing. A cue that says nothing is none, one that ends
// before it begins ends there. Errors: Exception kLimitExceeded (more lines, or longer ones, than below), kDamagedFile (no cue at all).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/media/timed_line.h"

namespace winnow::app {

inline constexpr std::size_t kMostSubtitleLines = 20'000;
inline constexpr std::size_t kMostSubtitleBytes = 4'096;  // of one line

enum class SubtitleMarkup : int {
  kTags = 1,  // SubRip, WebVTT: <i>, <v Name>, {\an8}, &amp;
  kAss = 2,   // Advanced SubStation: {\pos(1,2)}, \N, \h
};

// One line of words; its own line ends are spaces, control characters too. What is not UTF-8 becomes replacement characters.
std::string plainSubtitle(std::string_view cue, SubtitleMarkup markup);

// A list that refuses what is too much; lines without words are left out.
class SubtitleLines {
 public:
  // subject: names the file in errors.
  explicit SubtitleLines(std::string subject) : m_subject(std::move(subject)) {}
  void add(double startS, double endS, std::string text);
  // By their beginnings.
  std::vector<TimedLine> take();

 private:
  std::string m_subject;
  std::vector<TimedLine> m_lines;
};

// utf8: lines ending in "\n", as readDocument() gives them.
std::vector<TimedLine> parseSubtitles(std::string_view utf8, const std::string& subject);

}  // namespace winnow::app
