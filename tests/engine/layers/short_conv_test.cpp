#include "engine/layers/short_conv.h"

#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "tests/support/tensor_distance.h"

namespace winnow::test_support::short_conv_test {
namespace {

constexpr std::int64_t kHidden = 24;
constexpr std::int64_t kKernel = 4;

class ShortConvLayer : public ::testing::Test {
 protected:
  ShortConvLayer() {
    at::manual_seed(5);
    const auto matrix = [](std::int64_t out) { return at::randn({out, kHidden}) / 4.0; };
    layer_ = {Linear{matrix(3 * kHidden), at::randn({3 * kHidden})}, at::randn({kKernel, kHidden}), at::randn({kHidden}),
              Linear{matrix(kHidden), {}}};
  }

  static LayerState empty_state() { return {at::zeros({kKernel - 1, kHidden}), at::zeros({0, 0, 0})}; }

  c10::InferenceMode inference_;
  ShortConv layer_;
};

// libtorch's depthwise convolution over the whole text, with zeros before its first token.
TEST_F(ShortConvLayer, IsAGatedConvolution) {
  const at::Tensor rows = at::randn({19, kHidden});
  const std::vector<at::Tensor> parts = layer_.input(rows).chunk(3, 1);
  const at::Tensor gated = at::constant_pad_nd((parts[0] * parts[2]).t().unsqueeze(0), {kKernel - 1, 0});
  const at::Tensor kernel = layer_.convolution.t().unsqueeze(1).contiguous();
  const at::Tensor convolved = at::convolution(gated, kernel, layer_.bias, {1}, {0}, {1}, false, {0}, kHidden)[0].t();
  LayerState state = empty_state();
  EXPECT_LE(relative_distance(layer_(rows, state), layer_.output(convolved * parts[1])), 1e-6);
  EXPECT_TRUE(at::equal(state.recent, (parts[0] * parts[2]).slice(0, 19 - (kKernel - 1))));
}

// Pieces shorter than the convolution, too.
TEST_F(ShortConvLayer, GoesOnFromItsState) {
  const at::Tensor rows = at::randn({70, kHidden});
  LayerState whole = empty_state();
  const at::Tensor at_once = layer_(rows, whole);
  for (const std::int64_t piece : {1, 2, 33}) {
    LayerState state = empty_state();
    std::vector<at::Tensor> read;
    for (std::int64_t first = 0; first < rows.size(0); first += piece) read.push_back(layer_(rows.slice(0, first, first + piece), state));
    EXPECT_LE(relative_distance(at::cat(read), at_once), 1e-6) << piece;
    EXPECT_LE(relative_distance(state.recent, whole.recent), 1e-6) << piece;
  }
}

TEST_F(ShortConvLayer, ReadsNothingOfLaterTokens) {
  const at::Tensor rows = at::randn({20, kHidden});
  at::Tensor other = rows.clone();
  other.slice(0, 12).fill_(3.0);
  LayerState first = empty_state();
  LayerState second = empty_state();
  EXPECT_TRUE(at::equal(layer_(rows, first).slice(0, 0, 12), layer_(other, second).slice(0, 0, 12)));
}

}  // namespace
}  // namespace winnow::test_support::short_conv_test
