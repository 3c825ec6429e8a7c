#include "engine/base/per_layer.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <type_traits>

namespace winnow {
namespace {

template <class Subscript>
concept IsSubscript = requires(PerLayer<int> values, Subscript subscript) {
  values[subscript];
};

static_assert(IsSubscript<LayerId>);
static_assert(!IsSubscript<KvHead>);
static_assert(!IsSubscript<std::size_t>);

TEST(PerLayer, IsFoundByLayer) {
  auto slots = PerLayer<int>::of(3, 7);
  EXPECT_EQ(slots.layers(), 3);
  slots[LayerId(1)] = 1;
  slots.push_back(2);
  EXPECT_EQ(slots.values(), (std::vector<int>{7, 1, 7, 2}));
  EXPECT_EQ(std::accumulate(slots.begin(), slots.end(), 0), 17);
  EXPECT_EQ(std::move(slots).values().back(), 2);
  EXPECT_TRUE(PerLayer<int>().empty());
}

TEST(PerLayer, HoldsFlagsToo) {
  auto seen = PerLayer<bool>::of(2);
  seen[LayerId(1)] = true;
  EXPECT_FALSE(seen[LayerId(0)]);
  EXPECT_TRUE(seen[LayerId(1)]);
}

TEST(PerLayer, KnowsWhichLayersThereAre) {
  const PerLayer<int> values(std::vector<int>{4, 5});
  EXPECT_TRUE(values.has(LayerId(1)));
  EXPECT_FALSE(values.has(LayerId(2)));
  EXPECT_FALSE(values.has(LayerId(-1)));
  EXPECT_EQ(values.at(LayerId(1)), 5);
  EXPECT_THROW(static_cast<void>(values.at(LayerId(2))), std::out_of_range);
}

}  // namespace
}  // namespace winnow
