// The choice in the box whether the model thinks before it answers, and for how many tokens at most.
//
// Used by the composer; ui/shell shows it for models that think, and sets the chat's own sampling. UI thread only.
#pragma once

#include <QToolButton>

namespace winnow::ui {

class ThinkingChoice : public QToolButton {
  Q_OBJECT
 public:
  explicit ThinkingChoice(QWidget* parent = nullptr);

  void setTokens(int tokens);  // Sampling::thought_tokens; a number that the menu lacks is added to it

 Q_SIGNALS:
  void chosen(int tokens);

 private:
  static QString words(int tokens);
  void offer();

  int m_tokens = -1;
};

}  // namespace winnow::ui
