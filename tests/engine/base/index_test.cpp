#include "engine/base/index.h"

#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>

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

}  // namespace
}  // namespace winnow
