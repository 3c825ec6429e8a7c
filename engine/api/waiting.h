// The requests behind one that an engine runs: it may take some of them in before that one has ended.
//
// Part of engine.h. Implemented where requests queue (app/engine/host, the engine's own process, `batch`), and passed on by engines around
// engines. Threads: next() is called on the engine's thread; each queue says who may add to it.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

struct AskedRequest {
  Request request;
  EventSink* sink;  // there until the request's last event; that of a request without events is not asked
  InterruptToken interrupt;
};

class Waiting {
 public:
  using MayJoin = std::function<bool(const Request&)>;
  virtual ~Waiting() = default;
  // The queue's head, if it is there and may join: nothing overtakes it. Whoever takes it answers it.
  virtual std::optional<AskedRequest> next(const MayJoin& may_join) = 0;
  // For poll(): one of them is readable if something has come since next() was asked last.
  virtual std::vector<int> descriptors() const { return {}; }
};

class NobodyWaits final : public Waiting {
 public:
  std::optional<AskedRequest> next(const MayJoin& /*may_join*/) override { return std::nullopt; }
};

// A queue as an engine around another one shows it to that one: some may not join, and each gets a sink of the outer engine's own.
class WaitingBehind final : public Waiting {
 public:
  // also: what else may join, as the outer engine sees it. wrap: makes the sink that stands before the asker's; may number the request.
  using Wrap = std::function<std::unique_ptr<EventSink>(AskedRequest&)>;
  WaitingBehind(
      Waiting& queue, Wrap wrap, MayJoin also = [](const Request&) { return true; })
      : queue_(queue), wrap_(std::move(wrap)), also_(std::move(also)) {}
  std::optional<AskedRequest> next(const MayJoin& may_join) override {
    passed_.remove_if([](const Passed& each) { return each.over; });
    auto asked = queue_.next([&](const Request& request) { return also_(request) && may_join(request); });
    if (asked) asked->sink = &passed_.emplace_back(wrap_(*asked), std::holds_alternative<ForgetConversation>(asked->request.body));
    return asked;
  }
  std::vector<int> descriptors() const override { return queue_.descriptors(); }

 private:
  struct Passed final : EventSink {
    Passed(std::unique_ptr<EventSink> sink, bool silent) : to(std::move(sink)), over(silent) {}
    void on_event(Event event) override {
      over = ends_request(event);
      to->on_event(std::move(event));
    }
    const std::unique_ptr<EventSink> to;
    bool over;
  };

  Waiting& queue_;
  const Wrap wrap_;
  const MayJoin also_;
  std::list<Passed> passed_;  // they stay where they are
};

// True for a request that can be taken in while others run: a turn, which shares their steps, and what is done at once between two steps.
inline bool may_join_others(const RequestBody& body) {
  return std::holds_alternative<Turn>(body) || std::holds_alternative<ForgetConversation>(body) || std::holds_alternative<Tokenize>(body) ||
         std::holds_alternative<Detokenize>(body);
}

}  // namespace winnow
