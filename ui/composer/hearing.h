// Hearing what is said in a video or in sound alone: an interface of the composer, whose cards offer it. ui/shell/turns/heard_videos.h
// carries it out.
//
// Words that were heard are a file of timed lines, which MediaPreview finds from then on as it finds subtitles. One video is heard at a
// time, the others wait. UI thread only.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QString>

namespace winnow::ui {

class Hearing : public QObject {
  Q_OBJECT
 public:
  enum class Model : int { kNone = 0, kFetching = 1, kHere = 2 };
  using QObject::QObject;

  virtual Model model() const = 0;        // a speech model
  virtual QString modelSize() const = 0;  // of its download: "76 MB"
  virtual double modelShare() const = 0;  // 0..1, while it is fetched
  virtual void fetchModel() = 0;
  // sha256: the video's content hash. Ended by heard(), with a sentence where it failed.
  virtual void listen(const QByteArray& path, const QByteArray& sha256) = 0;
  // The same without being asked, where the user lets it: the settings, and how long it is, decide.
  virtual void listenUnasked(const QByteArray& path, const QByteArray& sha256, double durationS) = 0;
  virtual void stop(const QByteArray& path) = 0;
  virtual bool isListening(const QByteArray& path) const = 0;

 Q_SIGNALS:
  void modelChanged();
  // soundS: 0 where it is not known yet.
  void progressed(const QByteArray& path, double heardS, double soundS);
  void heard(const QByteArray& path, const QString& failure);
};

}  // namespace winnow::ui
