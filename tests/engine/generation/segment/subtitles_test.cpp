// Subtitles between a video's frames: where each line stands, what positions it takes, and that every request takes it along.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/generation/segment/subtitle_tokens.h"
#include "engine/model_files/hugging_face_folder.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/support/folder_test_name.h"
#include "tests/support/scratch_folder.h"

namespace winnow::testing {
namespace {

TokenOrigin patch(std::int32_t frame) { return {Modality::kVisual, -1, frame, 0, 0}; }

// "0 0 | 1 1 |": tokens of frames, "|" for a line's.
std::string in_words(const std::vector<TokenOrigin>& origins) {
  std::string words;
  for (const TokenOrigin& origin : origins)
    words += origin.modality == Modality::kSubtitle ? "l" + std::to_string(origin.frame) + " " : std::to_string(origin.frame) + " ";
  return words;
}

// Every line is one token.
SubtitleTokens lines_at(const std::vector<double>& starts, std::vector<double> frames_s) {
  SubtitleTokens subtitles{.frames_s = std::move(frames_s)};
  for (const double start : starts) {
    const auto line = static_cast<std::int32_t>(subtitles.lines.size());
    subtitles.lines.push_back({start, start + 1.0, "a"});
    subtitles.ids.push_back(7);
    subtitles.origins.push_back({Modality::kSubtitle, -1, line, -1, -1});
    subtitles.line_ends.push_back(std::ssize(subtitles.ids));
  }
  return subtitles;
}

TEST(SubtitlePlaces, ALineStandsBehindTheLastFrameAtOrBeforeItsBeginning) {
  const std::vector<TokenOrigin> frames = {patch(0), patch(0), patch(1), patch(1), patch(2), patch(2)};
  const std::vector<double> times = {0.5, 1.5, 2.5};
  EXPECT_EQ(in_words(with_subtitles(frames, lines_at({}, times))), "0 0 1 1 2 2 ");
  EXPECT_EQ(in_words(with_subtitles(frames, lines_at({0.5, 1.4, 1.5, 9.0}, times))), "0 0 l0 l1 1 1 l2 2 2 l3 ");
  EXPECT_EQ(in_words(with_subtitles(frames, lines_at({0.0}, times))), "0 0 l0 1 1 2 2 ") << "before the first frame";
}

TEST(SubtitlePlaces, FramesThatAreOneSetAreNotParted) {
  const std::vector<TokenOrigin> pairs = {patch(0), patch(2), patch(4)};
  EXPECT_EQ(in_words(with_subtitles(pairs, lines_at({0.2, 1.2, 2.0, 4.9}, {0, 1, 2, 3, 4}))), "0 l0 l1 2 l2 4 l3 ");
}

TEST(SubtitlePlaces, WhatStandsBehindTheLastFrameStaysTheEnd) {
  const std::vector<TokenOrigin> frames = {patch(0), patch(1), {Modality::kVisual, -1, -1, -1, -1}};
  EXPECT_EQ(in_words(with_subtitles(frames, lines_at({0.6, 5.0}, {0.5, 1.5}))), "0 l0 1 l1 -1 ");
  EXPECT_EQ(in_words(with_subtitles({}, lines_at({0.6}, {0.5, 1.5}))), "l0 ") << "no token of a picture was left";
}

TEST(SubtitlePlaces, OnlyLinesOfThePartThatIsLookedAtCount) {
  const std::vector<TimedLine> lines = {{0, 1, "before"}, {1, 3, "into"}, {3, 4, "inside"}, {5, 6, "at its end"}};
  std::string left;
  for (const TimedLine& line : lines_between(lines, 2.0, 5.0)) left += line.text + ";";
  EXPECT_EQ(left, "into;inside;");
  EXPECT_EQ(lines_between(lines, 2.0, -1.0).size(), 3U) << "to the end, whatever is seen there";
}

// Videos of five frames, a second each, asked for at 0.5 s, 1.5 s, ...
// Positions from one pair of frames to the next in Qwen2.5-VL: two seconds, at four positions each.
constexpr std::int64_t kStep = 8;

const std::vector<TimedLine> kSaid = {{0.0, 0.4, "The red circle moves."},
                                      {1.7, 2.5, "Which color <|im_end|> is it?"},
                                      {1.9, 2.0, "Blue."},
                                      {4.6, 5.0, "How many squares are there?"}};

class Subtitles : public TinyModel, public ::testing::WithParamInterface<std::pair<const char*, const char*>> {
 protected:
  Subtitles() : TinyModel(GetParam().first) {
    opener_.add_lines("said.srt", kSaid);
    opener_.add_lines("other.srt", {{1.0, 2.0, "Something else."}});
  }

  // With the case's video asked for as its opener counts seconds.
  Turn asked(const std::string& method, double retention, const std::string& subtitles = "said.srt") {
    Turn turn = ask(GetParam().second, method, retention, 6);
    MediaRequest& media = std::get<MediaItem>(turn.messages.back().items.front()).media;
    media.plan = {};
    media.subtitles = subtitles;
    return turn;
  }
  static std::vector<TokenOrigin> attached(const EventRecorder& events) {
    std::vector<TokenOrigin> tokens = events.last<CacheReport>()->tokens;
    std::erase_if(tokens, [](const TokenOrigin& token) { return !is_attached(token.modality); });
    return tokens;
  }
  // "f0 l0 f1 l1 l2 ...": sets of frames and lines in the order of the prompt.
  static std::string order(const std::vector<TokenOrigin>& tokens) {
    std::string words, last;
    for (const TokenOrigin& token : tokens) {
      const std::string here = (token.modality == Modality::kSubtitle ? "l" : "f") + std::to_string(token.frame) + " ";
      if (here != last) words += here;
      last = here;
    }
    return words;
  }
};

TEST_P(Subtitles, StandBetweenTheFramesAsTheTextThatTheyAre) {
  const EventRecorder plain = run(asked("full", 1.0, ""));
  run(ForgetConversation{7});
  const EventRecorder events = run(asked("full", 1.0));
  ASSERT_TRUE(finished(events).figures.tokens.prompt > 0);
  const std::int64_t joined = info_.traits.joined_frames;
  EXPECT_EQ(joined, std::string(GetParam().first).starts_with("qwen") ? 2 : 1);
  const std::string end = std::string(GetParam().first) == "gqa_tied" ? "f-1 " : "";
  EXPECT_EQ(order(attached(events)), joined == 2 ? "f0 l0 l1 l2 f2 f4 l3 " : "f0 l0 f1 l1 l2 f2 f3 f4 l3 " + end);
  EXPECT_EQ(events.last<MediaSampled>()->lines, kSaid);

  // Nothing else is different, and the words are the tokenizer's own: what looks like a control token is text.
  const auto tokenizer = Tokenizer::from(HuggingFaceFolder(golden_.model_folder()).tokenizer());
  std::vector<TokenOrigin> frames = attached(events);
  const auto words = std::erase_if(frames, [](const TokenOrigin& token) { return token.modality == Modality::kSubtitle; });
  EXPECT_EQ(order(frames), order(attached(plain)));
  EXPECT_EQ(frames.size(), attached(plain).size());
  std::size_t wanted = 0;
  for (const TimedLine& line : kSaid) wanted += tokenizer->encode(line.text + "\n", SpecialText::kAsText).size();
  EXPECT_EQ(static_cast<std::size_t>(words), wanted);
  std::string text;
  const CacheReport report = *events.last<CacheReport>();
  for (const TokenText& token : report.texts) {
    if (report.tokens[static_cast<std::size_t>(token.token)].modality == Modality::kSubtitle) text += token.bytes;
  }
  EXPECT_NE(text.find("Which color <|im_end|> is it?\n"), std::string::npos) << text;
}

TEST_P(Subtitles, WhatIsSaidBehindTheLastPictureStandsBehindIt) {
  opener_.add_lines("long.srt", {{4.8, 5.5, "As it ends."}, {7.0, 8.0, "The sound goes on."}});
  Turn turn = asked("full", 1.0, "long.srt");
  EXPECT_EQ(run(turn).last<MediaSampled>()->lines.size(), 2U);
  run(ForgetConversation{7});
  std::get<MediaItem>(turn.messages.back().items.front()).media.plan.to_s = 6.0;
  const EventRecorder cut = run(turn);
  ASSERT_EQ(cut.last<MediaSampled>()->lines.size(), 1U);
  EXPECT_EQ(cut.last<MediaSampled>()->lines.front().text, "As it ends.");
}

// Ids, positions and embeddings of the prompt, told by hand from the order above.
TEST_P(Subtitles, AreReadAtThePositionsOfText) {
  const test::ScratchFolder folder;
  const std::string file = folder.file("turn.safetensors");
  const EventRecorder events = run(ExportTurn{asked("full", 1.0), file});
  const std::vector<TokenOrigin> tokens = events.last<CacheReport>()->tokens;
  const test_support::GoldenTensors written(file);
  const at::Tensor ids = written.load("input_ids").flatten();
  const std::int64_t n = ids.numel();
  ASSERT_LE(n, std::ssize(tokens));
  const at::Tensor positions = written.load("position_ids").reshape({-1, n});
  const std::int64_t axes = positions.size(0);
  EXPECT_EQ(axes, std::string(GetParam().first).starts_with("qwen") ? 3 : 1);

  const auto tokenizer = Tokenizer::from(HuggingFaceFolder(golden_.model_folder()).tokenizer());
  std::vector<std::int64_t> said, expected;
  for (const TimedLine& line : kSaid) {
    const std::vector<std::int64_t> part = tokenizer->encode(line.text + "\n", SpecialText::kAsText);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  std::int64_t next = 0;   // where a text goes on
  std::int64_t block = 0;  // where the present stretch of frames begins
  std::int64_t first = 0;  // its first set
  bool inside = false;
  bool after_line = false;
  for (std::int64_t i = 0; i < n; ++i) {
    const TokenOrigin& token = tokens[static_cast<std::size_t>(i)];
    if (token.modality == Modality::kSubtitle) said.push_back(ids[i].item<std::int64_t>());
    std::vector<std::int64_t> place(static_cast<std::size_t>(axes), next);
    if (axes == 3 && token.modality == Modality::kVisual) {
      if (!inside) {
        block = next;
        first = after_line ? token.frame / 2 : 0;
      }
      const std::int64_t step = std::string(GetParam().first) == "qwen2_5_vl/saved" ? kStep : 1;
      place = {block + (token.frame / 2 - first) * step, block + token.row, block + token.column};
    }
    for (std::int64_t axis = 0; axis < axes; ++axis) {
      ASSERT_EQ(positions[axis][i].item<std::int64_t>(), place[static_cast<std::size_t>(axis)]) << "token " << i << ", axis " << axis;
      next = std::max(next, place[static_cast<std::size_t>(axis)] + 1);
    }
    inside = token.modality == Modality::kVisual;
    after_line = token.modality == Modality::kSubtitle;
  }
  EXPECT_EQ(said, expected);
}

TEST_P(Subtitles, EveryMethodTakesThemAlong) {
  const std::string whole = finished(run(asked("full", 1.0))).answer;
  for (const MethodInfo& method : list_methods()) {
    SCOPED_TRACE(method.name);
    Turn turn = asked(method.name, 0.5);
    if (recipe_problem(turn.recipe, info_.traits)) continue;
    turn.conversation = 9;
    const EventRecorder events = run(turn);
    EXPECT_FALSE(finished(events).answer.empty());
    EXPECT_NE(order(attached(events)).find("l3"), std::string::npos);
    turn.recipe.retention = 1.0;
    turn.conversation = 10;
    EXPECT_EQ(finished(run(turn)).answer, whole) << "all of it kept";
    run(ForgetConversation{9});
    run(ForgetConversation{10});
  }
}

TEST_P(Subtitles, APlanForeseesThem) {
  const Turn turn = asked("full", 1.0);
  const EventRecorder planned = run(Plan{turn});
  ASSERT_TRUE(planned.last<Planned>());
  const Finished done = finished(run(turn));
  EXPECT_EQ(planned.last<Planned>()->tokens.prompt, done.figures.tokens.prompt);
  EXPECT_EQ(planned.last<Planned>()->tokens.visual, done.figures.tokens.visual);
}

TEST_P(Subtitles, ThePreparedVideoIsOneWithItsLines) {
  const Turn turn = asked("every-k", 0.4);
  const Finished alone = finished(run(turn));
  run(ForgetConversation{7});
  run(Prepare{turn});
  const int read = opener_.pictures_read;
  const EventRecorder after = run(turn);
  EXPECT_EQ(finished(after).answer, alone.answer);
  EXPECT_EQ(finished(after).figures.tokens.visual, 0) << "nothing was read again";
  EXPECT_EQ(after.last<MediaSampled>()->lines, kSaid);
  EXPECT_GT(finished(run(asked("every-k", 0.4, "other.srt"))).figures.tokens.visual, 0) << "other lines";
  EXPECT_GT(finished(run(asked("every-k", 0.4, ""))).figures.tokens.visual, 0) << "none";
  EXPECT_EQ(opener_.pictures_read, read) << "the frames are what they were";
}

TEST_P(Subtitles, PinsOfFramesDoNotHoldThem) {
  Turn turn = asked("random-context", 0.3);
  turn.pins = {Pin{}};
  const EventRecorder events = run(turn);
  const CacheReport report = *events.last<CacheReport>();
  ASSERT_FALSE(report.pinned.empty());
  for (const std::int32_t token : report.pinned)
    EXPECT_EQ(report.tokens[static_cast<std::size_t>(token)].modality, Modality::kVisual) << token;
}

TEST_P(Subtitles, WhatIsKeptOnDiskIsOfTheseLines) {
  const test::ScratchFolder folder;
  const std::string file = folder.file("7.safetensors");
  const Turn turn = asked("every-k", 0.4);
  run(Prepare{turn});
  ASSERT_GT(run(SaveConversation{7, file, "model"}).last<Saved>()->kv_bytes, 0);
  const auto begin_anew = [this] {
    engine_ = make_engine(&opener_);
    TinyModel::SetUp();
  };
  begin_anew();
  ASSERT_TRUE(run(LoadConversation{7, file, "model"}).last<Restored>());
  const EventRecorder later = run(turn);
  EXPECT_EQ(finished(later).figures.tokens.visual, 0);
  EXPECT_EQ(later.last<MediaSampled>()->lines, kSaid);
  EXPECT_EQ(later.last<MediaSampled>()->subtitles, "said.srt");

  begin_anew();
  std::vector<TimedLine> changed = kSaid;
  changed[2].text = "Green.";
  opener_.add_lines("said.srt", changed);
  const EventRecorder refused = run(LoadConversation{7, file, "model"});
  ASSERT_TRUE(refused.last<Failed>());
  EXPECT_EQ(refused.last<Failed>()->error.code, ErrorCode::kCacheOutdated);
  EXPECT_NE(refused.last<Failed>()->error.reason.find("subtitles have changed"), std::string::npos);
  EXPECT_GT(finished(run(turn)).figures.tokens.visual, 0) << "read anew";
}

TEST_P(Subtitles, RefusesAFileThatIsNotThere) {
  const EventRecorder events = run(asked("full", 1.0, "missing.srt"));
  ASSERT_TRUE(events.last<Failed>());
  EXPECT_EQ(events.last<Failed>()->error.subject, "missing.srt");
  EXPECT_TRUE(events.all<Progress>().empty()) << "before anything was decoded";
}

INSTANTIATE_TEST_SUITE_P(Families, Subtitles,
                         ::testing::Values(std::pair{"gqa_tied", "video"}, std::pair{"qwen2_vl/published", "odd_video"},
                                           std::pair{"qwen2_5_vl/saved", "odd_video"}, std::pair{"smolvlm/smolvlm2_split", "video"}),
                         [](const auto& info) { return folder_test_name(info.param.first); });

}  // namespace
}  // namespace winnow::testing
