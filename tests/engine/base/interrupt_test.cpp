#include "engine/base/interrupt.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace winnow {
namespace {

bool any_readable(const std::vector<int>& descriptors, int patience_ms = 0) {
  std::vector<pollfd> entries;
  for (const int descriptor : descriptors) entries.push_back({descriptor, POLLIN, 0});
  return ::poll(entries.data(), entries.size(), patience_ms) > 0;
}

TEST(Interrupt, OneThatCannotBeRaisedHasNoDescriptor) { EXPECT_TRUE(InterruptToken().descriptors().empty()); }

TEST(Interrupt, DescriptorsFollowTheState) {
  InterruptSource source;
  const InterruptToken token = source.token();
  EXPECT_FALSE(any_readable(token.descriptors()));
  source.request_stop();
  EXPECT_TRUE(any_readable(token.descriptors())) << "asked for before";
  EXPECT_FALSE(any_readable(token.descriptors(Interrupt::kStop)));
  source.request_cancel();
  EXPECT_TRUE(any_readable(token.descriptors(Interrupt::kStop)));
  EXPECT_TRUE(token.descriptors(Interrupt::kCancel).empty());
  EXPECT_TRUE(any_readable(token.descriptors())) << "it stays readable";
}

TEST(Interrupt, ADescriptorAskedForAfterwardsIsReadable) {
  InterruptSource source;
  source.request_cancel();
  EXPECT_TRUE(any_readable(source.token().descriptors()));
  EXPECT_TRUE(any_readable(source.token().descriptors(Interrupt::kStop)));
}

TEST(Interrupt, ATokenWaitsForItsParents) {
  InterruptSource program;
  InterruptSource request(program.token());
  const std::vector<int> descriptors = request.token().descriptors();
  EXPECT_FALSE(any_readable(descriptors));
  program.request_stop();
  EXPECT_TRUE(any_readable(descriptors));
  EXPECT_EQ(request.token().state(), Interrupt::kStop);
}

TEST(Interrupt, DescriptorsOutliveTheSource) {
  InterruptToken token;
  {
    InterruptSource source;
    token = source.token();
    source.request_stop();
  }
  EXPECT_TRUE(any_readable(token.descriptors()));
}

// Whoever asks for a descriptor while the token is raised hears of it, in whichever order the two come.
TEST(Interrupt, NoRaiseIsLostBetweenAskingAndWaiting) {
  for (int i = 0; i < 2000; ++i) {
    InterruptSource source;
    const InterruptToken token = source.token();
    std::thread raise([&] { source.request_stop(); });
    const bool heard = any_readable(token.descriptors(), 5000);
    raise.join();
    ASSERT_TRUE(heard) << i;
  }
}

}  // namespace
}  // namespace winnow
