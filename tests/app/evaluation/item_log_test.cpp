#include "app/evaluation/item_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "engine/base/error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shell.h"

namespace winnow::app {
namespace {

using test::file_text;
using test::ScratchFolder;

AnswerRecord record(const std::string& item, std::uint64_t seed = 0) {
  AnswerRecord made;
  made.item = item;
  made.recipe = "vl-cache@0.1";
  made.seed = seed;
  made.answer = "a \"red\" star\n\xff";
  made.score = 1.0 / 3.0;
  made.achievedRetention = 0.1001;
  made.kvBytes = 1234;
  return made;
}

ErrorCode refusal(const std::string& path, const std::string& subject) {
  try {
    const ItemLog log(path, subject);
  } catch (const Exception& problem) {
    return problem.error().code;
  }
  ADD_FAILURE() << "the log was accepted";
  return ErrorCode::kInternal;
}

// A line as versions 0.1 and later write it, byte for byte, in both directions.
TEST(ItemLog, KeepsTheFormOfItsLines) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("set.jsonl");
  const std::string text =
      "{\"winnow_evaluation\":1,\"subject\":\"s\"}\n"
      "{\"item\":\"a\",\"recipe\":\"h2o@0.2\",\"seed\":0,\"answer\":\"red\",\"score\":1.0,\"requested\":0.2,\"achieved\":0.2,"
      "\"kv_bytes\":10,\"kv_bytes_full\":50,\"budget_jsd\":0.0,\"generated\":3,\"top1\":0.5,\"kl\":0.25,\"hit_rate\":0.75,"
      "\"output_error\":0.125,\"visual_contribution\":0.5,\"visual_coverage\":0.25,\"sparsity\":0.875}\n";
  std::ofstream(path) << text;
  AnswerRecord record;
  {
    const ItemLog log(path, "s");
    record = *log.find("a", "h2o@0.2", 0);
    EXPECT_EQ(record.selection, (SelectionFigures{0.75, {0.125}, 0.5, 0.25, 0.875, {}}));
    EXPECT_EQ(record.divergence, 0.25);
  }
  const std::string again = scratch.file("again.jsonl");
  ItemLog(again, "s").add(record);
  EXPECT_EQ(file_text(again), text);
}

TEST(ItemLog, FindsWhatAnEarlierRunAdded) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("set.jsonl");
  {
    ItemLog log(path, "questions 1");
    log.add(record("a"));
    AnswerRecord measured = record("b", 7);
    measured.topAgreement = 0.75;
    measured.selection.emplace();
    measured.selection->hit_rate = 0.5;
    measured.selection->sparsity = 0.25;
    measured.divergence = 0.5;
    log.add(measured);
  }
  const ItemLog log(path, "questions 1");
  const AnswerRecord* a = log.find("a", "vl-cache@0.1", 0);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->score, 1.0 / 3.0);
  EXPECT_EQ(a->answer, "a \"red\" star\n\xEF\xBF\xBD");  // the log is UTF-8
  EXPECT_EQ(a->kvBytes, 1234);
  EXPECT_FALSE(a->topAgreement.has_value());
  ASSERT_NE(log.find("b", "vl-cache@0.1", 7), nullptr);
  EXPECT_EQ(log.find("b", "vl-cache@0.1", 7)->topAgreement, 0.75);
  EXPECT_EQ(log.find("b", "vl-cache@0.1", 7)->selection->hit_rate, 0.5);
  EXPECT_EQ(log.find("b", "vl-cache@0.1", 7)->selection->sparsity, 0.25);
  EXPECT_TRUE(log.find("b", "vl-cache@0.1", 7)->selection->output_error.empty());
  EXPECT_FALSE(a->selection.has_value());
  EXPECT_EQ(log.find("b", "vl-cache@0.1", 0), nullptr);
  EXPECT_EQ(log.find("a", "vl-cache@0.2", 0), nullptr);
}

TEST(ItemLog, ATornLastLineIsDroppedWhereverTheCrashTore) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("set.jsonl");
  {
    ItemLog log(path, "s");
    log.add(record("a"));
    log.add(record("b"));
  }
  const std::string whole = file_text(path);
  const std::size_t lastLine = whole.rfind('\n', whole.size() - 2) + 1;
  const std::size_t secondLine = whole.find('\n') + 1;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    scratch.write("torn.jsonl", whole.substr(0, size));
    ItemLog log(scratch.file("torn.jsonl"), "s");
    EXPECT_EQ(log.find("a", "vl-cache@0.1", 0) != nullptr, size >= lastLine) << size;
    EXPECT_EQ(log.find("b", "vl-cache@0.1", 0), nullptr) << size;
    if (size < secondLine) continue;
    log.add(record("a"));
    log.add(record("b"));
    if (size >= lastLine) continue;  // "a" stands there twice
    EXPECT_EQ(file_text(scratch.file("torn.jsonl")), whole) << size;
  }
}

TEST(ItemLog, AForeignFileIsLeftAsItIs) {
  const ScratchFolder scratch;
  // Questions, with and without a last line break; what another program logs; something that only begins like ours.
  for (const char* text : {R"({"media": "a.mp4", "question": "What?", "answers": "x", "metric": "exact"})",
                           "{\"a\": 1}\n{\"b\": 2}\n{\"c\"", "half", "{\"winnow\": 1}", "\n", "{\"winnow_evaluation\"\n"}) {
    const std::string path = scratch.write("set.jsonl", text);
    EXPECT_EQ(refusal(path, "questions 1"), ErrorCode::kInvalidArgument) << text;
    EXPECT_EQ(file_text(path), text);
  }
  const std::string zeros = scratch.write("zeros.jsonl", std::string(100'000, '\0'));
  EXPECT_EQ(refusal(zeros, "questions 1"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(std::filesystem::file_size(zeros), 100'000U);
}

TEST(ItemLog, AnotherEvaluationsTornLineStaysToo) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("set.jsonl");
  { ItemLog(path, "questions 1").add(record("a")); }
  const std::string whole = file_text(path);
  scratch.write("set.jsonl", whole + "{\"item\": \"b\", \"rec");
  EXPECT_EQ(refusal(path, "questions 2"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(file_text(path), whole + "{\"item\": \"b\", \"rec");
}

TEST(ItemLog, OpensRegularFilesOnly) {
  const ScratchFolder scratch;
  ASSERT_EQ(::mkfifo(scratch.file("set.jsonl").c_str(), 0600), 0);
  EXPECT_EQ(refusal(scratch.file("set.jsonl"), "s"), ErrorCode::kFileUnreadable);
  EXPECT_EQ(refusal("/dev/zero", "s"), ErrorCode::kFileUnreadable);
}

TEST(ItemLog, KeepsTheLargestSeed) {
  const ScratchFolder scratch;
  const std::uint64_t largest = ~std::uint64_t{0};
  { ItemLog(scratch.file("set.jsonl"), "s").add(record("a", largest)); }
  EXPECT_NE(ItemLog(scratch.file("set.jsonl"), "s").find("a", "vl-cache@0.1", largest), nullptr);
}

TEST(ItemLog, RefusesAnotherSubjectDamageAndASecondWriter) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("set.jsonl");
  {
    ItemLog log(path, "questions 1");
    log.add(record("a"));
    EXPECT_EQ(refusal(path, "questions 1"), ErrorCode::kInvalidArgument);  // in use
  }
  EXPECT_EQ(refusal(path, "questions 2"), ErrorCode::kInvalidArgument);
  const std::string whole = file_text(path);
  scratch.write("broken.jsonl", whole + "{\"item\": 3}\n" + whole);
  EXPECT_EQ(refusal(scratch.file("broken.jsonl"), "questions 1"), ErrorCode::kDamagedFile);
  EXPECT_EQ(file_text(path), whole) << "a refused log must stay as it is";
  scratch.write("deep.jsonl", whole + "{\"item\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}\n");
  EXPECT_EQ(refusal(scratch.file("deep.jsonl"), "questions 1"), ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal(scratch.file("no/such/folder.jsonl"), "s"), ErrorCode::kFileUnreadable);
}

}  // namespace
}  // namespace winnow::app
