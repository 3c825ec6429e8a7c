#include "app/programs/cli/chat_attachments.h"

#include <charconv>
#include <filesystem>

#include "app/media/files/typed_path.h"
#include "app/programs/cli/document_passwords.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/media_reading.h"
#include "app/programs/cli/option_checks.h"
#include "engine/base/error.h"

namespace winnow::cli {
namespace {

std::string path_in(std::string_view typed, const char* command) {
  std::string path = app::typedPath(typed);
  if (path.empty()) throw Exception(ErrorCode::kInvalidArgument, command, "needs a file name");
  return path;
}

}  // namespace

TurnOptions ChatAttachments::heard(TurnOptions options) const {
  if (hear_) hear_(options);
  return options;
}

void ChatAttachments::add_all(const TurnOptions& given) {
  const TurnOptions options = heard(given);
  for (const std::string& path : options.images) add(image_request(path, options));
  for (const std::string& path : options.videos) add(video_request(path, options.plan, subtitles_for(path, options), options));
  for (const std::string& path : options.documents) {
    for (MediaRequest& request : document_requests(path, options)) add(std::move(request));
  }
}

void ChatAttachments::add_image(std::string_view typed, const TurnOptions& options) {
  add(image_request(path_in(typed, "/image"), options));
}

void ChatAttachments::add_video(std::string_view typed, const TurnOptions& options) {
  const app::PathAndNumber given = app::typedPathAndNumber(typed, kMostFrames);
  const std::string path = path_in(given.path, "/video");
  FramePlan plan = options.plan;
  if (given.number) {
    plan.frame_count = *given.number;
    plan.every_s = 0.0;
  }
  TurnOptions own = options;
  own.videos = {path};
  own.documents.clear();
  // A file that was named belongs to the video that was named with it.
  if (own.subtitles != "auto") own.subtitles = own.subtitles.empty() ? "" : "none";
  own = heard(std::move(own));
  add(video_request(path, plan, subtitles_for(path, own), options));
}

void ChatAttachments::add_document(std::string_view typed, const TurnOptions& options) {
  TurnOptions own = options;
  own.videos.clear();
  own.documents = {path_in(typed, "/document")};
  own = heard(std::move(own));
  for (MediaRequest& request : document_requests(own.documents.front(), own)) add(std::move(request));
}

void ChatAttachments::add(MediaRequest request) {
  if (request.kind != MediaKind::kDocument && !traits_.sees)
    throw Exception(ErrorCode::kModelReadsText, request.path, "this model reads text only; attach a text with /document");
  if (request.kind == MediaKind::kVideo && !traits_.reads_videos)
    throw Exception(ErrorCode::kModelReadsImages, request.path, "this model reads images, not videos");
  require_few_media(media_.size() + 1);
  unlocking([&] { return media_reader().open(request, {}); });
  media_.push_back(std::move(request));
}

void ChatAttachments::detach(std::string_view number) {
  if (media_.empty()) throw Exception(ErrorCode::kInvalidArgument, "/detach", "nothing is attached to the next question");
  if (number.empty()) return clear();
  std::size_t at = 0;
  const auto [rest, problem] = std::from_chars(number.data(), number.data() + number.size(), at);
  if (problem != std::errc() || rest != number.data() + number.size() || at < 1 || at > media_.size())
    throw Exception(ErrorCode::kInvalidArgument, "/detach",
                    "takes a number from 1 to " + std::to_string(media_.size()) + ", or nothing for all");
  media_.erase(media_.begin() + static_cast<std::ptrdiff_t>(at) - 1);
}

std::string ChatAttachments::list() const {
  if (media_.empty()) return "nothing is attached to the next question";
  std::string text = "attached to the next question:";
  for (std::size_t i = 0; i < media_.size(); ++i) {
    const MediaRequest& media = media_[i];
    text += (i == 0 ? " " : ", ") + std::to_string(i + 1) + " " + std::filesystem::path(media.path).filename().string();
    if (media.pages.first > 0) text += page_words(media.pages);
    if (media.kind == MediaKind::kVideo && media.plan.frame_count > 0) text += " (" + std::to_string(media.plan.frame_count) + " frames)";
  }
  return text;
}

}  // namespace winnow::cli
