#include "engine/generation/requests/conversation_states.h"

#include <algorithm>
#include <utility>

#include "engine/generation/context/cache_shape.h"
#include "engine/generation/conversation/decode_step.h"
#include "engine/generation/conversation/message_equality.h"
#include "engine/generation/reading/prepared_turn.h"
#include "engine/generation/segment/thread_text.h"

namespace winnow {
namespace {

// The settings that a state was made with.
struct Making {
  std::span<const Pin> pins;
  KvStorage storage = KvStorage::kWide;
};

Making making_of(const Turn& turn, const VisionLanguageModel& network) { return {turn.pins, storage_of(network, turn.recipe)}; }

// The cache is stored so, and `pins` say of the conversation's media what it was made with, in any order; those of later media are free.
bool made_with(const Conversation& conversation, const Making& making) {
  const auto of_its_media = [&](std::span<const Pin> all) {
    std::vector<Pin> own(all.begin(), all.end());
    std::erase_if(own, [&](const Pin& pin) { return pin.media >= conversation.media_count; });
    return own;
  };
  const std::vector<Pin> before = of_its_media(conversation.pins);
  const std::vector<Pin> now = of_its_media(making.pins);
  return conversation.cache.shape().storage == making.storage && std::is_permutation(before.begin(), before.end(), now.begin(), now.end());
}

bool same_thread(std::span<const Message> a, std::span<const Message> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_message);
}

// Nothing, where the turn's message is the first.
bool holds_what_is_before(const Conversation& conversation, const Turn& turn, const Making& making) {
  const std::vector<Message>& held = conversation.thread;
  return held.size() + 1 == turn.messages.size() && same_thread(held, std::span(turn.messages).first(held.size())) &&
         made_with(conversation, making);
}

// And it is the cache that the turn means, of those that say the same.
bool holds_all_but_last(const Conversation& conversation, const Turn& turn, const Making& making) {
  return !conversation.thread.empty() && holds_what_is_before(conversation, turn, making) &&
         (turn.goes_on_from.empty() || conversation.makers == turn.goes_on_from);
}

// The system's messages are part of the prompt that leads to the first media, whose ids are compared when a question goes on from them.
bool leads_to_the_first_media(const PreparedContext& prepared, const Turn& turn, const Making& making) {
  const auto before = std::span(turn.messages).first(turn.messages.size() - 1);
  return prepared.state.thread.empty() && made_with(prepared.state, making) &&
         std::all_of(before.begin(), before.end(), [](const Message& message) { return message.role == Role::kSystem; });
}

// All media of the turn's thread that `prepared` does not stand behind are prepared, and any text since the last of them is read behind it.
// Text before and between them is compared by its ids when a question goes on from them.
bool has_media_of(const PreparedContext& prepared, const Turn& turn, const Making& making) {
  const std::size_t at = prepared.state.thread.size();
  if (at >= turn.messages.size() || prepared.recipe != turn.recipe) return false;
  Message all;
  for (const Message& message : std::span(turn.messages).subspan(at))
    all.items.insert(all.items.end(), message.items.begin(), message.items.end());
  return same_thread(prepared.state.thread, std::span(turn.messages).first(at)) && made_with(prepared.state, making) &&
         same_media(prepared, all);
}

bool prepared_for(const PreparedContext& prepared, const Turn& turn, const Making& making) {
  if (turn.messages.empty()) return false;
  // Questions that fetch their frames go on from all of the media, and read the text since then again.
  if (prepared.is_fetched_from() && has_media_of(prepared, turn, making)) return true;
  const bool in_its_place = holds_what_is_before(prepared.state, turn, making) || leads_to_the_first_media(prepared, turn, making);
  return in_its_place && prepared.recipe == turn.recipe && same_media(prepared, turn.messages.back());
}

// A full cache stands for all of the thread but its last answer and question. Which one; size(): none.
std::size_t full_at(const ConversationStates& states, std::span<const Message> thread, const Making& making) {
  const auto fits = [&](const Conversation& full) {
    const std::vector<Message>& held = full.thread;
    return held.size() + 2 == thread.size() && std::equal(held.begin(), held.end(), thread.begin(), same_message) &&
           thread[held.size()].role == Role::kAssistant && made_with(full, making);
  };
  return static_cast<std::size_t>(std::ranges::find_if(states.full, fits) - states.full.begin());
}

Conversation fork_of(const ConversationStates& states, const TurnStart& start, const KvShape& shape) {
  switch (start.from) {
    case TurnStart::From::kCurrent:
      return states.current->fork();
    case TurnStart::From::kBeforeLast:
      return states.before_last->fork();
    case TurnStart::From::kColumn:
      return states.columns[start.at].state.fork();
    case TurnStart::From::kFull:
      return states.full[start.at].fork();
    case TurnStart::From::kPrepared:
      return states.prepared->state.fork();
    case TurnStart::From::kNothing:
      break;
  }
  return Conversation(shape);
}

// The last token of an answer that was cut at its length, of which the caller takes care.
std::optional<std::int64_t> take_unread(Conversation& conversation) {
  const bool unread = std::exchange(conversation.answer_open, false) && !conversation.answer_ids.empty();
  return unread ? std::optional(conversation.answer_ids.back()) : std::nullopt;
}

}  // namespace

TurnStart start_of(const ConversationStates& states, const Turn& turn, const LoadedModel& model) {
  // Before the first answer no question has made anything be dropped that a guard could bring back.
  const bool later = std::any_of(turn.messages.begin(), turn.messages.end(), [](const Message& m) { return m.role == Role::kAssistant; });
  const bool reads_again = later && (turn.guard == Guard::kPrefill || turn.guard == Guard::kRam);
  const Making making = making_of(turn, *model.network);
  const auto goes_on_from_prepared = [&] { return goes_on({model, turn.messages, turn.prompt, states.prepared->state}); };
  if (!reads_again && states.prepared && prepared_for(*states.prepared, turn, making) && goes_on_from_prepared())
    return {TurnStart::From::kPrepared, 0};
  const TurnStart start = start_without_prepared(states, turn, model);
  const bool media_prepared = start.rewritten && !reads_again && states.prepared && has_media_of(*states.prepared, turn, making);
  return media_prepared && goes_on_from_prepared() ? TurnStart{TurnStart::From::kPrepared, 0, true} : start;
}

TurnStart start_without_prepared(const ConversationStates& states, const Turn& turn, const LoadedModel& model) {
  using From = TurnStart::From;
  const Making making = making_of(turn, *model.network);
  bool rewritten = false;
  const auto can_go_on = [&](const Conversation& state) {
    const bool can = goes_on({model, turn.messages, turn.prompt, state});
    rewritten = rewritten || !can;
    return can;
  };
  if (turn.guard == Guard::kPrefill) return {};
  if (turn.guard == Guard::kRam) {
    const std::size_t at = full_at(states, turn.messages, making);
    if (at < states.full.size() && can_go_on(states.full[at])) return {From::kFull, at};
    return {From::kNothing, 0, rewritten};
  }
  const auto follows = [&](const Conversation& state) { return holds_all_but_last(state, turn, making) && can_go_on(state); };
  if (states.current && follows(*states.current)) return {From::kCurrent, 0};
  if (states.before_last && follows(*states.before_last)) return {From::kBeforeLast, 0};
  TurnStart found;
  for (std::size_t i = 0; i < states.columns.size(); ++i) {
    if (!follows(states.columns[i].state)) continue;
    if (found.from == From::kNothing) found = {From::kColumn, i};
    if (states.columns[i].recipe == turn.recipe) return {From::kColumn, i};
  }
  found.rewritten = found.from == From::kNothing && rewritten;
  return found;
}

Conversation fork_start(const ConversationStates& states, const TurnStart& start, const VisionLanguageModel& network,
                        const RecipeSpec& recipe) {
  Conversation fork = fork_of(states, start, cache_shape(network, recipe));
  if (const auto unread = take_unread(fork)) decode_step(network, fork, *unread);
  return fork;
}

Conversation foreseen_start(const ConversationStates& states, const TurnStart& start, const VisionLanguageModel& network,
                            const RecipeSpec& recipe) {
  Conversation fork = fork_of(states, start, cache_shape(network, recipe));
  if (const auto unread = take_unread(fork)) count_step(fork, *unread);
  return fork;
}

void keep_turn(ConversationStates& states, const TurnStart& start, Conversation answered) {
  switch (start.from) {
    case TurnStart::From::kCurrent:
      states.before_last = std::move(states.current);
      break;
    case TurnStart::From::kBeforeLast:
      break;
    case TurnStart::From::kColumn:
      states.before_last = std::move(states.columns[start.at].state);
      break;
    case TurnStart::From::kPrepared:
      // The state that the media were read after, for the same question under another recipe.
      if (states.current && same_thread(states.current->thread, states.prepared->state.thread)) {
        states.before_last = std::move(states.current);
      } else if (states.before_last && !same_thread(states.before_last->thread, states.prepared->state.thread)) {
        states.before_last.reset();
      }
      break;
    case TurnStart::From::kFull:
    case TurnStart::From::kNothing:
      states.before_last.reset();
      break;
  }
  states.current = std::move(answered);
  states.columns.clear();
}

void keep_full(ConversationStates& states, Conversation full) {
  full.cache = full.cache.on_device(at::kCPU);
  const std::size_t before = full_at(states, full.thread, {full.pins, full.cache.shape().storage});
  std::vector<Conversation> kept;
  if (before < states.full.size()) kept.push_back(std::move(states.full[before]));
  kept.push_back(std::move(full));
  states.full = std::move(kept);
}

const Conversation* cut_answer_of(const ConversationStates& states, const Turn& turn, const VisionLanguageModel& network) {
  const auto fits = [&](const Conversation& state) {
    const bool by_its_recipe =
        std::any_of(state.makers.begin(), state.makers.end(), [&](const CacheMaker& maker) { return maker.recipe == turn.recipe; });
    return state.answer_open && !state.answer_ids.empty() && by_its_recipe &&
           holds_answer(state, turn.messages, {Role::kAssistant, {TextItem{turn.answer_begun}}, turn.thought_begun}) &&
           made_with(state, making_of(turn, network));
  };
  if (begins_anew(turn)) return nullptr;
  if (states.current && fits(*states.current)) return &*states.current;
  const auto column = std::find_if(states.columns.begin(), states.columns.end(), [&](const ComparedColumn& c) { return fits(c.state); });
  return column == states.columns.end() ? nullptr : &column->state;
}

bool holds_answer(const Conversation& conversation, std::span<const Message> thread, const Message& answer) {
  const std::vector<Message>& held = conversation.thread;
  return held.size() == thread.size() + 1 && std::equal(thread.begin(), thread.end(), held.begin(), same_message) &&
         same_message(held.back(), answer);
}

}  // namespace winnow
