// What a file is by its first bytes, among the formats that are met where a model or media are expected: one table for all who refuse.
//
// Used by engine/weights (what was chosen or downloaded as a model) and app/media (what was attached); they add what to do instead. Names
// and extensions do not count. Nothing is ever parsed. No torch. Threads: plain functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "engine/base/error.h"

namespace winnow {

enum class FormatKind : int {
  kPointer = 1,  // stands for a file that was not fetched (Git LFS)
  kPage,         // a web page or a server's answer in place of a file
  kArchive,      // to be unpacked
  kPickle,       // PyTorch's weights
  kWeights,      // of another program
  kOldGguf,      // what GGUF was before it had that name
  kGguf,
  kMedia,     // pictures, videos, sound
  kDocument,  // that is no plain text
  kProgram,
};

struct KnownFormat {
  FormatKind kind;
  const char* name;  // with its article: "a ZIP archive"
};

// So many first bytes tell all of them.
inline constexpr std::size_t kFormatHeadBytes = 512;

// head: the first bytes of a file, all of it where it is shorter. Null: none of these.
const KnownFormat* known_format(std::span<const std::byte> head);

// Why this is not the file that it is named as, and what to do: a pointer, a page, nothing at all, or nothing but zeros, which is how a
// download begins that was given its room beforehand. kNotFetched; nullopt: nothing says so.
std::optional<Error> unfetched(std::span<const std::byte> head, const std::string& path);

}  // namespace winnow
