// A server in the engine's place: its address, where the key for it is, and which of its models answers.
//
// Used by model_menu.h. Lists the server's models when asked to, which also shows whether it can be reached. The key's variable or file is
// named, or the key is typed: then it goes to the desktop's secret service and nowhere else (app/engine/remote/key_ring.h). UI thread only.
#pragma once

#include <QDialog>
#include <QStringList>
#include <optional>
#include <set>
#include <string>

#include "app/engine/remote/key_ring.h"
#include "app/engine/remote/server_models.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace winnow::ui {

class ConnectDialog : public QDialog {
  Q_OBJECT
 public:
  // known: places of models as they were used before, newest first; those of servers are offered.
  // keys: outlives it.
  ConnectDialog(const QStringList& known, app::KeyRing& keys, QWidget* parent = nullptr);

  QComboBox* address() const { return m_address; }
  QComboBox* keyKind() const { return m_keyKind; }
  QLineEdit* keyName() const { return m_keyName; }
  QLineEdit* key() const { return m_key; }
  QComboBox* model() const { return m_model; }
  QPushButton* testButton() const { return m_test; }
  QPushButton* connectButton() const { return m_connect; }
  QString status() const;
  QString problem() const;  // why it cannot be connected to as it stands; empty: nothing is known against it

  // Its key is missing or refused: all that is to be done is to type it.
  void typeKeyOf(const QString& place);

  void accept() override;

 Q_SIGNALS:
  void chosen(const QString& place);  // for ModelSession::load()

 private:
  void build();
  void fill(const QString& place);
  app::KeySource::Kind chosenKind() const;
  std::optional<app::ServerAddress> typed(QString* problem = nullptr) const;
  void test();
  void browse();
  void showListed(const app::ListedModels& models);
  void changed();
  QString whoKeeps() const;  // a key that is typed

  app::KeyRing& m_keys;
  app::ServerModels m_models;
  QComboBox* m_address = nullptr;
  QComboBox* m_keyKind = nullptr;
  QLineEdit* m_keyName = nullptr;
  QLineEdit* m_key = nullptr;
  QPushButton* m_browse = nullptr;
  QComboBox* m_model = nullptr;
  QPushButton* m_test = nullptr;
  QLabel* m_status = nullptr;
  std::set<std::string> m_typedBefore;  // servers whose key was
  QPushButton* m_connect = nullptr;
};

}  // namespace winnow::ui
