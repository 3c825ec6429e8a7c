#include "engine/models/decoder/short_conv_weights.h"

namespace winnow {

ShortConv read_short_conv(WeightReader& weights, const std::string& own, const ShortConvSizes& sizes, std::int64_t hidden) {
  const auto bias = sizes.biased ? WeightReader::Bias::kRequired : WeightReader::Bias::kNone;
  ShortConv conv;
  conv.input = weights.packable_linear({{own + "in_proj", 3 * hidden}}, hidden, bias);
  const at::Tensor kernel = weights.tensor(own + "conv.weight", {hidden, 1, sizes.kernel});
  conv.convolution = kernel.squeeze(1).t().to(at::kFloat).contiguous();
  if (sizes.biased) conv.bias = weights.tensor(own + "conv.bias", {hidden}).to(at::kFloat);
  conv.output = weights.packable_linear({{own + "out_proj", hidden}}, hidden, bias);
  return conv;
}

}  // namespace winnow
