// Template text methods on inputs for which the obvious algorithms take the product of both lengths (10^11 and more steps: the test would
// not end): each has to give Python's answer, or to be refused before its memory is taken.
#include <gtest/gtest.h>

#include <string>

#include "engine/base/error.h"
#include "engine/text/chat_template.h"
#include "engine/text/template/template_text.h"

namespace winnow::chat {
namespace {

constexpr std::size_t kLong = 2'000'000;

Text text(std::string bytes) { return Text(std::move(bytes)); }

TEST(TemplateWork, SearchingIsLinearInBothTexts) {
  const Text as = text(std::string(kLong, 'a'));
  const std::string absent = std::string(kLong / 2, 'a') + "b";
  const std::string absent_at_front = "b" + std::string(kLong / 2, 'a');
  EXPECT_FALSE(contains(as, absent));
  EXPECT_FALSE(find(as, absent).has_value());
  EXPECT_EQ(count(as, absent), 0);
  EXPECT_EQ(split(as, absent, -1).size(), 1U);
  EXPECT_EQ(split_from_right(as, absent_at_front, -1).size(), 1U);
  EXPECT_EQ(replace(as, text(absent), text("c"), -1).size(), as.size());
  EXPECT_EQ(split(as, std::string(kLong / 4, 'a'), -1).size(), 5U);
  EXPECT_EQ(split_from_right(as, std::string(kLong / 4, 'a'), 2).front().size(), kLong / 2);
}

TEST(TemplateWork, StrippingIsLinearInTextAndSet) {
  std::string set;
  for (int code = 0x4E00; code < 0x9000; ++code) {
    set +=
        {static_cast<char>(0xE0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3F)), static_cast<char>(0x80 | (code & 0x3F))};
  }
  set += "a";
  const Text as = text(std::string(kLong, 'a') + "x" + std::string(kLong, 'a'));
  EXPECT_EQ(strip(as, Sides::kBoth, set).bytes(), "x");
}

ErrorCode refusal(const std::string& source) {
  try {
    ChatTemplate(source).render({}, {AddGenerationPrompt::kNo});
  } catch (const Exception& exception) {
    return exception.error().code;
  }
  return ErrorCode::kInternal;
}

TEST(TemplateWork, NoMorePiecesAreMadeThanThereAreSteps) {
  for (const char* source : {"{{ ('a,' * 4000000).split(',') | length }}", "{{ ('a,' * 4000000).rsplit(',') | length }}",
                             "{{ ('a ' * 4000000).split() | length }}", "{{ ('\\n' * 8000000).splitlines() | length }}"}) {
    EXPECT_EQ(refusal(source), ErrorCode::kLimitExceeded) << source;
  }
}

}  // namespace
}  // namespace winnow::chat
