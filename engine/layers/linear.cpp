#include "engine/layers/linear.h"

namespace winnow {

at::Tensor Linear::operator()(const at::Tensor& input) const { return weight.times(input, bias); }

}  // namespace winnow
