#include "app/evaluation/evaluation_run.h"

#include <gtest/gtest.h>

#include <cmath>

#include "app/evaluation/progress_text.h"
#include "app/evaluation/score_table.h"
#include "engine/base/error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shell.h"

namespace winnow::app {
namespace {

using test::file_text;
using test::ScratchFolder;

// Knows a made-up answer for every question and recipe; can be interrupted after some calls.
class ScriptedAnswerer final : public Answerer {
 public:
  std::vector<RecipeAnswer> answers(const Message& question, const std::vector<RecipeSpec>& recipes,
                                    const InterruptToken& interrupt) override {
    if (calls++ == interruptAt) throw Interrupted(Interrupt::kStop);
    std::vector<RecipeAnswer> given;
    for (const RecipeSpec& recipe : recipes) {
      ++asked;
      const std::string text = std::get<TextItem>(question.items.back()).text;
      RecipeAnswer answer;
      // Wrong for seed 1 and for every second question under random.
      const bool wrong = recipe.seed == 1 || (recipe.method == "random" && text.back() == '1');
      answer.answer = wrong ? "nonsense" : "right " + text;
      answer.figures.achieved_retention = recipe.retention + 0.01;
      answer.figures.kv_bytes.full = 1000;
      answer.figures.kv_bytes.after_event = static_cast<std::int64_t>(1000 * recipe.retention);
      answer.figures.layers.resize(3);
      answer.figures.layers[0].budget = 3;
      answer.figures.layers[1].budget = 1;
      answer.figures.layers[2].budget = 2;
      given.push_back(answer);
    }
    return given;
  }
  std::vector<RecipeAnswer> series(const std::vector<Message>& questions, const RecipeSpec& recipe, Guard guard,
                                   const InterruptToken& interrupt) override {
    std::vector<RecipeAnswer> given;
    for (const Message& question : questions) given.push_back(answers(question, {recipe}, interrupt).front());
    guards.push_back(guard);
    return given;
  }
  RecipeAnswer given(const Message&, const std::string& text, const RecipeSpec& recipe, const InterruptToken&) override {
    ++asked;
    read.push_back(text);
    RecipeAnswer answer;
    answer.loss = recipe.method == "full" ? std::log(2.0) : std::log(4.0);
    answer.topAgreement = 0.75;
    answer.figures.achieved_retention = recipe.retention;
    return answer;
  }
  std::vector<std::string> read;  // texts that were given
  std::vector<Guard> guards;      // of every series that was answered
  int calls = 0;
  int asked = 0;
  int interruptAt = -1;
};

std::vector<EvaluationItem> items(int count) {
  std::vector<EvaluationItem> made;
  for (int i = 0; i < count; ++i) {
    EvaluationItem item;
    item.id = "q" + std::to_string(i);
    item.question = "question " + std::to_string(i % 2);
    item.golds = {"right " + item.question};
    item.group = i % 2 == 0 ? "even" : "odd";
    made.push_back(item);
  }
  return made;
}

EvaluationPlan plan() { return {recipeGrid({"random", "full", "snapkv"}, {0.5, 0.1}), {0, 1}}; }

TEST(RecipeGrid, FullStandsOnceAndFirst) {
  std::vector<std::string> names;
  for (const GridRecipe& recipe : recipeGrid({"snapkv", "full", "snapkv", "full"}, {0.5, 0.125, 0.5})) names.push_back(recipe.name);
  EXPECT_EQ(names, (std::vector<std::string>{"full", "snapkv@0.5", "snapkv@0.125"}));
  EXPECT_THROW(recipeGrid({"no-such-method"}, {0.5}), Exception);
  EXPECT_THROW(recipeGrid({"snapkv"}, {1.5}), Exception);
  EXPECT_THROW(recipeGrid({"snapkv"}, {}), Exception);
}

TEST(RecipeGrid, SavedRecipesStandBesideTheMethods) {
  NamedRecipe late;
  late.name = "late d2o";
  late.spec.method = "d2o";
  late.spec.retention = 0.7;
  late.spec.options["event_at_first_decode"] = "true";
  const auto named = [](const NamedRecipe& recipe) { return recipeGrid({"d2o"}, {0.5, 0.1}, {recipe}); };
  const std::vector<GridRecipe> grid = named(late);
  ASSERT_EQ(grid.size(), 4U);
  EXPECT_EQ(grid[0].title, "d2o");
  EXPECT_EQ(grid[2].title, "late d2o");
  EXPECT_EQ(grid[3].name.substr(0, 9), "late d2o#");
  EXPECT_EQ(grid[3].name.substr(15), "@0.1");
  EXPECT_EQ(grid[3].spec.retention, 0.1);
  EXPECT_EQ(grid[3].spec.options, late.spec.options);
  // The share of the file is nothing of it; anything else makes other answers.
  NamedRecipe same = late;
  same.spec.retention = 0.2;
  EXPECT_EQ(named(same)[2].name, grid[2].name);
  NamedRecipe changed = late;
  changed.spec.options["beta"] = "0.5";
  EXPECT_NE(named(changed)[2].name, grid[2].name);

  NamedRecipe nameless = late, taken = late, slots = late, impossible = late;
  nameless.name.clear();
  taken.name = "snapkv";
  slots.spec.budget_tokens = 64;
  impossible.spec.scorer = "snapkv";
  EXPECT_THROW(named(nameless), Exception);
  EXPECT_THROW(named(taken), Exception);
  EXPECT_THROW(named(slots), Exception);
  EXPECT_THROW(named(impossible), Exception);
  EXPECT_THROW(recipeGrid({}, {0.5}, {late, late}), Exception);
}

TEST(RecipeGrid, OfDocumentsSaysWhoseQuestionJudges) {
  const std::vector<GridRecipe> plain = recipeGrid({"kvzip", "snapkv"}, {0.1});
  std::vector<std::string> names;
  for (const GridRecipe& recipe : documentGrid(recipeGrid({"full", "kvzip", "snapkv"}, {0.1}), {JudgedBy::kItsOwn, JudgedBy::kTheFirst}))
    names.push_back(recipe.name + (recipe.together ? (*recipe.together == Guard::kAlone ? " alone" : " keep") : ""));
  EXPECT_EQ(names, (std::vector<std::string>{"full", "full, conversation keep", "kvzip@0.1 alone", "snapkv@0.1",
                                             "snapkv, first question@0.1 keep"}));
  EXPECT_EQ(documentGrid(plain, {JudgedBy::kItsOwn}).size(), 2U);
  // With nobody to share a prefill with, the full cache reads a document once for all of its questions.
  EXPECT_EQ(documentGrid(recipeGrid({"full", "kvzip"}, {0.1}), {JudgedBy::kItsOwn}).front().together, Guard::kAlone);
  EXPECT_EQ(documentGrid(recipeGrid({"full", "snapkv"}, {0.1}), {JudgedBy::kItsOwn}).front().together, std::nullopt);
  EXPECT_EQ(documentGrid(plain, {JudgedBy::kTheFirst}).back().title, "snapkv, first question");
}

// Two documents with two questions each.
std::vector<EvaluationItem> clusteredItems() {
  std::vector<EvaluationItem> made = items(4);
  for (std::size_t i = 0; i < made.size(); ++i) made[i].cluster = i < 2 ? "one" : "two";
  return made;
}

TEST(EvaluationRun, AsksTheQuestionsOfAClusterTogether) {
  const ScratchFolder scratch;
  const EvaluationPlan asked{documentGrid(recipeGrid({"full", "kvzip", "snapkv"}, {0.1}), {JudgedBy::kItsOwn, JudgedBy::kTheFirst}), {0}};
  ScriptedAnswerer answerer;
  answerer.interruptAt = 2 + 3 * 2 + 3;  // in the second document, in its first series
  {
    ItemLog log(scratch.file("log.jsonl"), "s");
    EXPECT_EQ(runEvaluation(clusteredItems(), asked, answerer, log, [](int, int, int) {}, {}), EvaluationOutcome::kInterrupted);
    EXPECT_EQ(answerer.guards, (std::vector<Guard>{Guard::kKeep, Guard::kAlone, Guard::kKeep}));
    EXPECT_NE(log.find("q1", "snapkv, first question@0.1", 0), nullptr);
    EXPECT_NE(log.find("q3", "snapkv@0.1", 0), nullptr);
    EXPECT_EQ(log.find("q2", "full, conversation", 0), nullptr) << "half a conversation is none";
  }
  ItemLog log(scratch.file("log.jsonl"), "s");
  ScriptedAnswerer rest;
  int last = 0;
  runEvaluation(clusteredItems(), asked, rest, log, [&](int done, int, int) { last = done; }, {});
  EXPECT_EQ(rest.guards, (std::vector<Guard>{Guard::kKeep, Guard::kAlone, Guard::kKeep}));
  EXPECT_EQ(rest.asked, 3 * 2) << "what is in the log is not asked again";
  EXPECT_EQ(last, 4 * 5);
}

TEST(EvaluationRun, AsksEveryItemUnderEveryRecipeAndSeedOnce) {
  const ScratchFolder scratch;
  ItemLog log(scratch.file("log.jsonl"), "s");
  ScriptedAnswerer answerer;
  int last = 0;
  const auto outcome = runEvaluation(items(4), plan(), answerer, log,
                                     [&](int done, int asked, int planned) {
                                       EXPECT_EQ(done, asked);
                                       EXPECT_GT(done, last);
                                       EXPECT_EQ(planned, 4 * 9);
                                       last = done;
                                     },
                                     {});
  EXPECT_EQ(outcome, EvaluationOutcome::kComplete);
  EXPECT_EQ(answerer.asked, 4 * 9);  // full once, four recipes with two seeds
  EXPECT_EQ(last, 4 * 9);
  EXPECT_EQ(answerer.calls, 4 * 2) << "nine answers to an item, eight at most together";
}

TEST(EvaluationRun, ResumedAnywhereItLogsAndScoresTheSame) {
  const ScratchFolder scratch;
  ScriptedAnswerer whole;
  std::string expected;
  {
    ItemLog log(scratch.file("whole.jsonl"), "s");
    runEvaluation(items(4), plan(), whole, log, [](int, int, int) {}, {});
    expected = scoreTable({"set", "model"}, items(4), plan(), log);
  }
  const std::string expectedLog = file_text(scratch.file("whole.jsonl"));
  for (int at = 0; at < 8; ++at) {
    const std::string path = scratch.file("cut" + std::to_string(at) + ".jsonl");
    ScriptedAnswerer cut;
    cut.interruptAt = at;
    {
      ItemLog log(path, "s");
      EXPECT_EQ(runEvaluation(items(4), plan(), cut, log, [](int, int, int) {}, {}), EvaluationOutcome::kInterrupted);
      const std::string answered = "; " + std::to_string(at / 2 * 9 + at % 2 * 8) + " of 36 answers";
      EXPECT_NE(scoreTable({"set", "model"}, items(4), plan(), log).find(answered), std::string::npos) << answered;
    }
    // A crash between two records of one item, and in the middle of a line.
    std::string cutLog = file_text(path);
    if (at > 0) scratch.write("cut" + std::to_string(at) + ".jsonl", cutLog.substr(0, cutLog.size() - 250));
    ScriptedAnswerer rest;
    ItemLog log(path, "s");
    EXPECT_EQ(runEvaluation(items(4), plan(), rest, log, [](int, int, int) {}, {}), EvaluationOutcome::kComplete);
    EXPECT_EQ(file_text(path), expectedLog);
    EXPECT_EQ(scoreTable({"set", "model"}, items(4), plan(), log), expected);
    EXPECT_LT(rest.asked, 4 * 9 + 1);
    if (at > 3) {
      EXPECT_LT(rest.asked, 4 * 9 - 9) << "what is in the log is not asked again";
    }
  }
}

TEST(EvaluationRun, ALaterRunAddsMethods) {
  const ScratchFolder scratch;
  ItemLog log(scratch.file("log.jsonl"), "s");
  ScriptedAnswerer first;
  runEvaluation(items(3), {recipeGrid({"full"}, {}), {0}}, first, log, [](int, int, int) {}, {});
  ScriptedAnswerer second;
  runEvaluation(items(3), {recipeGrid({"full", "snapkv"}, {0.5}), {0}}, second, log, [](int, int, int) {}, {});
  EXPECT_EQ(second.asked, 3);
}

TEST(ProgressText, EstimatesFromWhatThisRunAsked) {
  EXPECT_EQ(progressText(120, 60, 480, 30.0), "120 of 480 answers, 2.0 a second, about 3 min left");
  EXPECT_EQ(progressText(120, 0, 480, 30.0), "120 of 480 answers");
  EXPECT_EQ(progressText(480, 60, 480, 30.0), "480 of 480 answers, 2.0 a second");
  EXPECT_EQ(progressText(2, 1, 1000, 20.0), "2 of 1000 answers, 0.050 a second, about 5.5 h left");
}

TEST(EvaluationRun, PerplexityIsOfATextThatIsReadNotWritten) {
  const ScratchFolder scratch;
  std::vector<EvaluationItem> read = items(2);
  for (EvaluationItem& item : read) item.metric = AnswerMetric::kPerplexity;
  const EvaluationPlan plan{recipeGrid({"full", "snapkv"}, {0.5}), {0}};
  ScriptedAnswerer answerer;
  ItemLog log(scratch.file("log.jsonl"), "s");
  const auto run = [&] { return runEvaluation(read, plan, answerer, log, [](int, int, int) {}, {}); };
  EXPECT_EQ(run(), EvaluationOutcome::kComplete);
  EXPECT_EQ(answerer.read, (std::vector<std::string>{"right question 0", "right question 0", "right question 1", "right question 1"}));
  EXPECT_EQ(answerer.calls, 0) << "nothing is asked";
  EXPECT_NEAR(log.find("q0", "snapkv@0.5", 0)->score, 0.25, 1e-12);
  EXPECT_NEAR(log.find("q0", "full", 0)->loss.value(), std::log(2.0), 1e-12);
  EXPECT_EQ(log.find("q0", "snapkv@0.5", 0)->topAgreement, 0.75);
  EXPECT_NE(scoreTable({"set", "model"}, read, plan, log).find("| snapkv | 50.0 | 50.0 | 2 | 25.0 |"), std::string::npos)
      << "the mean probability of a token";
  run();
  EXPECT_EQ(answerer.read.size(), 4U) << "what the log has is not read again";
}

}  // namespace
}  // namespace winnow::app
