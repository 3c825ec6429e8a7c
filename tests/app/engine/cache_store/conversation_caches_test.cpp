// The folder of kept conversations: the quota, who leaves first, and what is never touched.
#include "app/engine/cache_store/conversation_caches.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

class Caches : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = fs::temp_directory_path() / ("winnow-caches-" + std::to_string(::getpid())); }
  void TearDown() override { fs::remove_all(folder_); }

  void file(const std::string& name, std::size_t bytes, int ageS) {
    fs::create_directories(folder_);
    std::ofstream(folder_ / name) << std::string(bytes, 'x');
    fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - std::chrono::seconds(ageS));
  }
  using Ids = std::vector<ConversationId>;
  static Ids ids(const ConversationCaches& caches) {
    Ids all;
    for (const auto& entry : caches.entries()) all.push_back(entry.conversation);
    return all;
  }

  static pid_t endedProcess() {
    const pid_t process = ::fork();
    if (process == 0) ::_exit(0);
    ::waitpid(process, nullptr, 0);
    return process;
  }

  fs::path folder_;
};

TEST_F(Caches, LastUsedComesFirst) {
  file("1.safetensors", 100, 30);
  file("2.safetensors", 200, 10);
  file("3.safetensors", 300, 20);
  ConversationCaches caches(folder_.string());
  EXPECT_TRUE(caches.entries().empty()) << "nobody has looked";
  EXPECT_TRUE(caches.has(1));
  EXPECT_FALSE(caches.has(4));
  EXPECT_EQ(ids(caches), (Ids{2, 3, 1}));
  caches.used(1);
  EXPECT_EQ(ids(caches), (Ids{1, 2, 3}));
  ConversationCaches later(folder_.string());
  later.lookAtFolder();
  EXPECT_EQ(ids(later), (Ids{1, 2, 3})) << "a use outlives the program";
}

TEST_F(Caches, LeastRecentlyUsedLeavesWhereTheQuotaIsPassed) {
  file("1.safetensors", 400, 30);
  file("2.safetensors", 400, 20);
  file("3.safetensors", 400, 10);
  ConversationCaches caches(folder_.string());
  caches.setQuota({1000, 1000});
  caches.lookAtFolder();
  EXPECT_EQ(ids(caches), (Ids{3, 2}));
  EXPECT_FALSE(fs::exists(folder_ / "1.safetensors"));
  caches.used(2);
  file("4.safetensors", 700, 1000);
  caches.written(4);
  EXPECT_EQ(ids(caches), (Ids{4})) << "what was just written is the last to leave";
}

// Each has looked at the folder once; what the other does since is seen when a file is opened.
TEST_F(Caches, TwoProgramsOnOneFolderTakeNothingElseAway) {
  file("1.safetensors", 400, 30);
  ConversationCaches one(folder_.string());
  ConversationCaches two(folder_.string());
  one.setQuota({1000, 1000});
  two.setQuota({1000, 1000});
  ASSERT_TRUE(one.has(1));
  ASSERT_TRUE(two.has(1));
  two.remove(1);
  EXPECT_TRUE(one.has(1)) << "whoever opens it is told that it is gone";
  one.used(1);
  one.remove(1);
  EXPECT_FALSE(one.has(1));
  file("2.safetensors", 900, 0);
  one.written(2);
  file("3.safetensors", 900, 0);
  two.written(3);
  EXPECT_EQ(ids(one), (Ids{2}));
  EXPECT_EQ(ids(two), (Ids{3}));
  // One of them gone without a word: its entry goes with the next that is written.
  fs::remove(folder_ / "2.safetensors");
  file("4.safetensors", 900, 0);
  one.written(4);
  EXPECT_EQ(ids(one), (Ids{4}));
  EXPECT_TRUE(fs::exists(folder_ / "3.safetensors"));
}

TEST_F(Caches, OnlyFilesOfItsOwnAreRemoved) {
  file("1.safetensors", 10, 5);
  const std::string killed = "1.safetensors." + std::to_string(endedProcess()) + "-0.part";
  const std::string written = "2.safetensors." + std::to_string(::getppid()) + "-0.part";
  file(killed, 10, 5);
  file(written, 10, 5);
  file("holiday.safetensors", 5000, 50);
  file("12.safetensors.bak", 5000, 50);
  file("7.txt", 5000, 50);
  fs::create_directories(folder_ / "8.safetensors");
  ConversationCaches caches(folder_.string());
  caches.setQuota({100, 100});
  caches.lookAtFolder();
  EXPECT_EQ(ids(caches), (Ids{1}));
  EXPECT_FALSE(fs::exists(folder_ / killed)) << "of a program that was killed";
  EXPECT_TRUE(fs::exists(folder_ / written)) << "of a program that runs";
  for (const char* name : {"holiday.safetensors", "12.safetensors.bak", "7.txt", "8.safetensors"})
    EXPECT_TRUE(fs::exists(folder_ / name)) << name;
  caches.remove(1);
  EXPECT_FALSE(fs::exists(folder_ / "1.safetensors"));
  EXPECT_TRUE(ids(caches).empty());
}

TEST_F(Caches, SwitchedOffNothingIsFoundAndWhatIsForgottenGoes) {
  file("1.safetensors", 10, 5);
  file("2.safetensors", 10, 5);
  ConversationCaches caches(folder_.string());
  caches.setUse(CacheUse::kForgetOnly);
  EXPECT_FALSE(caches.has(1));
  caches.remove(2);
  EXPECT_FALSE(fs::exists(folder_ / "2.safetensors"));
  caches.setUse(CacheUse::kNone);
  caches.remove(1);
  EXPECT_TRUE(fs::exists(folder_ / "1.safetensors")) << "chats that are not saved have the numbers of others";
  caches.setUse(CacheUse::kKeep);
  EXPECT_TRUE(caches.has(1));
}

}  // namespace
}  // namespace winnow::app
