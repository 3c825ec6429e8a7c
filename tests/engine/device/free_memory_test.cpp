#include "engine/device/free_memory.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace winnow {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST(ModelRoom, TheOldModelStaysWhereBothFit) {
  EXPECT_EQ(room_for_model(100, 100, 50, "m"), ModelRoom::kBoth);
  EXPECT_EQ(room_for_model(101, 100, 50, "m"), ModelRoom::kAfterFreeing);
  EXPECT_EQ(room_for_model(150, 100, 50, "m"), ModelRoom::kAfterFreeing);
  EXPECT_EQ(room_for_model(UINT64_MAX, 0, 50, "m"), ModelRoom::kBoth) << "nobody can say how much is free";
}

TEST(ModelRoom, AModelThatDoesNotFitIsRefusedWithTheSizes) {
  test::expect_error(ErrorCode::kOutOfMemory, "its weights need 30 MiB and 10 MiB are free",
                     [] { room_for_model(30 * kMiB, 10 * kMiB, 0, "/models/large"); });
  test::expect_error(ErrorCode::kOutOfMemory, "30 MiB and 15 MiB are free with the 5 MiB of the model that is loaded",
                     [] { room_for_model(30 * kMiB, 10 * kMiB, 5 * kMiB, "/models/large"); });
  EXPECT_THROW(room_for_model(UINT64_MAX, 1, UINT64_MAX - 2, "m"), Exception) << "sums that pass 64 bits";
}

}  // namespace
}  // namespace winnow
