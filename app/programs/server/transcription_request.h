// A request for what is said in a sound, in the form of OpenAI's /v1/audio/transcriptions, and its answer in each form that a client may
// want.
//
// A field whose wish cannot be done is refused where leaving it out would give another answer; what is not known is left out. Errors:
// ApiRefusal (400). Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "app/programs/server/http_listener.h"
#include "engine/messages/events.h"

namespace winnow::app {

enum class TranscriptForm : int { kJson = 1, kText = 2, kSubRip = 3, kWebVtt = 4, kVerboseJson = 5 };

struct TranscriptionRequest {
  std::string_view sound_view;  // the bytes of the file, inside the request's body
  std::string model;            // as named
  std::string language;         // "en"; empty: the sound's own
  TranscriptForm form = TranscriptForm::kJson;
};

// request: outlives what is made of it.
TranscriptionRequest transcriptionRequestOf(const HttpRequest& request);

HttpReply transcriptReply(TranscriptForm form, const Transcribed& heard);

}  // namespace winnow::app
