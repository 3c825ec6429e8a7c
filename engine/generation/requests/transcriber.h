// Transcribe: a sound's words as lines with times, by a speech model that is kept from one request to the next.
//
// Owned by the engine, beside its loaded model. Lines are told window by window, about ten times in half a minute of the first reading.
// Errors: Exception; kNoModel and its like for the speech model, kOutOfMemory where it does not fit beside the loaded one, kMediaChanged,
// those of the sound. Interrupted for Cancel, and for Stop before the first line. Engine thread only.
#pragma once

#include <memory>

#include "engine/base/interrupt.h"
#include "engine/media/frame_source.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

class Transcriber {
 public:
  Transcriber();
  ~Transcriber();

  // opener: null where nothing reads media.
  Transcribed run(const Transcribe& request, MediaOpener* opener, const EmitEvent& emit, const InterruptToken& interrupt);
  // Frees the speech model.
  void forget();

 private:
  struct Loaded;
  const Loaded& loaded(const Transcribe& request, const EmitEvent& emit, const InterruptToken& interrupt);

  std::unique_ptr<const Loaded> loaded_;
};

}  // namespace winnow
