#include "app/evaluation/progress_text.h"

#include <array>
#include <cstdio>

namespace winnow::app {
namespace {

std::string durationText(double seconds) {
  std::array<char, 48> text{};
  if (seconds < 90) {
    std::snprintf(text.data(), text.size(), "%.0f s", seconds);
  } else if (seconds < 90 * 60) {
    std::snprintf(text.data(), text.size(), "%.0f min", seconds / 60);
  } else {
    std::snprintf(text.data(), text.size(), "%.1f h", seconds / 3600);
  }
  return text.data();
}

}  // namespace

std::string progressText(int done, int asked, int planned, double elapsedS) {
  std::string text = std::to_string(done) + " of " + std::to_string(planned) + " answers";
  if (asked <= 0 || elapsedS <= 0.0) return text;
  const double rate = asked / elapsedS;
  std::array<char, 48> rateText{};
  std::snprintf(rateText.data(), rateText.size(), rate < 0.1 ? ", %.3f a second" : ", %.1f a second", rate);
  text += rateText.data();
  if (done < planned) text += ", about " + durationText((planned - done) / rate) + " left";
  return text;
}

}  // namespace winnow::app
