#include "app/evaluation/needle_video.h"

#include <QCryptographicHash>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "app/evaluation/random_numbers.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr int kWidthPx = 240;
constexpr int kHeightPx = 180;
constexpr int kCardFrames = 2;
constexpr int kMostScenes = 34;
constexpr double kSecondsPerFrame = 1.0;
constexpr int kMaxNeedleFrames = 1024;

constexpr std::array<Rgb, 8> kPalette = {
    {{220, 40, 40}, {40, 180, 60}, {50, 80, 230}, {235, 215, 40}, {150, 50, 190}, {245, 140, 30}, {245, 245, 245}, {250, 130, 190}}};
constexpr std::size_t kShapeCount = 6;

RandomNumbers randomOf(const NeedleSpec& spec) {
  return RandomNumbers(static_cast<std::uint64_t>(spec.frames) * 1'000'003 + static_cast<std::uint64_t>(spec.depthPercent) * 1009 +
                       static_cast<std::uint64_t>(spec.trial) * 7'919'000'017ULL);
}

SceneLook randomLook(RandomNumbers& random, SceneShape shape, const Rgb& color) {
  SceneLook look;
  look.shape = shape;
  for (std::size_t c = 0; c < 3; ++c) look.color[c] = std::clamp(color[c] + random.between(-12, 12), 0.0, 255.0);
  look.half = random.between(0.16, 0.27);
  look.place = {random.between(0, 1), random.between(0, 1)};
  look.cardWidth = random.between(0.68, 0.85);
  look.letterHeight = random.between(0.62, 0.8);
  return look;
}

// Lengths of the scenes that fill `frames` frames: as many as fit under `most` with at least two frames each.
std::vector<int> sceneLengths(RandomNumbers& random, int frames, int most) {
  std::vector<int> lengths;
  const int scenes = std::clamp(frames / 3, frames > 0 ? 1 : 0, most);
  for (int scene = 0; scene < scenes; ++scene) {
    const int left = scenes - scene - 1;
    const int fair = frames / (left + 1);
    const int length =
        left == 0 ? frames : std::clamp(fair + static_cast<int>(random.below(3)) - 1, std::min(2, fair), std::max(1, frames - left * 2));
    lengths.push_back(length);
    frames -= length;
  }
  return lengths;
}

class NeedleSource final : public FrameSource {
 public:
  NeedleSource(const NeedleSpec& spec, const LetterSheet& letters) : m_spec(spec), m_scenes(needleScenes(spec)), m_letters(letters) {
    RandomNumbers random(static_cast<std::uint64_t>(spec.trial) + 17);
    for (std::size_t c = 0; c < 3; ++c) m_ground.first[c] = random.between(0, 90);
    for (std::size_t c = 0; c < 3; ++c) m_ground.second[c] = std::clamp(m_ground.first[c] + random.between(-30, 30), 0.0, 90.0);
    m_ground.angle = random.between(0, 2 * std::numbers::pi);
  }
  MediaKind kind() const override { return MediaKind::kVideo; }
  PictureSize picture_size() const override { return {kWidthPx, kHeightPx}; }
  double duration_s() const override { return m_spec.frames * kSecondsPerFrame; }
  int frame_count() const override { return m_spec.frames; }
  std::string content_hash() const override {
    return QCryptographicHash::hash(QByteArray::fromStdString(needleName(m_spec)), QCryptographicHash::Sha256).toHex().toStdString();
  }
  std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) override {
    std::vector<SampledFrame> frames;
    for (int frame = first; frame < first + count; ++frame) {
      interrupt.throw_if_requested();
      require(frame >= 0 && frame < m_spec.frames, "a frame of the needle video that is not there");
      const SceneLook& look = m_scenes.looks[static_cast<std::size_t>(m_scenes.lookOfFrame[static_cast<std::size_t>(frame)])];
      const double time = (frame + 0.5) * kSecondsPerFrame;
      frames.push_back({time, time, paintScene(kWidthPx, kHeightPx, m_ground, look, m_letters)});
    }
    return frames;
  }

 private:
  const NeedleSpec m_spec;
  const NeedleScenes m_scenes;
  const LetterSheet& m_letters;
  Ground m_ground;
};

}  // namespace

std::string needleName(const NeedleSpec& spec) {
  return "needle:" + std::to_string(spec.frames) + ":" + std::to_string(spec.depthPercent) + ":" + std::to_string(spec.trial);
}

std::optional<NeedleSpec> needleSpec(const std::string& name) {
  if (!name.starts_with("needle:")) return std::nullopt;
  NeedleSpec spec;
  int end = 0;
  const int read = std::sscanf(name.c_str(), "needle:%6d:%3d:%6d%n", &spec.frames, &spec.depthPercent, &spec.trial, &end);
  if (read != 3 || static_cast<std::size_t>(end) != name.size() || spec.frames < 2 * kCardFrames || spec.frames > kMaxNeedleFrames ||
      spec.depthPercent < 0 || spec.depthPercent > 100 || spec.trial < 0) {
    throw Exception(ErrorCode::kInvalidArgument, name,
                    "is no needle video: needle:FRAMES:DEPTH:TRIAL, 4 to 1024 frames, depth in per cent");
  }
  return spec;
}

NeedleScenes needleScenes(const NeedleSpec& spec) {
  RandomNumbers random = randomOf(spec);
  NeedleScenes made;
  // A and I are words too: they would be hard to judge.
  made.letter = kCardLetters[1 + random.below(kCardLetters.size() - 1)];
  const int before = static_cast<int>(std::lround(spec.depthPercent / 100.0 * (spec.frames - kCardFrames)));
  const int after = spec.frames - kCardFrames - before;
  made.firstCardFrame = before;
  std::size_t shown = kPalette.size() * kShapeCount;  // nothing yet
  const auto fill = [&](int frames) {
    const int most = std::max(1, (kMostScenes * frames + spec.frames / 2) / spec.frames);
    for (const int length : sceneLengths(random, frames, most)) {
      const bool empty = random.below(10) == 0;
      std::size_t thing = shown;
      while (thing == shown) thing = random.below(kPalette.size() * kShapeCount);
      if (!empty) shown = thing;
      made.looks.push_back(randomLook(random, empty ? SceneShape::kNothing : static_cast<SceneShape>(1 + thing % kShapeCount),
                                      kPalette[thing / kShapeCount]));
      made.lookOfFrame.insert(made.lookOfFrame.end(), static_cast<std::size_t>(length), static_cast<int>(made.looks.size()) - 1);
    }
  };
  fill(before);
  made.looks.push_back(randomLook(random, SceneShape::kCard, {243, 243, 243}));
  made.looks.back().letter = made.letter;
  made.lookOfFrame.insert(made.lookOfFrame.end(), kCardFrames, static_cast<int>(made.looks.size()) - 1);
  fill(after);
  return made;
}

std::vector<EvaluationItem> needleItems(const std::vector<int>& lengths, int depths, int trials) {
  std::vector<EvaluationItem> items;
  for (const int frames : lengths) {
    for (int depth = 0; depth < depths; ++depth) {
      for (int trial = 0; trial < trials; ++trial) {
        const NeedleSpec spec{frames, depths == 1 ? 50 : depth * 100 / (depths - 1), trial};
        EvaluationItem item;
        item.id = needleName(spec);
        MediaRequest media;
        media.path = item.id;
        media.kind = MediaKind::kVideo;
        media.plan.frame_count = frames;
        item.media.push_back(media);
        item.question = "What letter is on the card?";
        item.golds = {std::string(1, needleScenes(spec).letter)};
        item.metric = AnswerMetric::kAccuracy;
        item.group = std::to_string(frames) + " frames";
        items.push_back(std::move(item));
      }
    }
  }
  return items;
}

std::unique_ptr<FrameSource> NeedleOpener::open(const MediaRequest& request, const InterruptToken& interrupt) {
  const std::optional<NeedleSpec> spec = needleSpec(request.path);
  if (!spec) return m_files->open(request, interrupt);
  return std::make_unique<NeedleSource>(*spec, m_letters);
}

}  // namespace winnow::app
