// Whether answers are the same to the token, with the same probabilities, kept slots and figures: of columns and of requests that were
// decoded together, and one after the other.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/event_recorder.h"

namespace winnow::testing {

// What a request, or a column of it, says and keeps. Progress depends on what is remembered of earlier requests, live samples on the clock.
inline std::vector<Event> said_in(const EventRecorder& events, std::int32_t column = Event::kNoColumn) {
  std::vector<Event> found;
  for (const Event& event : events.events) {
    const bool says = std::holds_alternative<TextDelta>(event.body) || std::holds_alternative<TokenSampled>(event.body) ||
                      std::holds_alternative<CacheReport>(event.body) || std::holds_alternative<Finished>(event.body) ||
                      std::holds_alternative<Failed>(event.body);
    if (event.column == column && says) found.push_back(event);
  }
  return found;
}

// Pieces of text aside, of which an answer with a stop string holds some back.
inline std::vector<Event> said_in_tokens(const EventRecorder& events) {
  std::vector<Event> said = said_in(events);
  std::erase_if(said, [](const Event& event) { return std::holds_alternative<TextDelta>(event.body); });
  return said;
}

struct SameSaid {
  const EventBody& other;
  void operator()(const TextDelta& said) const {
    EXPECT_EQ(said.text, std::get<TextDelta>(other).text);
    EXPECT_EQ(said.kind, std::get<TextDelta>(other).kind);
  }
  void operator()(const TokenSampled& sampled) const {
    const auto& also = std::get<TokenSampled>(other);
    const auto same = [](const TokenProbability& one, const TokenProbability& two) {
      EXPECT_EQ(one.token, two.token);
      EXPECT_EQ(one.log_probability, two.log_probability) << "logits differ";
    };
    same(sampled.sampled, also.sampled);
    ASSERT_EQ(sampled.likeliest.size(), also.likeliest.size());
    for (std::size_t i = 0; i < sampled.likeliest.size(); ++i) same(sampled.likeliest[i], also.likeliest[i]);
  }
  void operator()(const CacheReport& report) const { EXPECT_EQ(report.kept, std::get<CacheReport>(other).kept); }
  void operator()(const Finished& finished) const {
    const auto& also = std::get<Finished>(other);
    EXPECT_EQ(finished.answer, also.answer);
    EXPECT_EQ(finished.thought, also.thought);
    EXPECT_EQ(finished.reason, also.reason);
    EXPECT_EQ(finished.figures.tokens.generated, also.figures.tokens.generated);
    EXPECT_EQ(finished.figures.kv_bytes.end, also.figures.kv_bytes.end);
    EXPECT_EQ(finished.figures.kv_bytes.metadata, also.figures.kv_bytes.metadata);
    EXPECT_EQ(finished.figures.kv_bytes.full_end, also.figures.kv_bytes.full_end);
  }
  void operator()(const Failed& failed) const { EXPECT_EQ(failed.error.reason, std::get<Failed>(other).error.reason); }
  void operator()(const auto&) const { ADD_FAILURE() << "another kind of event"; }
};

inline void expect_same_answers(const std::vector<Event>& one, const std::vector<Event>& two) {
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t event = 0; event < one.size(); ++event) {
    ASSERT_EQ(one[event].body.index(), two[event].body.index());
    std::visit(SameSaid{two[event].body}, one[event].body);
  }
}

}  // namespace winnow::testing
