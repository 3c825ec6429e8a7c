// Media for the window's tests: pictures that are painted, answers that come from the event loop as the real ones do.
//
// A path that contains "broken" is refused as damaged; one that ends in .png or .jpg is an image; one that contains "short" is a video of
// 15 frames in 3 s, one that contains "subtitled" has subtitles beside it; .txt, .md and .srt are documents of three lines; .pdf has 12
// pages, which are pictures alone where it contains "scan"; one that contains "encrypted" needs the password "secret"; .mp3 is sound of
// 192 s; everything else is a video of 128 s.
#pragma once

#include <QBuffer>
#include <QByteArray>
#include <QPainter>
#include <QSet>
#include <QStringList>
#include <QTimer>

#include "ui/composer/media_preview.h"

namespace winnow::test {

class FakeMediaPreview : public ui::MediaPreview {
 public:
  using ui::MediaPreview::MediaPreview;
  int storedPictures = 0;
  QStringList storedTexts;
  int thumbnailsAsked = 0;
  int widestAsked = 0;                                  // in pixels
  QHash<QByteArray, std::vector<MediaNotice>> notices;  // by path
  QHash<QByteArray, QByteArray> hashes;                 // of files that are not "as attached" any more
  QHash<QByteArray, ui::FolderContents> folders;        // any other is a model
  QHash<QByteArray, std::vector<TimedLine>> lines;      // of the subtitles beside videos
  QHash<QByteArray, QList<app::FileLine>> passages;     // of documents
  QList<QByteArray> encodingsAsked;                     // to read files in
  QByteArray gone;                                      // a file that is not there
  QList<QByteArray> heard;                              // videos whose words are kept
  QHash<QByteArray, QString> passwords;                 // that were given
  bool tesseract = true;                                // it is installed
  double seconds = 128.0;                               // of a video

  QStringList encodings() const override { return {QStringLiteral("UTF-8"), QStringLiteral("windows-1251"), QStringLiteral("GB18030")}; }

  ui::PreviewToken probe(const QByteArray& path, const QByteArray& encoding) override {
    encodingsAsked << encoding;
    const ui::PreviewToken token = begin();
    later(token, [this, token, path] {
      if (path.contains("broken")) {
        Q_EMIT failed(token, {ErrorCode::kDamagedFile, path.toStdString(), "the file ends inside its index"});
        return;
      }
      if (path.contains("encrypted") && passwords.value(path) != QLatin1String("secret")) {
        Q_EMIT failed(token, {ErrorCode::kPasswordNeeded, path.toStdString(), "the PDF is encrypted and needs a password"});
        return;
      }
      if (path == gone) {
        Q_EMIT failed(token, {ErrorCode::kFileNotFound, path.toStdString(), "the file does not exist"});
        return;
      }
      ui::MediaSummary summary;
      summary.notices = notices.value(path);
      summary.sha256 = hashes.value(path, "as attached");
      if (path.endsWith(".txt") || path.endsWith(".md") || path.endsWith(".srt")) {
        summary.kind = MediaKind::kDocument;
        summary.sizeBytes = 8'765;
        summary.words = 1'512;
        summary.codec = QStringLiteral("UTF-8");
        summary.passages = passages.value(path);
        Q_EMIT probed(token, summary);
        return;
      }
      if (path.endsWith(".pdf")) {
        summary.kind = MediaKind::kDocument;
        summary.sizeBytes = 345'678;
        summary.pages = 12;
        summary.words = path.contains("scan") ? 0 : 4'096;
        if (summary.words == 0) summary.notices = {{NoticeCode::kPagesTextless, 12, 12}};
        summary.poster = picture(20.0, {90, 128});
        Q_EMIT probed(token, summary);
        return;
      }
      if (path.contains("subtitled") || lines.contains(path)) {
        summary.subtitles = path.left(path.lastIndexOf('.')) + ".srt";
        summary.lines = lines.value(path, std::vector<TimedLine>(12, {0.5, 1.5, "Good morning."}));
      }
      if (path.contains("talking")) {
        summary.hasSound = true;
        summary.isHeard = heard.contains(path);
        if (summary.isHeard && !path.contains("silent")) {
          summary.speech = path.endsWith(".mp3") ? "/data/transcripts/talking.txt" : "/data/transcripts/talking.vtt";
          summary.spoken = {{0.5, 1.5, "Good morning."}, {2.0, 3.0, "Good night."}};
        }
      }
      if (path.endsWith(".mp3")) {
        summary.kind = MediaKind::kDocument;
        summary.sizeBytes = 1'512'345;
        summary.durationS = 192.0;
        summary.words = summary.speech.isEmpty() ? 0 : 4;
        Q_EMIT probed(token, summary);
        return;
      }
      const bool image = path.endsWith(".png") || path.endsWith(".jpg");
      summary.kind = image ? MediaKind::kImage : MediaKind::kVideo;
      summary.sizeBytes = image ? 812'345 : 1'912'345;
      summary.widthPx = 640;
      summary.heightPx = 360;
      if (!image) {
        summary.durationS = seconds;
        summary.framesPerS = 25.0;
        summary.frames = 3200;
        summary.codec = QStringLiteral("h264");
        if (path.contains("short")) {
          summary.durationS = 3.0;
          summary.framesPerS = 5.0;
          summary.frames = 15;
        }
      }
      summary.poster = picture(42.0, {160, 90});
      QBuffer buffer(&summary.posterPng);
      buffer.open(QIODevice::WriteOnly);
      summary.poster.save(&buffer, "PNG");
      Q_EMIT probed(token, summary);
    });
    return token;
  }

  ui::PreviewToken thumbnails(const QByteArray&, MediaKind, const std::vector<double>& seconds, const QSize& bound) override {
    const ui::PreviewToken token = begin();
    thumbnailsAsked += static_cast<int>(seconds.size());
    widestAsked = std::max(widestAsked, bound.width());
    later(token, [this, token, seconds, bound] {
      for (std::size_t i = 0; i < seconds.size(); ++i) {
        const QSize size = QSize(16, 9).scaled(bound, Qt::KeepAspectRatio);
        Q_EMIT thumbnailReady(token, static_cast<int>(i), seconds[i], picture(seconds[i], size));
      }
      Q_EMIT finished(token);
    });
    return token;
  }

  ui::PreviewToken lookInto(const QByteArray& folder) override {
    const ui::PreviewToken token = begin();
    const ui::FolderContents contents = folders.value(folder, ui::FolderContents{true, {}});
    later(token, [this, token, contents] { Q_EMIT lookedInto(token, contents); });
    return token;
  }

  ui::PreviewToken store(const QImage&) override {
    const ui::PreviewToken token = begin();
    const QByteArray path = "/pictures/pasted-" + QByteArray::number(++storedPictures) + ".png";
    later(token, [this, token, path] { Q_EMIT stored(token, path); });
    return token;
  }

  ui::PreviewToken readText(const QByteArray& path, const QByteArray&) override {
    const ui::PreviewToken token = begin();
    QString text = QStringLiteral("one red star\ntwo blue crosses\nthree green rings\n");
    std::vector<std::int32_t> pages;
    if (path.endsWith(".pdf")) text.clear();
    for (int page = 1; path.endsWith(".pdf") && page <= 12; ++page) {
      pages.push_back(path.contains("scan") ? 0 : 4 * (page - 1));
      if (!path.contains("scan"))
        text += QStringLiteral("[page %1]\nThe stone of page %1 is\na basalt of shore %1.\nNothing else.\n").arg(page);
    }
    later(token, [this, token, text, pages] { Q_EMIT textRead(token, text, pages); });
    return token;
  }

  ui::PreviewToken storeText(const QString& text) override {
    const ui::PreviewToken token = begin();
    storedTexts << text;
    const QByteArray path = "/texts/pasted-" + QByteArray::number(storedTexts.size()) + ".txt";
    later(token, [this, token, path] { Q_EMIT stored(token, path); });
    return token;
  }

  ui::PreviewToken scan(const QByteArray&) override {
    const ui::PreviewToken token = begin();
    later(token, [this, token] {
      if (tesseract) return Q_EMIT stored(token, "/data/transcripts/scan.scan.txt");
      Q_EMIT failed(token, {ErrorCode::kFileNotFound, "Tesseract", "it is not installed"});
    });
    return token;
  }

  void unlock(const QByteArray& path, const QString& password) override { passwords[path] = password; }

  void cancel(ui::PreviewToken token) override { m_wanted.remove(token); }

  // A coloured shape on a dark ground, another one every 16 seconds.
  static QImage picture(double seconds, const QSize& size) {
    static const QColor kColours[] = {{220, 40, 40}, {50, 80, 230}, {235, 215, 40}, {40, 180, 60}, {245, 140, 30}, {250, 130, 190}};
    QImage image(size, QImage::Format_RGB888);
    const int scene = static_cast<int>(seconds / 16.0);
    image.fill(QColor(18 + scene * 4 % 30, 22, 40 + scene * 7 % 40));
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(kColours[scene % 6]);
    const qreal r = size.height() * 0.24;
    const QPointF centre(size.width() * (0.35 + 0.3 * (seconds / 16.0 - scene)), size.height() * 0.5);
    scene % 2 == 0 ? painter.drawEllipse(centre, r, r) : painter.drawRect(QRectF(centre.x() - r, centre.y() - r, 2 * r, 2 * r));
    return image;
  }

 private:
  ui::PreviewToken begin() {
    m_wanted.insert(++m_last);
    return m_last;
  }
  template <typename Answer>
  void later(ui::PreviewToken token, Answer answer) {
    QTimer::singleShot(0, this, [this, token, answer] {
      if (m_wanted.contains(token)) answer();
    });
  }

  ui::PreviewToken m_last = 0;
  QSet<ui::PreviewToken> m_wanted;
};

}  // namespace winnow::test
