// Fetches an offered model when the user asks for it, shows how far it is, and opens it as if it had been chosen.
//
// Made by main_window.h, one for each model that is offered. On the first screen its box shows everything; elsewhere the status line says
// how far it is, and the notice bar what went wrong. Nothing asks the network before the user does. A model that comes while an answer is
// being written waits for a click. UI thread only; the download works on a thread of its own.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <memory>

#include "app/downloads/download_speed.h"
#include "ui/shell/offered_model.h"

namespace winnow::ui {

class ModelMenu;
class ModelOfferBox;
class NoticeBar;
struct ChatSession;

class ModelFetch : public QObject {
  Q_OBJECT
 public:
  struct Views {
    ModelOfferBox& box;
    ModelMenu* menu;  // null: it has no line for this one
    NoticeBar& notice;
  };
  // To be opened where it has been fetched already.
  ModelFetch(OfferedModel offer, const Views& views, ChatSession& session, QObject* parent = nullptr);
  ~ModelFetch() override;

  bool isRunning() const { return m_download != nullptr; }
  QString status() const { return m_status; }  // for the status line; empty: nothing is on its way

 Q_SIGNALS:
  void statusChanged();
  void opened();  // by the user's wish: questions can be written

 private:
  void accept();
  void start();
  void cancel();
  void show(const app::DownloadProgress& progress);
  void showOffer();
  QString speedText(const app::DownloadProgress& progress);  // empty: not known yet
  void end();
  void onFinished(const QString& file);
  void onFailed(const app::DownloadFault& fault);
  void open(const QString& file);

  const OfferedModel m_offer;
  Views m_views;
  ChatSession& m_session;
  std::unique_ptr<app::ModelDownload> m_download;
  QString m_file;       // where it lies; empty: it is not here
  qint64 m_come = 0;    // bytes, by the last download's word
  qint64 m_toCome = 0;  // of how many
  QElapsedTimer m_clock;
  app::DownloadSpeed m_speed;
  QString m_status;
};

}  // namespace winnow::ui
