#include "app/media/files/media_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "app/media/files/beneath_folder.h"
#include "app/media/files/content_hash.h"
#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

Error refusal(const std::string& path) {
  try {
    const MediaFile file(path);
  } catch (const Exception& exception) {
    return exception.error();
  }
  ADD_FAILURE() << path << " was opened";
  return {};
}

void expectRefusal(const std::string& path, ErrorCode code, const std::string& reason) {
  const Error error = refusal(path);
  EXPECT_EQ(error.code, code) << path;
  EXPECT_EQ(error.reason, reason);
  EXPECT_EQ(error.subject, path);
}

TEST(MediaFile, RefusesWhatIsNoFileWithoutBlocking) {
  expectRefusal("/", ErrorCode::kFileUnreadable, "this is a folder, not a file");
  expectRefusal("/dev/zero", ErrorCode::kFileUnreadable, "this is a device, not a file");
  const std::string pipe = samples::path("pipe.mp4");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expectRefusal(pipe, ErrorCode::kFileUnreadable, "this is a pipe, not a file");
}

TEST(MediaFile, SaysWhyANameLeadsNowhere) {
  expectRefusal(samples::path("missing.mp4"), ErrorCode::kFileNotFound, "the file does not exist");
  const std::string dangling = samples::path("dangling.mp4");
  ASSERT_EQ(::symlink("nowhere.mp4", dangling.c_str()), 0);
  expectRefusal(dangling, ErrorCode::kFileNotFound, "this is a link to a file that does not exist");
  const std::string loop = samples::path("loop.mp4");
  ASSERT_EQ(::symlink(loop.c_str(), loop.c_str()), 0);
  expectRefusal(loop, ErrorCode::kFileUnreadable, "the links to the file form a loop");
  expectRefusal(samples::path(std::string(300, 'a')), ErrorCode::kFileNotFound, "the file name is too long");
  EXPECT_EQ(refusal("").reason, "no file name is given");
  EXPECT_EQ(refusal(std::string("a\0b", 3)).reason, "the file name holds a zero byte");
}

TEST(MediaFile, EmptyFileIsNamedAsSuch) {
  const std::string empty = samples::path("empty.mp4");
  samples::writeBytes(empty, {});
  expectRefusal(empty, ErrorCode::kEmptyFile, "the file is empty");
}

TEST(MediaFile, PermissionIsNamedAsSuch) {
  const std::string secret = samples::path("secret.mp4");
  samples::writeText(secret, "content");
  ASSERT_EQ(::chmod(secret.c_str(), 0), 0);
  // The super-user may read everything; stand aside as somebody who may not.
  const bool superUser = ::geteuid() == 0;
  if (superUser) {
    for (auto folder = std::filesystem::path(secret).parent_path(); folder != folder.root_path(); folder = folder.parent_path()) {
      std::filesystem::permissions(folder, std::filesystem::perms::others_exec, std::filesystem::perm_options::add);
    }
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const Error error = refusal(secret);
  if (superUser) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_EQ(error.code, ErrorCode::kFileUnreadable);
  EXPECT_EQ(error.reason, "there is no permission to read the file");
}

TEST(MediaFile, ReadsTheFileThatWasOpenedAfterTheNameChangedHands) {
  const std::string name = samples::path("a.bin");
  samples::writeText(name, "first");
  const MediaFile file(name);
  std::filesystem::remove(name);
  samples::writeText(name, "other and longer");
  const auto bytes = file.readRange(0, 100);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "first");
  EXPECT_TRUE(file.readRange(5, 1).empty());
  EXPECT_TRUE(file.readRange(-1, 1).empty());
}

TEST(ContentHash, IsTheSha256OfSmallFiles) {
  const std::string name = samples::path("abc");
  samples::writeText(name, "abc");
  EXPECT_EQ(contentHash(MediaFile(name)), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ContentHash, OfLargeFilesSeesSizeHeadAndTail) {
  const std::string name = samples::path("large");
  const auto hashWith = [&](std::int64_t size, std::int64_t markAt) {
    std::filesystem::remove(name);
    samples::writeText(name, "head");
    std::filesystem::resize_file(name, static_cast<std::uintmax_t>(size));
    if (markAt >= 0) {
      FILE* file = std::fopen(name.c_str(), "r+b");
      std::fseek(file, markAt, SEEK_SET);
      std::fputc('x', file);
      std::fclose(file);
    }
    return contentHash(MediaFile(name));
  };
  const std::int64_t size = kWholeHashBytes + 1000;
  const std::string plain = hashWith(size, -1);
  EXPECT_EQ(plain.size(), 64u);
  EXPECT_NE(hashWith(size + 1, -1), plain);
  EXPECT_NE(hashWith(size, 0), plain);
  EXPECT_NE(hashWith(size, size - 1), plain);
  EXPECT_EQ(hashWith(size, kWholeHashBytes / 2), plain) << "the middle of a large file is left out";
}

// By the kernel's own call, and by the steps that stand for it where there is none.
TEST(BeneathFolder, NothingBelowAFolderLeadsOutOfIt) {
  const std::string folder = samples::path("open");
  std::filesystem::create_directories(folder + "/inside");
  const std::vector<std::uint8_t> bytes = {1, 2, 3};
  samples::writeBytes(samples::path("secret"), bytes);
  samples::writeBytes(folder + "/inside/film", bytes);
  std::filesystem::create_symlink(samples::path("secret"), folder + "/link");
  std::filesystem::create_symlink("inside/film", folder + "/within");
  std::filesystem::create_symlink("..", folder + "/up");
  const auto opens = [&](const std::string& rest) {
    const BeneathFolder file{folder, rest};
    EXPECT_EQ(BeneathFolder::named(file.name())->rest, rest);
    const bool opened = static_cast<bool>(openBeneath(file, O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(static_cast<bool>(openStepByStep(file, O_RDONLY | O_CLOEXEC)), opened) << rest;
    return opened;
  };
  EXPECT_TRUE(opens("inside/film"));
  for (const char* none : {"../secret", "link", "within", "up/secret", "inside/../../secret", "missing", "/etc/passwd", ""})
    EXPECT_FALSE(opens(none)) << none;
  EXPECT_EQ(openMedia(BeneathFolder{folder, "inside/film"}.name()).sizeBytes, 3);
  EXPECT_EQ(refusal(BeneathFolder{folder, "link"}.name()).code, ErrorCode::kFileUnreadable);
  EXPECT_FALSE(BeneathFolder::named(folder + "/inside/film"));
}

}  // namespace
}  // namespace winnow::app
