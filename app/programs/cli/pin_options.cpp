#include "app/programs/cli/pin_options.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "engine/base/error.h"

namespace winnow::cli {
namespace {

struct GivenPin {
  std::optional<std::int32_t> number;  // from 1; none: the only video
  std::optional<std::pair<double, double>> seconds;
};

template <typename Number>
std::optional<Number> whole(std::string_view text) {
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<GivenPin> parsed(std::string_view text) {
  GivenPin pin;
  const std::size_t colon = text.find(':');
  const std::size_t dash = text.find('-', colon == std::string_view::npos ? 0 : colon);
  if (colon != std::string_view::npos || dash == std::string_view::npos) {
    pin.number = whole<std::int32_t>(text.substr(0, colon));
    if (!pin.number || *pin.number < 1) return std::nullopt;
    if (colon == std::string_view::npos) return pin;
    text.remove_prefix(colon + 1);
  }
  const std::size_t middle = text.find('-');
  if (middle == std::string_view::npos) return std::nullopt;
  const auto from = whole<double>(text.substr(0, middle));
  const auto to = whole<double>(text.substr(middle + 1));
  if (!from || !to || !(*from >= 0.0 && *from <= *to)) return std::nullopt;
  pin.seconds = {*from, *to};
  return pin;
}

std::vector<MediaRequest> media_of(std::span<const Message> thread) {
  std::vector<MediaRequest> media;
  for (const Message& message : thread) {
    for (const Item& item : message.items) {
      if (const auto* found = std::get_if<MediaItem>(&item)) media.push_back(found->media);
    }
  }
  return media;
}

}  // namespace

std::string pin_problem(const std::string& text) {
  if (parsed(text)) return {};
  return text + " must be a range of seconds (12.0-15.5), a range of the second image or video (2:12.0-15.5), or its number alone (2)";
}

std::vector<Pin> pins_of(std::span<const std::string> texts, std::span<const Message> thread) {
  const std::vector<MediaRequest> media = media_of(thread);
  std::vector<Pin> pins;
  for (const std::string& text : texts) {
    const std::optional<GivenPin> given = parsed(text);
    if (!given) throw Exception(ErrorCode::kInvalidArgument, "--pin", pin_problem(text));
    Pin pin;
    if (given->number) {
      pin.media = *given->number - 1;  // the engine says if there is no such medium
      const bool image = pin.media < std::ssize(media) && media[static_cast<std::size_t>(pin.media)].kind != MediaKind::kVideo;
      if (image && given->seconds) {
        throw Exception(ErrorCode::kInvalidArgument, "--pin " + text,
                        "an image has no seconds; pin all of it with --pin " + std::to_string(*given->number));
      }
    } else {
      std::vector<std::int32_t> videos;
      for (std::size_t i = 0; i < media.size(); ++i) {
        if (media[i].kind == MediaKind::kVideo) videos.push_back(static_cast<std::int32_t>(i));
      }
      if (videos.empty()) throw Exception(ErrorCode::kInvalidArgument, "--pin " + text, "there is no video for these seconds");
      if (videos.size() > 1) {
        throw Exception(ErrorCode::kInvalidArgument, "--pin " + text,
                        "there are several videos; say which one: --pin " + std::to_string(videos.front() + 1) + ":" + text);
      }
      pin.media = videos.front();
    }
    if (given->seconds) {
      pin.from_s = given->seconds->first;
      pin.to_s = given->seconds->second;
    }
    pins.push_back(pin);
  }
  return pins;
}

}  // namespace winnow::cli
