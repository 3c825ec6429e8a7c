// A decode step takes little memory and makes few tensors: what it takes is counted, and may not grow.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "engine/models/weights/block_packing.h"
#include "tests/bench/random_decoder.h"
#include "tests/engine/models/golden_model.h"
#include "tests/support/allocation_probe.h"
#include "tests/support/new_probe.h"

namespace winnow {
namespace {

struct Taken {
  std::int64_t tensors = 0;  // blocks of libtorch's memory
  std::int64_t objects = 0;  // calls of operator new: what tensors are described by, vectors
};

DecoderConfig small_config(std::int64_t layers) {
  DecoderConfig config = bench::half_billion_shape();
  config.hidden_size = 64;
  config.intermediate_size = 96;
  config.layers = layers;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 16;
  config.vocabulary = 128;
  return config;
}

// Of one step behind 20 tokens, once everything that is taken once has been.
Taken taken_by_a_step(std::int64_t layers, at::ScalarType type, std::shared_ptr<const MatrixPacking> packing,
                      KvStorage storage = KvStorage::kWide) {
  const TransformerDecoder text = bench::random_decoder(small_config(layers), type, std::move(packing));
  KvShape shape = text.kv_shape();
  shape.storage = storage;
  KvCache cache(shape);
  test_support::prefill(text, text.embed(at::arange(20, at::kLong)), 0, cache);
  std::int32_t position = 20;
  const auto step = [&] {
    text.decode({7, position, position}, cache, nullptr);
    ++position;
  };
  for (int i = 0; i < 4; ++i) step();
  const testing::AllocationProbe probe;
  const std::size_t before = test::new_count();
  constexpr int kSteps = 4;
  for (int i = 0; i < kSteps; ++i) step();
  return {probe.blocks() / kSteps, static_cast<std::int64_t>(test::new_count() - before) / kSteps};
}

class DecodeAllocations : public ::testing::Test {
 protected:
  void SetUp() override { at::set_num_threads(1); }
  void TearDown() override { at::set_num_threads(threads_); }
  c10::InferenceMode inference_;
  int threads_ = at::get_num_threads();
};

TEST_F(DecodeAllocations, OfALayerAreFew) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    for (const bool packed : {false, true}) {
      SCOPED_TRACE(::testing::Message() << at::toString(type) << " packed " << packed);
      const auto packing = packed ? std::make_shared<BlockPacking>(PackedBits::kEight) : nullptr;
      const Taken few = taken_by_a_step(2, type, packing);
      const Taken many = taken_by_a_step(6, type, packing);
      const double tensors = static_cast<double>(many.tensors - few.tensors) / 4.0;
      const double objects = static_cast<double>(many.objects - few.objects) / 4.0;
      // Results of two norms, four products, the attention and the gate; a packed matrix's input has a view of its own and its result one.
      EXPECT_LE(tensors, 8.0);
      EXPECT_LE(objects, packed ? 51.0 : 43.0);
      EXPECT_LE(static_cast<double>(few.tensors) - 2.0 * tensors, 14.0) << "beside layers";
      EXPECT_LE(static_cast<double>(few.objects) - 2.0 * objects, 56.0) << "beside layers";
    }
  }
}

TEST_F(DecodeAllocations, OfACacheInSixteenBitsAreTwoTensorsMore) {
  const Taken few = taken_by_a_step(2, at::kFloat, nullptr, KvStorage::kHalf);
  const Taken many = taken_by_a_step(6, at::kFloat, nullptr, KvStorage::kHalf);
  EXPECT_LE(static_cast<double>(many.tensors - few.tensors) / 4.0, 10.0) << "keys and values of all heads, rounded";
}

}  // namespace
}  // namespace winnow
