// Media from memory: a MediaOpener whose files are pictures, or texts, that a test put there. Counts what is read.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/media/coarse_order.h"
#include "engine/media/frame_source.h"

namespace winnow::testing {

// A picture that differs from cell to cell and from number to number.
inline RgbImage patterned_picture(int width_px, int height_px, int number) {
  RgbImage picture{width_px, height_px, {}};
  for (int at = 0; at < width_px * height_px * 3; ++at)
    picture.rgb.push_back(static_cast<std::uint8_t>((at * (number + 3) * 7 + at / 5) % 251));
  return picture;
}

class MemoryMediaOpener : public MediaOpener {
 public:
  // One picture: an image. Several: a video of that many seconds whose plan takes every picture, or a part (FramePlan::taken).
  void add(const std::string& path, std::vector<RgbImage> pictures) { files_[path] = std::move(pictures); }

  void add_text(const std::string& path, std::string text) { texts_[path] = std::move(text); }

  // Subtitles for whoever asks for a video with them.
  void add_lines(const std::string& path, std::vector<TimedLine> lines) { lines_[path] = std::move(lines); }

  // When a video's pictures are shown, where that is known before they are read and not when they are asked for.
  void add_shown_times(const std::string& path, std::vector<double> times_s) { shown_[path] = std::move(times_s); }

  // What is noticed of a file of pictures: at once, and when its pictures are read.
  void add_notices(const std::string& path, std::vector<MediaNotice> at_once, std::vector<MediaNotice> later) {
    notices_[path] = {std::move(at_once), std::move(later)};
  }

  std::unique_ptr<FrameSource> open(const MediaRequest& request, const InterruptToken& interrupt) override {
    interrupt.throw_if_requested();
    if (const auto text = texts_.find(request.path); text != texts_.end()) return std::make_unique<Text>(request.path, text->second);
    const auto found = files_.find(request.path);
    if (found == files_.end()) throw Exception(ErrorCode::kFileNotFound, request.path, "does not exist");
    auto source = std::make_unique<Source>(*this, request, found->second);
    if (request.subtitles.empty()) return source;
    const auto lines = lines_.find(request.subtitles);
    if (lines == lines_.end()) throw Exception(ErrorCode::kFileNotFound, request.subtitles, "does not exist");
    source->said = lines->second;
    return source;
  }

  int pictures_read = 0;
  std::vector<int> order;             // of all pictures read: their numbers in the file
  std::function<void()> before_read;  // may interrupt

 private:
  class Source : public FrameSource {
   public:
    Source(MemoryMediaOpener& owner, MediaRequest request, const std::vector<RgbImage>& pictures)
        : owner_(owner), request_(std::move(request)), planned_(static_cast<int>(pictures.size())) {
      numbers_ = taken_frames(planned_, request_.plan.taken, request_.plan.set_frames);
      pictures_ = of_frames(std::span<const RgbImage>(pictures), numbers_);
    }
    MediaKind kind() const override { return request_.kind; }
    PictureSize picture_size() const override { return {pictures_.front().width_px, pictures_.front().height_px}; }
    double duration_s() const override { return request_.kind == MediaKind::kVideo ? planned_ : 0.0; }
    int frame_count() const override { return static_cast<int>(pictures_.size()); }
    int planned_frames() const override { return planned_; }
    std::vector<double> asked_times_s() const override {
      std::vector<double> times;
      for (const int number : numbers_) times.push_back(number + 0.5);
      return times;
    }
    std::string content_hash() const override { return "memory:" + request_.path; }
    std::vector<double> shown_times_s() const override {
      const auto found = owner_.shown_.find(request_.path);
      return found == owner_.shown_.end() ? asked_times_s() : found->second;
    }
    std::vector<TimedLine> lines() const override { return said; }
    std::vector<TimedLine> said;
    std::vector<MediaNotice> notices() const override {
      const auto found = owner_.notices_.find(request_.path);
      if (found == owner_.notices_.end()) return {};
      std::vector<MediaNotice> all = found->second.at_once;
      if (was_read_) winnow::add_notices(all, found->second.later);
      return all;
    }
    std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) override {
      if (owner_.before_read) owner_.before_read();
      was_read_ = true;
      std::vector<SampledFrame> frames;
      for (int i = first; i < first + count; ++i) {
        interrupt.throw_if_requested();
        const int number = numbers_[static_cast<std::size_t>(i)];
        frames.push_back({number + 0.5, static_cast<double>(number), pictures_[static_cast<std::size_t>(i)]});
        ++owner_.pictures_read;
        owner_.order.push_back(number);
      }
      return frames;
    }

   private:
    MemoryMediaOpener& owner_;
    MediaRequest request_;
    int planned_;
    std::vector<int> numbers_;  // of its pictures in the file
    std::vector<RgbImage> pictures_;
    bool was_read_ = false;
  };

  class Text : public FrameSource {
   public:
    Text(const std::string& path, std::string text) : hash_("memory:" + path), text_(std::move(text)) {}
    MediaKind kind() const override { return MediaKind::kDocument; }
    PictureSize picture_size() const override { return {}; }
    double duration_s() const override { return 0.0; }
    int frame_count() const override { return 0; }
    std::string content_hash() const override { return hash_; }
    std::string text() const override { return text_; }
    std::vector<SampledFrame> read(int, int, const InterruptToken&) override { return {}; }

   private:
    std::string hash_;
    std::string text_;
  };

  std::map<std::string, std::vector<RgbImage>> files_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::vector<TimedLine>> lines_;
  std::map<std::string, std::vector<double>> shown_;
  struct Noticed {
    std::vector<MediaNotice> at_once;
    std::vector<MediaNotice> later;
  };
  std::map<std::string, Noticed> notices_;
};

}  // namespace winnow::testing
