// Files of transcripts: one of lines for each sound, speech model and language, so that a video is heard once.
//
// Window and terminal keep them in <data>/transcripts: WebVTT, which is attached as any file of subtitles is, and beside it a text in which
// each line begins with its time, which is a document. A file is known by the sound's content hash: a copy under another name is not heard
// again. Where nothing is said, both are empty. Files appear whole. Errors: Exception(kFileUnwritable) of keepTranscript(). Threads: any.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "engine/media/frame_source.h"
#include "engine/media/timed_line.h"
#include "engine/messages/requests.h"

namespace winnow::app {

// The request for what is said in a file, with the voice detector that comes with Winnow. model: a speech model's folder.
Transcribe hearingRequest(const std::string& path, const QString& model);

// data: AppFolders::data. heard: its content is the hash. ending: kSubtitles or kTimedText.
inline constexpr const char* kSubtitles = ".vtt";
inline constexpr const char* kTimedText = ".txt";
std::string transcriptFile(const QString& data, const Transcribe& heard, const char* ending);
std::string timedTextBeside(const std::string& subtitles);  // the kTimedText of a kSubtitles
// The text of a scan's pages (app/media/files/scanned_text.h) lies beside them.
std::string scannedFile(const QString& data, const std::string& content, const QString& languages, const PageRange& pages);
bool isKeptTranscript(const std::string& file);
// True for files where transcripts are kept, there or not: their lines were heard, and are nobody's subtitles.
bool isAmongTranscripts(const QString& data, const QByteArray& file);
bool hasKeptLines(const std::string& file);  // false for one of a sound in which nothing is said
// Removes all that was heard of this content.
void forgetTranscripts(const QString& data, const QByteArray& sha256);
// form: how the lines are written (app/words/transcript_text.h).
void keepText(const std::string& file, const std::string& text);
void keepTranscript(const std::string& file, const std::vector<TimedLine>& lines, std::string (*form)(const std::vector<TimedLine>&));

}  // namespace winnow::app
