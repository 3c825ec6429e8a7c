#include "app/media/files/show_offsets.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "app/media/files/big_endian.h"

namespace winnow::app {
namespace {

constexpr int kMostTables = 10'000;
constexpr std::int64_t kTableHeadBytes = 8;

// The contents of a box.
struct Box {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

std::uint32_t numberAt(const MediaFile& file, std::int64_t at) {
  const auto bytes = file.readRange(at, 4);
  return bytes.size() < 4 ? 0 : static_cast<std::uint32_t>(bigEndian(bytes));
}

// The first box of this name for which `fits` holds.
std::optional<Box> boxIn(const MediaFile& file, Box outer, std::string_view name, const std::function<bool(Box)>& fits) {
  std::int64_t at = outer.from;
  for (int box = 0; box < kMostTables && at + kTableHeadBytes <= outer.to; ++box) {
    const auto head = file.readRange(at, 2 * kTableHeadBytes);
    const std::span<const std::uint8_t> bytes(head);
    if (std::ssize(bytes) < kTableHeadBytes) break;
    std::uint64_t size = bigEndian(bytes.first(4));
    const std::int64_t own = size == 1 ? 2 * kTableHeadBytes : kTableHeadBytes;
    if (std::ssize(bytes) < own) break;
    if (size == 1) size = bigEndian(bytes.subspan(8, 8));
    const auto room = static_cast<std::uint64_t>(outer.to - at);
    if (size == 0) size = room;
    if (size < static_cast<std::uint64_t>(own) || size > room) break;
    const Box inner{at + own, at + static_cast<std::int64_t>(size)};
    const std::string_view type(reinterpret_cast<const char*>(head.data()) + 4, 4);
    if (type == name && fits(inner)) return inner;
    at = inner.to;
  }
  return std::nullopt;
}

std::optional<Box> boxIn(const MediaFile& file, Box outer, std::initializer_list<std::string_view> path) {
  std::optional<Box> box = outer;
  for (const std::string_view name : path) {
    if (box) box = boxIn(file, *box, name, [](Box) { return true; });
  }
  return box;
}

bool isTrack(const MediaFile& file, Box track, int id) {
  constexpr std::int64_t kIdAt[] = {12, 20};  // behind two times, of four or of eight bytes
  const std::optional<Box> head = boxIn(file, track, {"tkhd"});
  return head && numberAt(file, head->from + kIdAt[numberAt(file, head->from) >> 24 == 1 ? 1 : 0]) == static_cast<std::uint32_t>(id);
}

}  // namespace

std::vector<std::int32_t> showOffsets(const MediaFile& file, int trackId, std::size_t pictures) {
  constexpr std::int64_t kRunBytes = 8;
  const std::optional<Box> movie = boxIn(file, {0, file.sizeBytes()}, {"moov"});
  const std::optional<Box> track = movie ? boxIn(file, *movie, "trak", [&](Box box) { return isTrack(file, box, trackId); }) : std::nullopt;
  const std::optional<Box> tables = track ? boxIn(file, *track, {"mdia", "minf", "stbl"}) : std::nullopt;
  if (!tables) return {};
  const std::optional<Box> table = boxIn(file, *tables, {"ctts"});
  if (!table) return std::vector<std::int32_t>(pictures, 0);
  const std::int64_t runs = std::min<std::int64_t>(numberAt(file, table->from + 4), (table->to - table->from - 8) / kRunBytes);
  const auto bytes = file.readRange(table->from + 8, std::max<std::int64_t>(0, runs) * kRunBytes);
  std::vector<std::int32_t> offsets;
  for (auto run = std::span<const std::uint8_t>(bytes); std::ssize(run) >= kRunBytes; run = run.subspan(kRunBytes)) {
    const std::uint64_t count = bigEndian(run.first(4));
    if (count > pictures - offsets.size()) return {};
    offsets.insert(offsets.end(), count, static_cast<std::int32_t>(bigEndian(run.subspan(4, 4))));
  }
  if (offsets.size() != pictures) offsets.clear();
  return offsets;
}

}  // namespace winnow::app
