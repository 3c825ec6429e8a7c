// An engine that answers several turns together, by a script: each first takes in so many others, then all speak in turns.
#pragma once

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/api/engine.h"

namespace winnow::test {

class GatheringEngine final : public Engine {
 public:
  // together: the turns that it waits for, for at most so long as a test may take.
  explicit GatheringEngine(std::size_t together) : together_(together) {}

  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override {
    NobodyWaits nobody;
    handle_together(request, sink, interrupt, nobody);
  }

  void handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& waiting) override {
    if (!std::holds_alternative<Turn>(request.body)) return;
    std::vector<AskedRequest> all = {{request, &sink, interrupt}};
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (all.size() < together_ && std::chrono::steady_clock::now() < latest) {
      if (auto next = waiting.next([](const Request& head) { return may_join_others(head.body); })) {
        if (std::holds_alternative<Turn>(next->request.body)) all.push_back(*std::move(next));
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    for (const char* const word : {"You ", "asked: "}) {
      for (const AskedRequest& each : all) each.sink->on_event({each.request.id, TextDelta{word}});
    }
    for (const AskedRequest& each : all) {
      const std::string question = question_of(std::get<Turn>(each.request.body));
      Finished finished{.answer = "You asked: " + question};
      each.sink->on_event({each.request.id, TextDelta{question}});
      each.sink->on_event({each.request.id, std::move(finished)});
    }
  }

 private:
  static std::string question_of(const Turn& turn) {
    for (const Item& item : turn.messages.back().items) {
      if (const auto* text = std::get_if<TextItem>(&item)) return text->text;
    }
    return {};
  }

  const std::size_t together_;
};

}  // namespace winnow::test
