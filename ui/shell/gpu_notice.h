// A GPU that Winnow could use and does not: what it lacks, and one way to get it. While its libraries come: how far they are.
//
// Used by main_window.h, above the chat. Who closes the notice is not asked again on this machine. Nothing asks the network before the
// button is pressed. UI thread only.
#pragma once

#include <functional>
#include <memory>

#include "app/downloads/download_queue.h"
#include "app/gpu/gpu_probe.h"
#include "ui/shell/notice_bar.h"

namespace winnow::app {
class Settings;
}

namespace winnow::ui {

class ModelSession;

// Made by bootstrap.
struct GpuService {
  app::GpuProbe& probe;
  std::function<qint64()> bytes;  // of the libraries' download
  app::DownloadQueue::Make make;
};

class GpuNotice : public NoticeBar {
  Q_OBJECT
 public:
  GpuNotice(const GpuService& service, app::Settings& settings, ModelSession& model, QWidget* parent = nullptr);

 private:
  void onFound(const app::UnusedGpu& gpu);
  void fetch();
  void onChanged();
  void onFinished();
  void onFailed(const app::DownloadFault& fault);

  const GpuService m_service;
  app::Settings& m_settings;
  ModelSession& m_model;
  app::DownloadQueue m_queue;  // of one
};

}  // namespace winnow::ui
