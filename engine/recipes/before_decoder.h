// Which visual tokens of a recipe never reach the decoder, whatever its method does with the cache afterwards.
//
// Part of RecipeSpec, on the command line and in JSON as "vidcom2:0.3". Acts while a segment is put together (compression/token_thinning.h,
// models/vision/equal_pixels.h). Plain data, no torch. Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace winnow {

enum class BeforeMethod : int {
  kNone = 1,        // all tokens are read
  kVidCom2 = 2,     // frames unlike the video get more tokens, tokens unlike both stay (arXiv 2505.14454)
  kEvs = 3,         // tokens unlike the same one of the frame before stay (arXiv 2510.14624)
  kDivPruned = 4,   // tokens as far from each other as possible stay (DivPrune, arXiv 2503.02175); a control
  kRandom = 5,      // a seeded random choice stays; a control
  kPixelPrune = 6,  // before the vision encoder: tokens whose pixels equal their neighbours' leave (arXiv 2604.00886)
};

struct BeforeMethodWord {
  const char* word;
  BeforeMethod value;
};
inline constexpr BeforeMethodWord kBeforeWords[] = {{"none", BeforeMethod::kNone},     {"vidcom2", BeforeMethod::kVidCom2},
                                                    {"evs", BeforeMethod::kEvs},       {"divpruned", BeforeMethod::kDivPruned},
                                                    {"random", BeforeMethod::kRandom}, {"pixelprune", BeforeMethod::kPixelPrune}};

struct BeforeDecoder {
  BeforeMethod method = BeforeMethod::kNone;
  // The share of each medium's patches that stays, in (0, 1]. pixelprune: the largest difference of pixels that count as equal, in [0, 1].
  double amount = 1.0;

  friend bool operator==(const BeforeDecoder&, const BeforeDecoder&) = default;

  bool by_pixels() const { return method == BeforeMethod::kPixelPrune; }
  // False: all tokens are read, to the bit.
  bool thins() const { return method != BeforeMethod::kNone && (by_pixels() || amount < 1.0); }
};

// "none", "evs:0.3", "pixelprune:0".
std::string text_of(const BeforeDecoder& before);
// nullopt: not so written, or an amount out of range. "pixelprune" alone is "pixelprune:0"; the others need a share.
std::optional<BeforeDecoder> before_of(std::string_view text);
// The words for a refusal.
inline constexpr char kBeforeForm[] =
    "none, vidcom2:SHARE, evs:SHARE, divpruned:SHARE, random:SHARE (above 0 and at most 1) or pixelprune:0";

// How many of a medium's patches stay.
struct PatchCount {
  std::int64_t patches = 0;
  std::int64_t frames = 1;  // of equally many patches; 1: an image
  std::int64_t pinned = 0;  // patches of pinned frames, which always stay
};
struct FewerPatches {
  std::int64_t patches = 0;
  bool exact = true;  // false: what is in the pictures decides; the nearest that is known beforehand
};
FewerPatches patches_that_stay(const BeforeDecoder& before, const PatchCount& count);

}  // namespace winnow
