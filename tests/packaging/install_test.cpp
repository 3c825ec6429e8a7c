// `cmake --install` into a folder, which is then moved: nothing of it may know where it was, or where it was built.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "tests/structure/command_output.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::test {
namespace {

namespace fs = std::filesystem;

class Installation : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<ScratchFolder>();
    const CommandOutput install =
        output_of("DESTDIR=" + scratch_->path() + "/staged " WINNOW_CMAKE " --install " WINNOW_BUILD_FOLDER " --prefix /usr 2>&1");
    ASSERT_EQ(install.status, 0) << install.text;
    fs::rename(scratch_->file("staged/usr"), scratch_->file("elsewhere"));
    ASSERT_TRUE(fs::is_empty(scratch_->file("staged"))) << "all of it is under the prefix";
  }
  static void TearDownTestSuite() { scratch_.reset(); }

  static std::string installed(const std::string& name) { return scratch_->file("elsewhere/" + name); }
  // As a person's shell has it, and nothing of this build.
  static CommandOutput run(const std::string& command) {
    return output_of("env -i HOME=" + scratch_->file("home") + " PATH=" + installed("bin") +
                     ":/usr/bin:/bin LANG=C.UTF-8 QT_QPA_PLATFORM=offscreen " + command + " 2>&1");
  }

  static std::unique_ptr<ScratchFolder> scratch_;
};
std::unique_ptr<ScratchFolder> Installation::scratch_;

TEST_F(Installation, AnswersAQuestionAboutItsOwnSampleWithItsOwnModel) {
  const CommandOutput answer = run("winnow-cli ask --sample --json");
  EXPECT_EQ(answer.status, 0) << answer.text;
  EXPECT_NE(answer.text.find(installed("share/winnow/demo/samples/")), std::string::npos) << answer.text;
  EXPECT_TRUE(run("winnow --version").text.ends_with("winnow " WINNOW_VERSION "\n"));
}

TEST_F(Installation, MeasuresWithItsOwnScripts) {
  const CommandOutput scores = run("python3 -B " + installed("share/winnow/evaluation/ask_set.py") +
                                   " --demo --limit 1 --methods full --max-tokens 4 --out " + scratch_->file("results"));
  EXPECT_EQ(scores.status, 0) << scores.text;
  EXPECT_NE(scores.text.find("; 1 of 1 answers"), std::string::npos) << scores.text;
}

TEST_F(Installation, NeedsNothingOfNvidiaNorOfTheBuild) {
  for (const char* program : {"bin/winnow", "bin/winnow-cli", "lib/winnow/winnow-engine", "lib/winnow/winnow-media"}) {
    // LD_BIND_NOW: with every symbol and every version.
    const CommandOutput libraries = run("LD_BIND_NOW=1 ldd -r " + installed(program));
    EXPECT_EQ(libraries.status, 0) << program;
    for (const char* none : {"not found", "undefined symbol", "libcud", "libcupti", ".deps", WINNOW_BUILD_FOLDER}) {
      EXPECT_EQ(libraries.text.find(none), std::string::npos) << program << ": " << libraries.text;
    }
  }
  EXPECT_NE(run("ldd " + installed("lib/winnow/winnow-engine")).text.find(installed("lib/winnow/libtorch_cpu.so")), std::string::npos);
}

TEST_F(Installation, HasTheDocumentsThatProgramsRead) {
  for (const fs::directory_entry& entry : fs::directory_iterator(source_folder() + "/resources")) {
    if (entry.path().extension() != ".json") continue;
    EXPECT_TRUE(fs::is_regular_file(installed("share/winnow/" + entry.path().filename().string()))) << entry.path() << " is not installed";
  }
}

TEST_F(Installation, HasWhatADesktopAndAShellLookFor) {
  for (const char* file :
       {"share/applications/io.github.winnow.winnow.desktop", "share/metainfo/io.github.winnow.winnow.metainfo.xml",
        "share/mime/packages/io.github.winnow.winnow.xml", "share/icons/hicolor/16x16/apps/io.github.winnow.winnow.png",
        "share/icons/hicolor/512x512/apps/io.github.winnow.winnow.png", "share/icons/hicolor/scalable/apps/io.github.winnow.winnow.svg",
        "share/man/man1/winnow.1", "share/man/man1/winnow-cli.1", "share/bash-completion/completions/winnow-cli",
        "share/zsh/site-functions/_winnow-cli", "share/doc/winnow/LICENSE"}) {
    EXPECT_TRUE(fs::is_regular_file(installed(file)) && fs::file_size(installed(file)) > 0) << file;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(installed("bin"))) {
    EXPECT_TRUE(fs::exists(installed("share/man/man1/" + entry.path().filename().string() + ".1")))
        << entry.path() << " has no manual page";
  }
}

}  // namespace
}  // namespace winnow::test
