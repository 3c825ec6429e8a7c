// How many tokens the pictures, or the frames of videos, of a question may take: as the model has it, a word, or a number.
//
// Used by attachment_tray.h, once for each. Hidden where the model offers no choice. UI thread only.
#pragma once

#include <QWidget>

#include "engine/media/frame_source.h"
#include "engine/models/model_info.h"

class QMenu;
class QPushButton;

namespace winnow::ui {

class DetailChoice : public QWidget {
  Q_OBJECT
 public:
  // kind: kImage for pictures, kVideo for frames.
  explicit DetailChoice(MediaKind kind, QWidget* parent = nullptr);

  // Offers the loaded model's choices. any: whether there is such a medium.
  void offer(const DetailChoices& choices, bool any);
  const DetailChoices& choices() const { return m_choices; }
  const MediaDetail& detail() const { return m_detail; }
  void setDetail(const MediaDetail& detail);  // by the program: not emitted
  QString text() const;
  QMenu* menu() const { return m_menu; }

 Q_SIGNALS:
  void chosen(const winnow::MediaDetail& detail);

 private:
  void choose(const MediaDetail& detail);
  void askNumber();
  void showChoice();
  QString label(const MediaDetail& detail) const;

  const MediaKind m_kind;
  DetailChoices m_choices;
  MediaDetail m_detail;
  QPushButton* m_button = nullptr;
  QMenu* m_menu = nullptr;
};

}  // namespace winnow::ui
