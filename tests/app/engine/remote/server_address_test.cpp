// Addresses as people type them, their one text form, and keys from where they are kept.
#include "app/engine/remote/server_address.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "app/engine/remote/key_ring.h"
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

TEST(ServerAddress, AKeyThatWasTypedIsNamedByItsServerAlone) {
  ServerAddress address = serverAddressOf("https://host/openai/v1#key=desktop");
  EXPECT_EQ(address.key, KeySource{KeySource::Kind::kDesktop});
  EXPECT_EQ(textOf(address), "https://host/openai/v1#key=desktop");
  EXPECT_EQ(address.origin(), "https://host");
  EXPECT_EQ(serverAddressOf("http://gpu:8000/v1").origin(), "http://gpu:8000");
  EXPECT_THROW(serverAddressOf("https://evil/v1#key=desktop:https://host"), Exception) << "nobody asks for another server's";
}

TEST(ServerAddress, RefusesWhatIsNone) {
  for (const char* text : {"", "   ", "ftp://host/", "http://", "http://a b/", "file:///etc/passwd", "http://host:99999/v1"})
    EXPECT_THROW(serverAddressOf(text), Exception) << text;
  test::expect_error(ErrorCode::kInvalidArgument, "an address holds no password", [] { serverAddressOf("http://me:secret@host/v1"); });
  EXPECT_THROW(serverAddressOf("http://host/v1#key=secret"), Exception) << "a key itself never stands in an address";
  EXPECT_FALSE(isServerAddress("/models/http"));
}

std::string keyIn(const KeySource& source) { return keyFrom({"http://gpu:8000/v1", "", source}, nullptr, {}); }

TEST(ServerKey, IsReadFromWhereItIsKept) {
  const test::ScratchFolder scratch;
  EXPECT_EQ(keyIn({}), "");
  EXPECT_EQ(keyIn({KeySource::Kind::kFile, scratch.write("key", "sk-one\nnote\n")}), "sk-one");
  setenv("WINNOW_TEST_KEY", "sk-two", 1);
  EXPECT_EQ(keyIn({KeySource::Kind::kEnvironment, "WINNOW_TEST_KEY"}), "sk-two");
}

TEST(ServerKey, IsMissedByTheNameOfItsPlace) {
  const test::ScratchFolder scratch;
  for (const char* bad : {"", "\n", "two words\n", "k\xC3\xBC\n", "a\tb"}) {
    const std::string path = scratch.write("key", bad);
    test::expect_error(ErrorCode::kServerKeyMissing, path, [&] { keyIn({KeySource::Kind::kFile, path}); });
  }
  test::expect_error(ErrorCode::kServerKeyMissing, "/nowhere/key", [] { keyIn({KeySource::Kind::kFile, "/nowhere/key"}); });
  test::expect_error(ErrorCode::kServerKeyMissing, "NO_SUCH_KEY", [] { keyIn({KeySource::Kind::kEnvironment, "NO_SUCH_KEY"}); });
  test::expect_error(ErrorCode::kServerKeyMissing, "http://gpu:8000", [] { keyIn({KeySource::Kind::kDesktop}); });
}

}  // namespace
}  // namespace winnow::app
