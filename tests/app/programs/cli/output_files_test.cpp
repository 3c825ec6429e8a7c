// What commands are asked to write replaces nothing that it should not.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "program_run.h"

namespace winnow::testing {
namespace {

namespace fs = std::filesystem;

long entries(const std::string& folder) { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); }

TEST(OutputFiles, ExportWritesOverNothingThatItReads) {
  const ScratchFolder scratch;
  fs::copy(demo("samples/picture.png"), scratch.file("picture.png"));
  fs::copy(demo("model"), scratch.file("model"), fs::copy_options::recursive);
  const std::string picture = file_text(scratch.file("picture.png"));
  const std::string weights = file_text(scratch.file("model/model.safetensors"));
  fs::create_symlink("picture.png", scratch.file("link"));
  write_file(scratch.file("notes.txt"), "somebody's notes");
  for (const char* out : {"picture.png", "link", "model/model.safetensors", "model/config.json", "notes.txt"}) {
    const ProgramRun run =
        run_cli(scratch, "export --model " + shell_quoted(scratch.file("model")) + " --image " + shell_quoted(scratch.file("picture.png")) +
                             " --max-tokens 2 --out " + shell_quoted(scratch.file(out)) + " hello");
    EXPECT_EQ(run.exit_code, 1) << out;
    EXPECT_NE(run.err.find("choose another name"), std::string::npos) << run.err;
  }
  EXPECT_EQ(file_text(scratch.file("picture.png")), picture);
  EXPECT_EQ(file_text(scratch.file("notes.txt")), "somebody's notes");
  EXPECT_EQ(file_text(scratch.file("model/model.safetensors")), weights);
}

TEST(OutputFiles, ExportReplacesNoDeviceAndLeavesNothingBehind) {
  const ScratchFolder scratch;
  fs::create_directories(scratch.file("folder/sub"));
  fs::create_symlink("/dev/null", scratch.file("folder/device"));
  std::vector<std::string> targets = {"folder/sub", "folder/device"};
  if (::mknod(scratch.file("folder/node").c_str(), S_IFCHR | 0600, ::makedev(1, 3)) == 0) targets.push_back("folder/node");  // root only
  const long before = entries(scratch.file("folder"));
  for (const std::string& target : targets) {
    const ProgramRun run = run_cli(scratch, "export --max-tokens 2 --out " + shell_quoted(scratch.file(target)) + " hello");
    EXPECT_EQ(run.exit_code, 1) << target;
    EXPECT_NE(run.err.find(target), std::string::npos) << run.err;
    EXPECT_EQ(run.err.find("prefill"), std::string::npos) << "refused before anything is computed: " << run.err;
  }
  EXPECT_EQ(entries(scratch.file("folder")), before);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(run_cli(scratch, "export --out '' hello").exit_code, 2);
}

TEST(OutputFiles, ExportFollowsALink) {
  const ScratchFolder scratch;
  write_file(scratch.file("run.safetensors"), "");
  fs::create_symlink("run.safetensors", scratch.file("link"));
  ASSERT_EQ(run_cli(scratch, "export --max-tokens 2 --out " + shell_quoted(scratch.file("link")) + " hello").exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(scratch.file("link")));
  EXPECT_GT(fs::file_size(scratch.file("run.safetensors")), 1000U);
}

}  // namespace
}  // namespace winnow::testing
