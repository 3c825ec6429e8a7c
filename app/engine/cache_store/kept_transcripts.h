// Files of transcripts: one of lines for each sound, speech model and language, so that a video is heard once.
//
// The terminal program keeps WebVTT in <data>/transcripts, which is attached as any file of subtitles is. A file is known by the sound's
// content hash: a copy under another name is not heard again. Files appear whole. Errors: Exception(kFileUnwritable) of keepTranscript().
// Threads: any.
#pragma once

#include <QString>
#include <string>

#include "engine/messages/requests.h"

namespace winnow::app {

// The voice detector lies in resourceFolder() (app/ground/resources); for Transcribe::voice.
inline constexpr const char* kVoiceWeights = "/speech/silero_vad_16k.safetensors";

// data: AppFolders::data. heard: its content is the hash. ending: ".vtt", or what else is made of the lines.
std::string transcriptFile(const QString& data, const Transcribe& heard, const char* ending);
bool isKeptTranscript(const std::string& file);
void keepTranscript(const std::string& file, const std::string& text);

}  // namespace winnow::app
