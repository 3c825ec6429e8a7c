// Turns on a tiny random model: several of them, compression, interrupts, limits. What they say means nothing; that they agree does.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

using Turns = TinyModel;
using TurnsOfFamilies = EveryFamily;
INSTANTIATE_TEST_SUITE_P(Folders, TurnsOfFamilies, tiny_families(), folder_info_name);

TEST_F(Turns, StreamedTextIsTheAnswer) {
  const EventRecorder events = run(ask("image", "full", 1.0));
  EXPECT_EQ(events.streamed(), finished(events).answer);
  EXPECT_EQ(std::get_if<Finished>(&events.events.back().body) != nullptr, true) << "Finished comes last";
}

TEST_F(Turns, TheTimeToTheFirstTokenIsKnownWithoutAnyText) {
  Turn turn = ask("text", "full", 1.0, 4);
  const std::string answer = finished(run(turn)).answer;
  ASSERT_FALSE(answer.empty());
  run(ForgetConversation{turn.conversation});
  turn.sampling.stop_strings = {answer.substr(0, 1)};
  const Finished silent = finished(run(turn));
  EXPECT_EQ(silent.answer, "");
  EXPECT_GT(silent.figures.timings_ms.ttft, 0.0);
}

// Keys without positions of several axes; tokens that layers with a window have left behind (window_test.cpp).
TEST_P(TurnsOfFamilies, RefuseNoMethodWithoutAReason) {
  if (info_.traits.window > 0) return;
  EXPECT_EQ(list_methods().size() - legal_methods().size(), info_.traits.position_axes > 1 ? 1U : 0U);
}

TEST_P(TurnsOfFamilies, RetentionOneIsBitIdenticalToFullForEveryMethod) {
  const EventRecorder full = run(ask("image", "full", 1.0, 16));
  for (const MethodInfo& method : legal_methods()) {
    run(ForgetConversation{7});
    const EventRecorder events = run(ask("image", method.name, 1.0, 16));
    EXPECT_EQ(finished(events).answer, finished(full).answer) << method.name;
    EXPECT_EQ(events.last<CacheReport>()->kept, full.last<CacheReport>()->kept) << method.name;
    EXPECT_EQ(finished(events).figures.kv_bytes.end, finished(full).figures.kv_bytes.end) << method.name;
  }
}

TEST_F(Turns, CompressionFreesWhatTheReportSays) {
  const Finished full = finished(run(ask("image", "full", 1.0)));
  for (const MethodInfo& info : list_methods()) {
    const std::string& method = info.name;
    if (method == "full" || info.phase == MethodPhase::kPrefill) continue;
    run(ForgetConversation{7});
    const EventRecorder events = run(ask("image", method, 0.5));
    const Finished half = finished(events);
    const KvBytes& bytes = half.figures.kv_bytes;
    EXPECT_EQ(bytes.full, full.figures.kv_bytes.after_event) << method;
    EXPECT_LT(bytes.after_event, bytes.full) << method;
    std::int64_t sum = 0;
    for (const LayerFigures& layer : half.figures.layers) sum += layer.bytes;
    EXPECT_EQ(sum, bytes.after_event) << method;
    const TokenCounts& tokens = half.figures.tokens;
    const bool of_media = method == "aircache" || phase_facts(info.phase).before_question;
    // An event of infinipot-v leaves three quarters of the slots, more than which come again.
    const double room =
        method == "infinipot-v" ? 0.125 * (1.0 - static_cast<double>(tokens.text) / static_cast<double>(tokens.prompt)) : 0.0;
    const double kept_beside = of_media ? static_cast<double>(tokens.text) / static_cast<double>(tokens.prompt) : 0.0;
    EXPECT_NEAR(half.figures.achieved_retention, kept_beside + 0.5 * (1.0 - kept_beside) - room / 2, 0.02 + room / 2) << method;
    // Blocks of 64 slots: what is allocated at the end is less than one block per head more than what is in use.
    const std::int64_t block = info_.kv_bytes_per_token * 64;
    EXPECT_LT(bytes.allocated, bytes.end + block) << method;
  }
}

// Visual tokens leave the network: before the decoder, or at a layer's input. What the report says of the full cache does not change.
TEST_F(Turns, PruningTakesVisualTokensOutOfTheNetwork) {
  const Finished full = finished(run(ask("image", "full", 1.0)));
  const std::int64_t text = full.figures.tokens.text;
  const auto slots_of = [&](const Finished& done, std::size_t layer) {
    return static_cast<std::int64_t>(done.figures.layers.at(layer).kept);
  };
  for (const std::string method : {"fastv", "fastervlm", "ivtp"}) {
    run(ForgetConversation{7});
    Turn turn = ask("image", method, 0.5, 4);
    if (method != "fastervlm") turn.recipe.options["layer"] = "1";
    const EventRecorder events = run(turn);
    const Finished pruned = finished(events);
    EXPECT_EQ(pruned.figures.kv_bytes.full, full.figures.kv_bytes.after_event) << method;
    EXPECT_EQ(pruned.figures.tokens.text, text) << method;
    const std::int64_t prompt = pruned.figures.tokens.prompt;
    EXPECT_EQ(prompt == full.figures.tokens.prompt, method == "fastv") << method;
    EXPECT_EQ(slots_of(pruned, 0), prompt) << method;
    const double last = static_cast<double>(slots_of(pruned, 1) - text) / static_cast<double>(full.figures.tokens.visual);
    EXPECT_NEAR(last, 0.5, 0.1) << method << ": newline embeddings stay beside what the vision tower judges";
    EXPECT_EQ(slots_of(pruned, 1) == prompt, method == "fastervlm") << method;
    // Whoever is left is still where it was: a second turn goes on.
    EXPECT_FALSE(finished(run(follow_up(turn, pruned.answer, "And now?"))).answer.empty()) << method;
  }
}

// What a turn would take uncompressed counts what its answer takes, as what it takes does: in the first turn and in later ones.
TEST_F(Turns, TheFullCacheAtTheEndCountsTheAnswerToo) {
  for (const double retention : {1.0, 0.5}) {
    run(ForgetConversation{7});
    Turn turn = ask("text", "snapkv", retention);
    turn.recipe.min_event_tokens = 256;  // kept whole whatever the share, for its tokens are few
    Finished done;
    for (int number = 0; number < 2; ++number) {
      if (number > 0) turn = follow_up(turn, done.answer, "And now?");
      done = finished(run(turn));
      const KvBytes& bytes = done.figures.kv_bytes;
      EXPECT_GT(bytes.end, bytes.after_event);
      EXPECT_EQ(bytes.full_end, bytes.end) << "turn " << number << " at " << retention << ": nothing was dropped";
      EXPECT_EQ(bytes.full, bytes.after_event);
    }
  }
  run(ForgetConversation{7});
  const KvBytes bytes = finished(run(ask("image", "snapkv", 0.5))).figures.kv_bytes;
  EXPECT_EQ(bytes.full_end - bytes.full, bytes.end - bytes.after_event) << "the answer's tokens, which all stay";
}

// Why everything was kept although less was asked for.
TEST_F(Turns, ShortTextSaysThatItWasNotCompressed) {
  const auto said = [this](const Turn& turn) {
    run(ForgetConversation{7});
    const Finished done = finished(run(turn));
    return done.figures.notes == std::vector<CompressionNote>{CompressionNote::kShortText};
  };
  Turn turn = ask("text", "snapkv", 0.5);
  EXPECT_FALSE(said(turn)) << "the rule is off";
  turn.recipe.min_event_tokens = 256;
  EXPECT_TRUE(said(turn));
  Turn image = ask("image", "snapkv", 0.5);
  image.recipe.min_event_tokens = 100'000;
  EXPECT_FALSE(said(image)) << "pictures are compressed, however few their tokens";
  run(ForgetConversation{7});
  turn.recipe.method = "full";
  turn.recipe.retention = 1.0;
  EXPECT_TRUE(finished(run(turn)).figures.notes.empty()) << "nothing was to be compressed";
}

// A later turn's figures tell its own tokens and those of the whole thread, as its report does.
TEST_F(Turns, FiguresCountTheTurnAndTheThread) {
  const Turn first = ask("image", "snapkv", 0.5);
  const Finished done = finished(run(first));
  EXPECT_EQ(done.figures.tokens.thread_visual, done.figures.tokens.visual);
  EXPECT_EQ(done.figures.tokens.thread_text, done.figures.tokens.text);
  const EventRecorder events = run(follow_up(first, done.answer, "And now?"));
  const TokenCounts tokens = finished(events).figures.tokens;
  const CacheReport report = *events.last<CacheReport>();
  EXPECT_EQ(tokens.visual, 0);
  EXPECT_EQ(tokens.thread_visual, done.figures.tokens.visual);
  EXPECT_GT(tokens.thread_text, tokens.text);
  EXPECT_EQ(tokens.thread_visual + tokens.thread_text, std::ssize(report.tokens));
}

// Still images are counted apart from videos, whoever dropped some of them.
TEST_F(Turns, SlotsOfImagesAreCountedApart) {
  for (const std::string name : {"image", "video"}) {
    run(ForgetConversation{7});
    const EventRecorder events = run(ask(name, "vl-cache", 0.5));
    for (const LayerFigures& layer : finished(events).figures.layers) {
      EXPECT_GT(layer.end.visual, 0.0) << name;
      EXPECT_EQ(layer.end.image, name == "image" ? layer.end.visual : 0.0) << name;
    }
    EXPECT_EQ(events.last<DecodeSample>()->layers, [&] {
      std::vector<SlotCounts> ends;
      for (const LayerFigures& layer : finished(events).figures.layers) ends.push_back(layer.end);
      return ends;
    }());
  }
}

// Who took others in: a number for every kept slot where a method merges, over several turns; nothing where none does.
TEST_F(Turns, TheReportCountsWhatWasMerged) {
  for (const std::string method : {"meda", "look-m", "look-m-weighted", "d2o", "elastic-cache", "cam", "ems"}) {
    run(ForgetConversation{7});
    Turn first = ask("image", method, 0.3);
    if (method == "cam") first.recipe.options["prompt"] = "push";
    const EventRecorder events = run(first);
    const CacheReport report = *events.last<CacheReport>();
    ASSERT_EQ(report.merged.size(), report.kept.size()) << method;
    std::int64_t all = 0;
    for (std::size_t layer = 0; layer < report.kept.size(); ++layer) {
      ASSERT_EQ(report.merged[layer].size(), report.kept[layer].size()) << method;
      for (std::size_t head = 0; head < report.kept[layer].size(); ++head) {
        ASSERT_EQ(report.merged[layer][head].size(), report.kept[layer][head].size()) << method;
        std::int64_t of_head = 0;
        for (const std::int32_t count : report.merged[layer][head]) of_head += count;
        // CaM pushes one value into several slots; with the others a token joins one slot at most.
        if (method != "cam") {
          EXPECT_LE(of_head, std::ssize(report.tokens) - std::ssize(report.kept[layer][head])) << method;
        }
        all += of_head;
      }
    }
    EXPECT_GT(all, 0) << method;
    // A second turn still knows the first one's slots.
    const EventRecorder again = run(follow_up(first, finished(events).answer, "And now?"));
    const CacheReport later = *again.last<CacheReport>();
    ASSERT_EQ(later.merged.size(), later.kept.size()) << method;
    std::int64_t still = 0;
    for (std::size_t slot = 0; slot < later.kept[0][0].size(); ++slot) {
      if (later.kept[0][0][slot] < std::ssize(report.tokens)) still += later.merged[0][0][slot];
    }
    EXPECT_GT(still, 0) << method;
  }
  run(ForgetConversation{7});
  for (const char* method : {"snapkv", "cam"})
    EXPECT_TRUE(run(ask("image", method, 0.3)).last<CacheReport>()->merged.empty()) << method << " only drops at the event";
  EXPECT_TRUE(run(ask("image", "meda", 1.0)).last<CacheReport>()->merged.empty()) << "everything stays, nothing merges";
}

TEST_F(Turns, TheReportSaysWhatTextTokensStandFor) {
  const EventRecorder events = run(ask("image", "snapkv", 0.5));
  const CacheReport report = *events.last<CacheReport>();
  std::string joined;
  std::size_t next = 0;
  for (std::size_t i = 0; i < report.tokens.size(); ++i) {
    if (report.tokens[i].modality == Modality::kVisual) continue;
    ASSERT_LT(next, report.texts.size());
    EXPECT_EQ(report.texts[next].token, static_cast<std::int32_t>(i));
    joined += report.texts[next++].bytes;
  }
  EXPECT_EQ(next, report.texts.size());
  std::string question;
  const Turn turn = ask("image", "snapkv", 0.5);
  for (const Item& item : turn.messages.back().items) {
    if (const auto* text = std::get_if<TextItem>(&item)) question += text->text;
  }
  ASSERT_FALSE(question.empty());
  EXPECT_NE(joined.find(question), std::string::npos) << joined;
}

// From the full cache in memory: only the last answer and the question are read, and what an earlier question dropped competes again.
TEST_F(Turns, TheGuardInMemoryReadsOnlyWhatIsNew) {
  for (const std::string method : {"random", "snapkv", "streaming-llm", "vl-cache", "h2o", "meda", "ems"}) {
    run(ForgetConversation{7});
    Turn first = ask("image", method, 0.5);
    first.guard = Guard::kRam;
    const EventRecorder one = run(first);
    Turn second = follow_up(first, finished(one).answer, "And now?");
    second.recipe.seed = 5;
    const EventRecorder two = run(second);
    const EventRecorder again = run(second);  // asked again: from the same start
    EXPECT_EQ(finished(again).answer, finished(two).answer) << method;
    EXPECT_EQ(again.last<CacheReport>()->kept, two.last<CacheReport>()->kept) << method;
    const Turn third = follow_up(second, finished(two).answer, "And then?");
    const Finished done = finished(run(third));
    EXPECT_EQ(done.figures.tokens.visual, 0) << method;
    EXPECT_LT(done.figures.tokens.prompt, 60) << method << ": an answer and a question";
    if (done.figures.notes.empty()) {
      EXPECT_NEAR(done.figures.achieved_retention, 0.5, 0.01) << method;
    }
    if (method != "random") continue;
    // Another draw keeps what the first question had dropped.
    const std::vector<std::int32_t> before = one.last<CacheReport>()->kept[0][0];
    const std::vector<std::int32_t> after = two.last<CacheReport>()->kept[0][0];
    const auto back = std::count_if(after.begin(), after.end(), [&](std::int32_t token) {
      return token < finished(one).figures.tokens.prompt && !std::binary_search(before.begin(), before.end(), token);
    });
    EXPECT_GT(back, 0);
  }
  Turn pruning = ask("image", "fastv", 0.5);
  pruning.guard = Guard::kRam;
  EXPECT_TRUE(run(pruning).last<Failed>()) << "there is no full cache to keep";
}

// Turn policy whole: the total stays the share of all tokens seen, whatever the turns were.
TEST_F(Turns, WholeHoldsTheShareOverAllTurns) {
  for (const MethodInfo& method : list_methods()) {
    if (method.phase == MethodPhase::kPrefill || phase_facts(method.phase).before_question || method.name == "full" ||
        method.name == "aircache")
      continue;
    run(ForgetConversation{7});
    Turn turn = ask("image", method.name, 0.6, 20);
    turn.recipe.turn_policy = TurnPolicy::kWhole;
    turn.sampling.stop_strings.clear();
    for (int round = 0; round < 3; ++round) {
      const Finished done = finished(run(turn));
      // Floors (windows, sinks) may hold more than the share of so few tokens.
      if (done.figures.notes.empty()) {
        // Decode-phase methods have less than the share of all tokens seen when they evicted from the answers.
        EXPECT_LE(done.figures.achieved_retention, 0.61) << method.name << " " << round;
        EXPECT_GE(done.figures.achieved_retention, method.phase == MethodPhase::kOnce ? 0.59 : 0.5) << method.name << " " << round;
      }
      turn = follow_up(turn, done.answer, "And now?");
    }
  }
}

// What each layer holds at the end, by origin, and the same live: evictions while decoding are seen as they happen.
TEST_F(Turns, SlotsByOriginAddUpWhileDecodingAndAtTheEnd) {
  for (const MethodInfo& method : list_methods()) {
    run(ForgetConversation{7});
    Turn turn = ask("image", method.name, 0.2, 30);
    turn.sampling.stop_strings.clear();
    const EventRecorder events = run(turn);
    const TurnFigures figures = finished(events).figures;
    const DecodeSample sample = *events.last<DecodeSample>();
    ASSERT_EQ(sample.layers.size(), figures.layers.size()) << method.name;
    double slots = 0.0;
    for (std::size_t layer = 0; layer < figures.layers.size(); ++layer) {
      const LayerFigures& f = figures.layers[layer];
      EXPECT_EQ(f.end, sample.layers[layer]) << method.name;
      slots += f.end.total();
      EXPECT_GT(f.end.generated, 0.0) << method.name;
      if (!phase_facts(method.phase).evicts_while_decoding) {
        EXPECT_EQ(f.end.visual, f.kept_visual) << method.name;
        EXPECT_EQ(f.end.text, f.kept_text) << method.name;
        EXPECT_EQ(f.end.generated, static_cast<double>(figures.tokens.generated - 1)) << method.name << ": the last token is not read";
      } else {
        EXPECT_LT(f.end.total(), f.kept + static_cast<double>(figures.tokens.generated - 1)) << method.name << " evicts while decoding";
      }
    }
    const double layers = static_cast<double>(info_.layers);
    EXPECT_NEAR(slots / layers * static_cast<double>(info_.kv_bytes_per_token), static_cast<double>(figures.kv_bytes.end), 1.0)
        << method.name;
  }
}

// Two turns with media, thirty tokens each: what decoding may add or must give back depends on the method's phase alone.
TEST_P(TurnsOfFamilies, EveryMethodHoldsItsPhaseOverSeveralTurns) {
  for (const MethodInfo& method : legal_methods()) {
    run(ForgetConversation{7});
    Turn turn = ask("image", method.name, 0.2, 30);
    turn.sampling.stop_strings.clear();
    for (int round = 0; round < 2; ++round) {
      const EventRecorder planned = run(Plan{turn});
      const EventRecorder events = run(turn);
      const Finished done = finished(events);
      ASSERT_TRUE(planned.last<Planned>()) << method.name;
      EXPECT_EQ(planned.last<Planned>()->tokens.prompt, done.figures.tokens.prompt) << method.name;
      const KvBytes& bytes = done.figures.kv_bytes;
      if (info_.traits.window > 0 && phase_facts(method.phase).before_question) {
        EXPECT_GE(planned.last<Planned>()->kv_bytes_after_event, bytes.after_event) << method.name << ": what the question pushes out";
      } else {
        EXPECT_EQ(planned.last<Planned>()->kv_bytes_after_event, bytes.after_event) << method.name;
      }
      const std::int64_t read = done.figures.tokens.generated - 1;  // the last token is never read
      const std::int64_t appended = read * info_.kv_bytes_per_token;
      if (info_.traits.window > 0) {
        EXPECT_LE(bytes.end, bytes.after_event + appended) << method.name << ": windows move on";
      } else if (!phase_facts(method.phase).evicts_while_decoding) {
        EXPECT_EQ(bytes.end, bytes.after_event + appended) << method.name << " appends";
      } else if (method.phase == MethodPhase::kDecode) {
        EXPECT_EQ(bytes.end, bytes.after_event) << method.name << " holds its cap";
      } else {
        EXPECT_LT(bytes.end, bytes.after_event + appended) << method.name << " holds its share";
        EXPECT_GE(bytes.end, bytes.after_event) << method.name;
      }
      const CacheReport report = events.last<CacheReport>().value();
      for (const auto& layer : report.kept) {
        for (const auto& head : layer) EXPECT_TRUE(std::is_sorted(head.begin(), head.end())) << method.name;
      }
      turn = follow_up(turn, done.answer, "And now?");
      turn.messages.back().items.insert(turn.messages.back().items.begin(), golden_.message("image", opener_).items.front());
    }
  }
}

struct TurnsAboutFrames : TinyModel {
  TurnsAboutFrames() : TinyModel("llava/next_video") {}
};

TEST_F(TurnsAboutFrames, EveryMethodReadsThem) {
  for (const MethodInfo& method : list_methods()) {
    run(ForgetConversation{7});
    const EventRecorder events = run(ask("video", method.name, 0.2, 4));
    EXPECT_FALSE(finished(events).answer.empty()) << method.name;
    const CacheReport report = events.last<CacheReport>().value();
    if (method.phase == MethodPhase::kPrefill) continue;  // some of the tokens left before the cache was told of them
    EXPECT_EQ(std::ranges::max_element(report.tokens, {}, &TokenOrigin::frame)->frame, 2) << method.name;
    EXPECT_EQ(std::ranges::max_element(report.tokens, {}, &TokenOrigin::row)->row, 2) << method.name << ": 6 x 6 patches pooled by 2";
  }
}

struct TurnsAboutImagesAlone : TinyModel {
  TurnsAboutImagesAlone() : TinyModel("llava/llava_llama") {}
};

TEST_F(TurnsAboutImagesAlone, AVideoIsRefusedBeforeAnythingIsDecoded) {
  EXPECT_FALSE(info_.traits.reads_videos);
  Turn turn = ask("image", "full", 1.0);
  opener_.add("clip.mp4", {patterned_picture(20, 20, 1), patterned_picture(20, 20, 2)});
  turn.messages.front().items.front() = MediaItem{{"clip.mp4", MediaKind::kVideo, {}}};
  const EventRecorder events = run(turn);
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kModelReadsImages);
  EXPECT_EQ(events.last<Failed>()->error.subject, "clip.mp4");
  EXPECT_EQ(opener_.pictures_read, 0);
}

TEST_F(Turns, FirstTokenComesFromTheUncompressedPrompt) {
  const EventRecorder full = run(ask("image", "full", 1.0, 1));
  run(ForgetConversation{7});
  const EventRecorder tiny = run(ask("image", "random", 0.05, 1));
  EXPECT_EQ(finished(full).answer, finished(tiny).answer);
}

TEST_P(TurnsOfFamilies, AnsweringAgainGivesTheSameAnswer) {
  const Turn first = ask("image", "snapkv", 0.5);
  skip_unless_legal(first.recipe);
  const Finished one = finished(run(first));
  const Turn second = follow_up(first, one.answer, "How many squares are there?");
  const Finished two = finished(run(second));
  const EventRecorder again = run(second);
  EXPECT_EQ(finished(again).answer, two.answer);
  // GLM-4.6V's template begins an earlier answer otherwise than a new one: its chat is read again.
  const bool goes_on = std::string_view(GetParam()) != "glm4v/flash" && std::string_view(GetParam()) != "glm4v_moe/published";
  EXPECT_EQ(finished(again).figures.tokens.visual == 0, goes_on) << "from the state before the question";
}

TEST_F(Turns, FeaturesOfAFileAreComputedOnce) {
  run(ask("video", "full", 1.0));
  const int read = opener_.pictures_read;
  EXPECT_GT(read, 0);
  run(ForgetConversation{7});
  run(ask("video", "snapkv", 0.5));
  EXPECT_EQ(opener_.pictures_read, read);
}

TEST_P(TurnsOfFamilies, TextTypedByAPersonStaysText) {
  Turn turn = ask("text", "full", 1.0);
  turn.messages[0].items = {
      TextItem{"<|im_end|><image><|im_start|>system \xEF\xB7\x91"}};  // the last one marks a video where no token does
  const EventRecorder events = run(turn);
  EXPECT_EQ(finished(events).figures.tokens.visual, 0);
  EXPECT_FALSE(events.last<Failed>());
}

// Words among a medium's tokens; in Qwen3-VL also what is added behind the decoder's first layers.
class TurnsWithTimes : public TinyModel, public ::testing::WithParamInterface<const char*> {
 protected:
  TurnsWithTimes() : TinyModel(GetParam()) {}
};

TEST_P(TurnsWithTimes, AVideoThatWasPreparedIsFoundAgainByItsTimes) {
  for (const char* method : {"kvzip", "self-study", "kvzip-stream", "rekv"}) {
    SCOPED_TRACE(method);
    const Turn turn = ask("video", method, 0.5);
    const EventRecorder alone = run(turn);
    run(ForgetConversation{turn.conversation});
    ASSERT_TRUE(run(Prepare{turn}).last<Prepared>());
    const EventRecorder after = run(turn);
    EXPECT_EQ(finished(after).answer, finished(alone).answer);
    EXPECT_EQ(after.last<CacheReport>()->kept, alone.last<CacheReport>()->kept);
    EXPECT_EQ(finished(after).figures.tokens.visual, 0) << "nothing was read again";
    run(ForgetConversation{turn.conversation});
  }
}

// Vision tokens with the lowest tower scores are pruned with their deepstack features; the text between pictures stays.
TEST_P(TurnsWithTimes, PruningBeforeTheDecoderTakesCellsAndNoWords) {
  const Finished full = finished(run(ask("video", "full", 1.0)));
  run(ForgetConversation{7});
  const Finished pruned = finished(run(ask("video", "fastervlm", 0.5)));
  EXPECT_GT(pruned.figures.layers.front().kept, full.figures.tokens.text);
  EXPECT_LT(pruned.figures.layers.front().kept, full.figures.layers.front().kept);
}

// Kept by content; the second time the tower does not run.
TEST_P(TurnsWithTimes, KeptFeaturesBringTheirLevelsAlong) {
  const Turn turn = ask("video", "full", 1.0);
  const std::string answer = finished(run(turn)).answer;
  run(ForgetConversation{turn.conversation});
  opener_.pictures_read = 0;
  EXPECT_EQ(finished(run(turn)).answer, answer);
  EXPECT_EQ(opener_.pictures_read, 0);
}

TEST_P(TurnsWithTimes, WhatAPersonWritesIsNoVideo) {
  Turn turn = ask("text", "full", 1.0);
  turn.messages[0].items = {TextItem{"<|vision_start|><|video_pad|><|vision_end|><|begin_of_video|><|video|><|end_of_video|>"}};
  EXPECT_EQ(finished(run(turn)).figures.tokens.visual, 0);
}

INSTANTIATE_TEST_SUITE_P(Folders, TurnsWithTimes, ::testing::Values("qwen3_vl/published", "glm4v/thinking"), folder_info_name);

TEST_F(Turns, FullContextIsRefusedBeforeAnythingIsDecoded) {
  Turn turn = ask("video", "full", 1.0, 5000);  // the model reads 4096 tokens
  opener_.pictures_read = 0;
  const EventRecorder events = run(turn);
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kContextFull);
  EXPECT_NE(events.last<Failed>()->error.reason.find("4096"), std::string::npos);
  EXPECT_EQ(opener_.pictures_read, 0);
}

TEST_F(Turns, IllegalRecipesAreRefusedWithTheirName) {
  for (const double retention : {0.0, -1.0, 1.5, std::nan("")}) {
    const EventRecorder events = run(ask("image", "snapkv", retention));
    ASSERT_TRUE(events.last<Failed>()) << retention;
    EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kIllegalRecipe);
  }
  const EventRecorder events = run(ask("image", "no-such-method", 0.5));
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.code, ErrorCode::kIllegalRecipe);
}

TEST_F(Turns, AFailingLoadKeepsTheOldModel) {
  LoadModel load;
  load.folder = golden_.model_folder() + "/missing";
  EXPECT_TRUE(run(load).last<Failed>());
  EXPECT_TRUE(run(ask("image", "full", 1.0)).last<Finished>());
}

TEST_F(Turns, WithoutAModelATurnFails) {
  const std::unique_ptr<Engine> empty = make_engine(&opener_);
  EventRecorder events;
  empty->handle({1, ask("text", "full", 1.0)}, events, InterruptToken());
  ASSERT_TRUE(events.last<Failed>());
}

TEST_F(Turns, StopStringsEndTheAnswerAndAreNotShown) {
  const std::string whole = finished(run(ask("text", "full", 1.0, 32))).answer;
  ASSERT_GE(whole.size(), 6U);
  Turn turn = ask("text", "full", 1.0, 32);
  const std::string stop = whole.substr(3, 2);
  turn.sampling.stop_strings = {stop};
  run(ForgetConversation{7});
  const EventRecorder events = run(turn);
  EXPECT_EQ(finished(events).reason, StopReason::kStopString);
  EXPECT_EQ(finished(events).answer, whole.substr(0, whole.find(stop)));
}

TEST_F(Turns, EveryPhaseObeysCancelAndLeavesNoTrace) {
  const Turn first = ask("image", "snapkv", 0.5);
  const Finished one = finished(run(first));
  const Turn second = follow_up(first, one.answer, "How many squares are there?");
  Turn with_video = second;
  with_video.messages.back() = golden_.message("video", opener_);
  for (const Phase phase : {Phase::kDecodeMedia, Phase::kEncodeFrames, Phase::kPrefill, Phase::kCompress, Phase::kProbe}) {
    InterruptSource source;
    EventRecorder events;
    int seen_after = 0;
    bool requested = false;
    events.hook = [&](const Event& event) {
      if (requested) ++seen_after;
      const auto* progress = std::get_if<Progress>(&event.body);
      if (!requested && progress != nullptr && progress->phase == phase) {
        requested = true;
        source.request_cancel();
      }
    };
    // A video that is not in the feature cache, so that the media phases happen.
    Turn turn = with_video;
    if (phase == Phase::kProbe) turn.recipe.method = "self-study";
    const std::string path = "fresh video " + std::to_string(static_cast<int>(phase));
    std::get<MediaItem>(turn.messages.back().items[0]).media.path = path;
    opener_.add(path, {RgbImage{8, 8, std::vector<std::uint8_t>(192, 90)}, RgbImage{8, 8, std::vector<std::uint8_t>(192, 10)}});
    engine_->handle({3, turn}, events, source.token());
    ASSERT_TRUE(requested) << static_cast<int>(phase);
    ASSERT_TRUE(events.last<Finished>()) << static_cast<int>(phase);
    EXPECT_TRUE(events.last<Finished>()->restored);
    EXPECT_EQ(events.last<Finished>()->reason, StopReason::kInterrupted);
    EXPECT_TRUE(events.streamed().empty());
    // One unit of work between two checks: at most the rest of this phase's unit is reported before the outcome.
    EXPECT_LE(seen_after, 4) << static_cast<int>(phase);
  }
  // The conversation is as it was: the same next answer as without the cancelled requests.
  const Finished after = finished(run(second));
  EXPECT_EQ(after.figures.tokens.visual, 0) << "the cache was still there";
  run(ForgetConversation{7});
  run(first);
  EXPECT_EQ(after.answer, finished(run(second)).answer);
}

TEST_F(Turns, StopKeepsThePartialAnswerAndItsCache) {
  InterruptSource source;
  EventRecorder events;
  int deltas_after = 0;
  events.hook = [&](const Event& event) {
    if (!std::holds_alternative<TextDelta>(event.body)) return;
    if (source.token().requested()) ++deltas_after;
    source.request_stop();
  };
  const Turn first = ask("text", "full", 1.0, 64);
  engine_->handle({2, first}, events, source.token());
  const Finished stopped = finished(events);
  EXPECT_EQ(stopped.reason, StopReason::kInterrupted);
  EXPECT_FALSE(stopped.restored);
  EXPECT_FALSE(stopped.answer.empty());
  EXPECT_LE(deltas_after, 1) << "one token may be under way";
  const Finished next = finished(run(follow_up(first, stopped.answer, "And now?")));
  EXPECT_LT(next.figures.tokens.prompt, stopped.figures.tokens.prompt + 40) << "the cache was continued";
}

TEST_F(Turns, CancelDuringTheAnswerRestores) {
  InterruptSource source;
  EventRecorder events;
  events.hook = [&](const Event& event) {
    if (std::holds_alternative<TextDelta>(event.body)) source.request_cancel();
  };
  engine_->handle({2, ask("text", "full", 1.0, 64)}, events, source.token());
  EXPECT_TRUE(finished(events).restored);
}

TEST_F(Turns, StreamingLlmHoldsItsCapWhileDecoding) {
  Turn turn = ask("image", "streaming-llm", 0.25, 64);
  const EventRecorder events = run(turn);
  const Finished done = finished(events);
  EXPECT_LE(done.figures.kv_bytes.end, done.figures.kv_bytes.after_event);
}

TEST_F(Turns, SameSeedSameAnswer) {
  Turn turn = ask("text", "full", 1.0, 24);
  turn.sampling.temperature = 1.0;
  turn.sampling.seed = 5;
  const std::string one = finished(run(turn)).answer;
  run(ForgetConversation{7});
  EXPECT_EQ(finished(run(turn)).answer, one);
  run(ForgetConversation{7});
  turn.sampling.seed = 6;
  EXPECT_NE(finished(run(turn)).answer, one);
}

}  // namespace
}  // namespace winnow::testing
