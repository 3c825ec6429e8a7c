#include "app/library/gpu/gpu_library_fetch.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <utility>

#include "app/library/downloads/wheel_member.h"

namespace winnow::app {
namespace {

// Libraries in a wheel take at most so many times its bytes.
constexpr qint64 kUnpackedTimes = 3;

// torch's CPU libraries come with the program.
bool isWanted(const QString& member) {
  static const QRegularExpression wanted(
      QStringLiteral("^(torch/lib/lib(torch_cuda|torch_cuda_linalg|c10_cuda|torch_nvshmem|caffe2_nvrtc)\\.so"
                     "|nvidia/[a-z0-9_]+/lib/lib[A-Za-z0-9_+-]+\\.so(\\.[0-9]+)*)$"));
  return wanted.match(member).hasMatch();
}

}  // namespace

GpuLibraryFetch::GpuLibraryFetch(GpuLibraries libraries, const QString& folder, DownloadSource source, const InterruptToken& interrupt)
    : WheelSteps(QStringLiteral("GPU libraries"), folder, std::move(source), interrupt), m_libraries(std::move(libraries)) {}

void GpuLibraryFetch::prepare() {
  tell(DownloadStage::kConnecting, 0, 0);
  fetchNext();
}

void GpuLibraryFetch::fetchNext() {
  for (; m_at < m_libraries.wheels.size(); ++m_at) {
    const Wheel& wheel = m_libraries.wheels[m_at];
    if (!isUnpacked(folder(), wheel)) {
      take(wheel);
      return fetch(kUnpackedTimes * wheel.bytes);
    }
    m_before += wheel.bytes;
  }
  removeOthers();
  finish(folder());
}

// All wheels are one download to who waits for it: hashing and unpacking one takes seconds.
void GpuLibraryFetch::tellWheel(DownloadStage stage, qint64 done) {
  if (stage == DownloadStage::kDownloading) tell(stage, m_before + done, m_libraries.bytes());
}

void GpuLibraryFetch::unpack(const QString& wheel) {
  unpackMembers(wheel, folder(), isWanted, interrupt());
  noteUnpacked(folder(), m_libraries.wheels[m_at]);
  removeWheel();
  fetchNext();
}

void GpuLibraryFetch::removeOthers() const {
  const QFileInfo ours(folder());
  for (const QFileInfo& other : ours.dir().entryInfoList({QStringLiteral("torch-*")}, QDir::Dirs | QDir::NoSymLinks)) {
    if (other.fileName() != ours.fileName()) QDir(other.absoluteFilePath()).removeRecursively();
  }
}

GpuLibraryDownload::GpuLibraryDownload(const GpuLibraries& libraries, const QString& folder, const DownloadSource& source)
    : ThreadedDownload([&](const InterruptToken& interrupt) { return new GpuLibraryFetch(libraries, folder, source, interrupt); }) {}

}  // namespace winnow::app
