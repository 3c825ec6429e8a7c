// `plan` says beforehand what `ask` says afterwards, on real files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program_run.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

json run_json(const ScratchFolder& scratch, const std::string& arguments) {
  const ProgramRun run = run_cli(scratch, arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return json::parse(run.out, nullptr, false);
}

TEST(PlanCommand, SaysWhatAskThenTakesAndLearnsItsTime) {
  const ScratchFolder scratch;
  const std::string video = shell_quoted(demo("samples/ten-seconds.mp4"));
  const std::string inputs[] = {"--frames 32 --video " + video + " 'What is the first shape?'",
                                "--every 0.5 --from 2 --method aircache --retention 0.1 --video " + video + " 'What is the last shape?'",
                                "--frames 16 --method fastervlm --retention 0.3 --video " + video + " 'What is the last shape?'",
                                "--frames 32 --before evs:0.4 --retention 0.5 --video " + video + " 'What is the first shape?'"};
  bool measured = false;
  for (const std::string& input : inputs) {
    const json planned = run_json(scratch, "plan --json --max-tokens 8 " + input);
    const json answer = run_json(scratch, "ask --json --max-tokens 8 " + input);
    EXPECT_EQ(planned["tokens"]["prompt"], answer["tokens"]["prompt"]) << input;
    EXPECT_EQ(planned["tokens"]["visual"], answer["tokens"]["visual"]) << input;
    EXPECT_EQ(planned["tokens"]["unread"], answer["tokens"]["unread"]) << input;
    EXPECT_EQ(planned["estimated"], false);
    EXPECT_EQ(planned["tokens"]["answer_at_most"], 8);
    EXPECT_EQ(planned["kv_bytes"]["full"], answer["kv_bytes"]["full"]) << input;
    EXPECT_EQ(planned["kv_bytes"]["after_event"], answer["kv_bytes"]["after_event"]) << input;
    EXPECT_TRUE(planned["fits"]);
    EXPECT_EQ(planned["goes_on_from"], json::array()) << "the first question of a conversation reads all of it";
    EXPECT_EQ(planned["expected_ms"].is_number(), measured) << "the first run has nothing to go by, later ones read what it left";
    measured = true;
  }
  const ProgramRun text = run_cli(scratch, "plan " + inputs[0]);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("visual + "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("fits"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("to the first word"), std::string::npos) << text.out;
}

TEST(PlanCommand, APdfIsPagesForAModelThatSeesUnlessItsTextIsAskedFor) {
  const ScratchFolder scratch;
  const std::string paper =
      "--document " + shell_quoted(source_folder() + "/tests/app/media/papers/samples/two_columns.pdf") + " 'What is it?'";
  const json pages = run_json(scratch, "plan --json " + paper);
  ASSERT_EQ(pages["media"].size(), 3U);
  for (const json& medium : pages["media"]) EXPECT_EQ(medium["kind"], "image");
  EXPECT_GT(pages["tokens"]["visual"], 0);
  EXPECT_EQ(pages["tokens"]["documents"], 0);
  const json text = run_json(scratch, "plan --json --document-as text " + paper);
  ASSERT_EQ(text["media"].size(), 1U);
  EXPECT_EQ(text["media"][0]["kind"], "document");
  EXPECT_GT(text["tokens"]["documents"], 1'000);
  const json one = run_json(scratch, "plan --json --document-as text --pages 2 " + paper);
  EXPECT_LT(one["tokens"]["documents"], text["tokens"]["documents"]);
  EXPECT_EQ(run_json(scratch, "plan --json --pages 2-3 " + paper)["media"].size(), 2U);
  const ProgramRun none = run_cli(scratch, "plan --document-as text --pages 7 " + paper);
  EXPECT_NE(none.err.find("there is no page 7: the last is number 3"), std::string::npos) << none.err;
  EXPECT_NE(run_cli(scratch, "plan --pages 3-2 " + paper).err.find("must be a page or a range of pages"), std::string::npos);
}

TEST(PlanCommand, AScanIsReadByTesseractOnlyIfThatIsAskedFor) {
  const ScratchFolder scratch;
  const std::string scan = "--document " + shell_quoted(source_folder() + "/tests/app/media/papers/samples/scan.pdf") + " 'What is it?'";
  const ProgramRun unread = run_cli(scratch, "plan --document-as text " + scan);
  EXPECT_EQ(unread.exit_code, 1);
  EXPECT_NE(unread.err.find("its pages are pictures without text"), std::string::npos) << unread.err;
  const ProgramRun read = run_cli(scratch, "plan --json --ocr " + scan);
  if (read.exit_code != 0) {
    EXPECT_NE(read.err.find("apt install tesseract-ocr"), std::string::npos) << read.err;
    GTEST_SKIP() << "tesseract is not installed";
  }
  EXPECT_NE(read.err.find("was read from pictures by Tesseract ("), std::string::npos) << read.err;
  const json planned = json::parse(read.out);
  ASSERT_EQ(planned["media"].size(), 1U);
  EXPECT_EQ(planned["media"][0]["kind"], "document");
  EXPECT_GT(planned["tokens"]["documents"], 0);
}

TEST(PlanCommand, AFolderIsItsFilesOfThatKindByTheirNames) {
  const ScratchFolder scratch;
  std::filesystem::create_directories(scratch.file("papers/below"));
  for (const char* name : {"10.pdf", "9.pdf", "below/no.pdf", "notes.srt"})
    std::filesystem::copy(source_folder() + "/tests/app/media/papers/samples/table.pdf", scratch.file(std::string("papers/") + name));
  write_file(scratch.file("papers/1.txt"), "one red star\n");
  const json planned =
      run_json(scratch, "plan --json --document-as text --document " + shell_quoted(scratch.file("papers")) + " 'What is it?'");
  std::vector<std::string> names;
  for (const json& medium : planned["media"]) names.push_back(std::filesystem::path(medium["path"].get<std::string>()).filename());
  EXPECT_EQ(names, (std::vector<std::string>{"1.txt", "9.pdf", "10.pdf"}));
  const ProgramRun none = run_cli(scratch, "plan --image " + shell_quoted(scratch.file("papers")) + " 'What is it?'");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("the folder holds no file of that kind"), std::string::npos) << none.err;
}

TEST(PlanCommand, AnEncryptedPdfTakesItsPasswordFromAFile) {
  const ScratchFolder scratch;
  const std::string samples = source_folder() + "/tests/app/media/papers/samples/";
  const auto asked = [&](const std::string& name, const std::string& more = {}) {
    return "plan --json --document-as text " + more + " --document " + shell_quoted(samples + name) + " 'What is it?'";
  };
  write_file(scratch.file("password"), "secret\nand another line\n");
  write_file(scratch.file("other"), "guess\n");
  const std::string with = "--password-file " + shell_quoted(scratch.file("password"));
  EXPECT_EQ(run_json(scratch, asked("encrypted.pdf", with))["tokens"], run_json(scratch, asked("table.pdf"))["tokens"]);
  EXPECT_EQ(run_cli(scratch, "probe " + with + " " + shell_quoted(samples + "encrypted.pdf")).exit_code, 0);
  // A session of its own has no terminal that could be asked.
  const auto refused = [&](const std::string& more) {
    write_file(scratch.file("alone.sh"), std::string("WINNOW_HOME='") + scratch.file("home") + "' '" + WINNOW_CLI_PROGRAM + "' " +
                                             asked("encrypted.pdf", more) + " 2>'" + scratch.file("err") + "' </dev/null\n");
    EXPECT_NE(shell("setsid -w sh " + shell_quoted(scratch.file("alone.sh"))), 0);
    return file_text(scratch.file("err"));
  };
  EXPECT_NE(refused("").find("needs a password: --password-file FILE gives it"), std::string::npos) << refused("");
  const std::string wrong = refused("--password-file " + shell_quoted(scratch.file("other")));
  EXPECT_NE(wrong.find("this is not the password of the PDF"), std::string::npos) << wrong;
  EXPECT_EQ(wrong.find("guess"), std::string::npos) << wrong;
  EXPECT_NE(run_cli(scratch, asked("table.pdf", "--password-file /nowhere")).err.find("cannot be read"), std::string::npos);

  // A cache holds what was read, and no password: the file is looked at again.
  const std::string cache = shell_quoted(scratch.file("paper.cache"));
  const std::string prepare = "prepare --document-as text --document " + shell_quoted(samples + "encrypted.pdf") + " --save-cache " + cache;
  ASSERT_EQ(run_cli(scratch, prepare + " " + with).exit_code, 0);
  EXPECT_EQ(file_text(scratch.file("paper.cache")).find("secret"), std::string::npos);
  const std::string again = "ask --max-tokens 4 --load-cache " + cache + " 'What is it?'";
  EXPECT_EQ(run_cli(scratch, again + " " + with).exit_code, 0);
  write_file(scratch.file("alone.sh"), std::string("WINNOW_HOME='") + scratch.file("home") + "' '" + WINNOW_CLI_PROGRAM + "' " + again +
                                           " 2>'" + scratch.file("err") + "' </dev/null\n");
  EXPECT_NE(shell("setsid -w sh " + shell_quoted(scratch.file("alone.sh"))), 0);
  EXPECT_NE(file_text(scratch.file("err")).find("needs a password"), std::string::npos) << file_text(scratch.file("err"));
}

TEST(PlanCommand, SaysWhatIsNeverRead) {
  const ScratchFolder scratch;
  const std::string video =
      "--max-tokens 8 --frames 32 --video " + shell_quoted(demo("samples/ten-seconds.mp4")) + " 'What is the first shape?'";
  const json guessed = run_json(scratch, "plan --json --before vidcom2:0.3 " + video);
  EXPECT_EQ(guessed["estimated"], true);
  const json answer = run_json(scratch, "ask --json --check --method full --before vidcom2:0.3 " + video);
  const auto visual = answer["tokens"]["visual"].get<std::int64_t>();
  EXPECT_NEAR(guessed["tokens"]["visual"].get<double>(), static_cast<double>(visual), 0.2 * static_cast<double>(visual));
  EXPECT_EQ(visual + answer["tokens"]["unread"].get<std::int64_t>(), answer["tokens"]["thread_visual"]);
  EXPECT_EQ(answer["agreement"]["top1"], 1.0) << "the full cache of what was read";
  EXPECT_EQ(answer["made_by"][0]["before"], "vidcom2:0.3");
  const ProgramRun text = run_cli(scratch, "ask --method full --before random:0.3 " + video);
  EXPECT_NE(text.err.find("visual tokens were never read"), std::string::npos) << text.err;
  EXPECT_NE(run_cli(scratch, "plan --before random:0.3 " + video).out.find("visual tokens are never read"), std::string::npos);
  const ProgramRun wrong = run_cli(scratch, "plan --before evs " + video);
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("must be none, vidcom2:SHARE"), std::string::npos) << wrong.err;
  const ProgramRun refused = run_cli(scratch, "plan --before pixelprune:0 " + video);
  EXPECT_NE(refused.err.find("needs whole pictures"), std::string::npos) << refused.err;
}

TEST(PlanCommand, SaysWhatAPictureTakesUnderEachDetail) {
  const ScratchFolder scratch;
  const std::string image = "--image " + shell_quoted(demo("samples/picture.png")) + " 'What is shown?'";
  std::int64_t before = 0;
  for (const std::string word : {"low", "medium", "auto"}) {
    const std::string input = "--json --max-tokens 2 --picture-detail " + word + " " + image;
    const json planned = run_json(scratch, "plan " + input);
    const json answer = run_json(scratch, "ask " + input);
    EXPECT_EQ(planned["media"][0]["detail"], word);
    EXPECT_EQ(planned["media"][0]["visual_tokens"], planned["tokens"]["visual"]) << word;
    EXPECT_EQ(answer["media"][0]["visual_tokens"], answer["tokens"]["visual"]) << word;
    EXPECT_EQ(planned["tokens"]["visual"], answer["tokens"]["visual"]) << word;
    EXPECT_GE(planned["tokens"]["visual"].get<std::int64_t>(), before) << word;
    before = planned["tokens"]["visual"].get<std::int64_t>();
  }
  const ProgramRun text = run_cli(scratch, "plan --picture-detail low " + image);
  EXPECT_NE(text.out.find("(detail low: at most "), std::string::npos) << text.out;
  const ProgramRun frames =
      run_cli(scratch, "plan --frame-detail 64 --frames 4 --video " + shell_quoted(demo("samples/ten-seconds.mp4")) + " 'What?'");
  EXPECT_NE(frames.out.find("this model has one level of detail"), std::string::npos) << frames.out;
  for (const char* wrong : {"lots", "0", "-3", "16385"})
    EXPECT_EQ(run_cli(scratch, "plan --picture-detail " + std::string(wrong) + " " + image).exit_code, 2) << wrong;
}

TEST(PlanCommand, SaysWhatAShareIsOfWhereLayersHaveAWindow) {
  const ScratchFolder scratch;
  const std::string model = "plan --model " + shell_quoted(source_folder() + "/tests/golden/llava/next_window/model");
  const char* const said = "some layers see only the last 24 tokens";
  const ProgramRun longer = run_cli(scratch, model + " 'What is it that moves from the left to the right?'");
  EXPECT_EQ(longer.exit_code, 0) << longer.err;
  EXPECT_NE(longer.out.find(said), std::string::npos) << longer.out;
  const ProgramRun shorter = run_cli(scratch, model + " 'Hi'");
  EXPECT_EQ(shorter.out.find(said), std::string::npos) << shorter.out;
  EXPECT_NE(shorter.out.find("fits"), std::string::npos) << shorter.out;
}

TEST(PlanCommand, SaysWhatDoesNotFitWithoutFailing) {
  const ScratchFolder scratch;
  const std::string ask = "--max-tokens 100000 'Hello?'";
  const json planned = run_json(scratch, "plan --json " + ask);
  EXPECT_FALSE(planned["fits"]);
  EXPECT_FALSE(planned["fits_context"]);
  EXPECT_TRUE(planned["expected_ms"].is_null());
  const ProgramRun text = run_cli(scratch, "plan " + ask);
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find("does not fit"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("not measured yet"), std::string::npos) << text.out;
  EXPECT_EQ(run_cli(scratch, "plan --video /nowhere.mp4 'What?'").exit_code, 1);
  EXPECT_EQ(run_cli(scratch, "plan").exit_code, 2);
}

}  // namespace
}  // namespace winnow::testing
