#include "app/evaluation/scene_painter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr int kSamples = 4;  // each way in a pixel
constexpr double kInk = 30.0;
constexpr double kWidestLetter = 0.86;  // of the card's width

// Five points, tip up, inner radius 0.4, in the square from -1 to 1 (y down): within the radius of its edge in that direction.
bool inStar(double u, double v) {
  constexpr double kSlice = std::numbers::pi / 5;
  double angle = std::fmod(std::abs(std::atan2(u, -v)), 2 * kSlice);
  if (angle > kSlice) angle = 2 * kSlice - angle;
  // The edge runs from the tip (1, angle 0) to the notch (0.4, angle kSlice).
  const double x = std::hypot(u, v) * std::cos(angle);
  const double y = std::hypot(u, v) * std::sin(angle);
  const double notchX = 0.4 * std::cos(kSlice);
  const double notchY = 0.4 * std::sin(kSlice);
  return (x - 1) * notchY <= y * (notchX - 1);
}

bool covers(const SceneLook& look, double u, double v) {
  if (std::abs(u) > 1 || std::abs(v) > 1) return false;
  switch (look.shape) {
    case SceneShape::kCircle:
      return u * u + v * v <= 1;
    case SceneShape::kSquare:
      return true;
    case SceneShape::kTriangle:
      return std::abs(u) <= (v + 1) / 2;
    case SceneShape::kStar:
      return inStar(u, v);
    case SceneShape::kCross:
      return std::abs(u) <= 1.0 / 3 || std::abs(v) <= 1.0 / 3;
    case SceneShape::kDiamond:
      return std::abs(u) + std::abs(v) <= 1;
    case SceneShape::kCard:
      return std::abs(u) <= look.cardWidth;
    case SceneShape::kNothing:
      return false;
  }
  return false;
}

// Ink of the letter at a point of the card.
double letterInk(const SceneLook& look, const LetterSheet& letters, double u, double v) {
  const double halfTall = look.letterHeight;
  const double halfWide = std::min(halfTall * letters.widthToHeight(look.letter), look.cardWidth * kWidestLetter);
  return letters.ink(look.letter, (u / halfWide + 1) / 2, (v / halfTall + 1) / 2);
}

std::uint8_t channel(double value) { return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

}  // namespace

LetterSheet::LetterSheet(const RgbImage& sheet) : m_height(sheet.height_px) {
  const int count = static_cast<int>(kCardLetters.size());
  const int cell = sheet.width_px / count;
  for (int letter = 0; letter < count; ++letter) {
    const auto at = [&](int x, int y) {
      return sheet
          .rgb[(static_cast<std::size_t>(y) * static_cast<std::size_t>(sheet.width_px) + static_cast<std::size_t>(letter * cell + x)) * 3];
    };
    const auto isBlank = [&](int x) {
      for (int y = 0; y < m_height; ++y) {
        if (at(x, y) >= 32) return false;
      }
      return true;
    };
    int left = 0;
    int right = cell;
    while (left < right && isBlank(left)) ++left;
    while (right > left && isBlank(right - 1)) --right;
    if (left == right) throw Exception(ErrorCode::kDamagedFile, "letters.png", "a letter is missing");
    Glyph glyph;
    glyph.width = right - left;
    for (int y = 0; y < m_height; ++y) {
      for (int x = left; x < right; ++x) glyph.ink.push_back(at(x, y));
    }
    m_glyphs.push_back(std::move(glyph));
  }
}

const LetterSheet::Glyph& LetterSheet::glyphOf(char letter) const {
  const std::size_t index = kCardLetters.find(letter);
  require(index != std::string_view::npos, "the demo world has no such letter");
  return m_glyphs[index];
}

double LetterSheet::widthToHeight(char letter) const { return static_cast<double>(glyphOf(letter).width) / m_height; }

double LetterSheet::ink(char letter, double x, double y) const {
  if (x < 0 || x >= 1 || y < 0 || y >= 1) return 0.0;
  const Glyph& glyph = glyphOf(letter);
  const auto column = static_cast<std::size_t>(x * glyph.width);
  const auto row = static_cast<std::size_t>(y * m_height);
  return glyph.ink[row * static_cast<std::size_t>(glyph.width) + column] / 255.0;
}

RgbImage paintScene(int widthPx, int heightPx, const Ground& ground, const SceneLook& look, const LetterSheet& letters) {
  RgbImage image{widthPx, heightPx, {}};
  image.rgb.reserve(static_cast<std::size_t>(widthPx) * static_cast<std::size_t>(heightPx) * 3);
  const double half = look.half * std::min(widthPx, heightPx);
  const double centerX = half + (widthPx - 2 * half) * look.place[0];
  const double centerY = half + (heightPx - 2 * half) * look.place[1];
  for (int y = 0; y < heightPx; ++y) {
    for (int x = 0; x < widthPx; ++x) {
      double body = 0.0;
      double ink = 0.0;
      const bool near = std::abs(x + 0.5 - centerX) <= half + 1 && std::abs(y + 0.5 - centerY) <= half + 1;
      for (int sample = 0; near && sample < kSamples * kSamples; ++sample) {
        const double u = (x + (sample % kSamples + 0.5) / kSamples - centerX) / half;
        const double v = (y + (sample / kSamples + 0.5) / kSamples - centerY) / half;
        if (!covers(look, u, v)) continue;
        body += 1.0 / (kSamples * kSamples);
        if (look.shape == SceneShape::kCard) ink += letterInk(look, letters, u, v) / (kSamples * kSamples);
      }
      const double along = std::clamp((x / static_cast<double>(widthPx) - 0.5) * std::cos(ground.angle) +
                                          (y / static_cast<double>(heightPx) - 0.5) * std::sin(ground.angle) + 0.5,
                                      0.0, 1.0);
      for (std::size_t c = 0; c < 3; ++c) {
        const double behind = ground.first[c] + (ground.second[c] - ground.first[c]) * along;
        image.rgb.push_back(channel(behind * (1 - body) + look.color[c] * (body - ink) + kInk * ink));
      }
    }
  }
  return image;
}

}  // namespace winnow::app
