#include "ui/shell/gpu_notice.h"

#include <QApplication>
#include <QClipboard>

#include "app/settings/settings.h"
#include "ui/shell/model_session.h"
#include "ui/words/display_text.h"
#include "ui/words/download_fault_text.h"
#include "ui/words/download_words.h"
#include "ui/words/format_text.h"

namespace winnow::ui {
namespace {

const QString kGpuKey = QStringLiteral("gpu");

}  // namespace

GpuNotice::GpuNotice(const GpuService& service, app::Settings& settings, ModelSession& model, QWidget* parent)
    : NoticeBar(parent), m_service(service), m_settings(settings), m_model(model) {
  connect(&m_service.probe, &app::GpuProbe::found, this, &GpuNotice::onFound);
  connect(this, &NoticeBar::closed, this, [this] {
    app::AtStart atStart = m_settings.atStart();
    atStart.offerGpu = false;
    m_settings.setAtStart(atStart);
  });
  connect(&m_queue, &app::DownloadQueue::changed, this, &GpuNotice::onChanged);
  connect(&m_queue, &app::DownloadQueue::finished, this, &GpuNotice::onFinished);
  connect(&m_queue, &app::DownloadQueue::failed, this, [this](const QString&, const app::DownloadFault& fault) { onFailed(fault); });
}

void GpuNotice::onFound(const app::UnusedGpu& gpu) {
  if (!m_settings.atStart().offerGpu) return;
  const QString name = displayText(gpu.name);
  Notice notice;
  if (gpu.lack == app::GpuReadiness::kNoPlugIn) {
    notice.text =
        tr("This computer has a GPU (%1), and Winnow answers on the processor. The package winnow-cuda lets it use the GPU.").arg(name);
    const QString command = QStringLiteral("sudo apt install ./winnow-cuda_*.deb");
    notice.actions.push_back({tr("Copy the command"), [command] { QApplication::clipboard()->setText(command); }});
  } else {
    notice.text =
        tr("This computer has a GPU (%1), and Winnow answers on the processor. To use it, Winnow needs NVIDIA's libraries: %2 from "
           "PyPI, under NVIDIA's licence.")
            .arg(name, formatMegabytes(m_service.bytes()));
    notice.actions.push_back({tr("Download them"), [this] { fetch(); }});
  }
  present(notice);
}

void GpuNotice::fetch() { m_queue.add(kGpuKey, tr("NVIDIA's libraries"), m_service.make); }

// The button stays while the words change: it may have the keyboard.
void GpuNotice::onChanged() {
  const std::optional<app::QueuedDownload> download = m_queue.find(kGpuKey);
  if (!download || !download->onItsWay()) return;
  const QString words = downloadWords(*download);
  if (button(tr("Pause")) != nullptr && !isHidden()) return setText(words);
  Notice notice;
  notice.text = words;
  notice.closable = false;
  notice.actions.push_back({tr("Pause"), [this] {
                              m_queue.pause(kGpuKey);
                              Notice paused;
                              paused.text = downloadWords(*m_queue.find(kGpuKey));
                              paused.actions.push_back({tr("Go on"), [this] { fetch(); }});
                              present(paused);
                            }});
  present(notice);
}

void GpuNotice::onFinished() {
  m_service.probe.look();  // other models fit now
  Notice notice;
  notice.text = tr("The GPU is ready. A model uses it when it is loaded.");
  const QString path = m_model.folder();
  if (!path.isEmpty()) notice.actions.push_back({tr("Load this model again"), [this, path] { m_model.load(path); }});
  present(notice);
}

void GpuNotice::onFailed(const app::DownloadFault& fault) {
  Notice notice = noticeOf(describeDownloadFault(fault, tr("NVIDIA's libraries")));
  notice.actions.push_back({tr("Try again"), [this] { fetch(); }});
  present(notice);
}

}  // namespace winnow::ui
