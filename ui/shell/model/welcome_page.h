// The page of a new chat before the first question: what Winnow does, samples to try (for a text-only model, questions to begin with), and
// how to add a model or a file.
//
// Used by chat_page.h. UI thread only.
#pragma once

#include <QList>
#include <QScrollArea>

#include "app/ground/resources/bundled_files.h"

class QGridLayout;
class QLabel;
class QPushButton;

namespace winnow::ui {

class ModelSession;
class ModelOfferBox;

class WelcomePage : public QScrollArea {
  Q_OBJECT
 public:
  // Real models that can be had, shown where none but the demo model is loaded, one that sees also beside a model of text. The page takes
  // them.
  struct Offers {
    ModelOfferBox* text;
    ModelOfferBox* seeing;
  };
  WelcomePage(QList<app::Sample> samples, const ModelSession& model, const Offers& offers, QWidget* parent = nullptr);

 Q_SIGNALS:
  void sampleChosen(const QString& file, const QString& question);  // file: empty: the question alone
  void chooseModelRequested();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void addCard(QList<QWidget*>& cards, const QString& file, const QString& title, const QString& question);
  void arrange();
  void describeModel();

  const ModelSession& m_model;
  QList<app::Sample> m_samples;
  QWidget* m_content = nullptr;
  QGridLayout* m_grid = nullptr;
  QList<QWidget*> m_sampleCards;
  QList<QWidget*> m_starterCards;
  QList<QWidget*> m_shownCards;  // of these two
  QLabel* m_title = nullptr;
  QLabel* m_words = nullptr;
  QLabel* m_modelLine = nullptr;
  QLabel* m_try = nullptr;
  QPushButton* m_choose = nullptr;
  Offers m_offers;
  int m_columns = 0;
};

}  // namespace winnow::ui
