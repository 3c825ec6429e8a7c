#include "engine/text/quoted_name.h"

#include <algorithm>

#include "engine/text/utf8.h"

namespace winnow {

std::string printable_name(std::string_view name) {
  constexpr std::size_t kMostBytes = 128;
  std::size_t end = std::min(name.size(), kMostBytes);
  while (end > 0 && end < name.size() && utf8::is_continuation(static_cast<unsigned char>(name[end]))) --end;
  std::string shown = utf8::repair(name.substr(0, end));
  std::ranges::replace_if(
      shown, [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; }, '?');
  return end < name.size() ? shown + "..." : shown;
}

std::string quoted_name(std::string_view name) { return std::string("\"").append(printable_name(name)).append("\""); }

}  // namespace winnow
