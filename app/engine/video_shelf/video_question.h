// A question to many videos, in words: how it is put to each of them, and what an answer says.
//
// A question of the form "Which shows X?" is put to each as "Is there X?"; where the answer says so, "When does X appear?" follows. Any
// other is put as it is, and its own times count. Pure; any thread.
#pragma once

#include <string>
#include <vector>

namespace winnow::app {

struct PutQuestion {
  std::string whether;
  std::string when;  // empty: there is none
};
PutQuestion putToEach(const std::string& asked);

// Stored enums are never renumbered.
enum class Verdict : int { kYes = 1, kNo = 2, kUnclear = 3 };
// The verdict of an answer on whether it is there: by its first word, or by "there is" and "there is no".
Verdict verdictOf(const std::string& answer);
// "0:15", "1:02:03", "12 seconds", in seconds, those of the video.
std::vector<double> timesIn(const std::string& answer, double durationS);

}  // namespace winnow::app
