// The folder in which a dialog for files opens: in the folder that was used last, or in the user's documents; never wherever the program
// was started.
//
// Used by every view that asks for a file or a folder. The dialogs delete themselves when they are closed; the caller opens them. UI
// thread only.
#pragma once

class QFileDialog;
class QString;
class QWidget;

namespace winnow::ui {

// In `folder` if there is such a folder.
QFileDialog* fileDialog(QWidget* parent, const QString& title, const QString& folder);

// For a new file: where one was saved last since the program was started. `name`: what is proposed; may be empty.
QFileDialog* saveDialog(QWidget* parent, const QString& title, const QString& name);

// The folder of a file or folder. Empty if it is not known.
QString folderHolding(const QString& path);

}  // namespace winnow::ui
