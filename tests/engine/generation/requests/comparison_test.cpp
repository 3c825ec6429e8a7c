// Comparisons on a tiny random model: what each column says must be what a turn under its recipe alone says.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

class Comparisons : public TinyModel {
 protected:
  using TinyModel::TinyModel;

  Compare compare(const std::string& name, const std::vector<std::pair<std::string, double>>& recipes, int tokens = 8) {
    Compare request;
    for (const auto& [method, retention] : recipes) {
      Turn turn = ask(name, method, retention, tokens);
      request.conversation = turn.conversation;
      request.messages = turn.messages;
      request.sampling = turn.sampling;
      request.recipes.push_back(turn.recipe);
    }
    return request;
  }

  template <typename Body>
  static std::vector<Body> of_column(const EventRecorder& events, std::int32_t column) {
    std::vector<Body> found;
    for (const Event& event : events.events) {
      const Body* body = std::get_if<Body>(&event.body);
      if (body != nullptr && event.column == column) found.push_back(*body);
    }
    return found;
  }
  static std::string text_of(const EventRecorder& events, std::int32_t column) {
    std::string text;
    for (const TextDelta& delta : of_column<TextDelta>(events, column)) text += delta.text;
    return text;
  }
  static Compared compared(const EventRecorder& events) {
    EXPECT_TRUE(events.last<Compared>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no outcome");
    return events.last<Compared>().value_or(Compared{});
  }
  static std::int64_t prefilled_layers(const EventRecorder& events, std::int32_t column) {
    const std::vector<Progress> progress = of_column<Progress>(events, column);
    return std::count_if(progress.begin(), progress.end(), [](const Progress& each) { return each.phase == Phase::kPrefill; });
  }

  // Of every method.
  void expect_columns_as_turns(const std::string& name);

  // All recipes of the registry that the model can be asked for, as many as one comparison takes at a time.
  std::vector<Compare> every_method(const std::string& name, double retention, int tokens) {
    std::vector<Compare> requests;
    std::vector<std::pair<std::string, double>> recipes;
    for (const MethodInfo& method : list_methods()) {
      if (recipe_problem(ask(name, method.name, retention).recipe, info_.traits)) continue;
      recipes.emplace_back(method.name, retention);
      if (recipes.size() < Compare::kMostRecipes) continue;
      requests.push_back(compare(name, recipes, tokens));
      recipes.clear();
    }
    if (!recipes.empty()) requests.push_back(compare(name, recipes, tokens));
    return requests;
  }
};

void Comparisons::expect_columns_as_turns(const std::string& name) {
  for (const Compare& request : every_method(name, 0.3, 20)) {
    const EventRecorder events = run(request);
    compared(events);
    for (std::size_t i = 0; i < request.recipes.size(); ++i) {
      SCOPED_TRACE(::testing::Message() << name << ", " << request.recipes[i].method);
      const auto column = static_cast<std::int32_t>(i);
      run(ForgetConversation{7});
      Turn turn;
      turn.conversation = 7;
      turn.messages = request.messages;
      turn.sampling = request.sampling;
      turn.recipe = request.recipes[i];
      const EventRecorder alone = run(turn);
      const Finished expected = finished(alone);
      ASSERT_EQ(of_column<Finished>(events, column).size(), 1U);
      const Finished got = of_column<Finished>(events, column).front();
      EXPECT_EQ(got.answer, expected.answer);
      EXPECT_EQ(text_of(events, column), expected.answer);
      EXPECT_EQ(got.reason, expected.reason);
      const TurnFigures& a = got.figures;
      const TurnFigures& b = expected.figures;
      EXPECT_EQ(a.method, b.method);
      EXPECT_EQ(a.tokens.prompt, b.tokens.prompt);
      EXPECT_EQ(a.tokens.visual, b.tokens.visual);
      EXPECT_EQ(a.tokens.generated, b.tokens.generated);
      EXPECT_EQ(a.kv_bytes.full, b.kv_bytes.full);
      EXPECT_EQ(a.kv_bytes.after_event, b.kv_bytes.after_event);
      EXPECT_EQ(a.kv_bytes.end, b.kv_bytes.end);
      EXPECT_EQ(a.kv_bytes.allocated, b.kv_bytes.allocated);
      EXPECT_EQ(a.kv_bytes.metadata, b.kv_bytes.metadata);
      EXPECT_EQ(a.notes, b.notes);
      EXPECT_EQ(a.achieved_retention, b.achieved_retention);
      ASSERT_EQ(a.layers.size(), b.layers.size());
      for (std::size_t layer = 0; layer < a.layers.size(); ++layer) {
        EXPECT_EQ(a.layers[layer].budget, b.layers[layer].budget);
        EXPECT_EQ(a.layers[layer].bytes, b.layers[layer].bytes);
        EXPECT_EQ(a.layers[layer].why, b.layers[layer].why);
      }
      EXPECT_EQ(of_column<CacheReport>(events, column).front().kept, alone.last<CacheReport>()->kept);
    }
  }
}

TEST_F(Comparisons, EveryColumnIsTheTurnUnderItsRecipeBitForBit) {
  for (const char* const name : {"image", "video"}) expect_columns_as_turns(name);
}

// Qwen3.5: a fork's states are its own.
class ComparisonsWithStates : public Comparisons {
 protected:
  ComparisonsWithStates() : Comparisons("qwen3_5/published") {}
};

TEST_F(ComparisonsWithStates, EveryColumnIsTheTurnUnderItsRecipeBitForBit) { expect_columns_as_turns("image"); }

// A token of each in turn: what is said, kept and scored is the same, event by event of every column but for the live samples' times.
TEST_F(Comparisons, InterleavedColumnsSayTheSame) {
  for (Compare request : every_method("video", 0.3, 20)) {
    const EventRecorder apart = run(request);
    request.order = ColumnOrder::kInterleaved;
    const EventRecorder together = run(request);
    EXPECT_EQ(compared(together).prefills, compared(apart).prefills);
    EXPECT_EQ(compared(together).shared_prefix_bytes, compared(apart).shared_prefix_bytes);
    EXPECT_EQ(compared(together).allocated_bytes, compared(apart).allocated_bytes);
    EXPECT_FALSE(compared(together).stopped);
    for (std::size_t i = 0; i < request.recipes.size(); ++i) {
      SCOPED_TRACE(request.recipes[i].method);
      const auto column = static_cast<std::int32_t>(i);
      ASSERT_EQ(of_column<Finished>(together, column).size(), 1U);
      const Finished a = of_column<Finished>(together, column).front();
      const Finished b = of_column<Finished>(apart, column).front();
      EXPECT_EQ(a.answer, b.answer);
      EXPECT_EQ(text_of(together, column), b.answer);
      EXPECT_EQ(a.reason, b.reason);
      EXPECT_EQ(a.figures.tokens.generated, b.figures.tokens.generated);
      EXPECT_EQ(a.figures.kv_bytes.after_event, b.figures.kv_bytes.after_event);
      EXPECT_EQ(a.figures.kv_bytes.end, b.figures.kv_bytes.end);
      EXPECT_EQ(a.figures.kv_bytes.allocated, b.figures.kv_bytes.allocated);
      EXPECT_EQ(a.figures.kv_bytes.metadata, b.figures.kv_bytes.metadata);
      EXPECT_EQ(a.figures.notes, b.figures.notes);
      EXPECT_GT(a.figures.timings_ms.ttft, 0.0);
      EXPECT_GE(a.figures.timings_ms.decode_total, 0.0);
      EXPECT_EQ(of_column<CacheReport>(together, column).front().kept, of_column<CacheReport>(apart, column).front().kept);
      const Agreement one = of_column<Scored>(together, column).front().agreement;
      const Agreement two = of_column<Scored>(apart, column).front().agreement;
      EXPECT_EQ(one.top1, two.top1);
      EXPECT_EQ(one.mean_kl, two.mean_kl);
      EXPECT_EQ(one.first_diverging_word, two.first_diverging_word);
    }
  }
}

// All columns begin before the first token, tokens come in turn, all answers end before the first score.
TEST_F(Comparisons, InterleavedColumnsTakeTurns) {
  Compare request = compare("image", {{"full", 1.0}, {"snapkv", 0.5}, {"fastv", 0.5}}, 6);
  request.sampling.stop_strings.clear();
  request.order = ColumnOrder::kInterleaved;
  const EventRecorder events = run(request);
  EXPECT_EQ(compared(events).prefills, 2);
  int reports = 0;
  int finished_columns = 0;
  std::vector<std::int32_t> speakers;
  for (const Event& event : events.events) {
    if (std::holds_alternative<CacheReport>(event.body)) ++reports;
    if (std::holds_alternative<Finished>(event.body)) ++finished_columns;
    if (std::holds_alternative<Scored>(event.body)) {
      EXPECT_EQ(finished_columns, 3);
    }
    if (!std::holds_alternative<TextDelta>(event.body)) continue;
    EXPECT_EQ(reports, 3);
    speakers.push_back(event.column);
  }
  ASSERT_GE(speakers.size(), 9U);
  for (std::size_t i = 0; i + 1 < 9; ++i) EXPECT_NE(speakers[i], speakers[i + 1]) << "nobody says two in a row";
  // An answer that is used goes on from its column, as ever.
  Turn first = ask("image", "snapkv", 0.5, 6);
  const Turn next = follow_up(first, of_column<Finished>(events, 1).front().answer, "And now?");
  EXPECT_EQ(finished(run(next)).figures.tokens.visual, 0);
}

TEST_F(Comparisons, StopEndsAllInterleavedColumns) {
  InterruptSource source;
  EventRecorder events;
  events.hook = [&](const Event& event) {
    if (event.column == 1 && std::holds_alternative<TextDelta>(event.body)) source.request_stop();
  };
  Compare request = compare("text", {{"full", 1.0}, {"random", 0.5}, {"full", 1.0}}, 40);
  request.order = ColumnOrder::kInterleaved;
  engine_->handle({2, request}, events, source.token());
  EXPECT_TRUE(compared(events).stopped);
  EXPECT_TRUE(events.all<Scored>().empty()) << "half answers are not scored";
  for (std::int32_t column = 0; column < 3; ++column) {
    ASSERT_EQ(of_column<Finished>(events, column).size(), 1U);
    EXPECT_EQ(of_column<Finished>(events, column).front().reason, StopReason::kInterrupted);
  }
  EXPECT_FALSE(of_column<Finished>(events, 0).front().answer.empty());
}

TEST_F(Comparisons, CancelOfInterleavedColumnsLeavesNoTrace) {
  InterruptSource source;
  EventRecorder events;
  events.hook = [&](const Event& event) {
    if (event.column == 1 && std::holds_alternative<TextDelta>(event.body)) source.request_cancel();
  };
  Compare request = compare("text", {{"full", 1.0}, {"random", 0.5}}, 40);
  request.order = ColumnOrder::kInterleaved;
  engine_->handle({2, request}, events, source.token());
  EXPECT_FALSE(events.last<Compared>());
  ASSERT_TRUE(std::holds_alternative<Finished>(events.events.back().body));
  EXPECT_EQ(events.events.back().column, Event::kNoColumn);
  EXPECT_TRUE(std::get<Finished>(events.events.back().body).restored);
}

TEST_F(Comparisons, OnePrefillAndOneVisionPass) {
  opener_.pictures_read = 0;
  const Compare request = compare("video", {{"full", 1.0}, {"vl-cache", 0.3}, {"snapkv", 0.3}, {"meda", 0.3}, {"d2o", 0.3}});
  const EventRecorder events = run(request);
  EXPECT_EQ(compared(events).prefills, 1);
  EXPECT_EQ(prefilled_layers(events, Event::kNoColumn), info_.layers);
  const int read = opener_.pictures_read;
  run(ForgetConversation{7});
  run(ask("video", "full", 1.0));
  EXPECT_EQ(opener_.pictures_read, read) << "features of the comparison serve the next turn";
  for (std::int32_t column = 0; column < 5; ++column) {
    EXPECT_EQ(prefilled_layers(events, column), 0) << column;
    ASSERT_EQ(of_column<ColumnStarted>(events, column).size(), 1U);
    EXPECT_TRUE(of_column<ColumnStarted>(events, column).front().shares_prefill);
    EXPECT_EQ(of_column<Scored>(events, column).size(), 1U);
  }
  // One after the other: no column's event lies between those of another.
  std::int32_t newest = Event::kNoColumn;
  for (const Event& event : events.events) {
    if (std::holds_alternative<Compared>(event.body)) continue;
    EXPECT_GE(event.column, newest);
    newest = event.column;
  }
  EXPECT_TRUE(std::holds_alternative<Compared>(events.events.back().body));
}

TEST_F(Comparisons, TheSharedPrefixIsStoredOnce) {
  Compare request = compare("video", {{"full", 1.0}, {"full", 1.0}, {"full", 1.0}, {"streaming-llm", 0.5}});
  std::string long_question;
  for (int i = 0; i < 100; ++i) long_question += "How many squares are there? ";
  request.messages.back().items.emplace_back(TextItem{long_question});
  const EventRecorder events = run(request);
  const Compared outcome = compared(events);
  std::int64_t apart = 0;
  for (std::int32_t column = 0; column < 4; ++column) {
    const KvBytes bytes = of_column<Finished>(events, column).front().figures.kv_bytes;
    apart += bytes.allocated;
    EXPECT_EQ(bytes.full, outcome.shared_prefix_bytes);
  }
  const KvBytes full = of_column<Finished>(events, 0).front().figures.kv_bytes;
  EXPECT_EQ(full.after_event, outcome.shared_prefix_bytes);
  // The prefix, rounded up to blocks; per full column at most its last block and one more; for the rest what a head keeps.
  const std::int64_t block = info_.kv_bytes_per_token * 64;
  const std::int64_t prefix = (outcome.shared_prefix_bytes + block - 1) / block * block;
  const std::int64_t rest = of_column<Finished>(events, 3).front().figures.kv_bytes.allocated;
  EXPECT_GE(outcome.allocated_bytes, prefix);
  EXPECT_LE(outcome.allocated_bytes, prefix + 3 * 2 * block + rest);
  EXPECT_LT(outcome.allocated_bytes, apart / 2) << "four caches in the memory of less than two";
}

TEST_F(Comparisons, TheFullColumnAgreesWithItself) {
  const EventRecorder events = run(compare("image", {{"snapkv", 1.0}, {"full", 1.0}, {"random", 0.1}}, 24));
  for (std::int32_t column = 0; column < 2; ++column) {
    const Agreement agreement = of_column<Scored>(events, column).front().agreement;
    EXPECT_EQ(agreement.top1, 1.0);
    EXPECT_EQ(agreement.mean_kl, 0.0);
    EXPECT_FALSE(agreement.first_diverging_word);
    EXPECT_TRUE(agreement.differences.empty());
    EXPECT_EQ(agreement.tokens, of_column<Finished>(events, column).front().figures.tokens.generated);
  }
  const Agreement lost = of_column<Scored>(events, 2).front().agreement;
  EXPECT_GT(lost.mean_kl, 0.0);
  EXPECT_EQ(lost.first_diverging_word.has_value(), lost.top1 < 1.0);
}

TEST_F(Comparisons, WithoutScoresTheAnswersAreTheSame) {
  Compare request = compare("video", {{"full", 1.0}, {"vl-cache", 0.3}});
  const EventRecorder scored = run(request);
  request.scores = ColumnScores::kNone;
  const EventRecorder unscored = run(request);
  EXPECT_TRUE(unscored.all<Scored>().empty());
  for (std::int32_t column = 0; column < 2; ++column) EXPECT_EQ(text_of(unscored, column), text_of(scored, column));
}

TEST_F(Comparisons, AnAnswerThatIsUsedGoesOnFromItsColumn) {
  const Turn first = ask("image", "snapkv", 0.5);
  const Finished one = finished(run(first));
  const Turn second = follow_up(first, one.answer, "How many squares are there?");
  const Finished two = finished(run(second));

  run(ForgetConversation{7});
  const EventRecorder events = run(compare_of(first, {ask("image", "full", 1.0).recipe, first.recipe}));
  ASSERT_EQ(text_of(events, 1), one.answer);
  for (const char* const time : {"at once", "again"}) {
    const Finished continued = finished(run(second));
    EXPECT_EQ(continued.answer, two.answer) << time;
    EXPECT_EQ(continued.figures.tokens.visual, 0) << time << ": the image is in the column's cache";
    EXPECT_EQ(continued.figures.kv_bytes.end, two.figures.kv_bytes.end) << time;
  }
}

TEST_F(Comparisons, StopEndsTheColumnAndLeavesOutTheRest) {
  InterruptSource source;
  EventRecorder events;
  events.hook = [&](const Event& event) {
    if (event.column == 1 && std::holds_alternative<TextDelta>(event.body)) source.request_stop();
  };
  const Compare request = compare("text", {{"full", 1.0}, {"random", 0.5}, {"full", 1.0}}, 40);
  engine_->handle({2, request}, events, source.token());
  EXPECT_TRUE(compared(events).stopped);
  EXPECT_EQ(of_column<Scored>(events, 0).size(), 1U);
  ASSERT_EQ(of_column<Finished>(events, 1).size(), 1U);
  EXPECT_EQ(of_column<Finished>(events, 1).front().reason, StopReason::kInterrupted);
  EXPECT_FALSE(of_column<Finished>(events, 1).front().answer.empty());
  EXPECT_TRUE(of_column<Scored>(events, 1).empty()) << "half an answer is not scored";
  EXPECT_TRUE(of_column<ColumnStarted>(events, 2).empty());
}

TEST_F(Comparisons, StopWhileScoringKeepsTheAnswer) {
  InterruptSource source;
  EventRecorder events;
  events.hook = [&](const Event& event) {
    if (event.column == 0 && std::holds_alternative<Finished>(event.body)) source.request_stop();
  };
  engine_->handle({2, compare("text", {{"random", 0.5}, {"full", 1.0}}, 20)}, events, source.token());
  EXPECT_TRUE(compared(events).stopped);
  EXPECT_NE(of_column<Finished>(events, 0).front().reason, StopReason::kInterrupted);
  EXPECT_TRUE(of_column<ColumnStarted>(events, 1).empty());
}

TEST_F(Comparisons, CancelAnywhereLeavesNoTrace) {
  const Turn first = ask("image", "snapkv", 0.5);
  const Finished one = finished(run(first));
  const Turn second = follow_up(first, one.answer, "How many squares are there?");
  const Compare kept = compare_of(second, {second.recipe});
  const std::string column = text_of(run(kept), 0);
  const Turn used = follow_up(second, column, "And now?");

  const std::vector<std::function<bool(const Event&)>> moments = {
      [](const Event& event) { return std::holds_alternative<MediaSampled>(event.body); },
      [](const Event& event) {
        return std::holds_alternative<Progress>(event.body) && std::get<Progress>(event.body).phase == Phase::kPrefill;
      },
      [](const Event& event) { return event.column == 0 && std::holds_alternative<TextDelta>(event.body); },
      [](const Event& event) { return event.column == 0 && std::holds_alternative<Finished>(event.body); },
      [](const Event& event) { return event.column == 1 && std::holds_alternative<CacheReport>(event.body); },
  };
  for (std::size_t i = 0; i < moments.size(); ++i) {
    InterruptSource source;
    EventRecorder events;
    events.hook = [&](const Event& event) {
      if (moments[i](event)) source.request_cancel();
    };
    RecipeSpec other = second.recipe;
    other.method = "random";
    engine_->handle({3, compare_of(second, {other, second.recipe})}, events, source.token());
    ASSERT_TRUE(source.token().requested()) << i;
    EXPECT_FALSE(events.last<Compared>()) << i;
    ASSERT_TRUE(std::holds_alternative<Finished>(events.events.back().body)) << i;
    EXPECT_EQ(events.events.back().column, Event::kNoColumn) << i;
    EXPECT_TRUE(std::get<Finished>(events.events.back().body).restored) << i;
  }
  EXPECT_EQ(finished(run(used)).figures.tokens.visual, 0) << "the earlier comparison's column was still there";
}

TEST_F(Comparisons, ImpossibleRequestsAreRefusedBeforeAnythingIsRead) {
  opener_.pictures_read = 0;
  Compare none = compare("video", {{"full", 1.0}});
  none.recipes.clear();
  Compare many = compare("video", std::vector<std::pair<std::string, double>>(9, {"full", 1.0}));
  Compare illegal = compare("video", {{"full", 1.0}, {"no-such-method", 0.5}});
  Compare no_question = compare("video", {{"full", 1.0}});
  no_question.messages.clear();
  for (const Compare& request : {none, many, no_question}) {
    ASSERT_TRUE(run(request).last<Failed>());
    EXPECT_EQ(run(request).last<Failed>()->error.code, ErrorCode::kInvalidArgument);
  }
  ASSERT_TRUE(run(illegal).last<Failed>());
  EXPECT_EQ(run(illegal).last<Failed>()->error.code, ErrorCode::kIllegalRecipe);
  EXPECT_EQ(opener_.pictures_read, 0);
}

TEST_F(Comparisons, AScoreIsTheComparisonsAgreement) {
  for (const char* method : {"random", "d2o", "streaming-llm"}) {
    SCOPED_TRACE(method);
    run(ForgetConversation{7});
    const Turn turn = ask("image", method, 0.2, 24);
    const Finished answer = finished(run(turn));
    const EventRecorder scored = run(Score{turn, answer.answer, {}, answer.reason});
    ASSERT_TRUE(scored.last<Scored>());
    const Agreement score = scored.last<Scored>()->agreement;
    const EventRecorder events = run(compare_of(turn, {turn.recipe}));
    const Agreement column = of_column<Scored>(events, 0).front().agreement;
    EXPECT_EQ(score.tokens, answer.figures.tokens.generated);
    EXPECT_EQ(score.tokens, column.tokens);
    EXPECT_EQ(score.top1, column.top1);
    EXPECT_EQ(score.mean_kl, column.mean_kl);
    EXPECT_EQ(score.first_diverging_word, column.first_diverging_word);
    EXPECT_EQ(score.differences.size(), column.differences.size());
    EXPECT_EQ(finished(run(follow_up(turn, answer.answer, "And now?"))).figures.tokens.visual, 0) << "the conversation is still there";
  }
}

TEST_F(Comparisons, AnAnswerOfALaterTurnIsScoredFromWhereItsTurnBegan) {
  const Turn first = ask("image", "random", 0.2, 12);
  const Turn second = follow_up(first, finished(run(first)).answer, "How many squares are there?");
  const Finished two = finished(run(second));
  const EventRecorder events = run(Score{second, two.answer, {}, two.reason});
  ASSERT_TRUE(events.last<Scored>());
  const Agreement agreement = events.last<Scored>()->agreement;
  EXPECT_EQ(agreement.tokens, two.figures.tokens.generated);
  EXPECT_GT(agreement.mean_kl, 0.0);
  EXPECT_EQ(prefilled_layers(events, Event::kNoColumn), 2 * info_.layers) << "the thread in full, and the turn on its compressed cache";
}

// What they say, keep and score is what they would if they read it anew.
TEST_F(Comparisons, ColumnsGoOnFromWhatIsPreparedForThem) {
  for (const char* method : {"self-study", "kvzip", "every-k", "rekv", "infinipot-v"}) {
    SCOPED_TRACE(method);
    run(ForgetConversation{7});
    const Turn turn = ask("video", method, 0.3, 12);
    const Compare request = compare_of(turn, {ask("video", "snapkv", 0.3).recipe, turn.recipe});
    const EventRecorder anew = run(request);
    for (const ConversationId prepared_for : {ConversationId{7}, kDraftConversation}) {
      run(ForgetConversation{7});
      Turn before = turn;
      before.conversation = prepared_for;
      ASSERT_TRUE(run(Prepare{before}).last<Prepared>()->compressed);
      for (int round = 0; round < 2; ++round) {
        const EventRecorder after = run(request);
        EXPECT_EQ(compared(after).prefills, compared(anew).prefills - 1);
        EXPECT_EQ(of_column<Finished>(after, 1).front().figures.tokens.visual, 0) << "its own tokens only";
        EXPECT_EQ(text_of(after, 0), text_of(anew, 0));
        EXPECT_EQ(text_of(after, 1), text_of(anew, 1));
        EXPECT_EQ(of_column<CacheReport>(after, 1).front().kept, of_column<CacheReport>(anew, 1).front().kept);
        EXPECT_EQ(of_column<Scored>(after, 1).front().agreement.mean_kl, of_column<Scored>(anew, 1).front().agreement.mean_kl);
      }
      const Turn next = follow_up(turn, text_of(anew, 1), "And now?");
      EXPECT_EQ(finished(run(next)).figures.tokens.visual, 0) << "the column's cache goes on";
    }
  }
}

TEST_F(Comparisons, WhatIsPreparedForAnotherRecipeOrPinsIsNotTaken) {
  const Turn turn = ask("video", "self-study", 0.3);
  ASSERT_TRUE(run(Prepare{turn}).last<Prepared>()->compressed);
  const auto prefills = [this](const Compare& request) { return compared(run(request)).prefills; };
  EXPECT_EQ(prefills(compare_of(turn, {turn.recipe})), 1);
  RecipeSpec other = turn.recipe;
  other.retention = 0.2;
  EXPECT_EQ(prefills(compare_of(turn, {other})), 2);
  Compare pinned = compare_of(turn, {turn.recipe});
  pinned.pins = {{0, 0.0, 0.5}};
  EXPECT_EQ(prefills(pinned), 2);
}

// Behind a first answer the media of a second video are prepared on what the first question left; a comparison compresses all of the
// thread.
TEST_F(Comparisons, ALaterQuestionIsComparedOnItsWholeThread) {
  const Turn first = ask("video", "self-study", 0.3);
  Turn second = follow_up(first, finished(run(first)).answer, "And here?");
  second.messages.back().items.insert(second.messages.back().items.begin(), first.messages.back().items.front());
  ASSERT_TRUE(run(Prepare{second}).last<Prepared>()->compressed);
  const EventRecorder events = run(compare_of(second, {second.recipe}));
  EXPECT_EQ(compared(events).prefills, 2);
  EXPECT_GT(of_column<Finished>(events, 0).front().figures.tokens.visual, 0);
}

// Under guard ram the turn began on the full cache, under guard prefill on nothing.
TEST_F(Comparisons, AnAnswerIsScoredUnderTheGuardOfItsTurn) {
  for (const Guard guard : {Guard::kRam, Guard::kPrefill}) {
    run(ForgetConversation{7});
    Turn first = ask("image", "random", 0.2, 12);
    first.guard = guard;
    const Turn second = follow_up(first, finished(run(first)).answer, "How many squares are there?");
    const Finished two = finished(run(second));
    const EventRecorder events = run(Score{second, two.answer, {}, two.reason});
    ASSERT_TRUE(events.last<Scored>());
    EXPECT_EQ(events.last<Scored>()->agreement.tokens, two.figures.tokens.generated);
    EXPECT_EQ(prefilled_layers(events, Event::kNoColumn), (guard == Guard::kRam ? 2 : 1) * info_.layers);
  }
}

TEST_F(Comparisons, AnyTextCanBeScored) {
  const EventRecorder events = run(Score{ask("image", "random", 0.2), "nothing that this model would say"});
  ASSERT_TRUE(events.last<Scored>());
  const Agreement agreement = events.last<Scored>()->agreement;
  EXPECT_GT(agreement.tokens, 5);
  for (const WordDifference& difference : agreement.differences) {
    EXPECT_LT(difference.word, 6);
    EXPECT_GE(difference.full_choice_probability, difference.full_probability);
  }
}

TEST_F(Comparisons, ACancelledScoreChangesNothing) {
  const Turn turn = ask("image", "random", 0.2, 12);
  const Finished answer = finished(run(turn));
  InterruptSource source;
  source.request_cancel();
  const EventRecorder events = run(Score{turn, answer.answer}, source.token());
  EXPECT_TRUE(finished(events).restored);
  EXPECT_FALSE(events.last<Scored>());
  EXPECT_EQ(finished(run(follow_up(turn, answer.answer, "And now?"))).figures.tokens.visual, 0);
}

}  // namespace
}  // namespace winnow::testing
