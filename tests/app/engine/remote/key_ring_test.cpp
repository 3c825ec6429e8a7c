// Keys that are typed: whose they are, where they stay, and what is done where no desktop keeps them.
#include "app/engine/remote/key_ring.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "tests/support/expect_error.h"
#include "tests/support/fake_secret_service.h"
#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

using test::FakeSecretService;
using test::waitUntil;

class KeyRingTest : public testing::Test {
 protected:
  void SetUp() override { start(); }
  // As the program does when it starts again.
  void start() {
    m_ring = std::make_unique<KeyRing>(std::make_unique<FakeSecretService>(m_desktop));
    QObject::connect(m_ring.get(), &KeyRing::kept, m_ring.get(), [this] { ++m_kept; });
    QObject::connect(m_ring.get(), &KeyRing::notKept, m_ring.get(), [this](const Error& why) { m_why = why; });
  }
  std::string keyOf(const ServerAddress& address) { return keyFrom(address, m_ring.get(), {}); }

  const ServerAddress m_gpu = serverAddressOf("https://gpu:8000/v1#key=desktop&model=a");
  std::shared_ptr<FakeSecretService::Record> m_desktop = std::make_shared<FakeSecretService::Record>();  // shared: the ring asks it
  std::unique_ptr<KeyRing> m_ring;
  int m_kept = 0;
  std::optional<Error> m_why;
};

TEST_F(KeyRingTest, KeepsAKeyOverStarts) {
  m_ring->keep(m_gpu, "sk-typed");
  EXPECT_EQ(keyOf(m_gpu), "sk-typed") << "at once";
  ASSERT_TRUE(waitUntil([&] { return m_kept == 1; }));
  EXPECT_EQ(m_desktop->secret("https://gpu:8000"), "sk-typed");
  start();
  EXPECT_EQ(keyOf(m_gpu), "sk-typed");
  EXPECT_EQ(keyOf(serverAddressOf("https://gpu:8000/v1#key=desktop&model=b")), "sk-typed") << "whichever model";
  const int asked = m_desktop->asked;
  EXPECT_EQ(keyOf(m_gpu), "sk-typed");
  EXPECT_EQ(m_desktop->asked, asked) << "the desktop is asked once";
}

TEST_F(KeyRingTest, AKeyIsNoOtherServers) {
  m_ring->keep(m_gpu, "sk-typed");
  for (const char* other : {"http://gpu:8000/v1#key=desktop", "https://gpu/v1#key=desktop", "https://evil:8000/v1#key=desktop"})
    test::expect_error(ErrorCode::kServerKeyMissing, "the desktop keeps none", [&] { keyOf(serverAddressOf(other)); });
}

TEST_F(KeyRingTest, WhereNoDesktopKeepsItIsHeldAndThatIsSaid) {
  m_desktop->mood = FakeSecretService::Mood::kRefuses;
  m_ring->keep(m_gpu, "sk-typed");
  ASSERT_TRUE(waitUntil([&] { return m_why.has_value(); }));
  EXPECT_EQ(m_why->code, ErrorCode::kServerKeyMissing);
  EXPECT_EQ(m_why->subject, "https://gpu:8000");
  EXPECT_EQ(m_why->reason, "there is no keyring");
  EXPECT_EQ(keyOf(m_gpu), "sk-typed");
  EXPECT_TRUE(m_desktop->secret("https://gpu:8000").empty());
  start();
  test::expect_error(ErrorCode::kServerKeyMissing, "there is no keyring", [&] { keyOf(m_gpu); });
}

TEST_F(KeyRingTest, WhetherTheDesktopKeepsKeysIsAskedBeforeAnyIsTyped) {
  using Desktop = KeyRing::Desktop;
  EXPECT_EQ(m_ring->desktop(), Desktop::kUnknown);
  m_ring->look();
  EXPECT_TRUE(waitUntil([&] { return m_ring->desktop() == Desktop::kKeeps; }));
  m_desktop->mood = FakeSecretService::Mood::kRefuses;
  start();
  m_ring->look();
  EXPECT_TRUE(waitUntil([&] { return m_ring->desktop() == Desktop::kKeepsNothing; }));
  m_desktop->mood = FakeSecretService::Mood::kKeeps;
  m_ring->keep(m_gpu, "sk-typed");
  EXPECT_TRUE(waitUntil([&] { return m_ring->desktop() == Desktop::kKeeps; })) << "one was started meanwhile";
}

TEST_F(KeyRingTest, AKeyThatIsOnlyTriedIsNotKept) {
  m_ring->hold(m_gpu, "sk-tried");
  EXPECT_EQ(keyOf(m_gpu), "sk-tried");
  EXPECT_EQ(m_desktop->asked, 0);
}

// A locked key store asks its person for a password, who may be away.
TEST_F(KeyRingTest, WhoWaitsForTheDesktopCanBeInterrupted) {
  m_desktop->mood = FakeSecretService::Mood::kWaitsForItsPerson;
  InterruptSource stop;
  const auto find = [&] { return keyFrom(m_gpu, m_ring.get(), stop.token()); };
  std::future<std::string> first = std::async(std::launch::async, find);
  ASSERT_TRUE(waitUntil([&] { return m_desktop->asked == 1; }));
  stop.request_cancel();
  EXPECT_THROW(first.get(), Interrupted);
  m_ring->keep(m_gpu, "sk-typed");
  m_ring.reset();  // would wait for ever
  EXPECT_EQ(m_kept, 0);
}

}  // namespace
}  // namespace winnow::app
