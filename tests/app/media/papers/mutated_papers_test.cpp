// Damaged documents, some hundred of them, through the process: each is read, or refused with a sentence, within its time. Other ones:
// --gtest_filter=MutatedPapers* --gtest_shuffle --gtest_repeat=100
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "app/media/process/process_media_reader.h"
#include "engine/base/error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::app {
namespace {

constexpr unsigned kSeed = 68;
constexpr int kMutations = 24;  // of each file

std::string bytesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Bytes changed, cut out, doubled, or a number made large.
std::string mutated(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t end) { return random() % std::max<std::size_t>(end, 1); };
  for (int times = 1 + static_cast<int>(below(8)); times > 0; --times) {
    const std::size_t at = below(bytes.size());
    switch (below(4)) {
      case 0: bytes[at] = static_cast<char>(random()); break;
      case 1: bytes.erase(at, below(64)); break;
      case 2: bytes.insert(at, bytes.substr(below(bytes.size()), below(256))); break;
      default:
        if (const std::size_t digit = bytes.find_first_of("123456789", at); digit != std::string::npos) bytes.replace(digit, 1, "99999999");
    }
  }
  return bytes;
}

TEST(MutatedPapers, AreReadOrRefusedWithASentence) {
  MediaProcessSettings settings{.limits = {.decodeBudgetMs = 20'000}, .patience = std::chrono::seconds(40)};
  const ProcessMediaReader reader(settings);
  const test::ScratchFolder folder;
  const unsigned seed = kSeed + static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed());
  std::mt19937 random(seed);
  int read = 0, refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() + "/tests/app/media/papers/samples")) {
    const std::string bytes = bytesOf(entry.path());
    for (int i = 0; i < kMutations; ++i) {
      MediaRequest request{.path = folder.write(std::to_string(i) + entry.path().extension().string(), mutated(bytes, random)),
                           .kind = MediaKind::kDocument};
      try {
        const auto source = reader.openSource(request, {});
        ++read;
        if (source->page_lines().empty()) continue;
        request.kind = MediaKind::kImage;
        request.pages = {1, 1};
        reader.openSource(request, {})->read(0, 1, {});
      } catch (const Exception& failure) {
        ++refused;
        EXPECT_FALSE(failure.error().reason.empty());
        for (const ErrorCode fault : {ErrorCode::kMediaCrashed, ErrorCode::kInternal})
          EXPECT_NE(failure.error().code, fault)
              << "seed " << seed << ", mutation " << i << " of " << entry.path() << ": " << failure.what();
      }
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace winnow::app
