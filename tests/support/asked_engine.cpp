#include "tests/support/asked_engine.h"

#include <cstdlib>
#include <fstream>

#ifdef WINNOW_TEST_WORKER
#include "app/engine/process/process_engine.h"
#endif

namespace winnow::testing {
namespace {

// A Windows bitmap: rows from below, padded to four bytes, blue first.
void write_bitmap(const RgbImage& picture, const std::string& path) {
  constexpr int kHeaderBytes = 54;
  const int row_bytes = (picture.width_px * 3 + 3) / 4 * 4;
  std::string bytes = "BM";
  const auto append = [&](int value, int count) {
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i));
  };
  append(kHeaderBytes + row_bytes * picture.height_px, 4);
  append(0, 4);
  append(kHeaderBytes, 4);
  append(kHeaderBytes - 14, 4);
  append(picture.width_px, 4);
  append(picture.height_px, 4);
  append(1, 2);   // plane
  append(24, 2);  // bits a pixel
  append(0, 24);  // not compressed, no resolution, no palette
  for (int y = picture.height_px - 1; y >= 0; --y) {
    for (int x = 0; x < picture.width_px; ++x) {
      const auto* const rgb = picture.rgb.data() + static_cast<std::ptrdiff_t>(y * picture.width_px + x) * 3;
      for (int colour = 2; colour >= 0; --colour) bytes += static_cast<char>(rgb[colour]);
    }
    bytes.append(static_cast<std::size_t>(row_bytes - picture.width_px * 3), '\0');
  }
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

bool engine_is_apart() { return std::getenv("WINNOW_TEST_ENGINE") != nullptr; }

std::unique_ptr<Engine> make_asked_engine(MediaOpener* opener) {
#ifdef WINNOW_TEST_WORKER
  if (engine_is_apart()) return std::make_unique<app::ProcessEngine>(app::EngineProcessSettings{std::getenv("WINNOW_TEST_ENGINE")});
#endif
  return make_engine(opener);
}

bool put_into_files(std::vector<Message>& messages, MediaOpener& opener, const std::string& folder) {
  int number = 0;
  for (Message& message : messages) {
    for (Item& item : message.items) {
      auto* const media = std::get_if<MediaItem>(&item);
      if (media == nullptr) continue;
      if (media->media.kind != MediaKind::kImage) return false;
      const std::string path = folder + "/" + std::to_string(number++) + ".bmp";
      write_bitmap(opener.open(media->media, {})->read(0, 1, {}).front().image, path);
      media->media.path = path;
    }
  }
  return true;
}

}  // namespace winnow::testing
