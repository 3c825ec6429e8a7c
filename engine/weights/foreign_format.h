// Recognises what is no weight file that this program reads, to refuse it by name and with the remedy. Nothing of it is ever parsed.
//
// Used by safetensors.cpp and gguf_file.cpp (content under a wrong name), weight_files.cpp (folders without safetensors) and model_files
// (what was chosen in place of a model). What formats there are says engine/base/known_format.h. Errors: Exception; kNotFetched (a
// pointer, a page or a text in place of the file, an unfinished download), kArchive, kUnsupportedFormat, kNoModel; those of RegularFile.
// Threads: plain functions.
#pragma once

#include <string>

#include "engine/base/file_bytes.h"

namespace winnow {

// Throws if the file is empty, or its first bytes or else its name are those of something else. Does nothing where they say nothing.
void refuse_foreign_content(const RegularFile& file);

// Throws if the name ends as those of weights in another format do (.bin, .pt, .onnx, ...), or of unfinished downloads.
void refuse_foreign_name(const std::string& path);

// Throws if the folder holds a file of such a name, or a GGUF file.
void refuse_foreign_folder(const std::string& folder);

}  // namespace winnow
