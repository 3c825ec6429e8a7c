// A good GGUF file, mutated in tens of thousands of ways: each either opens and keeps what gguf_header.h says, or is refused in one
// sentence, and none makes the reader take more memory than a small multiple of the file's size.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>

#include "engine/base/file_bytes.h"
#include "engine/weights/gguf_file.h"
#include "tests/support/gguf_exercise.h"
#include "tests/support/new_probe.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

constexpr std::uint32_t kSeed = 7;
// What is read ahead, a tensor's values, or a text; the file has 6 KB.
constexpr std::size_t kMostBlockBytes = 96 << 10;

const std::string& good() {
  static const std::string bytes = read_file_bytes(source_folder() + "/tests/golden/gguf/every_type.gguf", 1 << 20);
  return bytes;
}

// Where the data begin: everything before it is the header.
std::size_t header_bytes() {
  const GgufFile file(source_folder() + "/tests/golden/gguf/every_type.gguf");
  std::uint64_t first = good().size();
  for (const auto& [name, tensor] : file.tensors()) first = std::min(first, tensor.begin);
  return static_cast<std::size_t>(first);
}

class HostileGguf : public testing::Test {
 protected:
  void exercise(const std::string& bytes) {
    ++cases_;
    test::reset_largest_new();
    try {
      opened_ += test::exercise_gguf(std::as_bytes(std::span(bytes))) ? 1 : 0;
    } catch (const std::exception& exception) {
      ADD_FAILURE() << "mutation " << cases_ << ": " << exception.what();
    }
    ASSERT_LE(test::largest_new_bytes(), kMostBlockBytes) << "mutation " << cases_;
  }

  std::size_t header_ = header_bytes();
  int cases_ = 0;
  int opened_ = 0;
};

TEST_F(HostileGguf, TheUnchangedFileOpens) {
  exercise(good());
  EXPECT_EQ(opened_, 1);
}

TEST_F(HostileGguf, EveryCutIsRefused) {
  for (std::size_t length = 0; length < good().size() - 31; ++length) exercise(good().substr(0, length));
  EXPECT_EQ(opened_, 0);
}

TEST_F(HostileGguf, EveryCutOfAFileOnDiskIsRefused) {
  const test::ScratchFolder folder;
  for (std::size_t length = 0; length <= header_; length += 17) {
    const std::string path = folder.write("f", std::string_view(good()).substr(0, length));
    EXPECT_THROW(GgufFile{path}, Exception) << length;
  }
}

TEST_F(HostileGguf, EveryFlippedBitOfTheHeader) {
  for (std::size_t at = 0; at < header_; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good();
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      exercise(bytes);
    }
  }
  EXPECT_GT(opened_, 0);       // names and values that may be others
  EXPECT_LT(opened_, cases_);  // and what may not
}

TEST_F(HostileGguf, EveryPlaceOverwrittenWithExtremeNumbers) {
  constexpr std::uint64_t kOne = 1;
  constexpr std::array<std::uint64_t, 12> kExtremes = {0,          1,          0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, kOne << 32,
                                                       kOne << 61, kOne << 62, kOne << 63, ~0ULL >> 1, ~0ULL,      ~0ULL - 31};
  for (std::size_t at = 0; at + 8 <= header_; ++at) {
    for (const std::uint64_t number : kExtremes) {
      for (const std::size_t size : {std::size_t{4}, std::size_t{8}}) {
        std::string bytes = good();
        bytes.replace(at, size, reinterpret_cast<const char*>(&number), size);
        exercise(bytes);
      }
    }
  }
  EXPECT_LT(opened_, cases_);
}

TEST_F(HostileGguf, SeveralChangesAtOnce) {
  std::mt19937 random(kSeed);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  for (int round = 0; round < 10'000; ++round) {
    std::string bytes = good();
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(header_ - 8);
      switch (below(6)) {
        case 0:  // another type or small count
          bytes.replace(at, 4, std::string{static_cast<char>(below(48)), 0, 0, 0});
          break;
        case 1:  // a field of another tensor or value: places that overlap, lengths that do not fit
          bytes.replace(at, 8, good().substr(below(header_ - 8), 8));
          break;
        case 2: bytes.erase(at, 1 + below(16)); break;
        case 3: bytes.insert(at, good().substr(below(header_ - 8), 1 + below(64))); break;
        case 4:
          bytes.resize(1 + below(bytes.size()));
          bytes.resize(std::max(bytes.size(), header_));
          break;
        default: bytes[at] = static_cast<char>(random());
      }
    }
    exercise(bytes);
  }
  EXPECT_GT(opened_, 0);
  EXPECT_LT(opened_, cases_);
}

}  // namespace
}  // namespace winnow
