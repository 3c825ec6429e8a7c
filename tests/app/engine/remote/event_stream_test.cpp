// Server-sent events are read however their bytes are cut, and nothing without an end is kept.
#include "app/engine/remote/event_stream.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/support/expect_error.h"

namespace winnow::app {
namespace {

std::vector<std::string> eventsOf(const std::string& bytes, std::size_t step) {
  EventStream stream;
  std::vector<std::string> events;
  const auto take = [&](std::string_view data) { events.emplace_back(data); };
  for (std::size_t at = 0; at < bytes.size(); at += step) stream.add(std::string_view(bytes).substr(at, step), take);
  stream.end(take);
  return events;
}

TEST(EventStream, ReadsEveryLineEndAndAnyCut) {
  const std::string bytes =
      "\xEF\xBB\xBF"
      "data: one\n\n: a comment\r\nevent: x\r\ndata:two\r\ndata: lines\r\n\r\nid: 7\rdata: three\r\rdata: \n\ndata: last";
  const std::vector<std::string> expected = {"one", "two\nlines", "three", "", "last"};
  for (std::size_t step = 1; step <= bytes.size(); ++step) EXPECT_EQ(eventsOf(bytes, step), expected) << "pieces of " << step;
}

TEST(EventStream, TellsTheNameOfAnEventWhileItIsTaken) {
  EventStream stream;
  std::vector<std::string> names;
  stream.add("event: error\ndata: one\n\ndata: two\n\nevent: x\n\ndata: three\nevent:late\n\n",
             [&](std::string_view) { names.push_back(stream.name()); });
  EXPECT_EQ(names, (std::vector<std::string>{"error", "", "late"}));
}

TEST(EventStream, ALineWithoutAnEndIsRefused) {
  EventStream stream;
  const std::string piece(64 << 10, 'x');
  test::expect_error(ErrorCode::kServerNotUnderstood, "a line of the answer has no end", [&] {
    for (int i = 0; i < 130; ++i) stream.add(piece, [](std::string_view) {});
  });
}

TEST(EventStream, AnEventOfLinesWithoutAnEndIsRefused) {
  EventStream stream;
  const std::string line = "data: " + std::string(1000, 'x') + "\n";
  test::expect_error(ErrorCode::kServerNotUnderstood, "an event of the answer has no end", [&] {
    for (int i = 0; i < 10'000; ++i) stream.add(line, [](std::string_view) {});
  });
}

TEST(EventStream, RandomBytesAreSkippedOrRefused) {
  std::mt19937 random(7);
  const std::string letters = "data: \n\r{}x\0";
  for (int run = 0; run < 200; ++run) {
    std::string bytes;
    for (int i = 0; i < 400; ++i) bytes += letters[random() % letters.size()];
    EXPECT_EQ(eventsOf(bytes, 1), eventsOf(bytes, bytes.size())) << "run " << run;
  }
}

}  // namespace
}  // namespace winnow::app
