// The prompt as a person sees it: its texts, the frames of its videos, the views of its images, each with the patch grid of the model,
// what is said between them, and its documents in stretches of lines.
//
// Made from the origins of a KeptMap, used by kept_map_model.h. Frames and patches are told by TokenOrigin alone, so that they lie where
// the model's own patches lay. Plain functions, any thread.
#pragma once

#include <vector>

#include "engine/base/token_origin.h"
#include "engine/media/frame_source.h"

namespace winnow::ui {

enum class PartKind : int {
  kSystem = 1,
  kText = 2,   // of questions, of earlier answers and of the template around them
  kFrame = 3,  // one frame of a video
  kWhole = 4,  // an image seen whole, in one tile
  kTiles = 5,  // an image's tiles stitched to one grid
  kLines = 6,  // some lines of a document, at most about a fiftieth of it; lines of subtitles between two frames of a video
};

struct PromptPart {
  PartKind kind = PartKind::kText;
  int media = -1;     // running number of the image, video or document in the conversation
  int frame = -1;     // of a video; of lines the first one, from 0
  int lastLine = -1;  // of lines
  int number = 0;     // of a text among the texts, from 1
  int rows = 0;       // of the patch grid
  int columns = 0;
  std::vector<int> tokens;  // original indices, ascending
  std::vector<int> cells;   // [rows * columns], row by row: the token there; kNoToken where a method pruned it before the decoder
  // Tokens without a patch: newline embeddings, which end a row of tiles, an image or a video; markers of tiles and times of frames.
  std::vector<int> lineEnds;

  static constexpr int kNoToken = -1;
  bool visual() const { return kind == PartKind::kFrame || kind == PartKind::kWhole || kind == PartKind::kTiles; }
  bool attached() const { return visual() || kind == PartKind::kLines; }
};

// In the order of the prompt. kinds: of the media by their running number; those that it does not name count as videos.
std::vector<PromptPart> promptParts(const std::vector<TokenOrigin>& origins, const std::vector<MediaKind>& kinds);

}  // namespace winnow::ui
