// The emulated GPU itself: that it computes as the CPU, and that it notices what the other tests rely on it to notice.
#include "tests/engine/emulated_gpu/emulated_device.h"

#include "engine/device/free_memory.h"
#include "tests/support/tensor_distance.h"

namespace winnow::testing {
namespace {

class EmulatedGpu : public OnEmulatedGpu {
 protected:
  c10::InferenceMode inference_;
};

at::Tensor tensor_there(const at::Tensor& tensor) { return tensor.to(kEmulatedGpu); }
at::Tensor back(const at::Tensor& tensor) { return tensor.to(at::kCPU); }

TEST_F(EmulatedGpu, ComputesAsTheCpu) {
  const at::Tensor a = at::randn({3, 4, 5});
  const at::Tensor b = at::randn({3, 4, 5});
  const at::Tensor x = tensor_there(a);
  const at::Tensor y = tensor_there(b);
  EXPECT_TRUE(at::equal(back(x + y), a + b));
  EXPECT_TRUE(at::equal(back(x.transpose(0, 2).narrow(1, 1, 2).contiguous()), a.transpose(0, 2).narrow(1, 1, 2)));
  EXPECT_TRUE(at::equal(back(at::logsumexp(x, {-1}, true)), at::logsumexp(a, {-1}, true))) << "an output that gets its size";
  EXPECT_TRUE(at::equal(back(std::get<1>(x.topk(2))), std::get<1>(a.topk(2))));
  EXPECT_TRUE(at::equal(back(at::cat({x, y}, 1).index_select(0, tensor_there(at::tensor({2, 0})))),
                        at::cat({a, b}, 1).index_select(0, at::tensor({2, 0}))));
  at::Tensor written = tensor_there(at::zeros({3, 4, 5}));
  written.narrow(0, 1, 1).copy_(y.narrow(0, 2, 1));
  at::Tensor half = written.select(0, 1).narrow(0, 0, 2);
  at::mul_out(half, half, half);
  at::Tensor expected = at::zeros({3, 4, 5});
  expected.select(0, 1).copy_(b.select(0, 2));
  expected.select(0, 1).narrow(0, 0, 2).square_();
  EXPECT_TRUE(at::equal(back(written), expected));
  const at::Tensor image = at::randn({1, 3, 8, 8});
  const at::Tensor filter = at::randn({2, 3, 4, 4});
  EXPECT_TRUE(at::equal(back(at::conv2d(tensor_there(image), tensor_there(filter), {}, 4)), at::conv2d(image, filter, {}, 4)));
}

TEST_F(EmulatedGpu, RefusesTensorsOfTwoDevices) {
  const at::Tensor host = at::randn({4, 4});
  const at::Tensor device = tensor_there(host);
  EXPECT_THROW(device + host, c10::Error);
  EXPECT_THROW(at::mm(host, device), c10::Error);
  EXPECT_THROW(device.index_select(0, at::tensor({1, 2})), c10::Error);
  EXPECT_THROW(at::cat({device, host}), c10::Error);
  EXPECT_THROW(at::embedding(host, tensor_there(at::tensor({1}))), c10::Error);
  at::Tensor into = at::empty({4, 4});
  EXPECT_THROW(at::mul_out(into, device, device), c10::Error);
  EXPECT_TRUE(at::equal(back(device * at::scalar_tensor(2.0)), host * 2.0)) << "a single number, as CUDA takes it";
}

TEST_F(EmulatedGpu, CountsCopiesAndWaits) {
  const at::Tensor host = at::randn({10});
  at::Tensor device;
  EmulatedGpuCounts cost = cost_of([&] { device = tensor_there(host); });
  EXPECT_EQ(cost.copies_to_device, 1);
  EXPECT_EQ(cost.bytes_to_device, 40);
  EXPECT_EQ(cost.waits, 1);
  cost = cost_of([&] { device = host.to(kEmulatedGpu, /*non_blocking=*/true); });
  EXPECT_EQ(cost.copies_to_device, 1);
  EXPECT_EQ(cost.waits, 0);
  cost = cost_of([&] { back(device); });
  EXPECT_EQ(cost.copies_to_host, 1);
  EXPECT_EQ(cost.bytes_to_host, 40);
  EXPECT_EQ(cost.waits, 1);
  cost = cost_of([&] { device.select(0, 3).item<float>(); });
  EXPECT_EQ(cost.bytes_to_host, 4);
  EXPECT_EQ(cost.waits, 1);
  EXPECT_EQ(cost_of([&] { device.nonzero(); }).waits, 1);
  EXPECT_EQ(cost_of([&] { synchronize_device(); }).waits, 1);
  cost = cost_of([&] { device.mul_(2.0).add_(device.sum()).softmax(0).argmax(); });
  EXPECT_EQ(cost.waits, 0);
  EXPECT_EQ(cost.bytes_to_host + cost.bytes_to_device, 0);
}

TEST_F(EmulatedGpu, TheHostCannotTouchItsMemory) {
  const at::Tensor device = tensor_there(at::randn({10}));
  EXPECT_DEATH(
      {
        const volatile float first = *device.const_data_ptr<float>();
        static_cast<void>(first);
      },
      "");
}

TEST_F(EmulatedGpu, WhatNobodyHasWrittenIsNotANumber) {
  EXPECT_TRUE(back(at::empty({100}, at::TensorOptions(kEmulatedGpu)).isnan().all()).item<bool>());
}

TEST_F(EmulatedGpu, HasMemoryLeft) { EXPECT_GT(free_memory_bytes(MemoryOf::kGpu), std::int64_t{1} << 30); }

}  // namespace
}  // namespace winnow::testing
