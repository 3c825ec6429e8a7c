#include "engine/generation/requests/turns_together.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/generation/answer/step_together.h"

namespace winnow {

void TurnsTogether::Member::on_event(Event event) {
  const bool is_progress = std::holds_alternative<Progress>(event.body);
  asked.emit(std::move(event.body));
  if (is_progress && !turn) together.step();
}

void TurnsTogether::begin(const RequestContext& context, const Turn& asked, ConversationStates& states) {
  const auto member = members_.emplace(members_.end(), *this, context, asked.conversation);
  outcome_(context, [&]() -> std::optional<EventBody> {
    try {
      member->turn.emplace(member->own, asked, states);
    } catch (const Interrupted&) {
      return interrupted_turn(asked);
    }
    return std::nullopt;
  });
  if (!member->turn) members_.erase(member);
}

void TurnsTogether::step() {
  if (std::exchange(stepping_, true)) return;
  std::vector<RunningTurn*> going;
  for (Member& member : members_) {
    if (!member.turn) continue;
    if (members_.size() > 1) member.turn->note_company();
    going.push_back(&*member.turn);
  }
  if (!going.empty()) {
    step_together(members_.front().own.network(), going, [&](RunningTurn& ended) {
      const auto member = std::ranges::find_if(members_, [&](const Member& each) { return each.turn && &*each.turn == &ended; });
      outcome_(member->asked, [&]() -> std::optional<EventBody> { return ended.finish(); });
      members_.erase(member);
    });
  }
  stepping_ = false;
}

bool TurnsTogether::holds(ConversationId conversation) const {
  return std::ranges::find(members_, conversation, &Member::conversation) != members_.end();
}

std::int64_t TurnsTogether::bytes_to_come() const {
  std::int64_t bytes = 0;
  for (const Member& member : members_) bytes += member.turn ? member.turn->bytes_to_come() : 0;
  return bytes;
}

}  // namespace winnow
