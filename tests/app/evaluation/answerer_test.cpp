#include "app/evaluation/answerer.h"

#include <gtest/gtest.h>

#include "engine/recipes/method_info.h"

namespace winnow::app {
namespace {

// Answers every turn, and keeps what it was asked.
class AskedEngine final : public Engine {
 public:
  void handle(const Request& request, EventSink& sink, const InterruptToken&) override {
    if (const auto* turn = std::get_if<Turn>(&request.body)) {
      turns.push_back(*turn);
      Finished done;
      done.answer = "yes";
      sink.on_event({request.id, std::move(done)});
    }
  }
  std::vector<Turn> turns;
};

Message about(const std::string& question) {
  return {Role::kUser, {MediaItem{{"text.txt", MediaKind::kDocument, {}}}, TextItem{question}}};
}

// Of `full` nothing is prepared, so that each question would read the document anew.
TEST(EngineAnswerer, QuestionsUnderTheFullCacheAreAskedOfOneThatIsReadOnce) {
  AskedEngine engine;
  EngineAnswerer answerer(engine, 8, Sampling::kAsManyThoughtsAsTheModel, ColumnScores::kNone);
  RecipeSpec full;
  full.method = "full";
  full.retention = 1.0;
  EXPECT_EQ(answerer.series({about("a?"), about("b?")}, full, Guard::kAlone, {}).size(), 2U);
  ASSERT_EQ(engine.turns.size(), 2U);
  for (const Turn& turn : engine.turns) {
    EXPECT_TRUE(describe(turn.recipe).value().before_question);
    EXPECT_GT(turn.recipe.budget_tokens.value_or(0), 1 << 30) << "room for everything";
    EXPECT_FALSE(recipe_problem(turn.recipe).has_value());
    EXPECT_EQ(turn.messages.size(), 1U);
  }
  engine.turns.clear();
  answerer.series({about("a?"), about("b?")}, full, Guard::kKeep, {});
  EXPECT_EQ(engine.turns.front().recipe, full) << "a conversation goes on from what it has read";
}

}  // namespace
}  // namespace winnow::app
