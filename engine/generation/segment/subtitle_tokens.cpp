#include "engine/generation/segment/subtitle_tokens.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "engine/base/fnv.h"
#include "engine/device/host_numbers.h"

namespace winnow {
namespace {

// The place of each line: before so many of the video's tokens; never less than for the line before it.
std::vector<std::size_t> line_positions(std::span<const TokenOrigin> origins, const SubtitleTokens& subtitles) {
  std::size_t end = 0;  // of the last frame
  for (std::size_t i = 0; i < origins.size(); ++i) {
    if (is_of_a_frame(origins[i])) end = i + 1;
  }
  std::vector<std::size_t> positions;
  std::size_t at = 0;
  for (const TimedLine& line : subtitles.lines) {
    const auto later = std::ranges::upper_bound(subtitles.frames_s, line.start_s);
    const auto shown = std::max<std::int64_t>(0, later - subtitles.frames_s.begin() - 1);
    while (at < end && !(is_of_a_frame(origins[at]) && origins[at].frame > shown)) ++at;
    positions.push_back(at);
  }
  return positions;
}

// The order of all tokens: of the video's [0, origins), then those of the lines.
std::vector<std::int64_t> order_of(std::span<const TokenOrigin> origins, const SubtitleTokens& subtitles) {
  const std::vector<std::size_t> positions = line_positions(origins, subtitles);
  std::vector<std::int64_t> order;
  std::size_t line = 0;
  std::int64_t word = 0;
  for (std::size_t at = 0; at <= origins.size(); ++at) {
    for (; line < positions.size() && positions[line] == at; ++line) {
      for (; word < subtitles.line_ends[line]; ++word) order.push_back(std::ssize(origins) + word);
    }
    if (at < origins.size()) order.push_back(static_cast<std::int64_t>(at));
  }
  return order;
}

// Joins two lists.
template <class Value>
std::vector<Value> picked(std::span<const Value> first, std::span<const Value> second, std::span<const std::int64_t> order) {
  std::vector<Value> values;
  values.reserve(order.size());
  for (const std::int64_t at : order)
    values.push_back(at < std::ssize(first) ? first[static_cast<std::size_t>(at)]
                                            : second[static_cast<std::size_t>(at - std::ssize(first))]);
  return values;
}

}  // namespace

SubtitleTokens subtitle_tokens(const Tokenizer& tokenizer, std::vector<TimedLine> lines, std::vector<double> frames_s) {
  SubtitleTokens subtitles{.lines = std::move(lines), .frames_s = std::move(frames_s)};
  for (const TimedLine& line : subtitles.lines) {
    const std::vector<std::int64_t> ids = tokenizer.encode(line.text + "\n", SpecialText::kAsText, TextStart::kAfterToken);
    TokenOrigin origin{.modality = Modality::kSubtitle, .frame = static_cast<std::int32_t>(subtitles.line_ends.size())};
    subtitles.ids.insert(subtitles.ids.end(), ids.begin(), ids.end());
    subtitles.origins.insert(subtitles.origins.end(), ids.size(), origin);
    subtitles.line_ends.push_back(std::ssize(subtitles.ids));
  }
  return subtitles;
}

std::vector<TokenOrigin> with_subtitles(std::span<const TokenOrigin> origins, const SubtitleTokens& subtitles) {
  return picked<TokenOrigin>(origins, subtitles.origins, order_of(origins, subtitles));
}

MediaFeatures with_subtitles(const VisionLanguageModel& model, MediaFeatures video, const SubtitleTokens& subtitles) {
  if (subtitles.ids.empty()) return video;
  const std::vector<std::int64_t> order = order_of(video.origins, subtitles);
  if (video.ids.empty()) video.ids.assign(video.origins.size(), model.prompt().video_token_id);
  const at::Tensor words = model.text().embed(at::tensor(subtitles.ids, at::kLong));
  return {.features = at::cat({video.features, words}, 0).index_select(0, numbers_on(video.features.device(), order)),
          .origins = picked<TokenOrigin>(video.origins, subtitles.origins, order),
          .ids = picked<std::int64_t>(video.ids, subtitles.ids, order)};
}

std::string name_of_content(const FrameSource& source) {
  const std::vector<TimedLine> lines = source.lines();
  const std::string text = source.text();
  if (lines.empty() && text.empty()) return source.content_hash();
  std::uint64_t hash = fnv1a(std::as_bytes(std::span(text)), kFnvStart);
  for (const TimedLine& line : lines) {
    const std::array<double, 2> times = {line.start_s, line.end_s};
    hash = fnv1a(std::as_bytes(std::span(times)), hash);
    hash = fnv1a(std::as_bytes(std::span(line.text.c_str(), line.text.size() + 1)), hash);
  }
  char name[32];
  std::snprintf(name, sizeof name, "+words:%016llx", static_cast<unsigned long long>(hash));
  return source.content_hash() + name;
}

}  // namespace winnow
