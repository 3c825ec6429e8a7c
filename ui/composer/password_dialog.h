// Asks for the password of an encrypted document, and tries it: it stays until the document opens, or nobody wants it to.
//
// Opened over the window by attachment_card.h and by who repeats what failed for want of it: nothing can be done with the file before. What
// is typed goes to MediaPreview::unlock() and nowhere else. Accepted when the file opens, or fails for another reason, which its card says.
// Deletes itself. UI thread only.
#pragma once

#include <QDialog>

#include "ui/composer/media_preview.h"

class QLabel;
class QLineEdit;
class QPushButton;

namespace winnow::ui {

class PasswordDialog : public QDialog {
  Q_OBJECT
 public:
  PasswordDialog(MediaPreview& preview, const QByteArray& path, QWidget* parent);
  ~PasswordDialog() override;

  QLineEdit* box() const { return m_box; }
  QPushButton* openButton() const { return m_open; }
  QString told() const;  // of what was typed; empty: nothing

 private:
  void tryIt();
  void refuse(const QString& why);

  MediaPreview& m_preview;
  const QByteArray m_path;
  PreviewToken m_token = 0;  // of the attempt; 0: none is under way
  QLineEdit* m_box = nullptr;
  QLabel* m_told = nullptr;
  QPushButton* m_open = nullptr;
};

}  // namespace winnow::ui
