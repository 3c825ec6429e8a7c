#include "app/programs/cli/media_options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "app/media/files/subtitles.h"
#include "app/media/files/text_encoding.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/media_reading.h"
#include "engine/base/error.h"

namespace winnow::cli {
namespace {

constexpr const char* kAuto = "auto";
constexpr const char* kNone = "none";

// A video that cannot be opened has none to offer; the engine says what is wrong with it.
std::string found_for(const std::string& video) {
  try {
    return app::subtitlesOf(video, media_reader().probe(video));
  } catch (const Exception&) {
    return {};
  }
}

std::string encoding_problem(const std::string& name) {
  if (app::encodingNamed(name)) return {};
  return name + " is not a known encoding; use one of " + joined_words(app::encodingNames());
}

void add_detail(CLI::App& command, const char* name, MediaDetail& into, const char* help) {
  const auto take = [&into](const std::string& word) { into = detail_of(word).value_or(into); };
  command.add_option_function<std::string>(name, take, help)->check(detail_problem)->default_str(detail_word(into));
}

// "photo.png: 4096 tokens", "clip.mp4: 64 frames, 9216 tokens".
std::string taken_text(const MediaSampled& medium) {
  std::string text = std::filesystem::path(medium.path).filename().string();
  text += (medium.pages.first > 0 ? page_words(medium.pages) : std::string()) + ": ";
  if (medium.kind == MediaKind::kVideo) text += std::to_string(medium.asked_s.size()) + " frames, ";
  return text + std::to_string(medium.visual_tokens) + " tokens";
}

const DetailChoices& choices_of(const MediaSampled& medium, const ModelInfo& model) {
  return medium.kind == MediaKind::kVideo ? model.frame_detail : model.picture_detail;
}

// The detail that was asked for, and its meaning for the model; empty: none was.
std::string asked_text(const MediaSampled& medium, const ModelInfo& model) {
  if (medium.detail == MediaDetail()) return {};
  const std::int64_t most = most_tokens(medium.detail, choices_of(medium, model));
  if (most == 0) return " (as always: this model has one level of detail)";
  const char* each = medium.kind == MediaKind::kVideo ? " a frame" : "";
  return " (detail " + detail_word(medium.detail) + ": at most " + std::to_string(most) + each + ")";
}

std::optional<PageRange> pages_of(const std::string& words) {
  const auto number = [](std::string_view digits) {
    int page = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), page);
    return problem == std::errc() && end == digits.data() + digits.size() && page >= 1 ? page : 0;
  };
  const std::size_t dash = words.find('-');
  const int first = number(std::string_view(words).substr(0, dash));
  const int last = dash == std::string::npos ? first : number(std::string_view(words).substr(dash + 1));
  return first >= 1 && last >= first ? std::optional(PageRange{first, last}) : std::nullopt;
}

}  // namespace

void add_subtitle_option(CLI::App& command, TurnOptions& options) {
  command.add_option(
      "--subtitles", options.subtitles,
      "subtitles to read between a video's frames: auto (the .srt, .vtt, .ass or .ssa beside it, or text inside it), none, or a file");
}

bool wants_speech(const std::string& video, const TurnOptions& options) {
  return options.subtitles.empty() || (options.subtitles == kAuto && found_for(video).empty());
}

std::string subtitles_for(const std::string& video, const TurnOptions& options) {
  const std::string& asked = options.subtitles;
  if (asked == kNone) return {};
  if (const auto heard = options.heard.find(video); heard != options.heard.end()) return heard->second;
  if (!asked.empty() && asked != kAuto) {
    if (options.videos.size() > 1) {
      throw Exception(ErrorCode::kInvalidArgument, "--subtitles",
                      "a file belongs to one video, but there are " + std::to_string(options.videos.size()) +
                          " (auto finds those beside or inside each)");
    }
    return asked;
  }
  const std::string found = found_for(video);
  if (asked.empty()) {
    if (!found.empty()) {
      print_err("%s has subtitles%s: read them with --subtitles auto\n", video.c_str(),
                found == video ? " inside" : (" (" + found + ")").c_str());
    }
    return {};
  }
  if (found.empty()) print_err("%s: there are no subtitles beside or inside it\n", video.c_str());
  return found;
}

std::string pages_problem(const std::string& words) { return pages_of(words) ? "" : "must be a page or a range of pages: 3, or 3-7"; }

void add_pages_option(CLI::App& command, TurnOptions& options) {
  const auto take = [&options](const std::string& words) { options.pages = pages_of(words).value_or(PageRange()); };
  command.add_option_function<std::string>("--pages", take, "read only these pages of each PDF: 3, or 3-7; default: all")
      ->check(pages_problem);
}

std::string page_words(const PageRange& pages) {
  if (pages.first == pages.last) return ", page " + std::to_string(pages.first);
  return ", pages " + std::to_string(pages.first) + "-" + std::to_string(pages.last);
}

void add_encoding_option(CLI::App& command, std::string& into) {
  const auto take = [&into](const std::string& name) { into = app::encodingNamed(name).value_or(name); };
  command
      .add_option_function<std::string>("--encoding", take,
                                        "encoding of documents and subtitles (Windows-1251, Shift_JIS, ...); default: detected")
      ->check(encoding_problem);
}

std::string detail_problem(const std::string& word) {
  if (detail_of(word)) return {};
  return "must be auto, low, medium, high or a number of tokens from 1 to " + std::to_string(MediaDetail::kMostTokens);
}

void add_detail_options(CLI::App& command, MediaDetails& detail) {
  add_detail(command, "--picture-detail", detail.pictures,
             "most tokens of an image: low, medium, high or a number; auto: as the model's files say");
  add_frame_detail_option(command, detail.frames);
}

void add_frame_detail_option(CLI::App& command, MediaDetail& frames) {
  add_detail(command, "--frame-detail", frames, "most tokens of a video frame, in the same words");
}

std::string detail_lines(const std::vector<MediaSampled>& media, const ModelInfo& model) {
  std::string text;
  for (const MediaSampled& medium : media) {
    if (medium.visual_tokens == 0) continue;
    const std::string asked = asked_text(medium, model);
    if (media.size() > 1 || !asked.empty()) text += "\n" + taken_text(medium) + asked;
  }
  return text;
}

std::string many_tokens_note(const MediaSampled& medium, const ModelInfo& model) {
  if (!takes_many_unasked(medium.kind, medium.detail, medium.visual_tokens)) return {};
  const DetailChoices& choices = choices_of(medium, model);
  const std::string taken = medium.path + " takes " + std::to_string(medium.visual_tokens) + " tokens";
  if (choices.kind == DetailKind::kFixed) return taken;
  return taken + "; --picture-detail medium takes at most " + std::to_string(choices.medium);
}

}  // namespace winnow::cli
