// Whether this machine has an NVIDIA GPU that an installed Winnow could use and does not, and what it lacks for it.
//
// Made by bootstrap for the window's notice. Asks nvidia-smi, which comes with the driver; where it does not answer there is no GPU. A
// Winnow in its source tree is asked nothing: the launcher builds and fetches what a GPU needs. Errors: none. Threads: the UI thread, which
// never waits.
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QTimer>
#include <functional>

namespace winnow::app {

inline constexpr const char* kGpuPlugInFile = "libwinnow_cuda.so";

enum class GpuLack : int {
  kPlugIn = 1,     // libwinnow_cuda.so: a package of its own
  kLibraries = 2,  // NVIDIA's and libtorch's, which the plug-in calls
};

struct UnusedGpu {
  QString name;  // "NVIDIA GeForce RTX 4090"
  GpuLack lack = GpuLack::kPlugIn;
};

class GpuProbe : public QObject {
  Q_OBJECT
 public:
  struct Places {
    QString engineFolder;  // of winnow-engine; the plug-in lies beside it
    // Where a .deb has it. Only there a missing plug-in is told: a package brings it, and none for a tarball is made.
    QString packageFolder = QStringLiteral("/usr/lib/winnow");
    std::function<bool()> librariesAreHere;
    bool plugInIsNamed = false;  // by WINNOW_CUDA_PLUGIN: who names one sees to its libraries
    QString question = QStringLiteral("nvidia-smi");
  };
  explicit GpuProbe(Places places, QObject* parent = nullptr);
  ~GpuProbe() override;

  void look();

 Q_SIGNALS:
  void found(const winnow::app::UnusedGpu& gpu);

 private:
  void answered();

  const Places m_places;
  QProcess m_process{this};
  QTimer m_patience;
};

}  // namespace winnow::app
