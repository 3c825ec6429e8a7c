#include "ui/inspector/chart_export.h"

#include <QAction>
#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QCoreApplication>
#include <QFileDialog>
#include <QMessageBox>
#include <QMimeData>
#include <QPainter>
#include <QSaveFile>

#include "app/ground/threads/in_background.h"
#include "ui/models/layer_table_model.h"
#include "ui/theme/file_dialog.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

class ExportWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::ExportWords)
};

constexpr qreal kFineness = 2.0;

QByteArray pngOf(QWidget& chart) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  pictureOf(chart).save(&buffer, "PNG");
  return bytes;
}

}  // namespace

void writeInBackground(QWidget* widget, const QString& path, const QByteArray& bytes) {
  const auto write = [path, bytes] {
    QSaveFile file(path);
    const bool written = file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit();
    return written ? QString() : file.errorString();
  };
  app::inBackground(widget, write, [widget, path](const QString& reason) {
    if (reason.isEmpty()) return;
    auto* box = new QMessageBox(QMessageBox::Warning, ExportWords::tr("Not saved"),
                                ExportWords::tr("“%1” could not be written: %2.").arg(path, reason), QMessageBox::Ok, widget->window());
    box->setTextFormat(Qt::PlainText);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
  });
}

void saveAs(QWidget* owner, const QString& title, const QString& file, const QString& filter, const std::function<QByteArray()>& bytes) {
  QFileDialog* dialog = saveDialog(owner->window(), title, file);
  dialog->setNameFilter(filter);
  dialog->setDefaultSuffix(file.section(QLatin1Char('.'), -1));
  QObject::connect(dialog, &QFileDialog::fileSelected, owner,
                   [owner, bytes](const QString& path) { writeInBackground(owner, path, bytes()); });
  dialog->open();
}

QImage pictureOf(QWidget& chart) {
  const int margin = theme().px(8);
  const QSize size = chart.size() + QSize(2 * margin, 2 * margin);
  QImage image(size * kFineness, QImage::Format_RGB32);
  image.setDevicePixelRatio(kFineness);
  image.fill(theme().colors().window);
  QPainter painter(&image);
  chart.render(&painter, QPoint(margin, margin), QRegion(), QWidget::DrawChildren);
  return image;
}

void copyNumbers(const QAbstractItemModel& table, const QModelIndexList& selection) {
  auto* copied = new QMimeData;
  copied->setText(separatedValues(table, selection, QLatin1Char('\t')));
  copied->setData(QStringLiteral("text/csv"), separatedValues(table, selection, QLatin1Char(',')).toUtf8());
  QApplication::clipboard()->setMimeData(copied);
}

void saveNumbers(QWidget* chart, const QAbstractItemModel& table, const QString& name) {
  saveAs(chart, ExportWords::tr("Save the numbers"), name + QStringLiteral(".csv"), ExportWords::tr("Comma-separated values (*.csv)"),
         [&table] { return separatedValues(table, {}, QLatin1Char(',')).toUtf8(); });
}

void savePicture(QWidget* chart, const QString& name) {
  saveAs(chart, ExportWords::tr("Save the picture"), name + QStringLiteral(".png"), ExportWords::tr("PNG picture (*.png)"),
         [chart] { return pngOf(*chart); });
}

void paintFocusRing(const QWidget& chart, QPainter& painter) {
  if (!chart.hasFocus()) return;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme().colors().accent, 1.5));
  painter.drawRoundedRect(QRectF(chart.rect()).adjusted(1, 1, -1, -1), theme().smallRadius(), theme().smallRadius());
}

void offerExports(QWidget* chart, const QAbstractItemModel* table, const QString& name) {
  const auto add = [chart](const QString& text, const QKeySequence& key, const std::function<void()>& run) {
    auto* action = new QAction(text, chart);
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetShortcut);
    QObject::connect(action, &QAction::triggered, chart, run);
    chart->addAction(action);
  };
  add(ExportWords::tr("Copy the numbers"), QKeySequence::Copy, [table] { copyNumbers(*table); });
  add(ExportWords::tr("Copy the picture"), {}, [chart] { QApplication::clipboard()->setImage(pictureOf(*chart)); });
  add(ExportWords::tr("Save the numbers as CSV…"), {}, [chart, table, name] { saveNumbers(chart, *table, name); });
  add(ExportWords::tr("Save the picture…"), {}, [chart, name] { savePicture(chart, name); });
  chart->setContextMenuPolicy(Qt::ActionsContextMenu);
  chart->setFocusPolicy(Qt::StrongFocus);
}

}  // namespace winnow::ui
