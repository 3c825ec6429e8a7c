// Every phase whose event comes before the question has one way to read media, and no other phase has.
#include "engine/generation/reading/media_reading.h"

#include <gtest/gtest.h>

#include "engine/generation/reading/read_in_clips.h"
#include "engine/generation/reading/read_once.h"
#include "engine/generation/reading/read_to_fetch.h"
#include "engine/recipes/method_info.h"

namespace winnow {
namespace {

Recipe recipe_of(const std::string& method, const std::map<std::string, std::string>& options = {}) {
  RecipeSpec spec{.method = method, .retention = 0.5, .options = options};
  return Recipe::from_spec(spec);
}

template <class How>
bool is_read_by(const Recipe& recipe) {
  return dynamic_cast<const How*>(media_reading(recipe).get()) != nullptr;
}

TEST(MediaReadings, ARecipeIsReadAsItsPhaseIs) {
  EXPECT_TRUE(is_read_by<ReadOnce>(recipe_of("keydiff")));
  EXPECT_TRUE(is_read_by<ReadInClips>(recipe_of("keydiff", {{"event", "clips"}})));
  EXPECT_TRUE(is_read_by<ReadToFetch>(recipe_of("rekv")));
  EXPECT_EQ(media_reading(recipe_of("snapkv")), nullptr);
}

TEST(MediaReadings, EveryPresetThatDecidesBeforeTheQuestionHasOne) {
  int before = 0;
  for (const MethodInfo& method : list_methods()) {
    RecipeSpec spec{.method = method.name, .retention = 0.5};
    if (recipe_problem(spec)) continue;  // it needs what was measured for a model
    const bool expected = phase_facts(method.phase).before_question;
    EXPECT_EQ(media_reading(Recipe::from_spec(spec)) != nullptr, expected) << method.name;
    before += expected ? 1 : 0;
    spec.retention = 1.0;
    EXPECT_EQ(media_reading(Recipe::from_spec(spec)), nullptr) << method.name << " compresses nothing";
  }
  EXPECT_GT(before, 5);
}

}  // namespace
}  // namespace winnow
