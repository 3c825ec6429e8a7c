// Tiny files in the benchmarks' own formats, written by hand.
#include "app/evaluation/importers.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "engine/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

using test::expect_error;
using test::ScratchFolder;

DatasetOptions imageOptions() {
  DatasetOptions options;
  options.kindOf = [](const std::string& path) {
    if (path.ends_with("missing.png")) throw Exception(ErrorCode::kFileNotFound, path, "no such file");
    return MediaKind::kImage;
  };
  return options;
}

Dataset import(const ScratchFolder& scratch, DatasetFormat format, const std::string& text, const std::string& images = {}) {
  return importDataset(scratch.write("set.json", text), format, images, imageOptions());
}

TEST(Importers, MileBenchPlacesImagesAndTurnsChoicesIntoLetters) {
  const ScratchFolder scratch;
  const Dataset set = import(scratch, DatasetFormat::kMileBench, R"({
    "meta_data": {"dataset": "ActionLocalization", "task_instruction": ["Look closely.", "Choose."]},
    "data": [
      {"sample_id": 7, "task_instruction_id": 1, "task_instance": {"context": "Is {image#2} after {image#1}?", "images_path": ["a.jpg", "b.jpg"],
       "choice_list": ["Yes, it is", "No"]}, "response": "No"},
      {"sample_id": "8", "task_instruction_id": 0, "task_instance": {"context": "Describe {image#1}.", "images_path": ["c.jpg"]}, "response": "a dog runs"}
    ]})");
  ASSERT_EQ(set.items.size(), 2U);
  EXPECT_EQ(set.items[0].id, "7");
  EXPECT_EQ(set.items[0].media.at(1).path, scratch.file("images/b.jpg"));
  EXPECT_EQ(set.items[0].question,
            "Choose.\nIs {image#2} after {image#1}?\nChoice list:\nA. Yes, it is\nB. No\nAnswer with the option's letter from the given "
            "choices directly.");
  EXPECT_EQ(set.items[0].golds, std::vector<std::string>{"B"});
  EXPECT_EQ(set.items[0].metric, AnswerMetric::kAccuracy);
  EXPECT_EQ(set.items[1].golds, std::vector<std::string>{"a dog runs"});
  EXPECT_EQ(set.items[1].metric, AnswerMetric::kRougeL);
  EXPECT_EQ(std::get<MediaItem>(messageOf(set.items[0]).items.at(1)).media.path, scratch.file("images/b.jpg"));
}

TEST(Importers, DocVqa) {
  const ScratchFolder scratch;
  const Dataset set = import(scratch, DatasetFormat::kDocVqa, R"({"dataset_name": "SP-DocVQA", "dataset_split": "val", "data": [
    {"questionId": 49153, "question": "What is the 'actual' value?", "question_types": ["figure"], "image": "documents/pybv0228_81.png",
     "docId": 14465, "answers": ["0.28", "0,28"], "data_split": "val"}]})");
  ASSERT_EQ(set.items.size(), 1U);
  EXPECT_EQ(set.items[0].id, "49153");
  EXPECT_EQ(set.items[0].media.at(0).path, scratch.file("documents/pybv0228_81.png"));
  EXPECT_EQ(set.items[0].golds, (std::vector<std::string>{"0.28", "0,28"}));
  EXPECT_EQ(set.items[0].metric, AnswerMetric::kAnls);
  EXPECT_EQ(set.items[0].question, "What is the 'actual' value?\nAnswer the question using a single word or phrase.");
}

TEST(Importers, TextVqa) {
  const ScratchFolder scratch;
  const std::string text =
      R"({"dataset_type": "val", "data": [{"question": "what brand?", "image_id": "003a8ae2ef43b901", "question_id": 34602,
    "answers": ["nokia", "nokia", "nokia", "nokia", "toshiba", "nokia", "nokia", "nokia", "nokia", "nokia"]}]})";
  const Dataset set = import(scratch, DatasetFormat::kTextVqa, text);
  EXPECT_EQ(set.items.at(0).media.at(0).path, scratch.file("train_images/003a8ae2ef43b901.jpg"));
  EXPECT_EQ(set.items[0].golds.size(), 10U);
  EXPECT_EQ(set.items[0].metric, AnswerMetric::kVqa);
  EXPECT_EQ(import(scratch, DatasetFormat::kTextVqa, text, "/pictures").items[0].media[0].path, "/pictures/003a8ae2ef43b901.jpg");
}

TEST(Importers, ChartQa) {
  const ScratchFolder scratch;
  const Dataset set =
      import(scratch, DatasetFormat::kChartQa, R"([{"imgname": "41699051005347.png", "query": "How many bars?", "label": "14"},
    {"imgname": "two.png", "query": "Which year?", "label": 2019}])");
  ASSERT_EQ(set.items.size(), 2U);
  EXPECT_EQ(set.items[0].media.at(0).path, scratch.file("png/41699051005347.png"));
  EXPECT_EQ(set.items[1].golds, std::vector<std::string>{"2019"});
  EXPECT_EQ(set.items[1].metric, AnswerMetric::kRelaxed);
}

TEST(Importers, Ai2dReadsAFolderOfDiagrams) {
  const ScratchFolder scratch;
  std::filesystem::create_directories(scratch.file("ai2d/questions"));
  scratch.write("ai2d/questions/1.png.json", R"({"imageName": "1.png", "questions": {"What does 2 show?": {"abcLabel": false,
    "answerTexts": ["crust", "mantle", "core", "sea"], "correctAnswer": 2, "questionId": "1.png-0"}}})");
  scratch.write(
      "ai2d/questions/0.png.json",
      R"({"imageName": "0.png", "questions": {"Which is it?": {"answerTexts": ["a", "b"], "correctAnswer": 0, "questionId": "0.png-3"},
      "And what?": {"answerTexts": ["a", "b"], "correctAnswer": 1, "questionId": "0.png-1"}}})");
  const Dataset set = importDataset(scratch.file("ai2d/questions"), DatasetFormat::kAi2d, {}, imageOptions());
  ASSERT_EQ(set.items.size(), 3U);
  EXPECT_EQ(set.items[0].id, "0.png-3") << "in the order of the file";
  EXPECT_EQ(set.items[1].id, "0.png-1");
  EXPECT_EQ(set.items[2].id, "1.png-0");
  EXPECT_EQ(set.items[2].media.at(0).path, scratch.file("ai2d/images/1.png"));
  EXPECT_EQ(set.items[2].question,
            "What does 2 show?\nA. crust\nB. mantle\nC. core\nD. sea\nAnswer with the option's letter from the given choices directly.");
  EXPECT_EQ(set.items[2].golds, std::vector<std::string>{"C"});
}

TEST(Importers, RefuseWhatDoesNotFitWithTheEntrysNumber) {
  const ScratchFolder scratch;
  const auto refuses = [&](DatasetFormat format, const std::string& text, const std::string& words) {
    expect_error(ErrorCode::kInvalidArgument, words, [&] { import(scratch, format, text); });
  };
  refuses(DatasetFormat::kDocVqa, "{", "not valid JSON");
  refuses(DatasetFormat::kMileBench, R"({"data": [], "meta_data": )" + std::string(300'000, '[') + std::string(300'000, ']') + "}",
          "nests deeper than 64");
  refuses(DatasetFormat::kDocVqa, R"({"data": [{"questionId": 1, "question": 2, "image": "a.png", "answers": ["x"]}]})",
          "entry 1: question: it must be a string");
  refuses(DatasetFormat::kDocVqa, "[]", "no \"data\"");
  refuses(DatasetFormat::kDocVqa, R"({"data": []})", "holds no question");
  refuses(DatasetFormat::kDocVqa, R"({"data": 3})", "no list of questions");
  refuses(DatasetFormat::kDocVqa, R"({"data": [{"questionId": 1, "question": "?", "image": "a.png", "answers": []}]})",
          "entry 1: has no answers");
  refuses(DatasetFormat::kDocVqa, R"({"data": [{"questionId": 1, "question": "?", "image": "missing.png", "answers": ["x"]}]})",
          "missing.png: no such file");
  refuses(DatasetFormat::kChartQa, R"([{"imgname": "a.png", "query": "?", "label": "1"}, {"imgname": "a.png", "query": "?"}])", "entry 2");
  refuses(
      DatasetFormat::kMileBench,
      R"({"data": [{"sample_id": 1, "task_instance": {"context": "?", "images_path": ["a.png"], "choice_list": ["x"]}, "response": "y"}]})",
      "none of the choices");
  refuses(DatasetFormat::kAi2d, R"({"imageName": "a.png"})", "no \"imageName\" with \"questions\"");
  refuses(DatasetFormat::kAi2d,
          R"({"imageName": "a.png", "questions": {"?": {"answerTexts": ["x"], "correctAnswer": 1, "questionId": "q"}}})",
          "none of the choices");
  EXPECT_EQ(datasetFormat("docvqa"), DatasetFormat::kDocVqa);
  EXPECT_FALSE(datasetFormat("coco").has_value());
}

}  // namespace
}  // namespace winnow::app
