#include "app/media/files/scanned_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace winnow::app {
namespace {

constexpr std::string_view kMarkBegin = "[page ";
constexpr std::string_view kMarkEnd = ", read by Tesseract]";

// 0: the line is no mark.
int pageNamed(std::string_view line) {
  if (!line.starts_with(kMarkBegin) || !line.ends_with(kMarkEnd)) return 0;
  line = line.substr(kMarkBegin.size(), line.size() - kMarkBegin.size() - kMarkEnd.size());
  int page = 0;
  const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), page);
  return failed == std::errc() && end == line.data() + line.size() ? page : 0;
}

}  // namespace

std::string scannedMark(int page) { return std::string(kMarkBegin) + std::to_string(page) + std::string(kMarkEnd) + "\n"; }

void notePages(DocumentText& text) {
  int last = 0;
  std::int32_t number = 0;
  for (std::string_view rest = text.utf8; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const int page = pageNamed(line);
    // Words that look like a mark are on some page; marks follow each other.
    if (page == 0 || (last == 0 ? number > 0 : page != last + 1)) continue;
    text.pageLines.push_back(number);
    last = page;
  }
  text.pages = std::ssize(text.pageLines);
}

}  // namespace winnow::app
