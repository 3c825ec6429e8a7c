// The files of a question: opened by the program, read by the process, which has nothing but their descriptors.
//
// Errors: those of openMedia() for the first file; a further one that cannot be opened fails where it is read, as if it were opened there.
// Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "app/ground/process/open_file.h"
#include "app/media/files/media_file.h"
#include "app/media/process/media_protocol.h"

namespace winnow::app {

class GivenFiles {
 public:
  GivenFiles() = default;
  // The files as they came with a question. Errors: Exception(kDamagedFile) where descriptors are missing.
  GivenFiles(std::vector<GivenFile> files, std::vector<OpenFile> descriptors);

  void add(const std::string& path, OpenedMedia opened);
  // One that is needed besides, if it is there.
  void addIfOpens(const std::string& path);

  const std::vector<GivenFile>& files() const { return m_files; }
  std::vector<int> descriptors() const;
  // One of them, as often as it is asked for; any other is refused.
  std::unique_ptr<MediaFile> open(const std::string& path) const;

 private:
  std::vector<GivenFile> m_files;
  std::vector<std::shared_ptr<const OpenFile>> m_opened;  // of those, without the ones that failed
};

}  // namespace winnow::app
