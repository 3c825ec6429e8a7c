// Prompts without a chat template, and tokens without an answer.
#include <gtest/gtest.h>

#include <string>

#include "engine/generation/conversation/cache_figures.h"
#include "engine/generation/requests/run_tokenize.h"
#include "engine/generation/requests/run_turn.h"
#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

class PlainText : public EveryFamily {
 protected:
  Turn plain(const std::string& text) {
    Turn turn = ask("text", "full", 1.0, 12);
    turn.messages = {{Role::kUser, {TextItem{text}}}};
    turn.prompt.form = PromptForm::kPlainText;
    return turn;
  }
  std::string written_by_the_template() const { return golden_.cases().at("text").at("prompt").get<std::string>(); }
  Tokenized tokens_of(const std::vector<Message>& messages, PromptForm form) {
    PromptSettings settings;
    settings.form = form;
    const EventRecorder events = run(Tokenize{messages, settings});
    EXPECT_TRUE(events.last<Tokenized>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "");
    return events.last<Tokenized>().value_or(Tokenized{});
  }
};

TEST_P(PlainText, IsReadAsWhatTheTemplateWrites) {
  const std::vector<Message> thread = {golden_.message("text", opener_)};
  const Tokenized chat = tokens_of(thread, PromptForm::kChatTemplate);
  EXPECT_EQ(tokens_of(plain(written_by_the_template()).messages, PromptForm::kPlainText).tokens, chat.tokens) << chat.text;
  const Finished asked = finished(run(ask("text", "full", 1.0, 12)));
  Turn again = plain(written_by_the_template());
  again.conversation = 8;
  const Finished completed = finished(run(again));
  EXPECT_EQ(completed.figures.tokens.prompt, std::ssize(chat.tokens));
  EXPECT_EQ(completed.figures.tokens.prompt, asked.figures.tokens.prompt);
  // The spaces before a first word stay where a text goes on.
  EXPECT_TRUE(completed.answer.ends_with(asked.answer)) << completed.answer;
}

TEST_P(PlainText, StandsBehindThePrefixOfTheTokenizer) {
  const std::vector<Message> words = plain("How many squares").messages;
  const std::vector<std::int64_t> bare = tokens_of(words, PromptForm::kBareText).tokens;
  const std::vector<std::int64_t> whole = tokens_of(words, PromptForm::kPlainText).tokens;
  ASSERT_GE(whole.size(), bare.size());
  EXPECT_TRUE(std::equal(bare.rbegin(), bare.rend(), whole.rbegin()));
  const std::unique_ptr<LoadedModel> model = load_folder(golden_.in_fp32(), {}, InterruptToken());
  EXPECT_EQ(whole.size() - bare.size(), model->tokenizer->prefix().size());
  EXPECT_EQ(finished(run(plain("How many squares"))).figures.tokens.prompt, std::ssize(whole));
}

TEST_P(PlainText, TokensComeBackAsText) {
  const Tokenized there = tokens_of(plain("How many squares are there?").messages, PromptForm::kBareText);
  EXPECT_EQ(there.pieces.size(), there.tokens.size());
  const EventRecorder events = run(Detokenize{there.tokens});
  ASSERT_TRUE(events.last<Tokenized>());
  EXPECT_EQ(events.last<Tokenized>()->text, there.text);
  EXPECT_NE(there.text.find("How many squares are there?"), std::string::npos);
  for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{1} << 40}) {
    const EventRecorder refused = run(Detokenize{{wrong}});
    ASSERT_TRUE(refused.last<Failed>());
    EXPECT_EQ(refused.last<Failed>()->error.code, ErrorCode::kInvalidArgument);
  }
}

TEST_P(PlainText, MoreTokensThanMayBeToldAreRefused) {
  const EventRecorder refused = run(Detokenize{std::vector<std::int64_t>(kMostToldTokens + 1, 0)});
  ASSERT_TRUE(refused.last<Failed>());
  EXPECT_EQ(refused.last<Failed>()->error.code, ErrorCode::kLimitExceeded);
}

TEST_P(PlainText, HoldsNothingButOneText) {
  const auto code = [&](const EventRecorder& events) { return events.last<Failed>() ? events.last<Failed>()->error.code : ErrorCode{}; };
  Turn two = plain("one");
  two.messages.push_back({Role::kAssistant, {TextItem{"two"}}});
  two.messages.push_back({Role::kUser, {TextItem{"three"}}});
  EXPECT_EQ(code(run(two)), ErrorCode::kInvalidArgument);
  Turn picture = ask("image", "full", 1.0, 2);
  picture.prompt.form = PromptForm::kPlainText;
  EXPECT_EQ(code(run(picture)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(run(Tokenize{picture.messages, {}})), ErrorCode::kInvalidArgument);
  const std::unique_ptr<LoadedModel> model = load_folder(golden_.in_fp32(), {}, InterruptToken());
  const std::string placeholder(model->tokenizer->token_bytes(model->network->prompt().image_token_id));
  if (!placeholder.empty()) {
    EXPECT_EQ(code(run(plain("a " + placeholder))), ErrorCode::kInvalidArgument);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, PlainText, tiny_families(), folder_info_name);

// A long thread's report would be no message any more, and would end the engine's process.
TEST(CacheReportLists, AreNoLongerThanAMessage) {
  CacheReport report;
  report.kept = {{{1, 2, 3}, {4}}, {{}, {5}}};
  report.merged = {{{0, 0, 1}, {0}}, {{}, {0}}};
  report.texts.resize(4);
  bound_lists(report, {10, 4});
  EXPECT_EQ(report.kept.size(), 2U);
  EXPECT_EQ(report.merged.size(), 2U);
  EXPECT_EQ(report.texts.size(), 4U);
  bound_lists(report, {9, 3});
  EXPECT_TRUE(report.kept.empty());
  EXPECT_TRUE(report.merged.empty());
  EXPECT_EQ(report.texts.size(), 3U);
}

}  // namespace
}  // namespace winnow::testing
