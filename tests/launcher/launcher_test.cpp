// ./winnow itself, in a copy of the tree's top, with stand-ins for cmake, ninja and what it asks the machine.
//
// The stand-in for a build takes as long as BUILD_SECONDS says, writes when it begins and ends, and makes a program that says what it was
// called with.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/support/scratch_folder.h"
#include "tests/support/shell.h"
#include "tests/support/source_folder.h"

namespace winnow::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCmake = R"sh(#!/bin/sh
if [ "$1" = --build ]; then
  echo begin >>calls
  sleep "${BUILD_SECONDS:-0}"
  if [ -n "$BUILD_FAILS" ]; then echo end >>calls; exit 1; fi
  mkdir -p build/release/bin
  printf '#!/bin/sh\necho "program: $*"\nsleep "${PROGRAM_SECONDS:-0}"\nexit "${PROGRAM_CODE:-0}"\n' >build/release/bin/winnow-cli
  chmod +x build/release/bin/winnow-cli
  cp build/release/bin/winnow-cli build/release/bin/winnow
  echo 'built something'
  echo end >>calls
  exit 0
fi
echo configure >>calls
mkdir -p build/release
touch build/release/build.ninja
for word; do case $word in -D*) echo "${word#-D}" | sed 's/=/:PATH=/' ;; esac; done >build/release/CMakeCache.txt
)sh";

constexpr const char* kNinja = R"sh(#!/bin/sh
if [ -x "$2/bin/winnow-cli" ]; then echo 'ninja: no work to do.'; else echo '[1/1] something'; fi
)sh";

constexpr const char* kCtest = R"sh(#!/bin/sh
echo "ctest: $*"
)sh";

constexpr const char* kDpkgQuery = R"sh(#!/bin/sh
for word; do case $word in -*|*'{'*|"$MISSING_PACKAGE") ;; *) echo "ii  $word" ;; esac; done
)sh";

constexpr const char* kRefuses = "#!/bin/sh\nexit 1\n";

class Launcher : public ::testing::Test {
 protected:
  Launcher() {
    const fs::path source = source_folder();
    fs::create_directories(tree() / "packaging/deps");
    fs::copy_file(source / "winnow", tree() / "winnow");
    for (const char* list : {"debian.txt", "libtorch.txt", "cuda.txt"}) {
      fs::copy_file(source / "packaging/deps" / list, tree() / "packaging/deps" / list);
    }
    fs::create_directories(tree() / ".deps/site-packages");
    fs::copy_file(source / "packaging/deps/libtorch.txt", tree() / ".deps/site-packages/.winnow-complete");
    stand_in("cmake", kCmake);
    stand_in("ninja", kNinja);
    stand_in("ctest", kCtest);
    stand_in("dpkg-query", kDpkgQuery);
    for (const char* name : {"nvidia-smi", "sudo", "apt-get"}) stand_in(name, kRefuses);
  }

  fs::path tree() const { return scratch_.file("tree"); }
  void stand_in(const std::string& name, const std::string& text) const {
    const fs::path file = fs::path(scratch_.file("bin")) / name;
    write_file(file, text);
    fs::permissions(file, fs::perms::owner_all);
  }
  // A shell word that runs the launcher; its words go to `out`, the launcher's and the build's to `err`, named after `name`.
  std::string line(const std::string& name, const std::string& arguments, const std::string& settings = "") const {
    return "env " + settings + " PATH=" + shell_quoted(scratch_.file("bin")) + ":/usr/bin:/bin " + shell_quoted(tree() / "winnow") + " " +
           arguments + " >" + shell_quoted(scratch_.file(name + ".out")) + " 2>" + shell_quoted(scratch_.file(name + ".err")) +
           " </dev/null";
  }
  std::string out(const std::string& name) const { return file_text(scratch_.file(name + ".out")); }
  std::string err(const std::string& name) const { return file_text(scratch_.file(name + ".err")); }
  std::string calls() const { return file_text(tree() / "calls"); }

  ScratchFolder scratch_;
};

constexpr const char* kWaiting = "winnow: waiting for another ./winnow that is building\n";

TEST_F(Launcher, NothingButTheProgramSpeaks) {
  ASSERT_EQ(shell(line("first", "cli ask 'two words'")), 0) << err("first");
  EXPECT_EQ(out("first"), "program: ask two words\n") << "what builds says goes to stderr";
  EXPECT_NE(err("first").find("winnow: building: winnow_cli"), std::string::npos) << err("first");
  EXPECT_NE(err("first").find("built something"), std::string::npos) << err("first");
  ASSERT_EQ(shell(line("second", "cli ask again")), 0);
  EXPECT_EQ(out("second"), "program: ask again\n");
  EXPECT_EQ(err("second"), "");
  EXPECT_EQ(calls(), "configure\nbegin\nend\n") << "nothing is configured or built twice";
}

TEST_F(Launcher, ItsExitCodeIsTheProgramS) {
  ASSERT_EQ(shell(line("first", "cli ask", "PROGRAM_CODE=3")), 3);
  EXPECT_EQ(shell(line("second", "cli ask", "PROGRAM_CODE=130")), 130);
}

TEST_F(Launcher, TwoAtOnceBuildOneAfterTheOther) {
  const std::string both = line("one", "cli one", "BUILD_SECONDS=2") + " & " + line("two", "cli two", "BUILD_SECONDS=2") + " & wait";
  ASSERT_EQ(shell(both), 0);
  EXPECT_EQ(calls(), "configure\nbegin\nend\n") << "the second finds everything done";
  EXPECT_EQ(out("one"), "program: one\n") << err("one");
  EXPECT_EQ(out("two"), "program: two\n") << err("two");
  EXPECT_TRUE((err("one") == kWaiting) != (err("two") == kWaiting)) << "one waits, and says so once:\n" << err("one") << err("two");
}

TEST_F(Launcher, ARunningProgramHoldsNobodyUp) {
  ASSERT_EQ(shell(line("first", "cli first")), 0);
  ASSERT_EQ(shell("{ " + line("running", "cli running", "PROGRAM_SECONDS=20") + "; } & echo $! >" + shell_quoted(scratch_.file("pid"))), 0);
  while (out("running").empty()) ::usleep(10'000);
  EXPECT_EQ(shell("timeout 15 " + line("other", "cli other")), 0);
  EXPECT_EQ(err("other"), "");
  shell("kill $(cat " + shell_quoted(scratch_.file("pid")) + ")");
}

TEST_F(Launcher, AFailedBuildIsSaidAndTheNextOneGoesOn) {
  EXPECT_EQ(shell(line("failed", "cli ask", "BUILD_FAILS=yes")), 1);
  EXPECT_EQ(out("failed"), "") << "no program runs that was not built";
  EXPECT_NE(err("failed").find("winnow: the build failed (above)"), std::string::npos) << err("failed");
  EXPECT_EQ(shell(line("mended", "cli ask")), 0) << err("mended");
}

// Sent to the launcher alone, and not to what it waits for, as a program does that started it: it went on, and answered.
TEST_F(Launcher, AnInterruptBeforeTheProgramBeginsEndsIt) {
  const std::string started = "{ exec " + line("stopped", "cli ask", "--default-signal=INT BUILD_SECONDS=1") + "; } & ";
  const std::string begun = "until grep -qs begin " + shell_quoted(tree() / "calls") + "; do sleep 0.05; done; ";
  EXPECT_EQ(shell(started + begun + "kill -INT $!; wait $!"), 130);
  EXPECT_EQ(out("stopped"), "") << "the program did not run";
}

// The build goes on when the launcher is killed; another one must not begin beside it.
TEST_F(Launcher, AKilledLauncherSBuildIsWaitedFor) {
  ASSERT_EQ(shell("{ exec " + line("killed", "cli killed", "BUILD_SECONDS=3") + "; } & echo $! >" + shell_quoted(scratch_.file("pid"))), 0);
  while (calls().find("begin") == std::string::npos) ::usleep(10'000);
  shell("kill -KILL $(cat " + shell_quoted(scratch_.file("pid")) + ")");
  ASSERT_EQ(shell(line("next", "cli next")), 0);
  EXPECT_EQ(out("next"), "program: next\n");
  EXPECT_EQ(err("next"), kWaiting);
  EXPECT_EQ(calls(), "configure\nbegin\nend\n");
}

constexpr const char* kNoDisplay = "-u DISPLAY -u WAYLAND_DISPLAY";

TEST_F(Launcher, AFetchedModelOpensInTheWindowWhereThereIsADisplay) {
  ASSERT_EQ(shell(line("display", "get small", "DISPLAY=:7")), 0) << err("display");
  EXPECT_EQ(out("display"), "program: get small\nprogram: --model program: get small\n") << "what the terminal program says is the path";
  ASSERT_EQ(shell(line("none", "get small", kNoDisplay)), 0) << err("none");
  EXPECT_EQ(out("none"), "program: get small\n");
  ASSERT_EQ(shell(line("list", "get", "DISPLAY=:7")), 0) << err("list");
  EXPECT_EQ(out("list"), "program: get\n") << "a list opens no window";
}

TEST_F(Launcher, AModelThatDidNotComeOpensNoWindow) {
  EXPECT_EQ(shell(line("failed", "get small", "DISPLAY=:7 PROGRAM_CODE=130")), 130);
  EXPECT_EQ(out("failed").find("--model"), std::string::npos) << out("failed");
}

TEST_F(Launcher, TestsRunTwoMoreAtOnceThanThereAreProcessors) {
  ASSERT_EQ(shell(line("test", "test -R engine")), 0) << err("test");
  const std::string programs = std::to_string(2 + std::stoi([&] {
                                                shell("nproc >" + shell_quoted(scratch_.file("nproc")));
                                                return file_text(scratch_.file("nproc"));
                                              }()));
  EXPECT_NE(out("test").find(" -j " + programs + " -R engine\n"), std::string::npos) << out("test");
}

TEST_F(Launcher, AUserWhoMayNotInstallIsToldWhatIsMissing) {
  stand_in("id", "#!/bin/sh\necho 1000\n");
  EXPECT_EQ(shell(line("missing", "cli ask", "MISSING_PACKAGE=libmd4c-dev")), 1);
  EXPECT_NE(err("missing").find("run: sudo apt-get install --no-install-recommends libmd4c-dev\n"), std::string::npos) << err("missing");
  EXPECT_EQ(calls(), "");
}

constexpr const char* kAnswers = "#!/bin/sh\nexit 0\n";

// A machine with a GPU whose packages cannot be had.
TEST_F(Launcher, WithoutCudasPackagesItIsBuiltForTheCpu) {
  stand_in("nvidia-smi", kAnswers);
  EXPECT_EQ(shell(line("offline", "cli ask", "PIP_INDEX_URL=http://127.0.0.1:9/ PIP_RETRIES=0")), 0) << err("offline");
  EXPECT_NE(err("offline").find("an NVIDIA GPU is here: fetching CUDA's libraries and compiler"), std::string::npos) << err("offline");
  EXPECT_NE(err("offline").find("could not be downloaded: building for the CPU"), std::string::npos) << err("offline");
  EXPECT_EQ(err("offline").find("with the CUDA plug-in"), std::string::npos);
  EXPECT_EQ(out("offline"), "program: ask\n");
}

// The list names a wheel that is made here, from a folder instead of PyPI.
TEST_F(Launcher, WhereAGpuIsCudasPackagesJoinTorchOnce) {
  if (shell("/usr/bin/python3 -m pip --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "/usr/bin/python3 has no pip";
  stand_in("nvidia-smi", kAnswers);
  write_file(tree() / ".deps/site-packages/nvidia/cu13/lib/there_before", "");
  write_file(scratch_.file("wheel.py"), R"py(import hashlib, sys, zipfile
wheel = sys.argv[1] + "/nvidia_tool-1.0-py3-none-manylinux_2_17_x86_64.whl"
with zipfile.ZipFile(wheel, "w") as file:
    file.writestr("nvidia/cu13/bin/nvcc", "a compiler")
    file.writestr("nvidia_tool-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: nvidia-tool\nVersion: 1.0\n")
    file.writestr("nvidia_tool-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-manylinux_2_17_x86_64\n")
    file.writestr("nvidia_tool-1.0.dist-info/RECORD", "")
print("nvidia-tool==1.0 --hash=sha256:" + hashlib.sha256(open(wheel, "rb").read()).hexdigest())
)py");
  ASSERT_EQ(shell("/usr/bin/python3 " + shell_quoted(scratch_.file("wheel.py")) + " " + shell_quoted(scratch_.path()) + " >" +
                  shell_quoted(tree() / "packaging/deps/cuda.txt")),
            0);
  const std::string offline = "PIP_NO_INDEX=1 PIP_FIND_LINKS=" + shell_quoted(scratch_.path());
  ASSERT_EQ(shell(line("cpu", "cli ask --device cpu", offline)), 0) << err("cpu");
  EXPECT_EQ(err("cpu").find("GPU"), std::string::npos) << "nothing is fetched that was not wanted: " << err("cpu");
  ASSERT_EQ(shell(line("gpu", "cli ask", offline)), 0) << err("gpu");
  EXPECT_NE(err("gpu").find("configuring with the CUDA plug-in"), std::string::npos) << err("gpu");
  EXPECT_EQ(file_text(tree() / ".deps/site-packages/nvidia/cu13/bin/nvcc"), "a compiler");
  EXPECT_TRUE(fs::exists(tree() / ".deps/site-packages/nvidia/cu13/lib/there_before"));
  EXPECT_FALSE(fs::exists(tree() / ".deps/cuda"));
  ASSERT_EQ(shell(line("again", "cli ask", "PIP_NO_INDEX=1")), 0);
  EXPECT_EQ(err("again"), "");
  ASSERT_EQ(shell(line("back", "cli ask --device cpu", "PIP_NO_INDEX=1")), 0);
  EXPECT_EQ(err("back"), "") << "the same programs, and nothing is built again";
}

TEST_F(Launcher, AnUnknownCommandIsWrongUsage) {
  EXPECT_EQ(shell(line("wrong", "clii ask")), 2);
  EXPECT_NE(err("wrong").find("usage: ./winnow"), std::string::npos);
  EXPECT_FALSE(fs::exists(tree() / "build"));
}

}  // namespace
}  // namespace winnow::test
