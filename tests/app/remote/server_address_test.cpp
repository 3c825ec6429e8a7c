// Addresses as people type them, their one text form, and keys from where they are kept.
#include "app/remote/server_address.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "app/remote/server_key.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

TEST(ServerAddress, IsCompletedAndCut) {
  const char* const typed[] = {"gpu:8000",
                               "http://gpu:8000",
                               "http://gpu:8000/",
                               " http://gpu:8000/v1/ ",
                               "http://gpu:8000/v1/chat/completions",
                               "http://gpu:8000/v1/models"};
  for (const char* text : typed) EXPECT_EQ(serverAddressOf(text).url, "http://gpu:8000/v1") << text;
  EXPECT_EQ(serverAddressOf("https://host/openai/v1beta/").url, "https://host/openai/v1beta");
  EXPECT_EQ(serverAddressOf("gpu:8000").root(), "http://gpu:8000");
  EXPECT_EQ(serverAddressOf("http://[::1]:80/v1").host(), "[::1]:80");
}

TEST(ServerAddress, SurvivesItsText) {
  const ServerAddress address{"https://host:1/v1", "Qwen/Qwen2-VL & more#1", {KeySource::Kind::kFile, "/home/me/a key&b=c"}};
  EXPECT_EQ(serverAddressOf(textOf(address)), address);
  EXPECT_TRUE(isServerAddress(textOf(address)));
  EXPECT_EQ(serverAddressOf(textOf(ServerAddress{"http://h/v1"})), ServerAddress{"http://h/v1"});
}

TEST(ServerAddress, RefusesWhatIsNone) {
  for (const char* text : {"", "   ", "ftp://host/", "http://", "http://a b/", "file:///etc/passwd", "http://host:99999/v1"})
    EXPECT_THROW(serverAddressOf(text), Exception) << text;
  test::expect_error(ErrorCode::kInvalidArgument, "an address holds no password", [] { serverAddressOf("http://me:secret@host/v1"); });
  EXPECT_THROW(serverAddressOf("http://host/v1#key=secret"), Exception) << "a key itself never stands in an address";
  EXPECT_FALSE(isServerAddress("/models/http"));
}

TEST(ServerKey, IsReadFromWhereItIsKept) {
  const test::ScratchFolder scratch;
  EXPECT_EQ(keyFrom({}), "");
  EXPECT_EQ(keyFrom({KeySource::Kind::kFile, scratch.write("key", "sk-one\nnote\n")}), "sk-one");
  setenv("WINNOW_TEST_KEY", "sk-two", 1);
  EXPECT_EQ(keyFrom({KeySource::Kind::kEnvironment, "WINNOW_TEST_KEY"}), "sk-two");
}

TEST(ServerKey, IsMissedByTheNameOfItsPlace) {
  const test::ScratchFolder scratch;
  for (const char* bad : {"", "\n", "two words\n", "k\xC3\xBC\n", "a\tb"}) {
    const std::string path = scratch.write("key", bad);
    test::expect_error(ErrorCode::kServerKeyMissing, path, [&] { keyFrom({KeySource::Kind::kFile, path}); });
  }
  test::expect_error(ErrorCode::kServerKeyMissing, "/nowhere/key", [] { keyFrom({KeySource::Kind::kFile, "/nowhere/key"}); });
  test::expect_error(ErrorCode::kServerKeyMissing, "NO_SUCH_KEY", [] { keyFrom({KeySource::Kind::kEnvironment, "NO_SUCH_KEY"}); });
}

}  // namespace
}  // namespace winnow::app
