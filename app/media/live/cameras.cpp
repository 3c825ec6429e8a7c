#include "app/media/live/cameras.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNameBytes = 200;

std::string firstLine(const fs::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line.substr(0, kMostNameBytes);
}

// The number in "video12".
std::optional<int> numberOf(std::string_view node) {
  constexpr std::string_view kBefore = "video";
  int number = 0;
  if (!node.starts_with(kBefore)) return std::nullopt;
  node.remove_prefix(kBefore.size());
  const auto [end, problem] = std::from_chars(node.data(), node.data() + node.size(), number);
  if (problem != std::errc() || end != node.data() + node.size()) return std::nullopt;
  return number;
}

}  // namespace

std::vector<Camera> cameras(const std::string& list) {
  std::vector<std::pair<int, Camera>> found;
  std::error_code failed;
  for (const fs::directory_entry& node : fs::directory_iterator(list, failed)) {
    const std::string device = node.path().filename().string();
    const std::optional<int> number = numberOf(device);
    if (!number || firstLine(node.path() / "index") != "0") continue;
    const std::string path = "/dev/" + device;
    const std::string name = firstLine(node.path() / "name");
    found.push_back({*number, {path, name.empty() ? path : name}});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Camera> all;
  for (auto& [number, camera] : found) all.push_back(std::move(camera));
  return all;
}

}  // namespace winnow::app
