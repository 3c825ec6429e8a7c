// The export that every chart offers: its numbers copied as text, saved as CSV, and itself as a picture, by menu and by keyboard.
//
// Used by the inspector and the kept-token page; writeInBackground() by whatever saves a file. Adds actions to the chart (shown on right
// click, Menu key or Shift+F10; Ctrl+C copies the numbers) and lets it take the keyboard focus. Files are written on a worker thread; what
// went wrong is told in a message box over the chart. UI thread only.
#pragma once

#include <QByteArray>
#include <QImage>
#include <QModelIndexList>
#include <QString>
#include <functional>

class QAbstractItemModel;
class QPainter;
class QWidget;

namespace winnow::ui {

// table: the chart's twin; must outlive the chart. name: what files are called, without an ending ("cache-over-time").
void offerExports(QWidget* chart, const QAbstractItemModel* table, const QString& name);

// The chart as it looks, on the window's ground, twice as fine as on the screen.
QImage pictureOf(QWidget& chart);
// Its numbers on the clipboard: with tabs, and as CSV for what asks for it. Nothing selected: all rows.
void copyNumbers(const QAbstractItemModel& table, const QModelIndexList& selection = {});
// Asks where to, then saves. name: as above.
void saveNumbers(QWidget* chart, const QAbstractItemModel& table, const QString& name);
void savePicture(QWidget* chart, const QString& name);
// Without waiting for it; what goes wrong is told over the owner's window.
void writeInBackground(QWidget* owner, const QString& path, const QByteArray& bytes);
// Asks where to, then has it written in the background; a failure is told. file: the name offered, whose ending is the filter's.
void saveAs(QWidget* owner, const QString& title, const QString& file, const QString& filter, const std::function<QByteArray()>& bytes);
// For the end of a chart's paintEvent.
void paintFocusRing(const QWidget& chart, QPainter& painter);

}  // namespace winnow::ui
