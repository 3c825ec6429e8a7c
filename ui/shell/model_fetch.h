// Fetches the offered model when the user asks for it, shows how far it is, and opens it as if it had been chosen.
//
// Made by main_window.h. On the first screen its box shows everything; elsewhere the status line says how far it is, and the notice bar
// what went wrong. Nothing asks the network before the user does. A model that comes while an answer is being written waits for a click. UI
// thread only; the download works on a thread of its own.
#pragma once

#include <QObject>
#include <memory>

#include "app/downloads/model_download.h"

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
    ModelMenu& menu;
    NoticeBar& notice;
  };
  // `downloads` outlives it; its first offer is the one that is shown, to be opened where it has been fetched already.
  ModelFetch(const app::ModelDownloads& downloads, const Views& views, ChatSession& session, QObject* parent = nullptr);
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
  void end();
  void onFinished(const QString& file);
  void onFailed(const app::DownloadFault& fault);
  void open(const QString& file);

  const app::ModelDownloads& m_downloads;
  const app::ModelOffer& m_offer;
  Views m_views;
  ChatSession& m_session;
  std::unique_ptr<app::ModelDownload> m_download;
  bool m_isHere;
  qint64 m_come = 0;  // bytes of the wheel, by the last download's word
  QString m_status;
};

}  // namespace winnow::ui
