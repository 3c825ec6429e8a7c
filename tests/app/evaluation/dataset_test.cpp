#include "app/evaluation/dataset.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::app {
namespace {

using test::ScratchFolder;

DatasetOptions plainOptions() {
  DatasetOptions options;
  options.frames = 48;
  options.kindOf = [](const std::string& path) {
    if (path.ends_with("missing.mp4")) throw Exception(ErrorCode::kFileNotFound, path, "no such file");
    return path.ends_with(".png") ? MediaKind::kImage : MediaKind::kVideo;
  };
  return options;
}

Dataset read(const ScratchFolder& scratch, const std::string& text) {
  return readDataset(scratch.write("set.jsonl", text), plainOptions());
}

// subject and reason of the refusal
Error refusal(const ScratchFolder& scratch, const std::string& text) {
  try {
    read(scratch, text);
  } catch (const Exception& problem) {
    return problem.error();
  }
  ADD_FAILURE() << "was accepted: " << text;
  return {};
}

const std::string kGood = R"({"media": "a.mp4", "question": "What?", "answers": ["x", "y"], "metric": "anls"})";

TEST(Dataset, ReadsWhatALineSays) {
  const ScratchFolder scratch;
  const Dataset set = read(
      scratch, kGood + "\n\n" + R"({"id": "q2", "media": ["b.png", "c/d.mp4"], "question": "{image#1} or {image#2}?", "answers": "one", )" +
                   R"("metric": "time", "frames": 8, "group": "when", "cluster": "d", "tolerance_s": 2.5})" + "\n");
  EXPECT_EQ(set.name, "set");
  ASSERT_EQ(set.items.size(), 2U);
  EXPECT_EQ(set.items[0].id, "1");
  EXPECT_EQ(set.items[0].media.at(0).path, scratch.file("a.mp4"));
  EXPECT_EQ(set.items[0].media.at(0).plan.frame_count, 48);
  EXPECT_EQ(set.items[0].golds, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(set.items[0].metric, AnswerMetric::kAnls);
  EXPECT_EQ(set.items[1].id, "q2");
  EXPECT_EQ(set.items[1].media.at(0).kind, MediaKind::kImage);
  EXPECT_EQ(set.items[1].media.at(1).path, scratch.file("c/d.mp4"));
  EXPECT_EQ(set.items[1].media.at(1).plan.frame_count, 8);
  EXPECT_EQ(set.items[1].golds, std::vector<std::string>{"one"});
  EXPECT_EQ(set.items[1].group, "when");
  EXPECT_EQ(set.items[1].cluster, "d");
  EXPECT_EQ(set.items[1].toleranceS, 2.5);
}

TEST(Dataset, RefusesABadLineWithItsNumberAndTheReason) {
  const ScratchFolder scratch;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{", "not valid JSON"},
      {"[1]", "must be a JSON object"},
      {R"({"media": "a.mp4", "question": "What?", "metric": "exact"})", "answers: it is missing"},
      {R"({"media": "a.mp4", "question": "What?", "answers": [], "metric": "exact"})", "no answers"},
      {R"({"media": "a.mp4", "question": "What?", "answers": ["x"], "metric": "bleu"})", "unknown metric; known are exact"},
      {R"({"media": "a.mp4", "question": "What?", "answers": ["x"], "metric": "exact", "frame": 3})", "unknown key \"frame\""},
      {R"({"media": "a.mp4", "question": "What?", "answers": ["x"], "metric": "exact", "frames": 0})", "frames: it is 0, less than 1"},
      {R"({"media": "a.mp4", "question": 7, "answers": ["x"], "metric": "exact"})", "question: it must be a string"},
      {R"({"media": "a.mp4", "question": "", "answers": ["x"], "metric": "exact"})", "empty question"},
      {R"({"media": [], "question": "What?", "answers": ["x"], "metric": "exact"})", "no media"},
      {R"({"media": "a.mp4", "question": "What?", "answers": ["x", 3], "metric": "exact"})", "answers: it must be a string"},
      {R"({"media": "a.mp4", "question": "What?", "answers": ["x"], "metric": "exact", "frames": 4294967298})", "frames: it is 4294967298"},
      {R"({"media": "a.mp4", "question": "What?", "answers": ["x"], "metric": "exact", "tolerance_s": -1})", "tolerance_s: it is -1"},
      {R"({"media": "a.mp4", "question": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}", "nests deeper than 64"},
      {R"({"media": "missing.mp4", "question": "What?", "answers": ["x"], "metric": "exact"})", "no such file"},
  };
  for (const auto& [line, reason] : cases) {
    const Error error = refusal(scratch, kGood + "\n\n" + line + "\n" + kGood + "\n");
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument) << line;
    EXPECT_EQ(error.subject, scratch.file("set.jsonl") + ":3") << line;
    EXPECT_NE(error.reason.find(reason), std::string::npos) << line << " -> " << error.reason;
    EXPECT_EQ(error.reason.find("json.exception"), std::string::npos) << error.reason;
  }
}

TEST(Dataset, RefusesTheSameIdTwiceAndAnEmptySet) {
  const ScratchFolder scratch;
  const std::string line = R"({"id": "q", "media": "a.mp4", "question": "What?", "answers": ["x"], "metric": "exact"})";
  EXPECT_NE(refusal(scratch, line + "\n" + line).reason.find("\"q\" twice"), std::string::npos);
  EXPECT_NE(refusal(scratch, "\n \n").reason.find("no question"), std::string::npos);
  EXPECT_THROW(readDataset(scratch.file("nothing.jsonl"), plainOptions()), Exception);
  EXPECT_THROW(readDataset(scratch.path(), plainOptions()), Exception);
}

TEST(Dataset, FingerprintFollowsContentNotPlace) {
  const ScratchFolder here;
  const ScratchFolder there;
  const std::string changed = R"({"media": "a.mp4", "question": "What?", "answers": ["x", "z"], "metric": "anls"})";
  EXPECT_EQ(read(here, kGood).fingerprint, read(there, "  " + kGood + "\n\n").fingerprint);
  EXPECT_NE(read(here, kGood).fingerprint, read(here, changed).fingerprint);
  std::string clustered = kGood;
  clustered.insert(1, "\"cluster\": \"one\", ");
  EXPECT_NE(read(here, kGood).fingerprint, read(here, clustered).fingerprint);
  const std::string before = read(here, kGood).fingerprint;
  here.write("a.mp4", "another video");
  EXPECT_NE(read(here, kGood).fingerprint, before);
}

TEST(Dataset, TheBundledSetAsksEveryKindAndAtLeastTwelveOfEveryVideo) {
  DatasetOptions options = plainOptions();
  options.kindOf = [](const std::string& path) {
    return path.ends_with(".png") || path.ends_with(".jpg") ? MediaKind::kImage : MediaKind::kVideo;
  };
  const Dataset set = readDataset(source_folder() + "/resources/demo/evaluation/samples.jsonl", options);
  std::map<std::string, int> kinds;
  std::map<std::string, int> videos;
  for (const EvaluationItem& item : set.items) {
    ++kinds[item.group];
    if (item.media.at(0).kind == MediaKind::kVideo) ++videos[item.media.at(0).path];
    EXPECT_EQ(item.metric, item.group == "when" ? AnswerMetric::kTime : AnswerMetric::kFacts) << item.id;
  }
  for (const char* kind : {"color", "shape", "after", "before", "first", "last", "count", "presence", "card", "when", "list", "describe"}) {
    EXPECT_GE(kinds[kind], 6) << kind;
  }
  EXPECT_EQ(videos.size(), 7U);
  for (const auto& [video, questions] : videos) EXPECT_GE(questions, 12) << video;
}

}  // namespace
}  // namespace winnow::app
