#include "app/ground/worker/worker_channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <numeric>
#include <thread>

namespace winnow::app {
namespace {

using std::chrono::milliseconds;
using Bytes = std::vector<std::uint8_t>;

struct Ends {
  explicit Ends(const std::array<int, 2>& pair) : one(OpenFile(pair[0])), other(OpenFile(pair[1])) {}
  WorkerChannel one, other;
};

std::array<int, 2> connected() {
  std::array<int, 2> pair{-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  return pair;
}

ChannelBroken::Cause breaking(WorkerChannel& channel) {
  try {
    while (channel.receive(milliseconds(1000))) {
    }
  } catch (const ChannelBroken& broken) {
    return broken.cause();
  }
  ADD_FAILURE() << "it is not broken";
  return {};
}

// What a hostile process might write, as it lies on the wire.
void write(int socket, const void* bytes, std::size_t count) { ASSERT_EQ(::write(socket, bytes, count), static_cast<ssize_t>(count)); }

struct Header {
  std::uint32_t mark = 0x314d4e57, kind = 7;
  std::uint64_t bytes = 0;
  std::uint32_t files = 0, unused = 0;
};

TEST(WorkerChannel, KeepsMessagesWholeAndInOrder) {
  Ends ends(connected());
  Bytes large(5'000'000);
  std::iota(large.begin(), large.end(), std::uint8_t{0});
  std::thread sender([&] {
    ends.one.send(1, {});
    ends.one.send(2, large);
    ends.one.send(3, Bytes{9});
  });
  for (const Bytes& expected : {Bytes{}, large, Bytes{9}}) {
    const auto message = ends.other.receive(milliseconds(10'000));
    ASSERT_TRUE(message);
    EXPECT_TRUE(message->bytes == expected);
  }
  sender.join();
  EXPECT_FALSE(ends.other.receive(milliseconds(0))) << "nothing more has come";
}

TEST(WorkerChannel, HandsOverOpenFiles) {
  Ends ends(connected());
  const OpenFile file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ends.one.send(4, Bytes{1, 2}, std::array{file.descriptor(), file.descriptor()});
  const auto message = ends.other.receive(milliseconds(1000));
  ASSERT_TRUE(message);
  ASSERT_EQ(message->files.size(), 2U);
  char magic[4] = {};
  EXPECT_EQ(::pread(message->files[1].descriptor(), magic, 4, 0), 4);
  EXPECT_EQ(std::string(magic, 4),
            "\x7f"
            "ELF");
  EXPECT_EQ(::fcntl(message->files[0].descriptor(), F_GETFD), FD_CLOEXEC);
}

TEST(WorkerChannel, WaitsForTheRestOfAMessage) {
  const auto pair = connected();
  WorkerChannel channel{OpenFile(pair[0])};
  const OpenFile raw(pair[1]);
  const Header header{.bytes = 3};
  write(raw.descriptor(), &header, 10);
  EXPECT_FALSE(channel.receive(milliseconds(1)));
  write(raw.descriptor(), reinterpret_cast<const char*>(&header) + 10, sizeof header - 10);
  write(raw.descriptor(), "ab", 2);
  EXPECT_FALSE(channel.receive(milliseconds(1)));
  write(raw.descriptor(), "c", 1);
  const auto message = channel.receive(milliseconds(1000));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, 7U);
  EXPECT_EQ(message->bytes, (Bytes{'a', 'b', 'c'}));
}

TEST(WorkerChannel, EndsWithTheOtherSide) {
  const Header header{.bytes = 3};
  for (const std::size_t sent : {std::size_t{0}, std::size_t{5}, sizeof header}) {
    const auto pair = connected();
    WorkerChannel channel{OpenFile(pair[0])};
    {
      const OpenFile raw(pair[1]);
      write(raw.descriptor(), &header, sent);
    }
    EXPECT_EQ(breaking(channel), ChannelBroken::Cause::kClosed) << sent;
    EXPECT_THROW(channel.send(1, Bytes{1}), ChannelBroken);
  }
}

TEST(WorkerChannel, RefusesWhatIsNoMessage) {
  Header no_mark, too_long, too_many, missing;
  no_mark.mark = 1;
  too_long.bytes = WorkerChannel::kMostBytes + 1;
  too_many.files = WorkerChannel::kMostFiles + 1;
  missing.files = 1;  // announced and not sent
  for (const Header& header : {no_mark, too_long, too_many, missing}) {
    const auto pair = connected();
    WorkerChannel channel{OpenFile(pair[0])};
    const OpenFile raw(pair[1]);
    write(raw.descriptor(), &header, sizeof header);
    EXPECT_EQ(breaking(channel), ChannelBroken::Cause::kGarbage);
  }
}

}  // namespace
}  // namespace winnow::app
