#include "engine/base/index.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "engine/base/clone_ptr.h"
#include "engine/base/per_layer.h"

namespace winnow {
namespace {

// What the types are for: a call with the two swapped, or with a bare number, does not compile.
static_assert(!std::convertible_to<int, LayerId> && !std::convertible_to<std::int64_t, KvHead>);
static_assert(!std::convertible_to<LayerId, KvHead> && !std::constructible_from<KvHead, LayerId>);
static_assert(std::constructible_from<LayerId, std::size_t> && std::convertible_to<LayerId, std::int64_t>);
static_assert(sizeof(LayerId) == sizeof(std::int64_t));

TEST(Index, CountsAndIsReadAsItsNumber) {
  std::int64_t sum = 0;
  for (LayerId layer{0}; layer < 4; ++layer) sum += 10 * layer;
  EXPECT_EQ(sum, 60);
  EXPECT_EQ(LayerId(), LayerId(0));
  EXPECT_NE(KvHead(2), KvHead(1));
}

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

// A pointer that copies what it owns.
struct Counter {
  virtual ~Counter() = default;
  virtual std::unique_ptr<Counter> clone() const = 0;
  virtual int next() = 0;
};

struct ByTwo : Counter {
  std::unique_ptr<Counter> clone() const override { return std::make_unique<ByTwo>(*this); }
  int next() override { return value += 2; }
  int value = 0;
};

TEST(ClonePtr, ACopyGoesItsOwnWay) {
  ClonePtr<Counter> first = std::unique_ptr<Counter>(std::make_unique<ByTwo>());
  EXPECT_EQ(first->next(), 2);
  ClonePtr<Counter> second = first;
  EXPECT_EQ(second->next(), 4);
  EXPECT_EQ(second->next(), 6);
  EXPECT_EQ(first->next(), 4) << "the copy's steps are the copy's";
  first = second;
  EXPECT_NE(first.get(), second.get());
  EXPECT_EQ(first->next(), 8);
}

TEST(ClonePtr, MayHoldNothing) {
  const ClonePtr<Counter> nothing;
  const ClonePtr<Counter> copy = nothing;
  EXPECT_FALSE(copy);
  EXPECT_EQ(copy.get(), nullptr);
}

}  // namespace
}  // namespace winnow
