// Writes tensors as one safetensors file: little endian, contiguous, header padded to 8 bytes. Used for exports.
//
// The file appears under its name only when it is complete (engine/base/replaced_file.h, whose errors these are). Supported dtypes: fp32,
// fp16, bf16, int64, int32, uint8.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <utility>
#include <vector>

namespace winnow {

// Names must be unique; order in the file is the order given.
void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, at::Tensor>>& tensors);

}  // namespace winnow
