// A mapped file whose pages cannot be read any more: SIGBUS ended the program where another one shortened a loaded model.
#include "engine/base/file_mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

std::size_t page() { return static_cast<std::size_t>(::getpagesize()); }
std::string pages(std::size_t count, char filled) { return std::string(count * page(), filled); }

bool all(std::span<const std::byte> bytes, int value) {
  return std::ranges::all_of(bytes, [&](std::byte b) { return std::to_integer<int>(b) == value; });
}

TEST(FileMapping, HasZerosWhereTheFileWasCutAndKnowsIt) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("weights", pages(4, 'w'));
  const RegularFile file(path), other(folder.write("other", pages(2, 'o')));
  const FileMapping mapping(file), unharmed(other);
  const auto bytes = mapping.bytes(file, 0, 4 * page());
  std::filesystem::resize_file(path, page());
  EXPECT_FALSE(mapping.lost()) << "nobody has touched what is gone";
  EXPECT_TRUE(all(bytes.first(page()), 'w'));
  EXPECT_FALSE(mapping.lost());
  EXPECT_TRUE(all(bytes.subspan(2 * page()), 0)) << "from the first page that was touched on";
  EXPECT_TRUE(mapping.lost());
  EXPECT_TRUE(all(bytes.first(page()), 'w'));
  EXPECT_TRUE(all(unharmed.bytes(other, 0, 2 * page()), 'o'));
  EXPECT_FALSE(unharmed.lost());
}

TEST(FileMapping, StaysGuardedWhenItIsMovedAndAfterOthersHaveGone) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("weights", pages(2, 'w'));
  const RegularFile file(path);
  FileMapping first(file);
  FileMapping mapping(std::move(first));
  for (int i = 0; i < 5000; ++i) FileMapping{file};  // more than are guarded at once
  FileMapping other(RegularFile(folder.write("small", "x")));
  std::swap(mapping, other);
  const auto bytes = other.bytes(file, 0, 2 * page());
  std::filesystem::resize_file(path, 0);
  test::expect_error(ErrorCode::kDamagedFile, "became shorter", [&] { other.bytes(file, 0, page()); });
  EXPECT_TRUE(all(bytes, 0));
  EXPECT_TRUE(other.lost());
  EXPECT_FALSE(mapping.lost());
}

// Whoever raises it elsewhere is not forgiven.
TEST(FileMappingDeathTest, LeavesASigbusOfAnotherMappingAsItWas) {
  const auto touch = [] {
    const test::ScratchFolder folder;
    const std::string path = folder.write("weights", pages(2, 'w'));
    const RegularFile file(path);
    const FileMapping guarded(file);
    void* const bare = ::mmap(nullptr, 2 * page(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    std::filesystem::resize_file(path, 0);
    volatile char read = static_cast<const volatile char*>(bare)[page()];
    static_cast<void>(read);
  };
  EXPECT_EXIT(touch(), ::testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace winnow
