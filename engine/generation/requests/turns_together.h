// Turns of several conversations that are answered together: one decode step reads a token of each, and each has its own events and end.
//
// Used by engine/api. Turns join and leave between steps. While one that joins is read (its vision batches, its layers), the others take a
// step at each sign of progress, so that a long prompt holds nobody up for longer than a layer. The tokens are those of one turn after
// another. Engine thread only.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <optional>

#include "engine/generation/requests/running_turn.h"

namespace winnow {

class TurnsTogether {
 public:
  // Does what it is given and emits what that returns, or what it has failed with; must not throw.
  using Outcome = std::function<void(const RequestContext&, const std::function<std::optional<EventBody>()>&)>;
  explicit TurnsTogether(Outcome outcome) : outcome_(std::move(outcome)) {}

  // Reads the turn up to its answer. states: as RunningTurn has them.
  void begin(const RequestContext& context, const Turn& asked, ConversationStates& states);
  // One token of every turn.
  void step();

  std::size_t size() const { return members_.size(); }
  bool holds(ConversationId conversation) const;
  // K and V that they may still come to, beside what they have.
  std::int64_t bytes_to_come() const;

 private:
  // Passes on the events of its turn.
  struct Member final : EventSink {
    Member(TurnsTogether& all, const RequestContext& context, ConversationId of)
        : together(all), asked(context), own(context), conversation(of) {
      own.emit = EmitEvent(*this, 0);
    }
    void on_event(Event event) override;

    TurnsTogether& together;
    const RequestContext asked;
    RequestContext own;
    const ConversationId conversation;
    std::optional<RunningTurn> turn;  // once it is read
  };

  Outcome outcome_;
  std::list<Member> members_;  // they stay where they are
  bool stepping_ = false;
};

}  // namespace winnow
