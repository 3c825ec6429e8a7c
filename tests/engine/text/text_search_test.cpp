// Searching in linear time: the same places as the obvious search, and a count of comparisons that no input drives up.
#include "engine/text/template/text_search.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "engine/text/thought_tags.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_file.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

std::vector<std::size_t> found(TextSearch search) {
  std::vector<std::size_t> places;
  while (const auto place = search.next()) places.push_back(*place);
  return places;
}

std::vector<std::size_t> obvious(const std::string& text, const std::string& part) {
  std::vector<std::size_t> places;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) places.push_back(at);
  return places;
}

std::vector<std::size_t> obvious_from_right(const std::string& text, const std::string& part) {
  std::vector<std::size_t> places;
  for (std::size_t end = text.size(); end >= part.size();) {
    const std::size_t at = text.rfind(part, end - part.size());
    if (at == std::string::npos) break;
    places.push_back(at);
    end = at;
  }
  return places;
}

TEST(TextSearch, FindsWhatTheObviousSearchFinds) {
  std::mt19937 random(7);
  const auto letters = [&](std::size_t longest) {
    std::string text(random() % longest + 1, 'a');
    for (char& c : text) c = "ab\xC3\xA4"[random() % 4];
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = letters(40);
    const std::string part = letters(5);
    ASSERT_EQ(found(TextSearch(text, part)), obvious(text, part)) << text << " / " << part;
    ASSERT_EQ(found(TextSearch(text, part, TextSearch::From::kRight)), obvious_from_right(text, part)) << text << " / " << part;
  }
  EXPECT_EQ(found(TextSearch("aaa", "aa")), std::vector<std::size_t>{0});
  EXPECT_EQ(found(TextSearch("aaa", "aa", TextSearch::From::kRight)), std::vector<std::size_t>{1});
  EXPECT_TRUE(found(TextSearch("a", "aa")).empty());
  EXPECT_TRUE(found(TextSearch("", "a")).empty());
}

TEST(TextSearch, ComparesAtMostTwiceAsOftenAsThereAreBytes) {
  const std::size_t n = 200'000;
  const std::string plain(n, 'a');
  const std::string half(n / 2, 'a');
  std::string fibonacci = "a";  // the worst case of this search's tables
  for (std::string before = "b"; fibonacci.size() < n; std::swap(before, fibonacci)) before = fibonacci + before;
  const std::string parts[] = {half + "b", "b" + half, half, half + "b" + half, "a", "ab", fibonacci.substr(0, n / 3) + "c"};
  for (const std::string* const text : {&plain, static_cast<const std::string*>(&fibonacci)}) {
    for (const std::string& part : parts) {
      for (const auto from : {TextSearch::From::kLeft, TextSearch::From::kRight}) {
        TextSearch search(*text, part, from);
        while (search.next()) {
        }
        EXPECT_LE(search.comparisons(), static_cast<std::int64_t>(2 * (text->size() + part.size())));
        EXPECT_GT(search.comparisons(), part.size() > text->size() ? -1 : static_cast<std::int64_t>(text->size() / 2));
      }
    }
  }
}

std::unique_ptr<Tokenizer> tokenizer_of(const std::string& folder) {
  return Tokenizer::from(read_tokenizer_file(source_folder() + "/tests/golden/" + folder + "/model/tokenizer.json"));
}

// GLM-4.1V-Thinking: a template that says nothing of it, and tokens for thought and answer.
TEST(ThoughtTags, TokensForAnAnswerBehindAThoughtAreTakenWithIt) {
  const auto found = find_thought_tags("{{ messages }}", *tokenizer_of("glm4v/thinking"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tags.begin, "<think>");
  EXPECT_EQ(found->tags.answer_begin, "<answer>");
  EXPECT_EQ(found->tags.answer_end, "</answer>");
  EXPECT_FALSE(found->by_template);
}

// GLM-4.6V has the same tokenizer, and a template with thoughts alone.
TEST(ThoughtTags, ATemplateThatNamesThoughtsGoesBeforeTheTokens) {
  const auto found = find_thought_tags("{{ '<think></think>' }}", *tokenizer_of("glm4v/flash"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tags.begin, "<think>");
  EXPECT_EQ(found->tags.answer_begin, "");
  EXPECT_TRUE(found->by_template);
}

TEST(ThoughtTags, WhereNeitherKnowsMarksThereAreNone) {
  EXPECT_FALSE(find_thought_tags("{{ messages }}", *tokenizer_of("qwen3_vl/published")));
}

}  // namespace
}  // namespace winnow
