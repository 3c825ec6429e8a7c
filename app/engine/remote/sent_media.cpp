#include "app/engine/remote/sent_media.h"

#include <QByteArray>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <utility>

#include "app/engine/remote/server_words.h"
#include "app/media/files/jpeg_picture.h"
#include "engine/base/error.h"
#include "engine/base/file_bytes.h"
#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

constexpr int kImageSidePx = 2048;
constexpr int kFrameSidePx = 1024;
constexpr int kFramesAtOnce = 8;
constexpr std::size_t kBytesPerToken = 4;  // of a document, about: a server tells nothing of its tokenizer

std::string base64(std::string_view bytes) {
  return QByteArray::fromRawData(bytes.data(), static_cast<qsizetype>(bytes.size())).toBase64().toStdString();
}

Json textPart(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

// OpenAI's words for a picture's detail; empty: the server's own choice.
const char* detailWord(const MediaDetail& detail) {
  return detail.level == DetailLevel::kLow ? "low" : detail.level == DetailLevel::kHigh ? "high" : "";
}

// Servers are told only low and high detail.
void requireDetailTold(const MediaRequest& request, const ServerTraits& traits) {
  if (request.kind == MediaKind::kDocument || request.detail == MediaDetail() || *detailWord(request.detail) != '\0') return;
  throw Exception(ErrorCode::kNotAble, traits.model,
                  "of a picture's detail it knows auto, low and high, not " + detail_word(request.detail));
}

Json picturePart(const RgbImage& image, int maxSidePx, const MediaDetail& detail) {
  const std::vector<std::uint8_t> jpeg = jpegOf(image, maxSidePx);
  const std::string_view bytes(reinterpret_cast<const char*>(jpeg.data()), jpeg.size());
  Json part = {{"type", "image_url"}, {"image_url", {{"url", "data:image/jpeg;base64," + base64(bytes)}}}};
  if (const char* word = detailWord(detail); *word != '\0') part["image_url"]["detail"] = word;
  return part;
}

// "1:05.5"
std::string clock(double seconds) {
  const long tenths = std::lround(std::max(seconds, 0.0) * 10.0);
  char text[48];
  std::snprintf(text, sizeof text, "%ld:%02ld.%ld", tenths / 600, tenths / 10 % 60, tenths % 10);
  return text;
}

std::string fileName(const std::string& path) { return std::filesystem::path(path).filename().string(); }

const char* videoType(const std::string& path) {
  const std::string end = std::filesystem::path(path).extension().string();
  if (end == ".webm") return "video/webm";
  if (end == ".mkv") return "video/x-matroska";
  if (end == ".avi") return "video/avi";
  return end == ".mov" ? "video/quicktime" : "video/mp4";
}

// True if the file says what the request asks for: a server knows nothing of ranges, of subtitles beside a file, and of its frames' detail.
bool fitsAsFile(const MediaRequest& request, const ServerTraits& traits) {
  const FramePlan& plan = request.plan;
  if (!traits.takesVideos || request.kind != MediaKind::kVideo || !request.subtitles.empty() || request.detail != MediaDetail())
    return false;
  if (plan.from_s > 0.0 || plan.to_s >= 0.0 || (plan.every_s > 0.0 && traits.choosesFrames)) return false;
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(request.path, failed);
  return !failed && bytes <= static_cast<std::uintmax_t>(SentMedia::kMostVideoBytes);
}

std::string document(std::string text, std::int64_t mostTokens) {
  if (mostTokens <= 0) return text;
  return cutText(std::move(text), static_cast<std::size_t>(mostTokens) * kBytesPerToken);
}

MediaSampled toldOf(const MediaRequest& request, const FrameSource& source) {
  MediaSampled sampled;
  sampled.path = request.path;
  sampled.kind = request.kind;
  sampled.duration_s = source.duration_s();
  sampled.plan = request.plan;
  sampled.most_tokens = request.most_tokens;
  sampled.subtitles = request.subtitles;
  sampled.encoding = request.encoding;
  sampled.detail = request.detail;
  sampled.pages = request.pages;
  sampled.page_lines = source.page_lines();
  if (request.kind == MediaKind::kVideo) sampled.asked_s = source.asked_times_s();
  if (request.kind == MediaKind::kImage) sampled.picture = source.picture_size();
  return sampled;
}

// Frames with their times, and what is said between them.
class FrameParts {
 public:
  FrameParts(SentMedium& medium, const MediaRequest& request) : m_medium(medium), m_request(request) {}

  void write(FrameSource& source, const std::function<void(const Progress&)>& decoded, const InterruptToken& interrupt) {
    const int frames = source.frame_count();
    if (!m_request.subtitles.empty()) m_medium.sampled.lines = lines_between(source.lines(), m_request.plan.from_s, m_request.plan.to_s);
    m_medium.parts.push_back(textPart("Video " + fileName(m_request.path) + ", " + clock(source.duration_s()) + " long, as " +
                                      std::to_string(frames) + " frames with their times:"));
    for (int first = 0; first < frames; first += kFramesAtOnce) {
      for (const SampledFrame& frame : source.read(first, std::min(kFramesAtOnce, frames - first), interrupt)) add(frame);
      decoded(
          {Phase::kDecodeMedia, static_cast<std::uint64_t>(std::min(first + kFramesAtOnce, frames)), static_cast<std::uint64_t>(frames)});
    }
    sayUntil(std::numeric_limits<double>::infinity());
  }

 private:
  void add(const SampledFrame& frame) {
    sayUntil(frame.actual_s);
    m_medium.parts.push_back(textPart("[" + clock(frame.actual_s) + "]"));
    m_medium.parts.push_back(picturePart(frame.image, kFrameSidePx, m_request.detail));
    m_medium.sampled.actual_s.push_back(frame.actual_s);
  }
  void sayUntil(double time_s) {
    const std::vector<TimedLine>& lines = m_medium.sampled.lines;
    for (; m_said < lines.size() && lines[m_said].start_s <= time_s; ++m_said)
      m_medium.parts.push_back(textPart("[" + clock(lines[m_said].start_s) + "] subtitle: " + lines[m_said].text));
  }

  SentMedium& m_medium;
  const MediaRequest& m_request;
  std::size_t m_said = 0;
};

void writeFile(SentMedium& medium, const MediaRequest& request) {
  const std::string bytes = read_file_bytes(request.path, static_cast<std::uint64_t>(SentMedia::kMostVideoBytes));
  medium.parts.push_back(
      {{"type", "video_url"}, {"video_url", {{"url", std::string("data:") + videoType(request.path) + ";base64," + base64(bytes)}}}});
  medium.video = true;
}

}  // namespace

std::unique_ptr<FrameSource> SentMedia::open(const MediaRequest& request, const InterruptToken& interrupt) const {
  if (m_opener == nullptr) throw Exception(ErrorCode::kUnsupportedFormat, request.path, "this program cannot read media files");
  return m_opener->open(request, interrupt);
}

void SentMedia::requireTaken(std::span<const Message> messages, const ServerTraits& traits, const InterruptToken& interrupt) const {
  std::int64_t pictures = 0;
  for (const Message& message : messages) {
    for (const Item& item : message.items) {
      const auto* media = std::get_if<MediaItem>(&item);
      if (media == nullptr || media->media.kind == MediaKind::kDocument) continue;
      if (!traits.sees) throw Exception(ErrorCode::kModelReadsText, media->media.path, "this model reads text only");
      requireDetailTold(media->media, traits);
      if (traits.mostPictures == 0 || fitsAsFile(media->media, traits)) continue;
      pictures += media->media.kind == MediaKind::kImage ? 1 : open(media->media, interrupt)->frame_count();
    }
  }
  if (traits.mostPictures > 0 && pictures > traits.mostPictures) {
    throw Exception(ErrorCode::kTooManyPictures, traits.model,
                    "the question has " + std::to_string(pictures) + " images and frames, it takes " + std::to_string(traits.mostPictures));
  }
}

SentMedium SentMedia::read(const MediaRequest& request, const ServerTraits& traits, const std::function<void(const Progress&)>& decoded,
                           const InterruptToken& interrupt) {
  const std::unique_ptr<FrameSource> source = open(request, interrupt);
  Kept kept{.request = request, .content = source->content_hash(), .asFile = fitsAsFile(request, traits)};
  if (!request.content.empty() && request.content != kept.content)
    throw Exception(ErrorCode::kMediaChanged, request.path, "this is not the file that was attached: its bytes have changed");
  const auto same = [&](const Kept& each) {
    const MediaRequest& before = each.request;
    return each.content == kept.content && each.asFile == kept.asFile && before.path == request.path && before.kind == request.kind &&
           before.plan == request.plan && before.most_tokens == request.most_tokens && before.subtitles == request.subtitles &&
           before.encoding == request.encoding && before.detail == request.detail && before.pages == request.pages;
  };
  if (const auto known = std::ranges::find_if(m_kept, same); known != m_kept.end()) return known->medium;
  SentMedium& medium = kept.medium;
  medium.sampled = toldOf(request, *source);
  if (request.kind == MediaKind::kDocument) {
    medium.parts.push_back(textPart("Document " + fileName(request.path) + ":\n" + document(source->text(), request.most_tokens)));
  } else if (request.kind == MediaKind::kImage) {
    medium.parts.push_back(picturePart(source->read(0, 1, interrupt).at(0).image, kImageSidePx, request.detail));
  } else if (kept.asFile) {
    writeFile(medium, request);
  } else {
    FrameParts(medium, request).write(*source, decoded, interrupt);
  }
  medium.sampled.notices = source->notices();
  return keep(std::move(kept));
}

const SentMedium& SentMedia::keep(Kept kept) {
  for (const Json& part : kept.medium.parts) {
    for (const char* kind : {"image_url", "video_url"}) {
      if (part.contains(kind)) kept.bytes += part[kind]["url"].get_ref<const std::string&>().size();
    }
    if (part.contains("text")) kept.bytes += part["text"].get_ref<const std::string&>().size();
  }
  m_bytes += kept.bytes;
  m_kept.push_back(std::move(kept));
  while (m_bytes > kMostKeptBytes && m_kept.size() > 1) {
    m_bytes -= m_kept.front().bytes;
    m_kept.pop_front();
  }
  return m_kept.back().medium;
}

}  // namespace winnow::app
