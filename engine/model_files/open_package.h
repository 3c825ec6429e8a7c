// The model package behind a path that somebody chose; or what the path is instead: people choose the folder above, a file, or one of
// another format.
//
// Used before a model is loaded (engine/generation). Looks at names only; the package checks what is in the files. Errors: Exception
//   kModelFolderMissing  subject: the folder
//   kNoModel             subject: the folder, which has no config.json, or the file that was chosen in place of a folder
//   kModelInside         subject: the first model folder below the chosen one, which is none itself
//   kUnsupportedFormat   subject: the GGUF, pickle, ONNX ... file that was chosen, or that lies in the folder without config.json
// Threads: plain function.
#pragma once

#include <memory>
#include <string>

#include "engine/model_files/model_package.h"

namespace winnow {

// path: bytes.
std::unique_ptr<ModelPackage> open_package(const std::string& path);

}  // namespace winnow
