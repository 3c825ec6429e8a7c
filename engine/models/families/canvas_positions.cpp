#include "engine/models/families/canvas_positions.h"

#include <algorithm>
#include <array>
#include <vector>

namespace winnow {
namespace {

using CanvasAxes = std::array<std::int64_t, 3>;
using Placed = std::vector<CanvasAxes>;

constexpr CanvasAxes everywhere(std::int64_t position) { return {position, position, position}; }

at::Tensor tensor_of(const Placed& placed) {
  at::Tensor positions = at::empty({3, std::ssize(placed)}, at::kLong);
  auto* const values = positions.data_ptr<std::int64_t>();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t token = 0; token < placed.size(); ++token) values[axis * placed.size() + token] = placed[token][axis];
  }
  return positions;
}

// Cells that no mark parts: the whole, or a slice.
struct Crop {
  std::size_t first = 0;  // among the picture's tokens
  std::size_t end = 0;
  std::int32_t frame = 0;
  std::int64_t top = 0;  // of its cells, as their origins have them
  std::int64_t left = 0;
  std::int64_t bottom = 0;
  std::int64_t right = 0;
};

std::vector<Crop> crops_of(std::span<const TokenOrigin> picture) {
  std::vector<Crop> crops;
  for (std::size_t token = 0; token < picture.size(); ++token) {
    const TokenOrigin& cell = picture[token];
    if (cell.row < 0) continue;
    if (crops.empty() || crops.back().end != token || crops.back().frame != cell.frame)
      crops.push_back({token, token, cell.frame, cell.row, cell.column, cell.row, cell.column});
    Crop& crop = crops.back();
    crop.end = token + 1;
    crop.top = std::min<std::int64_t>(crop.top, cell.row);
    crop.left = std::min<std::int64_t>(crop.left, cell.column);
    crop.bottom = std::max<std::int64_t>(crop.bottom, cell.row);
    crop.right = std::max<std::int64_t>(crop.right, cell.column);
  }
  return crops;
}

// `count` rows or columns over `length` of the canvas: linspace() in fp32, halves to even.
std::vector<std::int64_t> stretched(std::int64_t count, std::int64_t length) {
  const at::Tensor places = at::linspace(0, length - 1, count, at::kFloat).round().to(at::kLong);
  return {places.const_data_ptr<std::int64_t>(), places.const_data_ptr<std::int64_t>() + count};
}

class Canvas {
 public:
  // For one picture: an image's slices have numbers of their own, in a frame their rows are counted below those of the whole.
  explicit Canvas(std::span<const TokenOrigin> picture) : picture_(picture), crops_(crops_of(picture)) {
    has_whole_ = !crops_.empty() && crops_.front().top == 0 && crops_.front().left == 0;
    if (has_whole_ && crops_.size() > 1 && crops_[1].frame == crops_[0].frame) above_slices_ = crops_[0].bottom + 1;
    for (const Crop& crop : std::span(crops_).subspan(has_whole_ && crops_.size() > 1 ? 1 : 0)) {
      rows_ = std::max(rows_, crop.bottom + 1 - above_slices_);
      columns_ = std::max(columns_, crop.right + 1);
    }
  }

  // Positions that it takes.
  std::int64_t length() const { return std::max(rows_, columns_) + 1; }

  void place(std::int64_t corner, Placed& placed) const {
    const std::size_t before = placed.size();
    placed.resize(before + picture_.size(), everywhere(corner));
    const std::span<CanvasAxes> here = std::span(placed).subspan(before);
    const auto at = [&](std::size_t token, std::int64_t down, std::int64_t right) {
      here[token] = {corner, corner + down, corner + right};
    };
    const std::int64_t outside = corner > 0 ? -1 : 0;
    for (std::size_t token = 0; token < (crops_.empty() ? picture_.size() : crops_.front().first); ++token) at(token, outside, outside);
    for (std::size_t k = 0; k < crops_.size(); ++k) {
      const Crop& crop = crops_[k];
      const bool last = k + 1 == crops_.size();
      const std::size_t next = last ? picture_.size() : crops_[k + 1].first;
      if (k == 0 && has_whole_) {
        place_whole(crop, at);
        if (crop.end < next) at(crop.end, rows_, columns_);
      } else {
        for (std::size_t token = crop.first; token < crop.end; ++token)
          at(token, picture_[token].row - above_slices_, picture_[token].column);
        if (crop.end < next) at(crop.end, crop.bottom - above_slices_, crop.right);
      }
      if (last) continue;
      for (std::size_t line = crop.end + 1; line + 1 < next; ++line) at(line, crop.bottom - above_slices_, columns_);
      const Crop& slice = crops_[k + 1];
      if (crop.end + 1 < next) at(next - 1, slice.top - above_slices_, slice.left);
    }
  }

 private:
  void place_whole(const Crop& whole, const auto& at) const {
    const std::vector<std::int64_t> down = stretched(whole.bottom + 1, rows_);
    const std::vector<std::int64_t> right = stretched(whole.right + 1, columns_);
    for (std::size_t token = whole.first; token < whole.end; ++token)
      at(token, down[static_cast<std::size_t>(picture_[token].row)], right[static_cast<std::size_t>(picture_[token].column)]);
  }

  std::span<const TokenOrigin> picture_;
  std::vector<Crop> crops_;
  bool has_whole_ = false;
  std::int64_t above_slices_ = 0;  // rows of the whole that those of the slices are counted from
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
};

// The end of a picture's tokens.
template <typename Same>
std::size_t picture_end(std::span<const TokenOrigin> origins, std::size_t first, const Same& same) {
  std::size_t end = first;
  while (end < origins.size() && origins[end].modality == Modality::kVisual && same(origins[first], origins[end])) ++end;
  return end;
}

}  // namespace

TokenPositions canvas_positions(const TokensToPlace& tokens, std::int64_t line_id) {
  const auto frames_apart = [&](std::int32_t medium) {
    return medium >= 0 && static_cast<std::size_t>(medium) < tokens.frame_s.size() &&
           tokens.frame_s[static_cast<std::size_t>(medium)] > 0.0;
  };
  const auto same = [&](const TokenOrigin& a, const TokenOrigin& b) {
    return a.media == b.media && (a.frame == b.frame || !frames_apart(a.media));
  };
  Placed placed;
  placed.reserve(tokens.origins.size());
  std::int64_t next = tokens.next_position;
  bool behind_picture = tokens.beside.has_value();
  std::int64_t corner = tokens.beside.value_or(0);  // of the picture right before
  for (std::size_t token = 0; token < tokens.origins.size();) {
    if (tokens.origins[token].modality == Modality::kVisual) {
      const std::size_t end = picture_end(tokens.origins, token, same);
      const Canvas canvas(tokens.origins.subspan(token, end - token));
      canvas.place(next, placed);
      behind_picture = true;
      corner = next;
      next += canvas.length();
      token = end;
      continue;
    }
    behind_picture = behind_picture && token < tokens.ids.size() && tokens.ids[token] == line_id;
    placed.push_back(everywhere(behind_picture ? corner : next));
    if (!behind_picture) ++next;
    ++token;
  }
  return {tensor_of(placed), next};
}

TokenPositions canvas_stream_positions(std::span<const TokenOrigin> origins, const StreamPositions& stream) {
  const auto same = [](const TokenOrigin& a, const TokenOrigin& b) { return a.frame == b.frame; };
  Placed placed;
  std::int64_t next = stream.base_position;
  for (std::size_t token = 0; token < origins.size();) {
    const std::size_t end = std::max(picture_end(origins, token, same), token + 1);
    const Canvas canvas(origins.subspan(token, end - token));
    const std::int64_t corner = stream.base_position + origins[token].frame / stream.frames_per_position * canvas.length();
    canvas.place(corner, placed);
    next = corner + canvas.length();
    token = end;
  }
  return {tensor_of(placed), next};
}

}  // namespace winnow
