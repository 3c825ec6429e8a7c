// The kept-token page: the heat-map of layers and parts of the prompt, the chosen frame, picture or text with what its layer kept, and the
// same numbers as a table. A text can be searched (Ctrl+F), copied and saved as it is shaded.
//
// Opened from an answer, from the live cache panel and from a comparison (ui/shell/turns/kept_map_pages.h). Modeless: it stays beside the
// chat. Shows one map or the difference of two; until a map is there, a sentence. Pictures come from MediaPreview, one at a time, and are
// kept while the page is open. Space plays through the layers. UI thread only.
#pragma once

#include <QDialog>
#include <QHash>
#include <QImage>
#include <QTimer>
#include <vector>

#include "ui/composer/media_preview.h"
#include "ui/kept_map/kept_map_model.h"
#include "ui/kept_map/kept_text.h"

class QAction;
class QComboBox;
class QLabel;
class QSlider;
class QSplitter;
class QStackedWidget;
class QTableView;
class QTabWidget;
class QToolButton;

namespace winnow::ui {

class FindBar;
class KeptHeatMap;
class KeptTableModel;
class LitStrip;
class PatchView;
class TokenTextView;

class KeptMapDialog : public QDialog {
  Q_OBJECT
 public:
  // `subject`: what the map is of, a line ("vl-cache · 20 %").
  KeptMapDialog(MediaPreview& preview, const QString& subject, QWidget* parent);

  void showMap(app::SharedKeptMap map, std::vector<MapMedia> media);
  // False, and a sentence instead of a map, where the two cannot be laid over each other (KeptMapModel::setDifference).
  bool showDifference(const app::SharedKeptMap& first, const app::SharedKeptMap& second, const QString& firstName,
                      const QString& secondName, std::vector<MapMedia> media);
  void showSentence(const QString& sentence);  // instead of a map
  // The maps that this page can show, for people to choose: the maps of a comparison and their differences. Without choices nothing is
  // offered.
  void setChoices(const QStringList& names, int current);

  KeptMapModel& model() { return m_model; }
  KeptHeatMap* heatMap() const { return m_heatMap; }
  LitStrip* strip() const { return m_strip; }
  PatchView* patches() const { return m_patches; }
  TokenTextView* text() const { return m_text; }
  FindBar* findBar() const { return m_find; }
  QSlider* layerSlider() const { return m_layer; }
  QComboBox* choiceBox() const { return m_choice; }
  QComboBox* headBox() const { return m_head; }
  QTabWidget* tabs() const { return m_tabs; }
  QTableView* table() const { return m_table; }
  QString cellLine() const;
  bool showsSentence() const;
  QString sentence() const;  // the last one
  bool playing() const { return m_timer.isActive(); }
  void copyTable() const;

 Q_SIGNALS:
  void choiceMade(int index);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* buildMap();
  QWidget* buildTable();
  QWidget* buildControls();
  QToolButton* buildExport();
  void onMap();
  void onSelection();
  void onPointed(const QString& description);
  void fetchPicture();
  void setPlaying(bool playing);
  void openFind();
  std::vector<KeptToken> shownText() const;
  QString textTitle() const;

  MediaPreview& m_preview;
  KeptMapModel m_model;
  QTimer m_timer;
  PreviewToken m_token = 0;
  QByteArray m_wanted;  // key of the picture asked for
  QHash<QByteArray, QImage> m_pictures;
  std::vector<QByteArray> m_order;  // keys of m_pictures, oldest first
  QComboBox* m_choice = nullptr;
  QStackedWidget* m_stack = nullptr;
  QLabel* m_sentence = nullptr;
  QTabWidget* m_tabs = nullptr;
  QSplitter* m_splitter = nullptr;
  KeptHeatMap* m_heatMap = nullptr;
  LitStrip* m_strip = nullptr;
  QLabel* m_cell = nullptr;
  QLabel* m_partTitle = nullptr;
  QStackedWidget* m_detail = nullptr;
  PatchView* m_patches = nullptr;
  TokenTextView* m_text = nullptr;
  FindBar* m_find = nullptr;
  std::vector<QAction*> m_textActions;  // of the menu: for texts alone
  QLabel* m_pointed = nullptr;
  QLabel* m_key = nullptr;
  QToolButton* m_play = nullptr;
  QSlider* m_layer = nullptr;
  QLabel* m_layerNumber = nullptr;
  QComboBox* m_head = nullptr;
  KeptTableModel* m_tableModel = nullptr;
  QTableView* m_table = nullptr;
};

}  // namespace winnow::ui
