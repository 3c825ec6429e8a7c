// A path as a person types it or pastes it from elsewhere, as the path of a file.
//
// Terminals and file managers paste names in quotes, with back slashes before spaces, as file:// addresses with percent escapes, and with a
// space behind. Used where a path is typed or pasted: options and commands of the terminal program, text pasted or dropped in the window.
// An existing path is taken as it stands, whatever is in its name; only then the other readings are tried, and the first that
// exists counts. Paths are bytes. Threads: plain functions; they look whether a file is there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::app {

// Nothing of it exists: the likeliest reading, so that the error names the file that was meant.
std::string typedPath(std::string_view text);

// "clip.mp4 16": a path, and a whole number behind it that is not a part of the name ("clip 2.mp4", or a file that is called "clip 16").
struct PathAndNumber {
  std::string path;
  std::optional<int> number;
};
PathAndNumber typedPathAndNumber(std::string_view text, int most);

// The paths in a text of nothing but file:// addresses of existing files, one a line; else none.
std::vector<std::string> fileAddresses(std::string_view text);

}  // namespace winnow::app
