#include "engine/models/narrow_packing.h"

#include "engine/layers/narrow_matrix.h"

namespace winnow {

std::shared_ptr<const PackedMatrix> NarrowPacking::pack(const at::Tensor& dense) const {
  return std::make_shared<NarrowMatrix>(dense.to(at::kBFloat16).contiguous());
}

}  // namespace winnow
