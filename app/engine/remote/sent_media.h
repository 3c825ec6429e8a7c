// Attachments as the parts of a request: what a server that sees no files can be given of them.
//
// A picture is a JPEG; a document its text; a video its file where the server takes videos, and else the sampled frames as JPEGs with their
// times and subtitles as text between. What was made is kept for the next question, up to a number of bytes. Errors: Exception (those of
// the reader, kMediaChanged, kModelReadsText, kTooManyPictures with the model's name as subject), Interrupted. Threads: one.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "app/engine/remote/server_traits.h"
#include "engine/messages/events.h"

namespace winnow::app {

struct SentMedium {
  nlohmann::json parts = nlohmann::json::array();
  MediaSampled sampled;
  bool video = false;  // sent as a file
};

class SentMedia {
 public:
  static constexpr std::size_t kMostKeptBytes = 256 << 20;
  static constexpr std::int64_t kMostVideoBytes = 64 << 20;  // a larger file is sent as frames

  // opener: outlives it; null: nothing can be attached.
  explicit SentMedia(MediaOpener* opener) : m_opener(opener) {}

  // Refuses what the model does not take before a frame is decoded.
  void requireTaken(std::span<const Message> messages, const ServerTraits& traits, const InterruptToken& interrupt) const;
  // decoded: called with the frames that are read so far of this one.
  SentMedium read(const MediaRequest& request, const ServerTraits& traits, const std::function<void(const Progress&)>& decoded,
                  const InterruptToken& interrupt);

 private:
  struct Kept {
    MediaRequest request;
    std::string content;
    bool asFile = false;
    SentMedium medium{};
    std::size_t bytes = 0;
  };

  std::unique_ptr<FrameSource> open(const MediaRequest& request, const InterruptToken& interrupt) const;
  const SentMedium& keep(Kept kept);

  MediaOpener* m_opener;
  std::deque<Kept> m_kept;  // the oldest first
  std::size_t m_bytes = 0;
};

}  // namespace winnow::app
