// Requests that wait behind one that an engine runs, each with what it was told.
#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "tests/support/event_recorder.h"

namespace winnow::testing {

struct QueuedRequest {
  Request request;
  EventRecorder events{};
  InterruptSource interrupt{};
};

class AskedQueue final : public Waiting {
 public:
  // The same is asked to the end.
  QueuedRequest& add(RequestId id, RequestBody body) { return all.emplace_back(QueuedRequest{{id, std::move(body)}}); }
  std::optional<AskedRequest> next(const MayJoin& may_join) override {
    if (taken == all.size() || (gate && !gate()) || !may_join(all[taken].request)) return std::nullopt;
    QueuedRequest& queued = all[taken++];
    return AskedRequest{queued.request, &queued.events, queued.interrupt.token()};
  }
  // Runs all, those that do not join after those that do.
  void run(Engine& engine) {
    while (const auto first = next([](const Request&) { return true; }))
      engine.handle_together(first->request, *first->sink, first->interrupt, *this);
  }

  std::deque<QueuedRequest> all;  // they stay where they are
  std::size_t taken = 0;
  std::function<bool()> gate;  // false: as if nothing had come yet
};

}  // namespace winnow::testing
