// How many tokens a picture, or a frame of a video, may take: a word, for which every model has a number of its own, or the number.
//
// Part of a MediaRequest, and so of what a medium is: under another detail it is another medium. What the words stand for is
// engine/models/detail_choices.h. A setting alone: what a medium really takes is MediaSampled::visual_tokens. Plain data, every layer.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace winnow {

// Sent and kept: never renumbered.
enum class DetailLevel : int { kAuto = 1, kLow = 2, kMedium = 3, kHigh = 4, kTokens = 5 };  // kAuto: as the model's files say

struct MediaDetail {
  static constexpr std::int64_t kMostTokens = 16'384;

  DetailLevel level = DetailLevel::kAuto;
  std::int64_t tokens = 0;  // of kTokens: at most so many, 1 to kMostTokens; otherwise 0

  bool valid() const { return level == DetailLevel::kTokens ? tokens >= 1 && tokens <= kMostTokens : tokens == 0; }
  friend bool operator==(const MediaDetail&, const MediaDetail&) = default;
};

// The setting of a chat, a command or a server, of which every medium takes its part.
struct MediaDetails {
  MediaDetail pictures{};
  MediaDetail frames{};  // of videos

  friend bool operator==(const MediaDetails&, const MediaDetails&) = default;
};

// "auto", "low", "medium", "high" or a number of tokens, as command lines and requests give it and chats store it; nullopt for other words.
inline std::optional<MediaDetail> detail_of(std::string_view word) {
  if (word == "auto") return MediaDetail{};
  if (word == "low") return MediaDetail{DetailLevel::kLow};
  if (word == "medium") return MediaDetail{DetailLevel::kMedium};
  if (word == "high") return MediaDetail{DetailLevel::kHigh};
  MediaDetail detail{DetailLevel::kTokens};
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), detail.tokens);
  if (problem != std::errc() || end != word.data() + word.size() || !detail.valid()) return std::nullopt;
  return detail;
}

inline std::string detail_word(const MediaDetail& detail) {
  switch (detail.level) {
    case DetailLevel::kLow: return "low";
    case DetailLevel::kMedium: return "medium";
    case DetailLevel::kHigh: return "high";
    case DetailLevel::kTokens: return std::to_string(detail.tokens);
    case DetailLevel::kAuto: break;
  }
  return "auto";
}

}  // namespace winnow
