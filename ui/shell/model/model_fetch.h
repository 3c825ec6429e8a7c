// Fetches an offered model when the user asks for it, shows how far it is, and opens it as if it had been chosen.
//
// Made by main_window.h, one for each model that is offered. On the first screen its box shows everything; elsewhere the status line says
// how far it is, and the notice bar what went wrong. Nothing asks the network before the user does. A model that comes while an answer is
// being written, or was asked for on the page of models, waits for a click. The download is one of the queue's. UI thread only.
#pragma once

#include <QObject>
#include <functional>

#include "app/library/downloads/download_queue.h"
#include "ui/shell/ground/offered_model.h"

namespace winnow::ui {

class ModelMenu;
class ModelOfferBox;
class ModelSession;
class NoticeBar;

class ModelFetch : public QObject {
  Q_OBJECT
 public:
  struct Views {
    ModelOfferBox& box;
    ModelMenu* menu;  // null: it has no line for this one
    NoticeBar& notice;
  };
  // To be opened where it has been fetched already.
  ModelFetch(OfferedModel offer, const Views& views, ModelSession& model, std::function<bool()> answering, app::DownloadQueue& queue);

  QString key() const { return m_offer.key; }
  bool isOnItsWay() const;

 Q_SIGNALS:
  void opened();  // by the user's wish: questions can be written

 private:
  void accept();
  void cancel();
  void showOffer();
  void onChanged(const QString& key);
  void onFinished(const QString& key, const QString& file);
  void onFailed(const QString& key, const app::DownloadFault& fault);
  void open(const QString& file);

  const OfferedModel m_offer;
  Views m_views;
  ModelSession& m_model;
  const std::function<bool()> m_answering;  // true: an answer is being written, and the model stays
  app::DownloadQueue& m_queue;
  QString m_file;        // where it lies; empty: it is not here
  QString m_come;        // what had come when it was given up, in words
  bool m_opens = false;  // it was asked for here: it is opened when it has come
};

}  // namespace winnow::ui
