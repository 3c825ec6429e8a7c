// The window's models that are not loaded: the queue of downloads, what is offered on the first screen, and the page of models.
//
// Made by main_window.h. What is on its way is written down, so that the next start goes on with it, and what ends is told in a notice
// where the page of models is not open. UI thread only.
#pragma once

#include <QObject>
#include <QStringList>
#include <functional>

#include "app/library/downloads/download_queue.h"
#include "ui/shell/ground/offered_model.h"
#include "ui/shell/ground/window_services.h"

class QAction;

namespace winnow::ui {

class ModelFetch;
class ModelMenu;
class ModelOfferBox;
class ModelSession;
class NoticeBar;

class ModelSupply : public QObject {
  Q_OBJECT
 public:
  struct Views {
    ModelOfferBox& text;    // a small model that reads
    ModelOfferBox& seeing;  // one that sees
    ModelMenu& menu;
    NoticeBar& notice;
  };
  ModelSupply(const WindowServices& services, const Views& views, ModelSession& model, std::function<bool()> answering, QWidget* window);

  QStringList status() const;  // a line for each download that goes on

 Q_SIGNALS:
  void statusChanged();
  void opened();  // a model, by the user's wish: questions can be written

 private:
  ModelFetch* offer(const OfferedModel& offer, ModelOfferBox& box, ModelMenu* menu);
  void offerSeeing();
  void takeUp();
  void noteUnfinished();
  void openPage();
  bool isOffered(const QString& key) const;
  void onFinished(const QString& key, const QString& file);
  void onFailed(const QString& key, const app::DownloadFault& fault);

  const WindowServices& m_services;
  Views m_views;
  ModelSession& m_model;
  const std::function<bool()> m_answering;  // true: an answer is being written, and the model stays
  QWidget* m_window;
  app::DownloadQueue m_queue;
  ModelFetch* m_text = nullptr;              // offered; null: none is
  ModelFetch* m_seeing = nullptr;            // likewise
  std::vector<app::QueuedDownload> m_noted;  // last
};

}  // namespace winnow::ui
