// A real model that can be had, on the first screen: a button, while it comes a bar with Cancel, when it fails a sentence with Try again.
//
// Used by welcome_page.h, steered by model_fetch.h. Hidden while it has nothing to offer, and where no model is wanted unless one is on its
// way. UI thread only.
#pragma once

#include <QWidget>

#include "app/words/error_text.h"

class QBoxLayout;
class QLabel;
class QProgressBar;
class QPushButton;

namespace winnow::ui {

class ModelOfferBox : public QWidget {
  Q_OBJECT
 public:
  explicit ModelOfferBox(QWidget* parent = nullptr);

  // True if the page that it is on has a use for it.
  void setWanted(bool wanted);
  // `label` on the button, `note` under it.
  void showOffer(const QString& label, const QString& note);
  // `percent` below 0: nobody knows.
  void showProgress(const QString& words, int percent);
  void showFault(const app::ErrorText& text);

 Q_SIGNALS:
  void accepted();  // the button, or Try again
  void cancelled();

 private:
  enum class State : int { kNothing = 1, kOffer = 2, kRunning = 3, kFault = 4 };
  void show(State state, const QString& words);

  QPushButton* m_button = nullptr;
  QPushButton* m_cancel = nullptr;
  QProgressBar* m_bar = nullptr;
  QLabel* m_words = nullptr;
  State m_state = State::kNothing;
  bool m_wanted = true;
};

}  // namespace winnow::ui
