// The origin of a prompt token: the vocabulary of kept-token maps. Plain data, every layer.
#pragma once

#include <cstdint>

namespace winnow {

enum class Modality : std::int8_t { kSystem = 1, kText = 2, kVisual = 3, kDocument = 4, kSubtitle = 5 };
inline constexpr Modality kLastModality = Modality::kSubtitle;

// Attachments are what the methods compress; questions about them are text.
constexpr bool is_attached(Modality modality) {
  return modality == Modality::kVisual || modality == Modality::kDocument || modality == Modality::kSubtitle;
}

// The origin of a prompt token; index = original token index in the conversation.
struct TokenOrigin {
  Modality modality = Modality::kText;
  std::int32_t media = -1;  // running number of the image, video or document in the conversation
  std::int32_t frame = -1;  // video frame, tile of an image (0 = base), or line of a document or of a video's subtitles
  std::int16_t row = -1;    // patch row and column after pooling; -1 beside patches (newline embedding, class token)
  std::int16_t column = -1;

  friend bool operator==(const TokenOrigin&, const TokenOrigin&) = default;
};

// Text that a model family writes before a frame belongs to the frame, too.
constexpr bool is_of_a_frame(const TokenOrigin& origin) { return origin.modality == Modality::kVisual && origin.frame >= 0; }

}  // namespace winnow
