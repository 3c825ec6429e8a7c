#include "app/evaluation/answerer.h"

#include <limits>

#include "app/notices/notice_text.h"

namespace winnow::app {
namespace {

constexpr ConversationId kConversation = 1;
constexpr char kDay[] = "2026-01-01";  // that chat templates write: figures of tomorrow are those of today

void take(std::vector<std::string>& notices, const Event& event) {
  const auto* sampled = std::get_if<MediaSampled>(&event.body);
  if (sampled == nullptr) return;
  for (const MediaNotice& notice : sampled->notices) notices.push_back(sampled->path + ": " + noticeText(notice));
}

// Keeps how a turn, or the score of a text, ended.
class TurnSink final : public EventSink {
 public:
  void on_event(Event event) override {
    take(notices, event);
    if (auto* failed = std::get_if<Failed>(&event.body)) error = std::move(failed->error);
    if (auto* done = std::get_if<Finished>(&event.body)) finished = std::move(*done);
    if (auto* judged = std::get_if<Scored>(&event.body)) scored = std::move(*judged);
  }
  std::vector<std::string> notices;
  std::optional<Finished> finished;
  std::optional<Scored> scored;
  std::optional<Error> error;
};

void take(RecipeAnswer& answer, const Scored& scored) {
  answer.topAgreement = scored.agreement.top1;
  answer.divergence = scored.agreement.mean_kl;
  answer.loss = scored.agreement.loss;
  answer.selection = scored.selection;
}

// Keeps how a comparison ended, by column.
class OutcomeSink final : public EventSink {
 public:
  explicit OutcomeSink(std::size_t columns) : answers(columns) {}
  void on_event(Event event) override {
    if (auto* failed = std::get_if<Failed>(&event.body)) error = std::move(failed->error);
    if (const auto* compared = std::get_if<Compared>(&event.body)) complete = !compared->stopped;
    take(event.column < 0 ? notices : answers.at(static_cast<std::size_t>(event.column)).notices, event);
    if (event.column < 0) return;
    RecipeAnswer& answer = answers.at(static_cast<std::size_t>(event.column));
    if (auto* done = std::get_if<Finished>(&event.body)) {
      answer.answer = std::move(done->answer);
      answer.figures = std::move(done->figures);
    }
    if (const auto* scored = std::get_if<Scored>(&event.body)) take(answer, *scored);
  }
  std::vector<RecipeAnswer> answers;
  std::vector<std::string> notices;  // of what the columns share
  std::optional<Error> error;
  bool complete = false;
};

// Where several questions are asked about what `full` keeps, a method that compresses before them and has room for everything leaves the
// same cache, and it is read once for all of them.
RecipeSpec readOnce(RecipeSpec recipe) {
  if (!keeps_everything(recipe)) return recipe;
  recipe.method = "every-k";
  recipe.budget_tokens = std::numeric_limits<int>::max();
  return recipe;
}

// They stand in the conversation already.
void withoutMedia(Message& question) {
  std::erase_if(question.items, [](const Item& item) { return std::holds_alternative<MediaItem>(item); });
}

}  // namespace

std::vector<RecipeAnswer> EngineAnswerer::answers(const Message& question, const std::vector<RecipeSpec>& recipes,
                                                  const InterruptToken& interrupt) {
  Compare compare;
  compare.conversation = kConversation;
  compare.messages = {question};
  compare.sampling = m_sampling;
  compare.prompt.thinking = thinking_of(m_sampling);
  compare.recipes = recipes;
  compare.prompt.day = kDay;
  compare.scores = m_scores;
  OutcomeSink sink(recipes.size());
  m_engine.handle({++m_lastId, std::move(compare)}, sink, interrupt);
  if (sink.error) throw Exception(*sink.error);
  if (!sink.complete) throw Interrupted(interrupt.state());
  forget();
  for (RecipeAnswer& answer : sink.answers) {
    if (answer.notices.empty()) answer.notices = sink.notices;
  }
  return std::move(sink.answers);
}

Turn EngineAnswerer::turnOf(const RecipeSpec& recipe, Guard guard) const {
  Turn turn;
  turn.conversation = kConversation;
  turn.recipe = recipe;
  turn.guard = guard;
  turn.prompt.day = kDay;
  turn.sampling = m_sampling;
  turn.prompt.thinking = thinking_of(m_sampling);
  return turn;
}

RecipeAnswer EngineAnswerer::answered(const Turn& turn, const InterruptToken& interrupt) {
  TurnSink sink;
  m_engine.handle({++m_lastId, turn}, sink, interrupt);
  if (sink.error) throw Exception(*sink.error);
  require(sink.finished.has_value(), "a turn ends as finished or failed");
  if (sink.finished->reason == StopReason::kInterrupted) throw Interrupted(interrupt.state());
  RecipeAnswer answer;
  answer.answer = std::move(sink.finished->answer);
  answer.thought = std::move(sink.finished->thought);
  answer.figures = std::move(sink.finished->figures);
  answer.notices = std::move(sink.notices);
  return answer;
}

std::vector<RecipeAnswer> EngineAnswerer::series(const std::vector<Message>& questions, const RecipeSpec& recipe, Guard guard,
                                                 const InterruptToken& interrupt) {
  std::vector<RecipeAnswer> answers;
  Turn turn = turnOf(guard == Guard::kAlone ? readOnce(recipe) : recipe, guard);
  for (const Message& question : questions) {
    if (guard == Guard::kAlone) turn.messages.clear();
    turn.messages.push_back(question);
    if (turn.messages.size() > 1) withoutMedia(turn.messages.back());
    answers.push_back(answered(turn, interrupt));
    turn.messages.push_back({Role::kAssistant, {TextItem{answers.back().answer}}, answers.back().thought});
  }
  forget();
  return answers;
}

// The turn says what the recipe keeps, and leaves what a recipe prepares before a question; the score goes on from there.
RecipeAnswer EngineAnswerer::given(const Message& question, const std::string& text, const RecipeSpec& recipe,
                                   const InterruptToken& interrupt) {
  Turn turn = turnOf(recipe, Guard::kAlone);
  turn.messages = {question};
  turn.sampling.max_new_tokens = 1;
  RecipeAnswer answer = answered(turn, interrupt);
  TurnSink sink;
  m_engine.handle({++m_lastId, Score{turn, text}}, sink, interrupt);
  if (sink.error) throw Exception(*sink.error);
  if (!sink.scored) throw Interrupted(interrupt.state());
  answer.answer.clear();
  take(answer, *sink.scored);
  forget();
  return answer;
}

// What was prepared stays with its conversation, and the next set of media shall find none of it.
void EngineAnswerer::forget() {
  TurnSink silent;
  m_engine.handle({++m_lastId, ForgetConversation{kConversation}}, silent, {});
}

}  // namespace winnow::app
