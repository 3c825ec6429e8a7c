// The MediaReader whose files are read in a process that may die of them (media_process.h).
//
// A file that the process dies of is refused by name; what else is open goes on: a source of another file is opened anew, once for each
// death, from the descriptor that it was opened with. What a file is called in caches (content_hash()) is computed here, not by its reader.
// Nothing is started before the first question; the process lives as long as the reader and its sources. Threads: any; one question at a
// time is answered.
#pragma once

#include <memory>
#include <string>

#include "app/media/files/document_source.h"
#include "app/media/files/media_reader.h"
#include "app/media/process/media_process.h"

namespace winnow::app {

class ProcessMediaReader final : public MediaReader {
 public:
  explicit ProcessMediaReader(MediaProcessSettings settings = {});

  std::unique_ptr<MediaSource> openSource(const MediaRequest& request, const InterruptToken& interrupt) const override;
  std::unique_ptr<SoundSource> openSound(const SoundRequest& request, const InterruptToken& interrupt) const override;
  MediaKind detectKind(const std::string& path, const InterruptToken& interrupt = {}) const override;
  Subtitles readSubtitles(const std::string& path, const std::string& encoding, const InterruptToken& interrupt) const override;

  MediaProcess& process() const { return *m_process; }

 private:
  DocumentText readDocument(const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt) const;

  const std::shared_ptr<MediaProcess> m_process;  // shared with the sources, which may outlive their reader
  const std::unique_ptr<ReadDocuments> m_documents;
};

// The limits in force, and those that this kernel lacks: "system calls (seccomp), memory; this kernel has no Landlock".
std::string wordsOf(const SandboxReport& report);

// The reader of a program: in a process of its own, or (for debuggers, and where no sandbox is required) in this one, which opens no
// encrypted document. passwords: null, or they outlive it.
std::unique_ptr<MediaReader> makeMediaReader(bool inProcess, const Passwords* passwords = nullptr);

}  // namespace winnow::app
