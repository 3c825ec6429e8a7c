#include "app/media/files/rolling_captions.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace winnow::app {
namespace {

constexpr double kAtOnceS = 0.15;  // at most between two cues of which one rolls on
constexpr double kUnreadS = 0.3;   // a cue that is shown for less is the one before or behind it, held
constexpr qsizetype kRollingOf = 3;

bool followsAtOnce(const SubtitleCue& before, const SubtitleCue& cue) { return cue.startS <= before.endS + kAtOnceS; }

bool growsFrom(const QString& line, const QString& before) {
  return line.size() > before.size() && line.startsWith(before) && line[before.size()].isSpace();
}

struct Repeat {
  std::size_t lines = 0;  // of a cue's beginning that end the one before
  bool grown = false;     // the last of them has more words now
  bool any() const { return lines > 0; }
};

// The most lines at the beginning of `now` that `before` ends with.
Repeat repeatOf(const std::vector<QString>& before, const std::vector<QString>& now) {
  for (std::size_t count = std::min(before.size(), now.size()); count > 0; --count) {
    const auto from = before.end() - static_cast<std::ptrdiff_t>(count);
    if (!std::equal(from, before.end() - 1, now.begin())) continue;
    const QString& last = now[count - 1];
    if (last == before.back()) return {count, false};
    if (growsFrom(last, before.back())) return {count, true};
  }
  return {};
}

bool endsSentence(const QString& line) { return QStringView(u".!?\u2026\u3002\uFF01\uFF1F").contains(line.back()); }

// True if a cue goes on from the one before, as captions that roll do. What is said again is the same cue once more, and may go on behind
// the end of its sentence: "No." "No." "No. Go away."
bool rollsOn(const SubtitleCue& before, const SubtitleCue& cue) {
  const Repeat repeat = repeatOf(before.lines, cue.lines);
  if (!repeat.any()) return false;
  if (before.lines.size() > repeat.lines || cue.lines.size() > repeat.lines) return true;  // it moved up, or another one came below
  if (repeat.grown) return !endsSentence(before.lines.back());
  return std::min(before.endS - before.startS, cue.endS - cue.startS) < kUnreadS;
}

bool roll(const std::vector<SubtitleCue>& cues) {
  qsizetype following = 0, repeating = 0;
  for (std::size_t i = 1; i < cues.size(); ++i) {
    if (!followsAtOnce(cues[i - 1], cues[i])) continue;
    ++following;
    repeating += rollsOn(cues[i - 1], cues[i]) ? 1 : 0;
  }
  return repeating >= 2 && repeating * kRollingOf >= following;
}

// A text and its shadow are two events of one time.
void leaveOutLayers(std::vector<SubtitleCue>& cues, SubtitleLosses& losses) {
  std::set<std::tuple<double, double, std::vector<QString>>> told;
  const auto repeated = [&](const SubtitleCue& cue) { return !told.emplace(cue.startS, cue.endS, cue.lines).second; };
  losses.repeated += static_cast<qsizetype>(std::erase_if(cues, repeated));
}

}  // namespace

void tellLinesOnce(std::vector<SubtitleCue>& cues, SubtitleLosses& losses) {
  leaveOutLayers(cues, losses);
  if (!roll(cues)) return;
  std::vector<SubtitleCue> told;
  SubtitleCue shown;  // the one before, as it is in the file
  for (SubtitleCue& cue : cues) {
    const Repeat repeat = !told.empty() && followsAtOnce(shown, cue) ? repeatOf(shown.lines, cue.lines) : Repeat();
    shown = cue;
    if (repeat.any()) {
      losses.repeated += static_cast<qsizetype>(repeat.lines);
      if (repeat.grown) told.back().lines.back() = cue.lines[repeat.lines - 1];
      told.back().endS = std::max(told.back().endS, cue.endS);
      cue.lines.erase(cue.lines.begin(), cue.lines.begin() + static_cast<std::ptrdiff_t>(repeat.lines));
    }
    if (cue.lines.empty()) continue;
    if (repeat.any()) told.back().endS = std::max(told.back().startS, cue.startS);
    told.push_back(std::move(cue));
  }
  cues = std::move(told);
}

}  // namespace winnow::app
