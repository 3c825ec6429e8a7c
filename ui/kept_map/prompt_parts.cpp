#include "ui/kept_map/prompt_parts.h"

#include <algorithm>
#include <map>

namespace winnow::ui {
namespace {

bool isImage(int media, const std::vector<MediaKind>& kinds) {
  return media >= 0 && media < static_cast<int>(kinds.size()) && kinds[static_cast<std::size_t>(media)] == MediaKind::kImage;
}

bool isLine(const TokenOrigin& origin) { return origin.modality == Modality::kDocument || origin.modality == Modality::kSubtitle; }

PartKind kindOf(const TokenOrigin& origin, const std::vector<MediaKind>& kinds) {
  if (origin.modality == Modality::kSystem) return PartKind::kSystem;
  if (origin.modality == Modality::kText) return PartKind::kText;
  if (isLine(origin)) return PartKind::kLines;
  if (!isImage(origin.media, kinds)) return PartKind::kFrame;
  return origin.frame > 0 ? PartKind::kTiles : PartKind::kWhole;
}

constexpr std::size_t kMostStretches = 48;  // of a document, or of all that is said in a video
constexpr std::size_t kLeastTokens = 48;    // of a stretch

// How many tokens a stretch of each medium's lines has at least.
std::map<int, std::size_t> stretches(const std::vector<TokenOrigin>& origins) {
  std::map<int, std::size_t> tokens;
  for (const TokenOrigin& origin : origins) {
    if (isLine(origin)) ++tokens[origin.media];
  }
  for (auto& [media, count] : tokens) count = std::max(kLeastTokens, (count + kMostStretches - 1) / kMostStretches);
  return tokens;
}

// Stretches end with a line, unless lines are long.
bool isFull(const PromptPart& part, const TokenOrigin& next, std::size_t least) {
  return part.tokens.size() >= 2 * least || (part.tokens.size() >= least && next.frame != part.lastLine);
}

// The part that a token without a frame belongs to, of a video whose last frame lines may stand behind; end: there is none.
auto frameBefore(std::vector<PromptPart>& parts, const TokenOrigin& origin) {
  const auto last = std::find_if(parts.rbegin(), parts.rend(), [](const PromptPart& part) { return part.kind != PartKind::kLines; });
  const bool found = last != parts.rend() && last->kind == PartKind::kFrame && last->media == origin.media;
  return found ? std::prev(last.base()) : parts.end();
}

// True if a token goes on with the part that the token before it belongs to. A video's newline belongs to its last frame.
bool continues(const PromptPart& part, PartKind kind, const TokenOrigin& origin) {
  if (part.kind != kind) return false;
  if (!part.attached()) return true;
  if (part.media != origin.media) return false;
  return kind != PartKind::kFrame || origin.frame < 0 || origin.frame == part.frame;
}

}  // namespace

std::vector<PromptPart> promptParts(const std::vector<TokenOrigin>& origins, const std::vector<MediaKind>& kinds) {
  std::vector<PromptPart> parts;
  const std::map<int, std::size_t> least = stretches(origins);
  int texts = 0;
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const TokenOrigin& origin = origins[i];
    const PartKind kind = kindOf(origin, kinds);
    const bool lines = kind == PartKind::kLines;
    if (kind == PartKind::kFrame && origin.frame < 0) {
      if (const auto frame = frameBefore(parts, origin); frame != parts.end()) {
        frame->tokens.push_back(static_cast<int>(i));
        frame->lineEnds.push_back(static_cast<int>(i));
        continue;
      }
    }
    if (parts.empty() || !continues(parts.back(), kind, origin) || (lines && isFull(parts.back(), origin, least.at(origin.media)))) {
      PromptPart part;
      part.kind = kind;
      part.media = is_attached(origin.modality) ? origin.media : -1;
      part.frame = kind == PartKind::kFrame || lines ? origin.frame : -1;
      part.number = kind == PartKind::kText ? ++texts : 0;
      parts.push_back(std::move(part));
    }
    PromptPart& part = parts.back();
    part.tokens.push_back(static_cast<int>(i));
    if (lines) part.lastLine = origin.frame;
    if (!part.visual()) continue;
    if (origin.row < 0 || origin.column < 0) {
      part.lineEnds.push_back(static_cast<int>(i));
      continue;
    }
    part.rows = std::max(part.rows, origin.row + 1);
    part.columns = std::max(part.columns, origin.column + 1);
  }
  // Frames of one video have one grid, also where a method left some of their last patches out.
  for (PromptPart& part : parts) {
    if (part.kind != PartKind::kFrame) continue;
    for (const PromptPart& other : parts) {
      if (other.kind != PartKind::kFrame || other.media != part.media) continue;
      part.rows = std::max(part.rows, other.rows);
      part.columns = std::max(part.columns, other.columns);
    }
  }
  for (PromptPart& part : parts) {
    if (!part.visual()) continue;
    part.cells.assign(static_cast<std::size_t>(part.rows) * static_cast<std::size_t>(part.columns), PromptPart::kNoToken);
    for (const int token : part.tokens) {
      const TokenOrigin& origin = origins[static_cast<std::size_t>(token)];
      if (origin.row < 0 || origin.column < 0) continue;
      part.cells[static_cast<std::size_t>(origin.row) * static_cast<std::size_t>(part.columns) + static_cast<std::size_t>(origin.column)] =
          token;
    }
  }
  return parts;
}

}  // namespace winnow::ui
