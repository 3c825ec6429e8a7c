// Recognises weight files of other formats, to refuse them with advice. Nothing of them is ever parsed.
//
// Used by safetensors.cpp (content under a wrong name), weight_files.cpp (folders without safetensors) and engine/models (what was chosen
// in place of a model folder). Errors: Exception kUnsupportedFormat. Threads: plain functions.
#pragma once

#include <string>

#include "engine/base/file_bytes.h"

namespace winnow {

// Throws if the first bytes are a pickle's, a zip archive's (PyTorch), GGUF's or HDF5's.
void refuse_foreign_content(const RegularFile& file);

// Throws if the name ends as those of weights in another format do (.bin, .pt, .pth, .ckpt, .pkl, .gguf, .onnx, .h5, .msgpack).
void refuse_foreign_name(const std::string& path);

// Throws if the folder holds a file of such a name.
void refuse_foreign_folder(const std::string& folder);

}  // namespace winnow
