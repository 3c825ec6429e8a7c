// Thoughts between marks at an answer's beginning come apart from it, however the text is cut.
#include "app/engine/remote/think_marks.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

struct Parts {
  std::string thought, answer;
  friend bool operator==(const Parts&, const Parts&) = default;
};

Parts partsOf(const std::string& text, std::size_t step) {
  Parts parts;
  ThinkMarks marks;
  const auto take = [&](const TextDelta& delta) {
    EXPECT_FALSE(delta.text.empty());
    (delta.kind == TextKind::kThought ? parts.thought : parts.answer) += delta.text;
  };
  for (std::size_t at = 0; at < text.size(); at += step) marks.add(std::string_view(text).substr(at, step), take);
  marks.end(take);
  return parts;
}

struct Case {
  const char* text;
  Parts parts;
};

TEST(ThinkMarks, PartThoughtsFromAnswersForAnyCut) {
  const Case cases[] = {{"<think>\nHm. So\n\n  it is.\n</think>\n\nBlue.\n", {"Hm. So\n\n  it is.", "Blue.\n"}},
                        {"\n<think></think>Blue.", {"", "Blue."}},
                        {"[THINK]Hm.[/THINK]Blue.", {"Hm.", "Blue."}},
                        {"◁think▷Hm.◁/think▷ Blue.", {"Hm.", "Blue."}},
                        {"<thinking>a < b </think></thinking>Blue", {"a < b </think>", "Blue"}},
                        {"<think>Hm. </thi", {"Hm. </thi", ""}},
                        {"<think>never ended \n", {"never ended", ""}},
                        {"Blue, not <think>red</think>.", {"", "Blue, not <think>red</think>."}},
                        {"  <thin air>", {"", "  <thin air>"}},
                        {"<thi", {"", "<thi"}},
                        {" \n", {"", " \n"}},
                        {"", {"", ""}}};
  for (const Case& each : cases) {
    const std::string text = each.text;
    for (std::size_t step = 1; step <= text.size() + 1; ++step)
      EXPECT_EQ(partsOf(text, step), each.parts) << text << ", pieces of " << step;
  }
}

}  // namespace
}  // namespace winnow::app
