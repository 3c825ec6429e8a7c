#include "engine/models/weights/upcast_packing.h"

#include "engine/layers/upcast_matrix.h"

namespace winnow {

std::shared_ptr<const PackedMatrix> UpcastPacking::pack(const at::Tensor& dense) const {
  return std::make_shared<UpcastMatrix>(dense.to(at::kBFloat16).contiguous());
}

}  // namespace winnow
