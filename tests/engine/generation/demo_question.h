// A question about frames of the demo model's world: a coloured square that moves over grey.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/messages/requests.h"
#include "tests/engine/generation/golden_folder.h"

namespace winnow::testing {

inline Message demo_question(MemoryMediaOpener& opener) {
  std::vector<RgbImage> frames;
  for (int frame = 0; frame < 32; ++frame) {
    RgbImage picture{96, 96, std::vector<std::uint8_t>(96 * 96 * 3, 120)};
    for (int y = 30; y < 60; ++y) {
      for (int x = 2 * frame; x < 2 * frame + 30; ++x) {
        picture.rgb[static_cast<std::size_t>((y * 96 + x) * 3 + (frame < 16 ? 0 : 2))] = 230;
      }
    }
    frames.push_back(std::move(picture));
  }
  opener.add("squares", frames);
  return {Role::kUser, {MediaItem{{"squares", MediaKind::kVideo, {}}}, TextItem{"What things appear, in order?"}}};
}

}  // namespace winnow::testing
