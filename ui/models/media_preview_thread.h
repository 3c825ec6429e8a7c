// MediaPreview on a MediaReader: one thread that opens, describes and decodes for the window.
//
// Made by bootstrap. Jobs run in order, scans beside the others; a cancelled one ends within a packet and is silent. Pasted pictures and
// texts are kept as files named by their content in `pasteFolder`. The destructor cancels everything and joins. Lives on the UI thread.
#pragma once

#include <QHash>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "app/ground/threads/mailbox.h"
#include "app/ground/threads/worker_thread.h"
#include "app/media/files/media_reader.h"
#include "app/media/files/passwords.h"
#include "engine/base/interrupt.h"
#include "ui/composer/media_preview.h"

namespace winnow::ui {

class MediaPreviewThread : public MediaPreview {
  Q_OBJECT
 public:
  // passwords: of the reader and of all others; they outlive it.
  MediaPreviewThread(std::unique_ptr<app::MediaReader> reader, const QString& pasteFolder, app::Passwords& passwords,
                     QObject* parent = nullptr);
  ~MediaPreviewThread() override;

  // The file where lines are kept that were heard in a video of this content; empty: none can be. Called on the media thread; set before
  // anything is probed.
  using TranscriptOf = std::function<std::string(const std::string& sha256)>;
  void setTranscripts(TranscriptOf transcriptOf) { m_transcriptOf = std::move(transcriptOf); }
  // The same for the text of a scan, by what Tesseract read it in.
  using ScannedOf = std::function<std::string(const std::string& sha256, const QString& languages)>;
  void setScans(ScannedOf scannedOf) { m_scannedOf = std::move(scannedOf); }

  QStringList encodings() const override;
  PreviewToken probe(const QByteArray& path, const QByteArray& encoding) override;
  PreviewToken thumbnails(const QByteArray& path, MediaKind kind, const std::vector<double>& seconds, const QSize& bound) override;
  PreviewToken readText(const QByteArray& path, const QByteArray& encoding) override;
  PreviewToken lookInto(const QByteArray& folder) override;
  PreviewToken store(const QImage& image) override;
  PreviewToken storeText(const QString& text) override;
  PreviewToken scan(const QByteArray& path) override;
  void unlock(const QByteArray& path, const QString& password) override;
  void cancel(PreviewToken token) override;

 private:
  template <typename Job>
  PreviewToken enqueue(Job job) {
    return enqueueOn(m_thread, std::move(job));
  }
  template <typename Job>
  PreviewToken enqueueOn(app::WorkerThread& thread, Job job);
  // Finds the subtitles that are offered for a video.
  void findSubtitles(const std::string& video, const app::MediaInfo& info, const std::string& encoding, MediaSummary& summary,
                     const InterruptToken& interrupt) const;
  SampledFrame pageOf(const std::string& pdf, int page, const QSize& bound, const InterruptToken& interrupt) const;
  bool live(PreviewToken token) const { return m_running.contains(token); }

  void findSpeech(MediaSummary& summary, const InterruptToken& interrupt) const;
  bool describeSound(const std::string& file, MediaSummary& summary, const InterruptToken& interrupt) const;  // false: it is none
  MediaSummary describe(const std::string& name, const std::string& encoding, const InterruptToken& interrupt) const;

  const std::unique_ptr<app::MediaReader> m_reader;
  TranscriptOf m_transcriptOf;
  ScannedOf m_scannedOf;
  QString m_pasteFolder;
  app::Passwords& m_passwords;
  PreviewToken m_last = 0;
  InterruptSource m_all;
  QHash<PreviewToken, InterruptSource> m_running;
  app::Mailbox m_mailbox;
  app::WorkerThread m_scans{"scans"};   // minutes of a book
  app::WorkerThread m_thread{"media"};  // last: joined first
};

}  // namespace winnow::ui
