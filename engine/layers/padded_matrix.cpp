#include "engine/layers/padded_matrix.h"

#include <utility>

#include "engine/base/error.h"

namespace winnow {

PaddedMatrix::PaddedMatrix(std::shared_ptr<const PackedMatrix> whole, std::int64_t in) : whole_(std::move(whole)), in_(in) {
  require(whole_ != nullptr && in_ > 0 && in_ <= whole_->in(), "padded matrix: it has the columns that it stands for");
}

at::Tensor PaddedMatrix::times(const at::Tensor& input) const {
  require(input.size(-1) == in_, "padded matrix: input and matrix differ in columns");
  return whole_->times(at::constant_pad_nd(input, {0, whole_->in() - in_}));
}

at::Tensor PaddedMatrix::columns(std::int64_t first, std::int64_t count) const {
  require(first + count <= in_, "padded matrix: no such column");
  return whole_->columns(first, count);
}

at::Tensor PaddedMatrix::rows(const at::Tensor& ids) const { return whole_->rows(ids).narrow(1, 0, in_).contiguous(); }

}  // namespace winnow
