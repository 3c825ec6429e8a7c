#include "engine/models/minicpmv/media_tokens.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"

namespace winnow {
namespace {

std::int64_t mark_id(const Tokenizer& tokenizer, const char* token, const std::string& file) {
  return special_token_id(tokenizer, token, "a MiniCPM-V", file);
}

// The cells of a picture or a slice, row by row; row and column: of the first.
struct CellPlace {
  std::int64_t frame = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

void add_cells(MediumTokens& tokens, const CellGrid& grid, const CellPlace& at, std::int64_t id) {
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      tokens.origins.push_back({Modality::kVisual, -1, static_cast<std::int32_t>(at.frame), static_cast<std::int16_t>(at.row + row),
                                static_cast<std::int16_t>(at.column + column)});
      tokens.ids.push_back(id);
    }
  }
}

}  // namespace

MiniCpmVTokens::MiniCpmVTokens(const Tokenizer& tokenizer, Ids ids, const std::string& file)
    : ids_(ids),
      begin_(mark_id(tokenizer, "<image>", file)),
      end_(mark_id(tokenizer, "</image>", file)),
      slice_begin_(mark_id(tokenizer, "<slice>", file)),
      slice_end_(mark_id(tokenizer, "</slice>", file)) {
  mark_id(tokenizer, "<image_id>", file);
  mark_id(tokenizer, "</image_id>", file);
  // Between its neighbours: some tokenizers put something before a text that has none.
  const std::vector<std::int64_t> parted = tokenizer.encode("</slice>\n<slice>", SpecialText::kParse, TextStart::kAfterToken);
  const auto end = std::ranges::find(parted, slice_end_);
  require(end != parted.end() && parted.back() == slice_begin_, "special tokens are found in a text");
  line_.assign(end + 1, parted.end() - 1);
}

MediumTokens MiniCpmVTokens::image(const SlicedPicture& cut) const {
  MediumTokens tokens;
  tokens.add_words(std::array{begin_}, 0);
  add_cells(tokens, cut.whole, {}, ids_.image);
  tokens.add_words(std::array{end_}, 0);
  for (std::int64_t slice = 0; slice < cut.slices(); ++slice) {
    const std::int64_t row = slice / cut.columns;
    const std::int64_t column = slice % cut.columns;
    if (row > 0 && column == 0) tokens.add_words(line_, slice + 1);
    tokens.add_words(std::array{slice_begin_}, slice + 1);
    add_cells(tokens, cut.slice, {slice + 1, row * cut.slice.rows, column * cut.slice.columns}, ids_.image);
    tokens.add_words(std::array{slice_end_}, slice + 1);
  }
  return tokens;
}

MediumTokens MiniCpmVTokens::frames(const SlicedPicture& cut, std::int64_t frames) const {
  const MediumTokens picture = image(cut);
  MediumTokens tokens;
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    for (std::size_t token = 0; token < picture.ids.size(); ++token) {
      TokenOrigin origin = picture.origins[token];
      const bool cell = origin.row >= 0;
      if (cell && origin.frame > 0) origin.row = static_cast<std::int16_t>(origin.row + cut.whole.rows);
      origin.frame = static_cast<std::int32_t>(frame);
      tokens.origins.push_back(origin);
      tokens.ids.push_back(cell ? ids_.video : picture.ids[token]);
    }
  }
  return tokens;
}

std::int64_t MiniCpmVTokens::count(const SlicedPicture& cut) const {
  constexpr std::int64_t kMarks = 2;  // around the whole and around a slice
  return cut.cells() + kMarks * (1 + cut.slices()) + std::max<std::int64_t>(cut.rows - 1, 0) * std::ssize(line_);
}

SliceRules MiniCpmVTokens::of_at_most(std::int64_t tokens, PixelSize source, const SliceRules& rules) const {
  if (tokens == 0) return rules;
  const auto with = [&](std::int64_t slices, std::int64_t joined) {
    SliceRules tried = rules;
    tried.most_slices = slices;
    tried.joined = joined;
    return tried;
  };
  const std::int64_t most = std::max(rules.most_slices, kMostSlicesAsked);
  if (const SliceRules fine = with(most, 2); count(sliced_picture(source, fine)) <= tokens) return fine;
  SliceRules fitting = with(1, rules.most_joined);
  std::int64_t taken = count(sliced_picture(source, fitting));
  for (std::int64_t slices = 2; slices <= most; ++slices) {
    const SliceRules tried = with(slices, rules.most_joined);
    const std::int64_t takes = count(sliced_picture(source, tried));
    if (takes <= tokens && takes >= taken) {
      fitting = tried;
      taken = takes;
    }
  }
  return fitting;
}

}  // namespace winnow
