#include "app/media/process/given_files.h"

#include <algorithm>
#include <utility>

namespace winnow::app {

GivenFiles::GivenFiles(std::vector<GivenFile> files, std::vector<OpenFile> descriptors) : m_files(std::move(files)) {
  for (OpenFile& descriptor : descriptors) m_opened.push_back(std::make_shared<const OpenFile>(std::move(descriptor)));
  const auto opened = std::ranges::count_if(m_files, [](const GivenFile& file) { return !file.failure; });
  if (opened != std::ssize(m_opened)) throw Exception(ErrorCode::kDamagedFile, "files", "there are others than were announced");
}

void GivenFiles::add(const std::string& path, OpenedMedia opened) {
  m_files.push_back({path, opened.sizeBytes, opened.version, {}, opened.password});
  m_opened.push_back(std::move(opened.file));
}

void GivenFiles::addIfOpens(const std::string& path) {
  try {
    add(path, openMedia(path));
  } catch (const Exception& failure) {
    m_files.push_back({path, 0, {}, failure.error(), {}});
  }
}

std::vector<int> GivenFiles::descriptors() const {
  std::vector<int> numbers;
  for (const auto& file : m_opened) numbers.push_back(file->descriptor());
  return numbers;
}

std::unique_ptr<MediaFile> GivenFiles::open(const std::string& path) const {
  std::size_t opened = 0;
  for (const GivenFile& file : m_files) {
    if (file.path == path && file.failure) throw Exception(*file.failure);
    if (file.path == path)
      return std::make_unique<MediaFile>(path, OpenedMedia{m_opened[opened], file.sizeBytes, file.version, file.password});
    if (!file.failure) ++opened;
  }
  throw Exception(ErrorCode::kFileUnreadable, path, "it was not handed to the process that reads media");
}

}  // namespace winnow::app
