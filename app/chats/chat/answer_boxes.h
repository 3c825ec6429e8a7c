// The boxes and points that a model wrote into its answer, in pixels of the picture or frame that they are of.
//
// Used by ui, chat_export and the terminal program. Read are objects of JSON with `bbox_2d`, `bbox`, `box_2d` (which names y first) or
// `point_2d`, and numbers between the marks of Qwen2-VL, InternVL, MiniCPM-V and GLM-V. Their scale is that of the model's family
// (engine/models/known_family.h), except that fractions of 1 are shares of the picture. Answers are hostile: what is half written, lies
// beyond the picture, has no area or does not say which of several pictures or what time of a video it means, is no box. No recursion, and
// time linear in the answer. Threads: plain functions.
#pragma once

#include <QString>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "app/chats/chat/conversation.h"

namespace winnow::app {

// A medium that boxes may be of. A document is none, but is counted.
struct BoxMedium {
  MediaKind kind = MediaKind::kImage;
  int widthPx = 0;  // upright
  int heightPx = 0;
  int readWidthPx = 0;  // MediaSampled::read_width_px
  int readHeightPx = 0;
  double durationS = 0.0;
};

struct AnswerBox {
  enum class Kind : int { kBox = 1, kPoint = 2 };
  Kind kind = Kind::kBox;
  QString label;        // one line; may be empty
  int medium = 0;       // among those that were given
  double timeS = -1.0;  // of a video's frame
  // Pixels from the upper left corner; of a point both corners are the same.
  double left = 0.0;
  double top = 0.0;
  double right = 0.0;
  double bottom = 0.0;
};

// In the order of the answer, which is UTF-8. family: ModelInfo::family. media: of the question, or of the last one that had any.
std::vector<AnswerBox> boxesIn(std::string_view answer, const QString& family, std::span<const BoxMedium> media);

// The form in `ask --json` and in exported chats: pixels to a tenth, `time_s` null where it is no frame.
nlohmann::ordered_json boxToJson(const AnswerBox& box);

// A picture or frame of the answer's thread, with what the answer points at in it.
struct PointedPicture {
  MessageId message = 0;
  int attachment = 0;
  double timeS = -1.0;  // of a video
  std::vector<AnswerBox> boxes;
};

// Empty while the answer is being written.
std::vector<PointedPicture> picturesPointedAt(const StoredMessage& answer, const QList<StoredMessage>& messages);

}  // namespace winnow::app
