#include "engine/kv_cache/layer_states.h"

#include <gtest/gtest.h>

#include <array>

#include "engine/kv_cache/kv_cache.h"
#include "tests/support/kv_shape.h"

namespace winnow {
namespace {

// Two layers with slots; a layer without comes before the first, two before the second.
KvShape shape_with_states() {
  KvShape shape = test_support::kv_shape(2, 1, 2);
  shape.states_with = PerLayer<std::int64_t>({1, 2});
  shape.state = {.heads = 2, .rows = 3, .columns = 4, .recent = 1, .channels = 5};
  return shape;
}
constexpr std::int64_t kStateBytes = (2 * 3 * 4 + 5) * 4;

float first_number(const KvCache& cache, LayerId layer, std::int64_t which) {
  const LayerState* const state = cache.states().state(layer, which);
  return state == nullptr ? -1.0F : state->memory.flatten()[0].item<float>();
}

TEST(LayerStates, AreZerosBeforeTheFirstTokenAndCountedFromThenOn) {
  KvCache cache(shape_with_states());
  EXPECT_EQ(cache.states().bytes(), 0);
  EXPECT_EQ(cache.states().state(LayerId(1), 1), nullptr);
  const LayerState& state = cache.states().to_write(LayerId(1), 1);
  EXPECT_EQ(state.memory.abs().sum().item<float>() + state.recent.abs().sum().item<float>(), 0.0F);
  EXPECT_EQ(cache.states().bytes(), 3 * kStateBytes);
  EXPECT_EQ(cache.shape().state_bytes(), 3 * kStateBytes);
  EXPECT_EQ(cache.bytes_allocated(), 0) << "no slots yet";
}

TEST(LayerStates, OfAForkAreItsOwnOnceItReads) {
  KvCache cache(shape_with_states());
  cache.states().to_write(LayerId(0), 0).memory.fill_(1.0);
  KvCache fork = cache.fork();
  EXPECT_EQ(fork.states().state(LayerId(0), 0), cache.states().state(LayerId(0), 0));
  const std::array<const KvCache*, 2> both = {&cache, &fork};
  EXPECT_EQ(bytes_allocated_together(both), 3 * kStateBytes);
  fork.states().to_write(LayerId(0), 0).memory.fill_(2.0);
  EXPECT_EQ(first_number(cache, LayerId(0), 0), 1.0F);
  EXPECT_EQ(first_number(fork, LayerId(0), 0), 2.0F);
  EXPECT_EQ(bytes_allocated_together(both), 4 * kStateBytes);
  cache.states().to_write(LayerId(0), 0).memory.fill_(3.0);
  EXPECT_EQ(first_number(fork, LayerId(0), 0), 2.0F);
}

TEST(LayerStates, OfALayerAreRestoredWithItsSlots) {
  KvCache cache(shape_with_states());
  cache.states().to_write(LayerId(0), 0).memory.fill_(1.0);
  cache.states().to_write(LayerId(1), 0).memory.fill_(1.0);
  const KvCache before = cache.fork();
  cache.states().to_write(LayerId(0), 0).memory.fill_(2.0);
  cache.states().to_write(LayerId(1), 0).memory.fill_(2.0);
  WholeLayer::restore(cache, LayerId(1), before);
  EXPECT_EQ(first_number(cache, LayerId(0), 0), 2.0F);
  EXPECT_EQ(first_number(cache, LayerId(1), 0), 1.0F);
  const KvCache nothing(shape_with_states());
  WholeLayer::restore(cache, LayerId(0), nothing);
  EXPECT_EQ(cache.states().state(LayerId(0), 0), nullptr);
  EXPECT_EQ(cache.states().to_write(LayerId(0), 0).memory.sum().item<float>(), 0.0F);
}

TEST(LayerStates, AreNobodysWhereEveryLayerHasSlots) {
  KvShape shape = shape_with_states();
  shape.states_with = {};
  const KvCache cache(shape);
  EXPECT_EQ(shape.state_bytes(), 0);
  EXPECT_EQ(cache.states().of_layer(LayerId(1)), 0);
}

}  // namespace
}  // namespace winnow
