#include "app/programs/cli/batch_line.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "tests/support/source_folder.h"

namespace winnow::cli {
namespace {

// "text <medium> text" of each question.
std::vector<std::string> shown(const BatchLine& line) {
  std::vector<std::string> questions;
  for (const std::vector<Item>& question : line.questions) {
    std::string& text = questions.emplace_back();
    for (const Item& item : question) {
      const auto* medium = std::get_if<MediaItem>(&item);
      text += medium == nullptr ? std::get<TextItem>(item).text : "<" + medium->media.path + ">";
    }
  }
  return questions;
}

TEST(BatchLine, ReadsWhatItSaysAndTakesTheRestFromTheCommand) {
  TurnOptions defaults{.recipe = {.budget_tokens = 7}, .sampling = {.max_new_tokens = 9}};
  const BatchLine line = read_batch_line(
      R"({"video": "a.mp4", "frames": 8, "from": 1, "to": 2.5, "retention": 0.25, "seed": 18446744073709551615, "questions": ["b", "c"]})",
      "f:1", defaults);
  EXPECT_EQ(line.turn.videos, std::vector<std::string>{"a.mp4"});
  EXPECT_EQ(line.turn.plan.frame_count, 8);
  EXPECT_EQ(line.turn.plan.from_s, 1.0);
  EXPECT_EQ(line.turn.plan.to_s, 2.5);
  EXPECT_EQ(line.turn.recipe.retention, 0.25);
  EXPECT_FALSE(line.turn.recipe.budget_tokens.has_value()) << "the command's budget gives way to the line's share";
  EXPECT_EQ(line.turn.recipe.seed, ~std::uint64_t{0});
  EXPECT_EQ(line.turn.sampling.seed, ~std::uint64_t{0});
  EXPECT_TRUE(line.turn.seed_given);
  EXPECT_EQ(line.turn.sampling.max_new_tokens, 9);
  EXPECT_EQ(shown(line), (std::vector<std::string>{"b", "c"}));
  EXPECT_FALSE(line.together);
}

TEST(BatchLine, MediaStandWhereTheQuestionHasThem) {
  const std::string samples = source_folder() + "/resources/demo/samples/";
  const BatchLine line = read_batch_line(R"({"frames": 8, "frame_detail": "low", "questions": [[{"media": ")" + samples +
                                             R"(picture.png"}, "or ", {"media": ")" + samples + R"(ten-seconds.mp4"}, "?"], "d"]})",
                                         "f:1", {});
  EXPECT_EQ(shown(line), (std::vector<std::string>{"<" + samples + "picture.png>or <" + samples + "ten-seconds.mp4>?", "d"}));
  EXPECT_EQ(std::get<MediaItem>(line.questions[0][0]).media.kind, MediaKind::kImage);
  const MediaRequest& video = std::get<MediaItem>(line.questions[0][2]).media;
  EXPECT_EQ(video.kind, MediaKind::kVideo);
  EXPECT_EQ(video.plan.frame_count, 8);
  EXPECT_NE(video.detail, MediaDetail());
}

TEST(BatchLine, RecipesAreAsTheWindowSavesThem) {
  const std::string recipe = R"({"format": "winnow-recipe", "version": 1, "method": "snapkv", "retention": 0.3, "seed": 5})";
  const BatchLine one = read_batch_line(
      R"({"questions": ["a"], "recipe": )" + recipe + R"(, "retention": 0.4, "guard": "alone", "given": "b"})", "f:1", {}, true);
  EXPECT_EQ(one.turn.recipe.method, "snapkv");
  EXPECT_EQ(one.turn.recipe.retention, 0.4) << "what stands beside it overrides it";
  EXPECT_EQ(one.turn.recipe.seed, 5U);
  EXPECT_EQ(one.turn.guard, Guard::kAlone);
  EXPECT_EQ(one.given, "b");
  EXPECT_TRUE(one.together) << "as the command says";
  const BatchLine two = read_batch_line(
      R"({"questions": [], "check": true, "recipes": [)" + recipe + R"(, {"format": "winnow-recipe", "version": 1, "method": "full"}]})",
      "f:1", {});
  ASSERT_EQ(two.recipes.size(), 2U);
  EXPECT_EQ(two.recipes[1].retention, 1.0) << "it keeps everything";
  EXPECT_TRUE(two.check);
}

TEST(BatchLine, OptionsOfALineTakeThePlaceOfTheCommands) {
  TurnOptions defaults{.recipe = {.options = {{"window", "16"}}}};
  EXPECT_EQ(read_batch_line(R"({"questions": ["a"]})", "f:1", defaults).turn.recipe.options, defaults.recipe.options);
  const BatchLine line = read_batch_line(R"({"options": {"ask": "b?", "answer": 8, "norms": false}, "questions": ["a"]})", "f:1", defaults);
  EXPECT_EQ(line.turn.recipe.options, (std::map<std::string, std::string>{{"ask", "b?"}, {"answer", "8"}, {"norms", "false"}}));
}

TEST(BatchLine, RefusesByFieldAndWithoutTheParsersWords) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::pair<std::string, std::string> cases[] = {
      {R"({"questions": ["a"], "max_tokens": 4294967298})", "max_tokens: it is 4294967298"},
      {R"({"questions": ["a"], "max_tokens": -1})", "max_tokens: it is -1"},
      {R"({"questions": ["a"], "max_tokens": 0})", "max_tokens: it is 0"},
      {R"({"questions": ["a"], "seed": -1})", "seed: it must be a whole number"},
      {R"({"questions": ["a"], "seed": 1e30})", "seed: it must be a whole number"},
      {R"({"questions": ["a"], "budget": -1})", "budget: it is -1"},
      {R"({"questions": ["a"], "budget": 0})", "budget: it is 0"},
      {R"({"questions": ["a"], "budget": 9223372036854775808})", "budget: it is 9223372036854775808"},
      {R"({"questions": ["a"], "frames": 99999999999})", "frames: it is 99999999999"},
      {R"({"questions": ["a"], "retention": 0})", "retention: it must be above 0 and at most 1"},
      {R"({"questions": ["a"], "options": ["chunk"]})", "options: it must be an object"},
      {R"({"questions": ["a"], "options": {"chunk": null}})", "options.chunk: it must be a text"},
      {R"({"questions": "a"})", "questions: it must be a list"},
      {R"({"questions": ["a"], "metod": "snapkv"})", "metod: unknown field"},
      {R"({"questions": ["a"], "kv": "int8"})", "kv: unknown field; use one of image, video"},
      {R"({"questions": ["a"], "temperature": 1})", "temperature: unknown field"},
      {R"({"questions": [1]})", "questions: it must be a string"},
      {R"({"questions": [["a", 1]]})", "questions: it must be a string"},
      {R"({"questions": [{"media": "a.mp4"}]})", "questions: it must be a string"},
      {R"({"questions": [[{"media": 1}]]})", "media: it must be a string"},
      {R"({"questions": ["a"], "guard": "none"})", "guard: it must be keep, prefill, ram or alone"},
      {R"({"questions": ["a"], "together": 1})", "together: it must be"},
      {R"({"questions": ["a"], "recipe": {"method": "h2o"}})", "recipe: format must be"},
      {R"({"questions": ["a"], "together": true, "recipes": []})", "recipes: these are compared"},
      {R"({"video": 1, "questions": ["a"]})", "video: it must be a string"},
      {R"({})", "questions: it is missing"},
      {R"([])", "must be a JSON object"},
      {R"({"questions": ["a"])", "not valid JSON"},
      {R"({"questions": ["a"], "think": "maybe"})", "think: it must be on, off or a number of tokens"},
      {R"({"questions": ["a"], "think": 0})", "think: it must be on, off or a number of tokens"},
      {R"({"questions": ["a"], "x": )" + deep + "}", "nests deeper than 64"},
  };
  for (const auto& [line, reason] : cases) {
    try {
      read_batch_line(line, "questions.jsonl:2", {});
      ADD_FAILURE() << "was accepted: " << line.substr(0, 80);
    } catch (const Exception& problem) {
      const std::string told = problem.what();
      EXPECT_EQ(told.find("questions.jsonl:2: "), 0U) << told;
      EXPECT_NE(told.find(reason), std::string::npos) << told;
      EXPECT_EQ(told.find("json.exception"), std::string::npos) << told;
    }
  }
}

TEST(BatchLine, SaysWhetherTheModelThinks) {
  const auto think = [](const std::string& field) {
    return think_word(read_batch_line(R"({"questions": ["a"])" + field + "}", "questions.jsonl:1", {}).turn.sampling);
  };
  EXPECT_EQ(think(""), "") << "as the model's chat template has it";
  EXPECT_EQ(think(R"(, "think": "off")"), "off");
  EXPECT_EQ(think(R"(, "think": "on")"), "on");
  EXPECT_EQ(think(R"(, "think": 200)"), "200");
  EXPECT_EQ(think(R"(, "think": "200")"), "200");
}

}  // namespace
}  // namespace winnow::cli
