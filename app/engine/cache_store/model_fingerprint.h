// Tells two models apart, so that answers of one are never taken for the other's.
//
// Used for what is kept of a chat, and told by `batch --json`, for logs of evaluations. SHA-256 of the format that weights are held in, of
// the files that the model is read from (of a folder, documents and weights): name, size, and the whole of a small one; of a large one its
// header and blocks spread over all of it, because two fine-tunes of one model share its header and whatever was frozen. Errors: Exception,
// kFileUnreadable and those of engine/api/stored_files.h. Any thread; reads some 10 MB a file from the disk.
#pragma once

#include <string>

namespace winnow::app {

// weights: how they are held, ModelInfo::dtype; projector: as in LoadModel.
std::string modelFingerprint(const std::string& model, const std::string& weights, const std::string& projector = {});

}  // namespace winnow::app
