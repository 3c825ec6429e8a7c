// Conversations of three turns under published chat templates and every guard (tests/golden/chat_template/threads.jsonl): what has been
// read is what the template writes for the whole thread, however it writes earlier answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/generation/requests/run_turn.h"
#include "engine/generation/segment/thread_text.h"
#include "tests/engine/generation/golden_folder.h"
#include "tests/support/event_recorder.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {
namespace {

constexpr char kDay[] = "2026-11-27";
constexpr Guard kGuards[] = {Guard::kKeep, Guard::kPrefill, Guard::kRam, Guard::kAlone};
const std::string kQuestions[] = {"Which colour is it?", "How many <b>are</b> there?", "And what moves?"};
const std::string kSystem = "Answer briefly.";

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
  return text;
}

Message said(Role role, const std::string& text) { return {role, {TextItem{text}}}; }

bool told(const EventRecorder& events, CompressionNote note) {
  const auto notes = events.last<CacheReport>()->notes;
  return std::ranges::find(notes, note) != notes.end();
}

class TemplateThreads : public ::testing::Test {
 protected:
  void SetUp() override { model_ = load_folder(golden_.in_fp32(), {}, InterruptToken()); }

  void speak(const std::string& source) {
    model_->chat_template = std::make_unique<ChatTemplate>(source, "<s>", "</s>");
    model_->thoughts = find_thought_tags(source, *model_->tokenizer);
  }

  // The last answer is what the model would have written with these marks, in the thread and in the cache's records.
  void answer_was(Turn& turn, const std::string& thought, const std::string& marked, const std::string& answer) {
    turn.messages.back() = said(Role::kAssistant, answer);
    turn.messages.back().thought = thought;
    if (!states_.current) return;
    states_.current->thread.back() = turn.messages.back();
    states_.current->answer_ids = model_->tokenizer->encode(marked, SpecialText::kAsText);
  }

  static Turn turn_of(Guard guard, const PromptSettings& settings) {
    Turn turn;
    turn.recipe.method = "full";
    turn.recipe.retention = 1.0;
    turn.guard = guard;
    turn.prompt = settings;
    turn.sampling.max_new_tokens = 2;
    return turn;
  }

  // Adds the question, and then its answer, to the thread.
  EventRecorder ask(Turn& turn, Message question) {
    turn.messages.push_back(std::move(question));
    EventRecorder events;
    const EmitEvent emit(events, 1);
    trace_ = {};
    const Finished finished = run_turn({*model_, &opener_, emit, InterruptToken(), &trace_}, turn, states_);
    turn.messages.push_back(said(Role::kAssistant, finished.answer));
    return events;
  }

  // What has been read for the last answer.
  static std::string read_text(const EventRecorder& events) {
    const CacheReport report = *events.last<CacheReport>();
    std::string text;
    for (const TokenText& token : report.texts) text += token.bytes;
    return text;
  }

  // Whether its text is that of its tokens.
  bool plain_answer() const {
    return std::ranges::none_of(trace_.generated, [&](std::int64_t id) {
      const std::string_view bytes = model_->tokenizer->token_bytes(id);
      return model_->tokenizer->is_special(id) || std::ranges::any_of(bytes, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    });
  }

  // By the template itself, which is compared with transformers in chat_template_test.cpp.
  std::string written(const Turn& turn) {
    const Turn run = as_run(turn);
    const std::span<const Message> asked = std::span(run.messages).first(run.messages.size() - (run.guard == Guard::kAlone ? 0 : 1));
    std::vector<TemplateMessage> messages;
    for (const Message& message : asked) {
      const std::string text = std::get<TextItem>(message.items.front()).text;
      const char* role = message.role == Role::kSystem ? "system" : message.role == Role::kUser ? "user" : "assistant";
      messages.push_back({role, {{TemplateContent::Kind::kText, text}}});
    }
    TemplateVariables variables{AddGenerationPrompt::kYes, std::nullopt, run.prompt.day};
    if (run.prompt.thinking != Thinking::kAsTheTemplateHasIt) variables.thinks = run.prompt.thinking == Thinking::kOn;
    std::string text;
    for (const TemplatePiece& piece : model_->chat_template->render(messages, variables)) text += piece.text;
    return text;
  }

  GoldenFolder golden_{"qwen2_vl/published"};
  MemoryMediaOpener opener_;
  std::unique_ptr<LoadedModel> model_;
  ConversationStates states_;
  TurnTrace trace_;
  const c10::InferenceMode inference_;
};

PromptSettings settings_of(const nlohmann::json& entry) {
  PromptSettings settings;
  settings.day = kDay;
  if (!entry.at("thinks").is_null()) settings.thinking = entry.at("thinks").get<bool>() ? Thinking::kOn : Thinking::kOff;
  return settings;
}

TEST_F(TemplateThreads, EveryPublishedTemplateReadsThreeTurnsUnderEveryGuard) {
  std::ifstream file(source_folder() + "/tests/golden/chat_template/threads.jsonl");
  int compared = 0;
  int conversations = 0;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json entry = nlohmann::json::parse(line);
    if (entry.contains("template")) speak(entry.at("template"));
    const bool system = entry.at("system").get<bool>();
    for (const Guard guard : kGuards) {
      SCOPED_TRACE(entry.at("name").get<std::string>() + " guard " + std::to_string(static_cast<int>(guard)) + (system ? " system" : "") +
                   " thinks " + entry.at("thinks").dump());
      states_ = {};
      ++conversations;
      Turn turn = turn_of(guard, settings_of(entry));
      if (system) turn.messages.push_back(said(Role::kSystem, kSystem));
      int notes = 0;
      bool clean = true;
      for (const std::string& question : kQuestions) {
        EventRecorder events;
        ASSERT_NO_THROW(events = ask(turn, said(Role::kUser, question)));
        notes += told(events, CompressionNote::kThreadReadAgain) ? 1 : 0;
        if (entry.at("has_system_prompt").get<bool>() && clean) {
          Turn asked = turn;
          if (guard == Guard::kAlone) asked.messages.pop_back();
          EXPECT_EQ(without_spaces(read_text(events)), without_spaces(written(asked)));
          ++compared;
        }
        clean = clean && plain_answer();
      }
      EXPECT_LE(notes, 1) << "said once";
      if (guard == Guard::kPrefill || guard == Guard::kAlone) {
        EXPECT_EQ(notes, 0) << "it is read again by the guard's choice";
      }
    }
  }
  EXPECT_GE(conversations, 300);
  EXPECT_GE(compared, conversations) << "hardly an answer could be compared";
}

TEST_F(TemplateThreads, AThreadThatIsWrittenOtherwiseIsReadAgainAndThatIsSaidOnce) {
  // As Qwen3's without thinking: the empty block that an answer begins with is gone once it is history.
  speak("{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|><think>\n\n</think>\n\n");
  Turn turn = turn_of(Guard::kKeep, {});
  EXPECT_FALSE(told(ask(turn, said(Role::kUser, "One?")), CompressionNote::kThreadReadAgain));
  EXPECT_TRUE(told(ask(turn, said(Role::kUser, "Two?")), CompressionNote::kThreadReadAgain));
  EXPECT_FALSE(told(ask(turn, said(Role::kUser, "Three?")), CompressionNote::kThreadReadAgain));
}

TEST_F(TemplateThreads, AnAnswersThoughtsAreNotGoneOnFrom) {
  speak("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n");
  model_->thoughts = FoundTags{known_thought_tags().front(), true};
  Turn turn = turn_of(Guard::kKeep, {});
  ask(turn, said(Role::kUser, "One?"));
  const Turn plain = [&] {
    Turn next = turn;
    next.messages.push_back(said(Role::kUser, "Two?"));
    return next;
  }();
  EXPECT_TRUE(std::holds_alternative<FromCurrent>(start_of(states_, plain, *model_)));
  // The cache holds "<think>Hm.</think>" before the answer, which the template leaves out.
  states_.current->thread.back().thought = "Hm.";
  const std::string answer = std::get<TextItem>(turn.messages.back().items.front()).text;
  states_.current->answer_ids = model_->tokenizer->encode("<think>Hm.</think>\n\n" + answer, SpecialText::kAsText);
  Turn thoughtful = plain;
  thoughtful.messages[1].thought = "Hm.";
  EXPECT_TRUE(is_rewritten(start_of(states_, thoughtful, *model_)));
  states_.current->thread.back().thought.clear();
  EXPECT_TRUE(is_rewritten(start_of(states_, plain, *model_))) << "the marks around nothing are in the cache, too";
  states_.current->thread.back().thought = "Hm.";
  // A template that writes thoughts as they were given is gone on from.
  speak(
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>\n\n{% endif %}"
      "{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n");
  EXPECT_TRUE(std::holds_alternative<FromCurrent>(start_of(states_, thoughtful, *model_)));
}

std::string published_template(const std::string& name) {
  std::ifstream file(source_folder() + "/tests/golden/chat_template/threads.jsonl");
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json entry = nlohmann::json::parse(line);
    if (entry.at("name") == name && entry.contains("template")) return entry.at("template");
  }
  return {};
}

// Granite's answers have marks of their own, which no later turn may see.
TEST_F(TemplateThreads, MarksAroundAnAnswerStandInNoLaterTurn) {
  speak(published_template("ibm-granite-granite-3.3-2B-Instruct"));
  ASSERT_TRUE(model_->thoughts);
  EXPECT_EQ(model_->thoughts->tags.answer_begin, "<response>");
  PromptSettings settings;
  settings.day = kDay;
  settings.thinking = Thinking::kOn;
  for (const Guard guard : kGuards) {
    for (const char* thought : {"Hm.", ""}) {
      SCOPED_TRACE("guard " + std::to_string(static_cast<int>(guard)) + " thought " + std::string(thought));
      states_ = {};
      Turn turn = turn_of(guard, settings);
      turn.messages.push_back(said(Role::kSystem, kSystem));
      for (const std::string& question : kQuestions) {
        const EventRecorder events = ask(turn, said(Role::kUser, question));
        Turn asked = turn;
        if (guard == Guard::kAlone) asked.messages.pop_back();
        EXPECT_EQ(without_spaces(read_text(events)), without_spaces(written(asked)));
        EXPECT_EQ(read_text(events).find("response>"), std::string::npos);
        answer_was(turn, thought, "<think>" + std::string(thought) + "</think><response>It is red.</response>", "It is red.");
      }
    }
  }
}

TEST_F(TemplateThreads, ASystemPromptWithoutAPlaceStandsBeforeTheFirstQuestionAndThatIsSaidOnce) {
  speak(
      "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
      "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
  Turn turn = turn_of(Guard::kKeep, {});
  turn.messages.push_back(said(Role::kSystem, kSystem));
  const EventRecorder first = ask(turn, said(Role::kUser, "One?"));
  EXPECT_EQ(read_text(first), "<|im_start|>user\nAnswer briefly.\n\nOne?<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_TRUE(told(first, CompressionNote::kSystemJoinsQuestion));
  const EventRecorder second = ask(turn, said(Role::kUser, "Two?"));
  EXPECT_FALSE(told(second, CompressionNote::kSystemJoinsQuestion));
  EXPECT_FALSE(told(second, CompressionNote::kThreadReadAgain)) << "the cache is gone on from";
}

TEST_F(TemplateThreads, TheConversationsDayStandsInThePrompt) {
  speak("Today is {{ strftime_now('%d %B %Y') }}.{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>");
  PromptSettings settings;
  settings.day = kDay;
  Turn turn = turn_of(Guard::kKeep, settings);
  EXPECT_TRUE(read_text(ask(turn, said(Role::kUser, "One?"))).starts_with("Today is 27 November 2026.<|im_start|>One?"));
}

}  // namespace
}  // namespace winnow::testing
