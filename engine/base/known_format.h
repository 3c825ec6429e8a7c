// Recognises a file by its first bytes, among formats that users mistake for models or media: one table for all who refuse them.
//
// Used by engine/weights (a file chosen or downloaded as a model) and app/media/files/files (attached files); they add the remedy. Names
// and extensions do not count. Nothing is parsed. No torch. Threads: plain functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "engine/base/error.h"

namespace winnow {

enum class FormatKind : int {
  kPointer = 1,  // a Git LFS pointer to a file that was not fetched
  kPage,         // a web page or a server's answer instead of a file
  kArchive,      // to be unpacked
  kPickle,       // PyTorch's weights
  kWeights,      // of another program
  kOldGguf,      // what GGUF was before it had that name
  kGguf,
  kPicture,
  kMedia,     // videos, sound
  kDocument,  // that no program of ours reads
  kProgram,
  kPaper,  // a document that is no plain text and can be attached (app/media/papers)
};

struct KnownFormat {
  FormatKind kind;
  const char* name;  // with its article: "a ZIP archive"
};

// First bytes needed to recognise all of them.
inline constexpr std::size_t kFormatHeadBytes = 512;

// head: the first bytes of a file, or all of a shorter one. Returns null if no format matches.
const KnownFormat* known_format(std::span<const std::byte> head);

// Returns kNotFetched with reason and remedy if the file is a pointer, a web page, empty, or all zeros (a download whose space was
// allocated beforehand). nullopt otherwise.
std::optional<Error> unfetched(std::span<const std::byte> head, const std::string& path);

}  // namespace winnow
