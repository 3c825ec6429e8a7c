// Whether a chosen folder is a model folder at all, and what it is instead: people choose the folder above, a file, or one of another
// format.
//
// Used before a model is loaded (engine/generation). Looks at names only; the loaders check what is in the files. Errors: Exception
//   kModelFolderMissing  subject: the folder
//   kNoModel             subject: the folder, which has no config.json, or the file that was chosen in place of a folder
//   kModelInside         subject: the first model folder below the chosen one, which is none itself
//   kUnsupportedFormat   subject: the GGUF, pickle, ONNX ... file that was chosen, or that lies in the folder without config.json
// Threads: plain function.
#pragma once

#include <string>

namespace winnow {

// folder: bytes of a path.
void check_model_folder(const std::string& folder);

}  // namespace winnow
