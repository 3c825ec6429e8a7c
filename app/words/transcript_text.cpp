#include "app/words/transcript_text.h"

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "app/words/format_text.h"

namespace winnow::app {
namespace {

// "00:01:02,345"
std::string stampText(double seconds, char point) {
  const auto ms = static_cast<std::int64_t>(std::llround(seconds * 1000.0));
  char text[48];
  std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld%c%03lld", static_cast<long long>(ms / 3'600'000),
                static_cast<long long>(ms / 60'000 % 60), static_cast<long long>(ms / 1000 % 60), point, static_cast<long long>(ms % 1000));
  return text;
}

std::string escapedText(const std::string& text) {
  std::string escaped;
  for (const char character : text) {
    if (character == '&') {
      escaped += "&amp;";
    } else if (character == '<') {
      escaped += "&lt;";
    } else if (character == '>') {
      escaped += "&gt;";
    } else {
      escaped += character;
    }
  }
  return escaped;
}

}  // namespace

std::string subRipText(const std::vector<TimedLine>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += std::to_string(i + 1) + "\n" + stampText(lines[i].start_s, ',') + " --> " + stampText(lines[i].end_s, ',') + "\n" +
            lines[i].text + "\n\n";
  }
  return text;
}

std::string webVttText(const std::vector<TimedLine>& lines) {
  std::string text = "WEBVTT\n\n";
  for (const TimedLine& line : lines)
    text += stampText(line.start_s, '.') + " --> " + stampText(line.end_s, '.') + "\n" + escapedText(line.text) + "\n\n";
  return text;
}

std::string clockedText(const std::vector<TimedLine>& lines) {
  std::string text;
  for (const TimedLine& line : lines) text += "[" + formatClock(line.start_s).toStdString() + "] " + line.text + "\n";
  return text;
}

}  // namespace winnow::app
