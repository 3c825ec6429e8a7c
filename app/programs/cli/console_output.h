// The terminal program's two ways to say something: stdout for answers, stderr for everything else.
//
// Used by every command. Answers and names come from models and files that nobody vouches for: what would steer a terminal (escape
// sequences, a faked line's carriage return, text that runs backwards) is shown as an escape. In a pipe or a file stdout stays what it is.
// Errors: print_out throws Exception(kFileUnreadable, kStandardOutput, the system's reason); stderr that cannot be written is silent.
// Nothing is buffered. Main thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::cli {

inline constexpr char kStandardOutput[] = "standard output";  // subject of its errors

[[gnu::format(printf, 1, 2)]] void print_out(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void print_err(const char* format, ...);
void write_out(std::string_view text);
void dimmed_err(std::string_view text);  // as print_err(); on a terminal in its faint colour
// In place of the terminal's last line on stderr; empty: clears it.
void status_line(std::string_view text);

// Control characters and bidirectional overrides as \x1B, \u202E; bytes that are no UTF-8 as \x9B. Line breaks and tabs stay.
std::string printable(std::string_view text);
// Those, too: for what stands within a sentence.
std::string printable_line(std::string_view text);
// With commas between them.
std::string joined_words(const std::vector<std::string>& words);

}  // namespace winnow::cli
