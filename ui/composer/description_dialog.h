// "What is being kept": what the model told itself about the media before anything was asked, sentence by sentence. Each leads to the frame
// that it is about. UI thread only.
#pragma once

#include <QDialog>
#include <QHash>
#include <QList>
#include <QPushButton>
#include <QString>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "engine/messages/events.h"

namespace winnow::ui {

// The model's description of media for itself, as sentences with the frames that they are about.
//
// Pure; any thread.
struct DescribedSentence {
  QString text;
  int media = -1;  // that most of its words are about; -1: none
  int frame = -1;  // of a video
};

// Cut after full stops, question and exclamation marks, line ends, and commas, semicolons and colons: an enumeration has a frame for each
// of its things.
QList<DescribedSentence> sentencesOf(const Description& description);

// A medium that was described: what the viewer needs to show a frame of it.
struct DescribedMedium {
  QByteArray path;
  MediaKind kind = MediaKind::kVideo;
  std::vector<double> times;  // of its frames; empty for an image
};

// The lines of each medium, by its number, at the times of the frames that the sentences are about. media: as for the dialog.
QHash<int, QList<app::FileLine>> describedLines(const Description& description, const QList<DescribedMedium>& media);

class DescriptionDialog : public QDialog {
  Q_OBJECT
 public:
  // media: by the number that sentences name. useful: false: repetition judged beside the description.
  DescriptionDialog(const QList<DescribedSentence>& sentences, bool useful, const QList<DescribedMedium>& media, QWidget* parent);

  const QList<QPushButton*>& buttons() const { return m_buttons; }

 Q_SIGNALS:
  void frameActivated(const QByteArray& path, winnow::MediaKind kind, const std::vector<double>& times, int index);

 private:
  QList<QPushButton*> m_buttons;
};

}  // namespace winnow::ui
