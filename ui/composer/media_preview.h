// Previews and facts of media files for the window, answered from another thread.
//
// Declared here, implemented on app/media/files by ui/models/media_preview_thread.h and by fakes in tests. Every call returns a token at
// once; answers carry it. A cancelled token is silent from then on. Seconds are presentation times. UI thread only.
#pragma once

#include <QByteArray>
#include <QImage>
#include <QObject>
#include <QSize>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <vector>

#include "app/chats/chat/file_lines.h"
#include "app/words/folder_files.h"
#include "engine/base/error.h"
#include "engine/media/frame_source.h"
#include "engine/media/timed_line.h"

namespace winnow::ui {

using PreviewToken = quint64;

struct MediaSummary {
  MediaKind kind = MediaKind::kImage;
  qint64 sizeBytes = 0;
  QByteArray sha256;  // FrameSource::content_hash()
  int widthPx = 0;
  int heightPx = 0;
  double durationS = 0.0;  // 0: an image, or unknown
  double framesPerS = 0.0;
  qint64 frames = 0;  // of a video whose frames all last the same time; 0: they do not, or it is not known
  QString codec;
  qint64 words = 0;      // of a document
  qint64 pages = 0;      // of a PDF
  QByteArray subtitles;  // of a video: the file that has them, one beside it or the video itself; empty: there are none that can be read
  std::vector<TimedLine> lines;   // of them, all that begin before the video is over
  QList<app::FileLine> passages;  // of a document; of a sound what was heard
  std::vector<MediaNotice> notices;
  std::vector<MediaNotice> subtitleNotices;  // of its subtitles, where they are read
  bool hasSound = false;                     // of a video; a document that has some is sound alone
  bool isHeard = false;                      // what is said in it is known
  QByteArray speech;                         // the file of it; empty: nothing is said
  std::vector<TimedLine> spoken;             // its lines, of a video
  QImage poster;                             // small, upright
  QByteArray posterPng;                      // the same, encoded, for the chat database's cache

  // The lines in a file that stand between frames: those that were heard, or those of its subtitles.
  const std::vector<TimedLine>& linesIn(const QByteArray& file) const { return !speech.isEmpty() && file == speech ? spoken : lines; }
};

// The files in a folder, without its folders.
struct FolderContents {
  bool model = false;  // it is one, or holds one
  std::vector<app::FolderFile> files;
};

class MediaPreview : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  // The names of all that a text can be read in, in an order for people.
  virtual QStringList encodings() const = 0;
  // Opens and describes the file: probed or failed. encoding: that a document, or a video's subtitles, are read in
  // (app/media/files/text_encoding.h); empty: by their bytes.
  virtual PreviewToken probe(const QByteArray& path, const QByteArray& encoding) = 0;
  // Pictures at these times, each at most `bound` large: thumbnailReady in order of time, then finished; or failed. Of a PDF, which is a
  // document, pages by their numbers take the place of times.
  virtual PreviewToken thumbnails(const QByteArray& path, MediaKind kind, const std::vector<double>& seconds, const QSize& bound) = 0;
  // The text of a document: textRead or failed.
  virtual PreviewToken readText(const QByteArray& path, const QByteArray& encoding) = 0;
  // Looks into a folder, opens nothing: lookedInto or failed.
  virtual PreviewToken lookInto(const QByteArray& folder) = 0;
  // Keeps a pasted picture or text as a file that can be attached: stored or failed.
  virtual PreviewToken store(const QImage& image) = 0;
  virtual PreviewToken storeText(const QString& text) = 0;
  // Reads the text of a PDF that has none by Tesseract, and keeps it as a file (Attachment::subtitles): stored or failed (kFileNotFound: it
  // is not installed). Others do not wait for it.
  virtual PreviewToken scan(const QByteArray& path) = 0;
  // The password that opens an encrypted document, for whoever reads it until the program ends; empty: forgets it.
  virtual void unlock(const QByteArray& path, const QString& password) = 0;
  virtual void cancel(PreviewToken token) = 0;

 Q_SIGNALS:
  void probed(winnow::ui::PreviewToken token, const winnow::ui::MediaSummary& summary);
  void thumbnailReady(winnow::ui::PreviewToken token, int index, double actualS, const QImage& image);
  void finished(winnow::ui::PreviewToken token);
  // pageLines: of a PDF, the line at which each page begins.
  void textRead(winnow::ui::PreviewToken token, const QString& text, const std::vector<std::int32_t>& pageLines);
  void lookedInto(winnow::ui::PreviewToken token, const winnow::ui::FolderContents& contents);
  void stored(winnow::ui::PreviewToken token, const QByteArray& path);
  void failed(winnow::ui::PreviewToken token, const winnow::Error& error);
};

}  // namespace winnow::ui
