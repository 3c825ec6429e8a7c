// The words in the sounds of requests: which speech model hears them, and what was heard in those of threads, so that a thread that is
// sent again is not heard again.
//
// A sound in a thread becomes a document of timed lines in the MediaStore. The transcripts heard last are kept in memory, and nowhere else.
// Errors: ApiRefusal; Exception (those of MediaStore). Threads: any, but they touch the disk.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/media/files/media_store.h"
#include "app/programs/server/chat_request.h"
#include "engine/messages/events.h"

namespace winnow::app {

class ServedSounds {
 public:
  static constexpr std::size_t kMost = 64;  // transcripts
  // The request for a sound, without its file; nothing: there is no speech model.
  using Hearing = std::function<std::optional<Transcribe>()>;

  // store: outlives this. hearing: empty where nothing hears.
  ServedSounds(MediaStore& store, Hearing hearing) : m_store(store), m_hearing(std::move(hearing)) {}

  // The speech model's name; empty: there is none.
  std::string model() const;
  // The request for the bytes of a sound, which is put into the store. model: as a client names it.
  Transcribe requestOf(std::string_view bytes, const std::string& model) const;
  // Makes the sounds of a thread documents of what is said in them. Returns the request for the first that was not heard yet, if any.
  std::optional<Transcribe> read(ChatRequest& chat) const;
  void keep(const Transcribe& sound, const Transcribed& heard);

 private:
  struct Heard {
    std::string sound;
    std::string model;
    std::string text;
  };
  Transcribe request() const;

  MediaStore& m_store;
  const Hearing m_hearing;
  mutable std::mutex m_mutex;  // guards m_heard
  std::deque<Heard> m_heard;   // the last one first
};

}  // namespace winnow::app
