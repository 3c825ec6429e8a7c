#include "app/evaluation/answerer.h"

namespace winnow::app {
namespace {

constexpr ConversationId kConversation = 1;

// Keeps how a comparison ended, by column.
class OutcomeSink final : public EventSink {
 public:
  explicit OutcomeSink(std::size_t columns) : answers(columns) {}
  void on_event(Event event) override {
    if (auto* failed = std::get_if<Failed>(&event.body)) error = std::move(failed->error);
    if (const auto* compared = std::get_if<Compared>(&event.body)) complete = !compared->stopped;
    if (event.column < 0) return;
    RecipeAnswer& answer = answers.at(static_cast<std::size_t>(event.column));
    if (auto* done = std::get_if<Finished>(&event.body)) {
      answer.answer = std::move(done->answer);
      answer.figures = std::move(done->figures);
    }
    if (const auto* scored = std::get_if<Scored>(&event.body)) {
      answer.topAgreement = scored->agreement.top1;
      answer.divergence = scored->agreement.mean_kl;
      answer.selection = scored->selection;
    }
  }
  std::vector<RecipeAnswer> answers;
  std::optional<Error> error;
  bool complete = false;
};

}  // namespace

std::vector<RecipeAnswer> EngineAnswerer::answers(const Message& question, const std::vector<RecipeSpec>& recipes,
                                                  const InterruptToken& interrupt) {
  Compare compare;
  compare.conversation = kConversation;
  compare.messages = {question};
  compare.sampling.max_new_tokens = m_maxNewTokens;
  compare.recipes = recipes;
  compare.scores = m_scores;
  OutcomeSink sink(recipes.size());
  m_engine.handle({++m_lastId, std::move(compare)}, sink, interrupt);
  if (sink.error) throw Exception(*sink.error);
  if (!sink.complete) throw Interrupted(interrupt.state());
  m_engine.handle({++m_lastId, ForgetConversation{kConversation}}, sink, {});
  return std::move(sink.answers);
}

}  // namespace winnow::app
