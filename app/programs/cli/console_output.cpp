#include "app/programs/cli/console_output.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <system_error>

#include "engine/base/error.h"

namespace winnow::cli {
namespace {

std::string formatted(const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  std::string text(static_cast<std::size_t>(std::max(0, std::vsnprintf(nullptr, 0, format, arguments))), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

struct Character {
  char32_t code_point = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  const std::size_t bytes = lead < 0x80                   ? 1
                            : lead >= 0xC2 && lead < 0xE0 ? 2
                            : lead >= 0xE0 && lead < 0xF0 ? 3
                            : lead >= 0xF0 && lead < 0xF5 ? 4
                                                          : 0;
  if (bytes == 0 || text.size() - at < bytes) return {};
  char32_t code_point = bytes == 1 ? lead : lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code_point = code_point << 6 | (byte(i) & 0x3F);
  }
  return {code_point, bytes};
}

bool steers_terminal(char32_t c) {
  const bool bidirectional = c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || bidirectional;
}

std::string shown(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Character character = character_at(text, i);
    const std::size_t bytes = std::max<std::size_t>(character.bytes, 1);
    const bool plain = character.bytes > 0 && (!steers_terminal(character.code_point) || (bytes == 1 && kept.find(text[i]) != kept.npos));
    if (plain) {
      out.append(text, i, bytes);
    } else {
      char escape[16];
      const unsigned value = character.bytes > 0 ? static_cast<unsigned>(character.code_point) : static_cast<unsigned char>(text[i]);
      std::snprintf(escape, sizeof escape, value < 0x100 ? "\\x%02X" : "\\u%04X", value);
      out += escape;
    }
    i += bytes;
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return shown(text, "\n\t"); }
std::string printable_line(std::string_view text) { return shown(text, ""); }

void write_out(std::string_view text) {
  const std::string safe = isatty(STDOUT_FILENO) == 1 ? printable(text) : std::string();
  std::string_view rest = safe.empty() ? text : safe;
  while (!rest.empty()) {
    const ssize_t done = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (done >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(done));
    } else if (errno == EAGAIN) {
      struct pollfd ready = {STDOUT_FILENO, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      throw Exception(ErrorCode::kFileUnreadable, kStandardOutput, std::generic_category().message(errno));
    }
  }
}

void print_out(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const std::string text = formatted(format, arguments);
  va_end(arguments);
  write_out(text);
}

void status_line(std::string_view text) { std::fprintf(stderr, "\r\033[K%s", printable_line(text).c_str()); }

void dimmed_err(std::string_view text) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  std::fprintf(stderr, "%s%s%s", terminal ? "\033[2m" : "", printable(text).c_str(), terminal ? "\033[0m" : "");
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void print_err(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const std::string text = formatted(format, arguments);
  va_end(arguments);
  const std::string safe = printable(text);
  std::fwrite(safe.data(), 1, safe.size(), stderr);
}

}  // namespace winnow::cli
