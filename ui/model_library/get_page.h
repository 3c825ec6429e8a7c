// Models that can be had: any of the hub by its name, those that are known to run, and the downloads that go on.
//
// A page of models_dialog.h. Nothing asks the network before a button is pressed. UI thread only.
#pragma once

#include <QWidget>

#include "app/library/downloads/download_queue.h"
#include "app/library/models/model_shelf.h"
#include "ui/model_library/hub_models.h"

class QLabel;
class QLineEdit;
class QVBoxLayout;

namespace winnow::ui {

class CardList;
class ModelCard;

class GetPage : public QWidget {
  Q_OBJECT
 public:
  GetPage(app::ModelShelf& shelf, app::DownloadQueue& queue, const HubModels& hub, QWidget* parent = nullptr);

  std::vector<ModelCard*> cards() const;  // the downloads', then the known ones'
  QLineEdit* typed() const { return m_typed; }
  QLineEdit* token() const { return m_token; }
  QString tokenSaid() const;  // what becomes of it

 Q_SIGNALS:
  void openRequested(const QString& path, const QString& name);

 private:
  void getTyped();
  void buildToken(QVBoxLayout& column);
  void openToken();
  void takeToken();
  void get(const app::HubName& name, const QString& shown);
  void fillDownloads();
  void fillDownload(ModelCard& card, const app::QueuedDownload& download);
  void fillDownloadButtons(ModelCard& card, const app::QueuedDownload& download);
  void onChanged(const QString& key);
  void fillKnown();
  void fillKnownButton(ModelCard& card);
  const app::FoundModel* here(const QString& repository) const;

  app::ModelShelf& m_shelf;
  app::DownloadQueue& m_queue;
  const HubModels& m_hub;
  QLineEdit* m_typed;
  QLabel* m_hint;
  QWidget* m_tokenBox = nullptr;  // for models that are not for everybody
  QLineEdit* m_token = nullptr;
  QLabel* m_tokenSaid = nullptr;
  bool m_asksStore = false;  // whether it keeps what was typed
  QLabel* m_onItsWay;        // the heading of the downloads
  CardList* m_downloads;
  CardList* m_known;
};

}  // namespace winnow::ui
