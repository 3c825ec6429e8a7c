// Draws frames of the demo world: a coloured shape or a letter card on a dark ground, as resources/demo/make/world.py draws them.
//
// Used by needle_video.h. Pixels only; no fonts, no window system: letters come from a sheet of glyphs (resources/demo/evaluation/
// letters.png). Positions and sizes are shares, so that any frame size shows the same. Pure; any thread.
// Errors: Exception(kDamagedFile) for a sheet that holds no glyphs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/media/frame_source.h"

namespace winnow::app {

inline constexpr std::string_view kCardLetters = "ABCDEFGHJKLMNPRTUVXYZ";  // the world's, in the order of the sheet

enum class SceneShape : int { kCircle = 1, kSquare = 2, kTriangle = 3, kStar = 4, kCross = 5, kDiamond = 6, kCard = 7, kNothing = 8 };
using Rgb = std::array<double, 3>;  // 0 to 255

struct SceneLook {
  SceneShape shape = SceneShape::kNothing;
  char letter = 'K';  // of a card
  Rgb color = {245, 245, 245};
  double half = 0.2;                         // half extent as a share of the frame's shorter side
  std::array<double, 2> place = {0.5, 0.5};  // of the free room, across and down
  double cardWidth = 0.76;                   // of the card's height
  double letterHeight = 0.7;
};

struct Ground {
  Rgb first = {20, 20, 40};
  Rgb second = {20, 20, 40};
  double angle = 0.0;  // of the gradient, radians
};

// The glyphs of kCardLetters, cut from a sheet of equal cells in a row, light on dark.
class LetterSheet {
 public:
  explicit LetterSheet(const RgbImage& sheet);
  // How much ink covers a point of the letter's own box, 0 to 1; x and y in [0, 1].
  double ink(char letter, double x, double y) const;
  double widthToHeight(char letter) const;

 private:
  struct Glyph {
    int width = 0;
    std::vector<std::uint8_t> ink;  // [height, width]
  };
  const Glyph& glyphOf(char letter) const;
  int m_height = 0;
  std::vector<Glyph> m_glyphs;
};

RgbImage paintScene(int widthPx, int heightPx, const Ground& ground, const SceneLook& look, const LetterSheet& letters);

}  // namespace winnow::app
