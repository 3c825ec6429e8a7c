// Files that come in pieces: whole, in order, what their names say, and no more than there is room for.
#include "app/programs/server/media_uploads.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "app/programs/server/api_refusal.h"
#include "engine/base/error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

std::string hashOf(const std::string& bytes) {
  return QCryptographicHash::hash(QByteArray::fromStdString(bytes), QCryptographicHash::Sha256).toHex().toStdString();
}

class MediaUploadsTest : public ::testing::Test {
 protected:
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder.file("store")), {}));
  }
  test::ScratchFolder folder;
  MediaStore store{folder.file("store"), 1000};
  MediaUploads uploads{store};
};

TEST_F(MediaUploadsTest, AFileIsThereWhenAllOfItHasCome) {
  const std::string bytes = "pictures that move", sha256 = hashOf(bytes);
  EXPECT_FALSE(uploads.stateOf(sha256).whole);
  EXPECT_EQ(uploads.add(sha256, 0, 18, bytes.substr(0, 8)).received, 8);
  EXPECT_TRUE(store.find(sha256).empty());
  EXPECT_EQ(uploads.add(sha256, 0, 18, bytes.substr(0, 8)).received, 8) << "sent twice: taken once";
  EXPECT_EQ(uploads.add(sha256, 12, 18, bytes.substr(12)).received, 8) << "no gap";
  EXPECT_TRUE(uploads.add(sha256, 8, 18, bytes.substr(8)).whole);
  EXPECT_EQ(std::filesystem::file_size(store.find(sha256)), 18U);
  EXPECT_TRUE(uploads.stateOf(sha256).whole);
  EXPECT_TRUE(uploads.add(sha256, 0, 18, "").whole) << "known: nothing has to be sent";
  EXPECT_EQ(files(), 1U);
}

TEST_F(MediaUploadsTest, OtherBytesThanTheNameSaysAreNotKept) {
  const std::string sha256 = hashOf("one");
  EXPECT_THROW(uploads.add(sha256, 0, 3, "two"), ApiRefusal);
  EXPECT_TRUE(store.find(sha256).empty());
  EXPECT_EQ(files(), 0U);
  EXPECT_TRUE(uploads.add(sha256, 0, 3, "one").whole) << "it can be sent rightly afterwards";
}

TEST_F(MediaUploadsTest, SizesAreBounded) {
  const std::string sha256 = hashOf("x");
  EXPECT_THROW(uploads.add(sha256, 0, 1001, "x"), Exception) << "more than all that is kept";
  for (const auto& [at, of] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {-1, 5}, {6, 5}, {0, -5}, {5, 5}})
    EXPECT_THROW(uploads.add(sha256, at, of, "x"), ApiRefusal) << at << " " << of;
  EXPECT_THROW(uploads.add("../../etc/passwd", 0, 1, "x"), Exception);
  for (std::size_t i = 0; i < MediaUploads::kMostOpen; ++i) uploads.add(hashOf(std::to_string(i)), 0, 10, "x");
  EXPECT_THROW(uploads.add(hashOf("one more"), 0, 10, "x"), ApiRefusal);
}

}  // namespace
}  // namespace winnow::app
