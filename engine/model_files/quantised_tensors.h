// The tensors of a folder whose weights are quantised already: each matrix as one tensor in blocks, <module>.weight, in place of the
// several that it is stored as.
//
// Made by hugging_face_folder.h. Which tensors belong together say their names: qweight, qzeros, scales, g_idx (AWQ, GPTQ); weight_packed,
// weight_scale, weight_zero_point, weight_shape, weight_g_idx, or a weight of signed bytes (compressed-tensors); a module that has none of
// them is not quantised. Types, shapes and lists of groups are checked before anything is read of codes and scales; blocks are made when a
// tensor is read (quantised_matrix.h). Errors: Exception; kDamagedFile, kUnsupportedModel with "<file>: <tensor>" as subject. No torch.
#pragma once

#include "engine/model_files/quantisation_config.h"
#include "engine/weights/tensor_file.h"

namespace winnow {

TensorFiles quantised_tensors(const TensorFiles& stored, const QuantisationConfig& config);

}  // namespace winnow
