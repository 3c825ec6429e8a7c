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
  BeforeDecoder before;
};

Making making_of(const Turn& turn, const VisionLanguageModel& network) {
  return {turn.pins, storage_of(network, turn.recipe), turn.recipe.before};
}

// The cache is stored so, as much of its media was read, and `pins` say of the conversation's media what it was made with, in any order;
// those of later media are free.
bool made_with(const Conversation& conversation, const Making& making) {
  const auto of_its_media = [&](std::span<const Pin> all) {
    std::vector<Pin> own(all.begin(), all.end());
    std::erase_if(own, [&](const Pin& pin) { return pin.media >= conversation.media_count; });
    return own;
  };
  const std::vector<Pin> before = of_its_media(conversation.pins);
  const std::vector<Pin> now = of_its_media(making.pins);
  const bool as_much = conversation.media_count == 0 || conversation.before == making.before;
  return conversation.cache.shape().storage == making.storage && as_much &&
         std::is_permutation(before.begin(), before.end(), now.begin(), now.end());
}

bool same_thread(std::span<const Message> a, std::span<const Message> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_message);
}

// And it is the cache that the turn means, of those that say the same.
bool holds_all_but_last(const Conversation& conversation, const Turn& turn, const Making& making) {
  const std::vector<Message>& held = conversation.thread;
  return !held.empty() && held.size() + 1 == turn.messages.size() && same_thread(held, std::span(turn.messages).first(held.size())) &&
         made_with(conversation, making) && (turn.goes_on_from.empty() || conversation.makers == turn.goes_on_from);
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

// Nothing was said since but by the system, whose words lead to the first media. Questions that fetch their frames go on from all of the
// media, and read the text since then again.
bool prepared_for(const PreparedContext& prepared, const Turn& turn, const Making& making) {
  if (!has_media_of(prepared, turn, making)) return false;
  const auto since = std::span(turn.messages).subspan(prepared.state.thread.size());
  return prepared.is_fetched_from() ||
         std::all_of(since.begin(), since.end() - 1, [](const Message& message) { return message.role == Role::kSystem; });
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

// Null: it goes on from nothing.
const Conversation* state_of(const ConversationStates& states, const TurnStart& start) {
  if (const auto* cut = std::get_if<FromCut>(&start)) return cut->state;
  if (std::holds_alternative<FromCurrent>(start)) return &*states.current;
  if (std::holds_alternative<FromBeforeLast>(start)) return &*states.before_last;
  if (const auto* column = std::get_if<FromColumn>(&start)) return &states.columns[column->at].state;
  if (const auto* full = std::get_if<FromFull>(&start)) return &states.full[full->at];
  return std::holds_alternative<FromPrepared>(start) ? &states.prepared->state : nullptr;
}

// Null: there is none.
const Conversation* cut_answer_of(const ConversationStates& states, const Turn& turn, const Making& making) {
  const auto fits = [&](const Conversation& state) {
    const bool by_its_recipe =
        std::any_of(state.makers.begin(), state.makers.end(), [&](const CacheMaker& maker) { return maker.recipe == turn.recipe; });
    return state.answer_open && !state.answer_ids.empty() && by_its_recipe &&
           holds_answer(state, turn.messages, {Role::kAssistant, {TextItem{turn.answer_begun}}, turn.thought_begun}) &&
           made_with(state, making);
  };
  if (begins_anew(turn)) return nullptr;
  if (states.current && fits(*states.current)) return &*states.current;
  const auto column = std::find_if(states.columns.begin(), states.columns.end(), [&](const ComparedColumn& c) { return fits(c.state); });
  return column == states.columns.end() ? nullptr : &column->state;
}

// Chooses for a new answer, whatever the turn's prompt has before the prepared media.
TurnStart start_of_thread(const ConversationStates& states, const Turn& turn, const LoadedModel& model) {
  // Before the first answer no question has made anything be dropped that a guard could bring back.
  const bool later = std::any_of(turn.messages.begin(), turn.messages.end(), [](const Message& m) { return m.role == Role::kAssistant; });
  const bool reads_again = later && (turn.guard == Guard::kPrefill || turn.guard == Guard::kRam);
  const Making making = making_of(turn, *model.network);
  const auto goes_on_from_prepared = [&] { return goes_on({model, turn.messages, turn.prompt, states.prepared->state}); };
  if (!reads_again && states.prepared && prepared_for(*states.prepared, turn, making) && goes_on_from_prepared()) return FromPrepared();
  const TurnStart start = start_without_prepared(states, turn, model);
  const bool media_prepared = is_rewritten(start) && !reads_again && states.prepared && has_media_of(*states.prepared, turn, making);
  return media_prepared && goes_on_from_prepared() ? FromPrepared{true} : start;
}

}  // namespace

bool is_rewritten(const TurnStart& start) {
  const auto* prepared = std::get_if<FromPrepared>(&start);
  const auto* nothing = std::get_if<FromNothing>(&start);
  return (prepared != nullptr && prepared->rewritten) || (nothing != nullptr && nothing->rewritten);
}

TurnStart start_of(const ConversationStates& states, const Turn& turn, const LoadedModel& model) {
  if (const Conversation* cut = cut_answer_of(states, turn, making_of(turn, *model.network))) return FromCut{cut};
  const TurnStart start = start_of_thread(states, turn, model);
  if (!std::holds_alternative<FromPrepared>(start)) return start;
  const ThreadToRead thread{model, turn.messages, turn.prompt, states.prepared->state};
  return goes_on_behind(thread, states.prepared->read()) ? start : start_without_prepared(states, turn, model);
}

bool follows_watched(const ConversationStates& states, const Turn& turn, const LoadedModel& model) {
  return states.watched && std::holds_alternative<FromPrepared>(start_of_thread(states, turn, model));
}

TurnStart start_without_prepared(const ConversationStates& states, const Turn& turn, const LoadedModel& model) {
  const Making making = making_of(turn, *model.network);
  bool rewritten = false;
  const auto can_go_on = [&](const Conversation& state) {
    const bool can = goes_on({model, turn.messages, turn.prompt, state});
    rewritten = rewritten || !can;
    return can;
  };
  if (turn.guard == Guard::kPrefill) return FromNothing();
  if (turn.guard == Guard::kRam) {
    const std::size_t at = full_at(states, turn.messages, making);
    if (at < states.full.size() && can_go_on(states.full[at])) return FromFull{at};
    return FromNothing{rewritten};
  }
  const auto follows = [&](const Conversation& state) { return holds_all_but_last(state, turn, making) && can_go_on(state); };
  if (states.current && follows(*states.current)) return FromCurrent();
  if (states.before_last && follows(*states.before_last)) return FromBeforeLast();
  std::optional<FromColumn> found;
  for (std::size_t i = 0; i < states.columns.size(); ++i) {
    if (!follows(states.columns[i].state)) continue;
    if (states.columns[i].recipe == turn.recipe) return FromColumn{i};
    if (!found) found = FromColumn{i};
  }
  return found ? TurnStart(*found) : FromNothing{rewritten};
}

Conversation fork_start(const ConversationStates& states, const TurnStart& start, const VisionLanguageModel& network,
                        const RecipeSpec& recipe, UnreadToken unread) {
  const Conversation* state = state_of(states, start);
  if (state == nullptr) return Conversation(cache_shape(network, recipe));
  Conversation fork = state->fork();
  if (!std::exchange(fork.answer_open, false) || fork.answer_ids.empty()) return fork;
  if (unread == UnreadToken::kCounted) {
    count_step(fork, fork.answer_ids.back());
  } else {
    decode_step(network, fork, fork.answer_ids.back());
  }
  return fork;
}

void keep_turn(ConversationStates& states, const TurnStart& start, Conversation answered) {
  const auto after_media = [&](const std::optional<Conversation>& state) {
    return state && same_thread(state->thread, states.prepared->state.thread);
  };
  if (const auto* column = std::get_if<FromColumn>(&start)) {
    states.before_last = std::move(states.columns[column->at].state);
  } else if (std::holds_alternative<FromCurrent>(start) || (std::holds_alternative<FromPrepared>(start) && after_media(states.current))) {
    // Prepared media were read after this state, to which the same question under another recipe returns.
    states.before_last = std::move(states.current);
  } else if (!std::holds_alternative<FromCut>(start) && !std::holds_alternative<FromBeforeLast>(start) &&
             !(std::holds_alternative<FromPrepared>(start) && after_media(states.before_last))) {
    states.before_last.reset();
  }
  states.current = std::move(answered);
  states.columns.clear();
}

void keep_full(ConversationStates& states, Conversation full) {
  full.cache = full.cache.on_device(at::kCPU);
  const std::size_t before = full_at(states, full.thread, {full.pins, full.cache.shape().storage, full.before});
  std::vector<Conversation> kept;
  if (before < states.full.size()) kept.push_back(std::move(states.full[before]));
  kept.push_back(std::move(full));
  states.full = std::move(kept);
}

bool holds_answer(const Conversation& conversation, std::span<const Message> thread, const Message& answer) {
  const std::vector<Message>& held = conversation.thread;
  return held.size() == thread.size() + 1 && std::equal(thread.begin(), thread.end(), held.begin(), same_message) &&
         same_message(held.back(), answer);
}

}  // namespace winnow
