// The models that lie on this computer: what each is and needs; open it, check its files, move it to the trash.
//
// A page of models_dialog.h. Lists what the shelf found, and looks again when it is shown. UI thread only.
#pragma once

#include <QHash>
#include <QWidget>

#include "app/library/models/model_shelf.h"
#include "ui/model_library/model_card.h"

class QLabel;

namespace winnow::ui {

class CardList;

class HerePage : public QWidget {
  Q_OBJECT
 public:
  // loaded: what is loaded now stays where it is.
  HerePage(app::ModelShelf& shelf, const QString& loaded, QWidget* parent = nullptr);

  std::vector<ModelCard*> cards() const;
  QString summary() const;

 Q_SIGNALS:
  void openRequested(const QString& path, const QString& name);

 private:
  struct Note {
    QString text;
    ModelCard::Tone tone = ModelCard::Tone::kText;
  };
  void fill();
  void fillCard(ModelCard& card, const app::ListedModel& model);
  void fillButtons(ModelCard& card, const app::FoundModel& model);
  void askRemoval(const app::FoundModel& model);
  void refill(const QString& path);
  void onChecking(const QString& path, qint64 done, qint64 total);
  void onVerified(const QString& path, const std::vector<app::VerifiedFile>& files);
  void onRemoved(const QString& path, const app::RemovedModel& result);
  const app::ListedModel* find(const QString& path) const;

  app::ModelShelf& m_shelf;
  const QString m_loaded;
  QLabel* m_summary;
  CardList* m_list;
  QHash<QString, Note> m_notes;  // by path: how a check or a removal ended
  QString m_asked;               // whose removal is being confirmed
};

}  // namespace winnow::ui
