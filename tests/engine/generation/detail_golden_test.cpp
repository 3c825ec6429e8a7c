// A bound on the tokens of a picture or a frame: ids, positions, pixels and logits are transformers' under the setting of its own that
// means the same (tests/golden/detail/bounds, tests/golden/make/make_detail_golden.py).
#include <gtest/gtest.h>

#include <optional>

#include "engine/api/engine.h"
#include "engine/base/json_document.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/support/asked_engine.h"
#include "tests/support/event_recorder.h"
#include "tests/support/golden_cases.h"
#include "tests/support/golden_path.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/memory_media.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/tensor_distance.h"

namespace winnow::testing {
namespace {

using test_support::golden_folder;
using test_support::golden_picture;
using test_support::GoldenTensors;

constexpr std::int64_t kStep = 7;     // one of so many pixels is kept
constexpr double kHalfAByte = 0.006;  // of a pixel as it is scaled, the smallest step being 1 / 255 / 0.3

// The question of a case. Its frames are a second apart.
Message asked(const Json& entry, MemoryMediaOpener& opener) {
  const bool video = entry.at("kind") == "video";
  const auto number = [&](const char* key) { return entry.at(key).get<int>(); };
  MediaRequest request{entry.at("case").get<std::string>(), video ? MediaKind::kVideo : MediaKind::kImage, {}};
  request.detail = {DetailLevel::kTokens, number("most_tokens")};
  std::vector<RgbImage> pictures;
  std::vector<double> times_s;
  for (int frame = 0; frame < (video ? number("frames") : 1); ++frame) {
    pictures.push_back(golden_picture(number("height"), number("width"), video ? 10 + frame : 3));
    times_s.push_back(frame);
  }
  opener.add(request.path, std::move(pictures));
  if (video) opener.add_shown_times(request.path, times_s);
  return {Role::kUser, {MediaItem{request}, TextItem{entry.at("question").get<std::string>()}}};
}

TEST(DetailGolden, EveryBoundIsTransformersUnderItsOwnSetting) {
  if (engine_is_apart()) GTEST_SKIP() << "pictures of memory";
  const GoldenTensors golden(golden_folder("detail/bounds") + "/golden.safetensors");
  const test::ScratchFolder files;
  std::string loaded;
  MemoryMediaOpener opener;
  const std::unique_ptr<Engine> engine = make_asked_engine(&opener);
  for (const Json& entry : load_json(golden_folder("detail/bounds") + "/cases.json")) {
    const std::string name = entry.at("case");
    SCOPED_TRACE(name + " under " + entry.at("setting").dump());
    if (const std::string folder = entry.at("folder"); folder != loaded) {
      LoadModel load{.folder = golden_folder(folder) + "/model", .format = WeightFormat::kFp32};
      EventRecorder loading;
      engine->handle({1, load}, loading, {});
      ASSERT_TRUE(loading.last<ModelLoaded>()) << (loading.last<Failed>() ? loading.last<Failed>()->error.reason : "no answer");
      loaded = folder;
    }
    ExportTurn request;
    request.turn.messages = {asked(entry, opener)};
    request.turn.recipe.method = "full";
    request.turn.recipe.retention = 1.0;
    request.turn.sampling.max_new_tokens = 1;
    request.path = files.file("run.safetensors");
    EventRecorder events;
    engine->handle({2, request}, events, {});
    ASSERT_TRUE(events.last<Finished>()) << (events.last<Failed>() ? events.last<Failed>()->error.reason : "no answer");

    const GoldenTensors ours(request.path);
    EXPECT_TRUE(at::equal(ours.load("input_ids"), golden.load(name + ".input_ids")));
    if (golden.has(name + ".position_ids")) {
      EXPECT_TRUE(at::equal(ours.load("position_ids"), golden.load(name + ".position_ids")));
    }
    const at::Tensor pixels = ours.load(entry.at("kind") == "video" ? "pixel_values_videos" : "pixel_values").flatten();
    ASSERT_EQ(pixels.numel(), entry.at("pixels").get<std::int64_t>());
    const at::Tensor wanted = golden.load(name + ".pixels").to(at::kFloat);
    EXPECT_LE((pixels.slice(0, 0, pixels.numel(), kStep) - wanted).abs().max().item<double>(), kHalfAByte);
    EXPECT_LE(test_support::relative_distance(ours.load("logits").flatten(), golden.load(name + ".logits")), 1e-4);
  }
}

class DetailTurns : public TinyModel {
 protected:
  DetailTurns() : TinyModel("qwen2_vl/published") {}

  Turn of_detail(const MediaDetail& detail) {
    Turn turn = ask("image", "full", 1.0);
    std::get<MediaItem>(turn.messages.front().items.front()).media.detail = detail;
    return turn;
  }
};

TEST_F(DetailTurns, APictureUnderAnotherDetailIsAnotherMedium) {
  const EventRecorder as_the_model = run(of_detail({}));
  const std::int64_t all = finished(as_the_model).figures.tokens.visual;
  const int read = opener_.pictures_read;
  const Turn fewer = of_detail({DetailLevel::kTokens, 6});
  const std::optional<Planned> planned = run(Plan{fewer}).last<Planned>();
  ASSERT_TRUE(planned);
  const EventRecorder bounded = run(fewer);
  const std::int64_t tokens = finished(bounded).figures.tokens.visual;
  EXPECT_LT(tokens, all);
  EXPECT_LE(tokens, 6);
  EXPECT_EQ(planned->tokens.visual, tokens);
  EXPECT_EQ(opener_.pictures_read, read + 1) << "other pixels";
  const MediaSampled sampled = bounded.last<MediaSampled>().value();
  EXPECT_EQ(sampled.visual_tokens, tokens);
  const auto cell_px = static_cast<int>(info_.picture_detail.token_px);
  EXPECT_EQ(sampled.read_width_px / cell_px * (sampled.read_height_px / cell_px), tokens) << "cells of the picture as it was resized";
  EXPECT_EQ(sampled.detail, (MediaDetail{DetailLevel::kTokens, 6}));
  EXPECT_EQ(as_the_model.last<MediaSampled>()->visual_tokens, all);
  EXPECT_EQ(finished(run(of_detail({}))).figures.tokens.visual, all) << "and the other again";
  EXPECT_EQ(opener_.pictures_read, read + 1) << "whose features are still there";
}

TEST_F(DetailTurns, AWordIsTheModelsOwnNumber) {
  ASSERT_EQ(info_.picture_detail.kind, DetailKind::kAnySize);
  EXPECT_EQ(finished(run(of_detail({DetailLevel::kLow}))).figures.tokens.visual,
            finished(run(of_detail({DetailLevel::kTokens, info_.picture_detail.low}))).figures.tokens.visual);
}

TEST_F(DetailTurns, RefusesWhatIsNoDetail) {
  for (const MediaDetail& none : {MediaDetail{DetailLevel::kTokens, 0}, MediaDetail{DetailLevel::kTokens, -4},
                                  MediaDetail{DetailLevel::kTokens, MediaDetail::kMostTokens + 1}, MediaDetail{DetailLevel::kLow, 5},
                                  MediaDetail{DetailLevel::kAuto, 1}}) {
    for (const RequestBody& body : {RequestBody(of_detail(none)), RequestBody(Plan{of_detail(none)})}) {
      const std::optional<Failed> failed = run(body).last<Failed>();
      ASSERT_TRUE(failed);
      EXPECT_EQ(failed->error.code, ErrorCode::kInvalidArgument);
      EXPECT_NE(failed->error.reason.find("auto, low, medium, high"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace winnow::testing
