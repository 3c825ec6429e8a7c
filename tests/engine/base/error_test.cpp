#include "engine/base/error.h"

#include <gtest/gtest.h>

#include <new>
#include <system_error>

namespace winnow {
namespace {

template <typename Thrown>
Error handled(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return current_error("clip.mp4");
  }
}

TEST(CurrentError, KeepsWhatAnExceptionSays) {
  const Error error = handled(Exception(ErrorCode::kDamagedFile, "a.png", "it ends early"));
  EXPECT_EQ(error.code, ErrorCode::kDamagedFile);
  EXPECT_EQ(error.subject, "a.png");
  EXPECT_EQ(error.reason, "it ends early");
}

TEST(CurrentError, NamesTheSubjectWhereTheExceptionHasNone) {
  EXPECT_EQ(handled(std::bad_alloc()).code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(handled(std::bad_alloc()).subject, "clip.mp4");
  const Error error = handled(std::runtime_error("stoi"));
  EXPECT_EQ(error.code, ErrorCode::kInternal);
  EXPECT_EQ(error.subject, "clip.mp4");
  EXPECT_EQ(error.reason, "stoi");
  EXPECT_EQ(handled(42).code, ErrorCode::kInternal);
  EXPECT_FALSE(handled(42).reason.empty());
}

TEST(CurrentError, AThreadWithoutAStackIsWantOfMemory) {
  const auto code_of = [](std::errc cause) { return handled(std::system_error(std::make_error_code(cause))).code; };
  EXPECT_EQ(code_of(std::errc::resource_unavailable_try_again), ErrorCode::kOutOfMemory);
  EXPECT_EQ(code_of(std::errc::not_enough_memory), ErrorCode::kOutOfMemory);
  EXPECT_EQ(code_of(std::errc::io_error), ErrorCode::kInternal);
}

TEST(ErrorCode, StorageHasSeveral) {
  for (const ErrorCode code : {ErrorCode::kStorage, ErrorCode::kStorageDamaged, ErrorCode::kStorageNewer, ErrorCode::kStorageInUse,
                               ErrorCode::kStorageReadOnly, ErrorCode::kStorageFull})
    EXPECT_TRUE(is_storage(code)) << static_cast<int>(code);
  EXPECT_FALSE(is_storage(ErrorCode::kInternal));
  EXPECT_FALSE(is_storage(ErrorCode::kIllegalRecipe));
}

}  // namespace
}  // namespace winnow
