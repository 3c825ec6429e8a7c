#include "engine/device/work_team.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace winnow {
namespace {

class WorkTeam : public ::testing::Test {
 protected:
  ~WorkTeam() override { at::set_num_threads(before_); }
  int before_ = at::get_num_threads();
};

// How often each of `count` places was passed by pieces.
std::vector<int> times_passed(std::int64_t count, std::int64_t grain) {
  std::vector<std::atomic<int>> passed(static_cast<std::size_t>(count));
  share_work(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++passed[static_cast<std::size_t>(i)];
  });
  return {passed.begin(), passed.end()};
}

TEST_F(WorkTeam, PassesEveryPlaceOnce) {
  for (const int threads : {1, 2, 5}) {
    at::set_num_threads(threads);
    for (const std::int64_t count : {0, 1, 2, 7, 8, 9, 39, 1000}) {
      for (const std::int64_t grain : {1, 3, 1000}) {
        EXPECT_EQ(times_passed(count, grain), std::vector<int>(static_cast<std::size_t>(count), 1)) << count << " by " << grain;
      }
    }
  }
}

// Loops that follow each other at once, and after times at which the others spin or sleep.
TEST_F(WorkTeam, ManyLoopsInARow) {
  at::set_num_threads(3);
  std::int64_t sum = 0;
  for (int loop = 0; loop < 20000; ++loop) {
    if (loop % 4000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<std::int64_t> own{0};
    share_work(24, 1, [&](std::int64_t begin, std::int64_t end) { own += (end - begin) * (loop % 7); });
    sum += own;
  }
  std::int64_t expected = 0;
  for (int loop = 0; loop < 20000; ++loop) expected += 24 * (loop % 7);
  EXPECT_EQ(sum, expected);
}

TEST_F(WorkTeam, AsManyPiecesAsGrainsAreBegun) {
  at::set_num_threads(2);
  std::mutex mutex;
  std::multiset<std::int64_t> lengths;
  share_work(100, 30, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    lengths.insert(end - begin);
  });
  EXPECT_EQ(lengths, (std::multiset<std::int64_t>{25, 25, 25, 25}));
}

TEST_F(WorkTeam, OtherThreadsTakePieces) {
  at::set_num_threads(2);
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  // Each piece waits for another one to be begun, for a while.
  share_work(8, 1, [&](std::int64_t, std::int64_t) {
    ++inside;
    for (int i = 0; i < 2000 && !met; ++i) {
      if (inside >= 2) met = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    --inside;
  });
  EXPECT_TRUE(met);
}

TEST_F(WorkTeam, WhatAPieceThrowsArrives) {
  at::set_num_threads(3);
  for (int i = 0; i < 50; ++i) {
    std::atomic<int> done{0};
    EXPECT_THROW(share_work(12, 1,
                            [&](std::int64_t begin, std::int64_t) {
                              if (begin == 5) throw std::runtime_error("five");
                              ++done;
                            }),
                 std::runtime_error);
    EXPECT_EQ(done, 11) << "the others have ended";
  }
  EXPECT_EQ(times_passed(12, 1), std::vector<int>(12, 1));
}

TEST_F(WorkTeam, ALoopWithinAPieceRunsThere) {
  at::set_num_threads(2);
  std::atomic<int> inner{0};
  share_work(8, 1, [&](std::int64_t, std::int64_t) {
    const std::thread::id here = std::this_thread::get_id();
    share_work(4, 1, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      inner += static_cast<int>(end - begin);
    });
  });
  EXPECT_EQ(inner, 32);
}

TEST_F(WorkTeam, TwoCallersAtOnce) {
  at::set_num_threads(2);
  const auto many = [] {
    for (int i = 0; i < 500; ++i) EXPECT_EQ(times_passed(16, 1), std::vector<int>(16, 1));
  };
  std::thread other(many);
  many();
  other.join();
}

}  // namespace
}  // namespace winnow
