#include "app/evaluation/answerer.h"

namespace winnow::app {
namespace {

constexpr ConversationId kConversation = 1;

// Keeps how a turn ended.
class OutcomeSink final : public EventSink {
 public:
  void on_event(Event event) override {
    if (auto* done = std::get_if<Finished>(&event.body)) finished = std::move(*done);
    if (auto* failed = std::get_if<Failed>(&event.body)) error = std::move(failed->error);
  }
  std::optional<Finished> finished;
  std::optional<Error> error;
};

}  // namespace

std::vector<RecipeAnswer> EngineAnswerer::answers(const Message& question, const std::vector<RecipeSpec>& recipes, const InterruptToken& interrupt) {
  std::vector<RecipeAnswer> given;
  for (const RecipeSpec& recipe : recipes) {
    Turn turn;
    turn.conversation = kConversation;
    turn.messages = {question};
    turn.recipe = recipe;
    turn.sampling.max_new_tokens = m_maxNewTokens;
    turn.sampling.seed = recipe.seed;
    OutcomeSink sink;
    m_engine.handle({++m_lastId, std::move(turn)}, sink, interrupt);
    if (sink.error) throw Exception(*sink.error);
    require(sink.finished.has_value(), "a turn must end with an outcome");
    if (sink.finished->reason == StopReason::kInterrupted) throw Interrupted(interrupt.state());
    given.push_back({sink.finished->answer, sink.finished->figures, std::nullopt, std::nullopt});
    // The next recipe sees the question for the first time.
    m_engine.handle({++m_lastId, ForgetConversation{kConversation}}, sink, {});
  }
  return given;
}

}  // namespace winnow::app
