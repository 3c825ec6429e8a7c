// The GPU's libraries on their way: one wheel after the other, each unpacked when its hash is right, then removed.
//
// Unpacked libraries are not fetched again. When all are there, those of other libtorches beside them are removed. Errors and threads:
// app/library/downloads/download_steps.h; GpuLibraryDownload has a thread of its own, and finishes with the folder.
#pragma once

#include "app/library/downloads/download_source.h"
#include "app/library/downloads/download_steps.h"
#include "app/library/downloads/wheel_steps.h"
#include "app/library/gpu/gpu_libraries.h"

namespace winnow::app {

class GpuLibraryFetch final : public WheelSteps {
  Q_OBJECT
 public:
  GpuLibraryFetch(GpuLibraries libraries, const QString& folder, DownloadSource source, const InterruptToken& interrupt);

 private:
  void prepare() override;
  void unpack(const QString& wheel) override;
  void tellWheel(DownloadStage stage, qint64 done) override;
  void fetchNext();
  void removeOthers() const;

  const GpuLibraries m_libraries;
  std::size_t m_at = 0;  // of the wheels
  qint64 m_before = 0;   // bytes of those before it
};

class GpuLibraryDownload final : public ThreadedDownload {
  Q_OBJECT
 public:
  GpuLibraryDownload(const GpuLibraries& libraries, const QString& folder, const DownloadSource& source);
};

}  // namespace winnow::app
