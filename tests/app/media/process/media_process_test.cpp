// The media process dies, hangs and lies: the file of it is refused by name, everything else goes on.
#include "app/media/process/media_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "app/media/files/media_opener.h"
#include "app/media/process/process_media_reader.h"
#include "tests/app/media/files/sample_files.h"
#include "tests/support/expect_error.h"

namespace winnow::app {
namespace {

using std::chrono::milliseconds;

MediaProcessSettings faulty(milliseconds patience = milliseconds(20'000)) {
  return {.program = workerProgram("faulty_media"), .patience = patience, .interruptPatience = milliseconds(200)};
}

// The same picture under this name, of which the program knows what to do.
std::string picture(const std::string& name) { return samples::make(name + ".png", "-f lavfi -i testsrc=s=64x48 -frames:v 1"); }

std::int64_t openFiles() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

std::string reasonOf(const ProcessMediaReader& reader, const std::string& file) {
  try {
    reader.openSource(samples::image(file), {})->read(0, 1, {});
  } catch (const Exception& problem) {
    EXPECT_EQ(problem.error().code, ErrorCode::kMediaCrashed) << problem.what();
    EXPECT_EQ(problem.error().subject, file);
    return problem.error().reason;
  }
  ADD_FAILURE() << file << " was read";
  return {};
}

class Faults : public testing::TestWithParam<const char*> {};

TEST_P(Faults, TheFileIsRefusedByNameAndTheNextOneRead) {
  const std::string bad = picture(GetParam());
  const std::string sound = picture("sound");
  const ProcessMediaReader reader(faulty(milliseconds(500)));
  EXPECT_FALSE(reasonOf(reader, bad).empty());
  const auto source = reader.openSource(samples::image(sound), {});
  EXPECT_TRUE(source->read(0, 1, {}).front().image.rgb == samples::readImage(sound).rgb);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Faults,
                         testing::Values("crash", "exit", "hang", "garbage", "half", "no-cbor", "other-answer", "interrupted", "descriptor",
                                         "huge", "no-number", "many-frames", "no-text", "long-name", "other-kind", "wrong-error",
                                         "later-crash", "later-exit", "later-hang", "later-garbage", "later-half", "later-no-pixels",
                                         "later-large-frame"),
                         [](const auto& each) {
                           std::string name(each.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST(MediaProcess, SaysHowItEnded) {
  const ProcessMediaReader reader(faulty(milliseconds(500)));
  EXPECT_EQ(reasonOf(reader, picture("crash")), "the process that reads media crashed (Segmentation fault)");
  EXPECT_EQ(reasonOf(reader, picture("exit")), "the process that reads media ended (status 7)");
  EXPECT_EQ(reasonOf(reader, picture("huge")), "the process that reads media gave an answer that is none");
  EXPECT_EQ(reasonOf(reader, picture("hang")), "the process that reads media has not answered for 0 s");
}

TEST(MediaProcess, OtherOpenFilesGoOn) {
  const std::string video = samples::make("sound.mp4", samples::numbered(20, 10) + " -c:v libx264 -preset ultrafast");
  const std::string bad = picture("later-crash");
  const ProcessMediaReader reader(faulty());
  const auto film = reader.openSource(samples::video(video, 4), {});
  EXPECT_EQ(film->read(0, 2, {}).size(), 2U);
  const auto expected = samples::openVideo(samples::video(video, 4))->read(2, 2, {});
  const auto taken = reader.openSource(samples::image(bad), {});
  EXPECT_THROW(taken->read(0, 1, {}), Exception);
  std::filesystem::remove(video);  // it is read on from what was opened
  const auto rest = film->read(2, 2, {});
  ASSERT_EQ(rest.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(rest[i].image.rgb == expected[i].image.rgb) << i;
  test::expect_error(ErrorCode::kMediaCrashed, "crashed", [&] { taken->read(0, 1, {}); });
}

TEST(MediaProcess, AnInterruptEndsOneThatHangs) {
  const std::string bad = picture("hang");
  const ProcessMediaReader reader(faulty());
  InterruptSource source;
  std::thread raise([&] {
    std::this_thread::sleep_for(milliseconds(100));
    source.request_stop();
  });
  EXPECT_THROW(reader.openSource(samples::image(bad), source.token()), Interrupted);
  raise.join();
  EXPECT_EQ(reader.process().pid(), -1);
}

TEST(MediaProcess, AnInterruptEndsOneThatDoesNotStart) {
  MediaProcessSettings settings{.program = "/bin/sleep", .arguments = {"100"}};
  const ProcessMediaReader reader(settings);
  InterruptSource source;
  std::thread raise([&] {
    std::this_thread::sleep_for(milliseconds(100));
    source.request_stop();
  });
  EXPECT_THROW(reader.openSource(samples::image(picture("sound")), source.token()), Interrupted);
  raise.join();
  EXPECT_EQ(reader.process().pid(), -1);
}

// The kernel ends it with the thread that started it, which must not be the one that asked.
TEST(MediaProcess, OutlivesTheThreadThatAskedFirst) {
  const std::string file = picture("sound");
  const ProcessMediaReader reader;
  std::thread([&] { reader.detectKind(file); }).join();
  const pid_t pid = reader.process().pid();
  EXPECT_EQ(reader.openSource(samples::image(file), {})->read(0, 1, {}).size(), 1U);
  EXPECT_EQ(reader.process().pid(), pid);
}

TEST(MediaProcess, KnowsNoKeyOfTheUsers) {
  ::setenv("HF_TOKEN", "hf_secret", 1);
  const ProcessMediaReader reader;
  reader.detectKind(picture("sound"));
  std::ifstream file("/proc/" + std::to_string(reader.process().pid()) + "/environ", std::ios::binary);
  const std::string variables((std::istreambuf_iterator<char>(file)), {});
  ::unsetenv("HF_TOKEN");
  EXPECT_EQ(variables.find("hf_secret"), std::string::npos);
  EXPECT_EQ(variables.find("HOME="), std::string::npos);
}

TEST(MediaProcess, OneThatWasKilledBetweenQuestionsIsReplaced) {
  const std::string file = samples::make("a.mp4", samples::numbered(20, 10) + " -c:v libx264 -preset ultrafast");
  const ProcessMediaReader reader;
  const auto source = reader.openSource(samples::video(file, 4), {});
  for (int i = 0; i < 4; ++i) {
    const pid_t pid = reader.process().pid();
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    siginfo_t ended{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(source->read(i, 1, {}).size(), 1U) << i;
    EXPECT_NE(reader.process().pid(), pid);
  }
}

// WINNOW_KILLS=1000 for a campaign.
TEST(MediaProcess, KilledAtAnyMomentItAnswersTheNextQuestion) {
  const char* const asked = std::getenv("WINNOW_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 30;
  const std::string file = samples::make("a.mp4", samples::numbered(60, 10) + " -c:v libx264 -preset ultrafast -g 10");
  const std::vector<SampledFrame> expected = samples::openVideo(samples::video(file, 6))->read(0, 6, {});
  std::mt19937 random(20'261);
  const ProcessMediaReader reader;
  const auto kept = reader.openSource(samples::video(file, 6), {});
  const std::int64_t files = openFiles();
  int died = 0;
  for (int i = 0; i < kills; ++i) {
    reader.process().sandbox();  // one runs
    const OpenFile process(static_cast<int>(::syscall(SYS_pidfd_open, reader.process().pid(), 0)));
    std::thread killer([&process, after = std::chrono::microseconds(random() % 20'000)] {
      std::this_thread::sleep_for(after);
      ::syscall(SYS_pidfd_send_signal, process.descriptor(), SIGKILL, nullptr, 0);
    });
    try {
      for (int part = 0; part < 4; ++part) reader.openSource(samples::video(file, 6), {})->read(0, 6, {});
    } catch (const Exception& problem) {
      EXPECT_EQ(problem.error().code, ErrorCode::kMediaCrashed) << problem.what();
      ++died;
    }
    killer.join();
    pollfd gone{process.descriptor(), POLLIN, 0};
    ASSERT_EQ(::poll(&gone, 1, 10'000), 1);
    const auto frames = kept->read(i % 6, 1, {});
    ASSERT_TRUE(frames.front().image.rgb == expected[static_cast<std::size_t>(i % 6)].image.rgb) << "kill " << i;
  }
  EXPECT_GT(died, 0) << "no kill met a question";
  EXPECT_EQ(openFiles(), files);
}

TEST(MediaProcess, KeepsNoFileAndLeavesNoProcess) {
  const std::string file = samples::make("a.mp4", samples::numbered(20, 10) + " -c:v libx264 -preset ultrafast");
  pid_t pid = -1;
  const std::int64_t before = openFiles();
  {
    const ProcessMediaReader reader;
    reader.openSource(samples::video(file, 2), {})->read(0, 2, {});
    pid = reader.process().pid();
    const std::int64_t running = openFiles();
    const auto theirs = [&] {
      const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid) + "/fd");
      return std::distance(all, std::filesystem::directory_iterator());
    };
    reader.detectKind(file);  // answered after the source was closed
    const auto held = theirs();
    for (int i = 0; i < 200; ++i) {
      reader.openSource(samples::video(file, 2), {})->read(0, 1, {});
      EXPECT_THROW(reader.openSource(samples::image(file), {}), Exception);
    }
    reader.detectKind(file);
    EXPECT_EQ(openFiles(), running);
    EXPECT_LE(theirs(), held + 1) << "the last question's file may be about to be closed";
    EXPECT_EQ(reader.process().pid(), pid) << "an error is no death";
  }
  EXPECT_EQ(openFiles(), before);
  EXPECT_NE(::kill(pid, 0), 0) << "it is still there";
}

// 64 megapixels: legal, and more than this process may have.
TEST(MediaProcess, MemoryThatIsNotThereIsAnErrorOfThisFile) {
  const std::string large = samples::make("large.png", "-f lavfi -i color=red:s=8000x7900 -frames:v 1 -pix_fmt rgb24");
  const std::string small = picture("small");
  MediaProcessSettings settings{.memoryBytes = std::int64_t{768} << 20};
  const ProcessMediaReader reader(settings);
  try {
    reader.openSource(samples::image(large), {})->read(0, 1, {});
    FAIL() << "it was read";
  } catch (const Exception& problem) {
    EXPECT_EQ(problem.error().subject, large);
  }
  EXPECT_EQ(reader.openSource(samples::image(small), {})->read(0, 1, {}).size(), 1U);
}

TEST(MediaProcess, ProcessorTimeIsBounded) {
  const std::string file = picture("a");
  MediaProcessSettings settings{.limits = {.decodeBudgetMs = 5'000}};
  const ProcessMediaReader reader(settings);
  const auto source = reader.openSource(samples::image(file), {});
  std::ifstream limits("/proc/" + std::to_string(reader.process().pid()) + "/limits");
  std::string line;
  while (std::getline(limits, line) && !line.starts_with("Max cpu time")) {
  }
  EXPECT_GE(std::stoi(line.substr(20)), 5) << line;
}

TEST(MediaProcess, SaysThatTheProgramIsMissing) {
  MediaProcessSettings settings{.program = workerProgram("no-such-program")};
  test::expect_error(ErrorCode::kInternal, "cannot be started", [&] { ProcessMediaReader(settings).detectKind("/proc/self/exe"); });
  settings.program = "/bin/true";
  const std::string file = picture("a");
  test::expect_error(ErrorCode::kInternal, "ended (status 0)", [&] { ProcessMediaReader(settings).detectKind(file); });
}

TEST(MediaProcess, OneOfAnotherVersionIsRefused) {
  MediaProcessSettings settings = faulty();
  settings.arguments = {"another-version"};
  const ProcessMediaReader reader(settings);
  test::expect_error(ErrorCode::kInternal, "another version", [&] { reader.openSource(samples::image(picture("sound")), {}); });
  EXPECT_EQ(reader.process().pid(), -1);
}

TEST(MediaProcess, WithoutASandboxThatIsRequiredFilesAreRefusedByName) {
  MediaProcessSettings settings = faulty();
  settings.arguments = {"no-sandbox"};
  const std::string file = picture("sound");
  EXPECT_EQ(ProcessMediaReader(settings).openSource(samples::image(file), {})->read(0, 1, {}).size(), 1U) << "nobody asked for one";
  settings.requireSandbox = true;
  const ProcessMediaReader reader(settings);
  for (int i = 0; i < 2; ++i)
    test::expect_error(ErrorCode::kFileUnreadable, file + ": this system refuses the sandbox",
                       [&] { reader.openSource(samples::image(file), {}); });
  MediaProcessSettings held{.requireSandbox = true};
  EXPECT_EQ(ProcessMediaReader(held).openSource(samples::image(file), {})->read(0, 1, {}).size(), 1U);
}

TEST(MediaProcess, TellsWhatTheKernelHoldsAndLacks) {
  EXPECT_EQ(wordsOf({true, 7, true}), "system calls (seccomp), files (Landlock 7), memory");
  EXPECT_EQ(wordsOf({true, 0, true}), "system calls (seccomp), memory; this kernel has no Landlock");
  EXPECT_EQ(wordsOf({}), "nothing is held; this kernel has no seccomp, no Landlock, no bound of memory");
  const ProcessMediaReader reader;
  const SandboxReport report = reader.process().sandbox();
  EXPECT_TRUE(report.systemCalls);
  EXPECT_TRUE(report.memory);
}

}  // namespace
}  // namespace winnow::app
