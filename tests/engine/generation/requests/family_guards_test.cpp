// What a second question sees under each guard, on every golden folder: the whole thread, the full cache, the media alone.
#include <gtest/gtest.h>

#include "engine/recipes/method_info.h"
#include "tests/engine/generation/family_folder.h"

namespace winnow::testing {
namespace {

class FamilyGuards : public FamilyFolder {
 protected:
  Turn first_question(const std::string& method, double retention) {
    RecipeSpec recipe;
    recipe.method = method;
    recipe.retention = retention;
    recipe.min_event_tokens = 0;
    return question(items_, "What is it?", recipe);
  }

  // Three of the kinds that there are; a model may refuse some.
  std::vector<std::string> methods() {
    std::vector<std::string> legal;
    for (const char* name : {"snapkv", "streaming-llm", "random"}) {
      if (!recipe_problem(first_question(name, 0.5).recipe, info_.traits)) legal.emplace_back(name);
    }
    return legal;
  }

  void SetUp() override {
    FamilyFolder::SetUp();
    if (info_.traits.sees) items_ = {image(40, 31)};
  }

  std::vector<Item> items_;
};

INSTANTIATE_TEST_SUITE_P(Folders, FamilyGuards, family_folders(), folder_info_name);

TEST_P(FamilyGuards, PrefillReadsTheThreadAsIfItWereNew) {
  ASSERT_FALSE(methods().empty());
  for (const std::string& method : methods()) {
    SCOPED_TRACE(method);
    run(ForgetConversation{3});
    Turn turn = first_question(method, 0.5);
    follow(turn, finished(turn).answer, {TextItem{"And now?"}});
    turn.guard = Guard::kPrefill;
    const EventRecorder guarded = run(turn);
    run(ForgetConversation{3});
    turn.guard = Guard::kKeep;
    const EventRecorder anew = run(turn);
    ASSERT_TRUE(guarded.last<Finished>()) << reason(guarded);
    ASSERT_TRUE(anew.last<Finished>()) << reason(anew);
    EXPECT_EQ(guarded.last<CacheReport>()->kept, anew.last<CacheReport>()->kept);
    EXPECT_EQ(guarded.last<Finished>()->answer, anew.last<Finished>()->answer);
    EXPECT_EQ(guarded.last<Finished>()->figures.tokens.prompt, anew.last<Finished>()->figures.tokens.prompt);
  }
}

// Nothing that the first question made be dropped is gone: without compression the second is answered as in a thread that never was
// compressed.
TEST_P(FamilyGuards, RamHoldsEverythingThatTheFirstQuestionDropped) {
  for (const std::string& method : methods()) {
    SCOPED_TRACE(method);
    run(ForgetConversation{3});
    Turn turn = first_question(method, 0.3);
    turn.guard = Guard::kRam;
    const Finished first = finished(turn);
    follow(turn, first.answer, {TextItem{"And now?"}});
    turn.recipe = first_question("full", 1.0).recipe;
    const EventRecorder guarded = run(turn);
    run(ForgetConversation{3});
    Turn never = first_question("full", 1.0);
    never.guard = Guard::kRam;
    finished(never);
    const EventRecorder whole = run(turn);
    ASSERT_TRUE(guarded.last<Finished>()) << reason(guarded);
    ASSERT_TRUE(whole.last<Finished>()) << reason(whole);
    const CacheReport report = *guarded.last<CacheReport>();
    EXPECT_EQ(report.kept, whole.last<CacheReport>()->kept);
    EXPECT_EQ(report.kv_bytes.after_event, whole.last<CacheReport>()->kv_bytes.after_event);
    EXPECT_EQ(report.kv_bytes.after_event, report.kv_bytes.full);
    EXPECT_EQ(guarded.last<Finished>()->answer, whole.last<Finished>()->answer);
    EXPECT_EQ(guarded.last<Finished>()->figures.tokens.visual, 0) << "only what is new is read";
    EXPECT_LT(guarded.last<Finished>()->figures.tokens.prompt, std::ssize(report.tokens));
  }
}

TEST_P(FamilyGuards, AloneAsksTheMediaAsIfNothingHadBeenAsked) {
  for (const std::string& method : methods()) {
    SCOPED_TRACE(method);
    run(ForgetConversation{3});
    Turn turn = first_question(method, 0.5);
    const Finished first = finished(turn);
    Turn asked_first = turn;
    asked_first.messages.back().items.back() = TextItem{"And now, what?"};
    follow(turn, first.answer, {TextItem{"And now, what?"}});
    turn.guard = Guard::kAlone;
    const EventRecorder guarded = run(turn);
    run(ForgetConversation{3});
    const EventRecorder anew = run(asked_first);
    ASSERT_TRUE(guarded.last<Finished>()) << reason(guarded);
    ASSERT_TRUE(anew.last<Finished>()) << reason(anew);
    EXPECT_EQ(guarded.last<CacheReport>()->kept, anew.last<CacheReport>()->kept);
    EXPECT_EQ(guarded.last<Finished>()->answer, anew.last<Finished>()->answer);
    EXPECT_EQ(guarded.last<Finished>()->figures.kv_bytes.end, anew.last<Finished>()->figures.kv_bytes.end);
  }
}

}  // namespace
}  // namespace winnow::testing
