// Listening to attached media in the terminal, before the model that answers is loaded: --listen, and `transcribe`; and the text of scans
// likewise (--ocr).
//
// Errors: Exception; kNoModel where no speech model is there, those of Transcribe. Main thread only.
#pragma once

#include <optional>
#include <string>

#include "app/programs/cli/console.h"
#include "app/programs/cli/session.h"
#include "app/programs/cli/turn_options.h"

namespace winnow::cli {

struct ListenOptions {
  bool listen = false;   // to videos; sound alone is always heard
  std::string model;     // empty: one that `get` has fetched
  std::string language;  // empty: the sound's own
};

// --speech-model and --language; with --listen before them, of commands that ask about videos.
void add_speech_options(CLI::App& command, ListenOptions& options, const char* model_option);
void add_listen_options(CLI::App& command, ListenOptions& options);

// The request for a file; without its content hash, which only what is kept needs. Nothing: no speech model is named or was fetched.
std::optional<Transcribe> hearing_request(const std::string& path, const ListenOptions& options);
Transcribe transcribe_request(const std::string& path, const ListenOptions& options);

// True if something is to be heard before it is asked about: a video with --listen, or a document that is sound.
bool wants_hearing(const TurnOptions& options, const ListenOptions& listen);

// Hears what is not kept yet: videos whose lines are to stand between their frames (options.heard), and documents that are sound, which
// become texts of timed lines. Says on stderr what was heard. False: nothing was to be heard.
bool listen_to_media(Session& session, TurnOptions& options, const ListenOptions& listen);

}  // namespace winnow::cli
