// The model of the kept-token page: one map, or the difference of two, as shares per layer and part of the prompt, and what is selected.
//
// Filled by kept_map_dialog.h (or by whoever shows a map), read by the heat-map, the patch view, the text view and the table, which all
// follow its selection. Counts once per map and head; draws nothing. Shares are of the tokens of a part and, where all heads are shown, the
// mean over the kv heads. UI thread only.
#pragma once

#include <QAbstractTableModel>
#include <QByteArray>
#include <QObject>
#include <QString>
#include <vector>

#include "app/chats/kept_map/kept_map.h"
#include "ui/kept_map/prompt_parts.h"

namespace winnow::ui {

// An image, a video or a document of the prompt, by running number.
struct MapMedia {
  MediaKind kind = MediaKind::kVideo;
  QByteArray path;
  QString title;
  std::vector<double> timesS;             // of a video's frames as they were delivered
  std::vector<double> linesS{};           // when each line of its subtitles begins
  std::vector<std::int32_t> pageLines{};  // of a document with pages: the line at which each begins
};

// The page, from 1, that a line of a medium (null: not known) stands on; 0: it has no pages.
int pageOf(const MapMedia* media, int line);

// "12", of a video's subtitles "0:41": what stands beside a line, from 0, of a medium (null: not known).
QString lineName(const MapMedia* media, int line);

// The maps that keep a token, in the difference of two.
enum class KeptBy : int { kNone = 1, kFirst = 2, kSecond = 3, kBoth = 4 };

class KeptMapModel : public QObject {
  Q_OBJECT
 public:
  static constexpr int kAllHeads = -1;

  using QObject::QObject;

  void clear();
  void setMap(app::SharedKeptMap map, std::vector<MapMedia> media);
  // Both maps of one prompt under two recipes. False, and nothing changes, where their tokens do not fit together (two methods that prune
  // different tokens before the decoder) or their layers or heads differ.
  bool setDifference(const app::SharedKeptMap& first, const app::SharedKeptMap& second, const QString& firstName, const QString& secondName,
                     std::vector<MapMedia> media);

  bool isEmpty() const { return !m_first || m_parts.empty(); }
  bool isDifference() const { return m_second != nullptr; }
  const QString& firstName() const { return m_firstName; }
  const QString& secondName() const { return m_secondName; }
  const app::KeptMap& map() const { return *m_first; }
  const std::vector<PromptPart>& parts() const { return m_parts; }
  const std::vector<MapMedia>& media() const { return m_media; }
  const MapMedia* mediaOf(const PromptPart& part) const;
  int layers() const { return m_first ? m_first->layers() : 0; }
  int heads() const { return m_first ? m_first->heads() : 0; }
  bool headsDiffer() const { return m_headsDiffer; }
  bool merges() const;

  int layer() const { return m_layer; }
  int part() const { return m_part; }
  int head() const { return m_head; }
  void setLayer(int layer);
  void setPart(int part);
  void setHead(int head);  // or kAllHeads

  // For a part's tokens in a layer: what the map keeps; of a difference, what the second keeps more than the first.
  double share(int layer, int part) const;
  double firstShare(int layer, int part) const;
  double secondShare(int layer, int part) const;
  double meanShare(int part) const;  // over the layers
  // For a token in the selected layer: the share of heads that keep it, by the first and by the second map.
  double kept(int token) const;
  double keptBySecond(int token) const;
  KeptBy keptBy(int token) const;
  int merged(int token) const;  // the most of the heads shown

  // "Frame 12 of 64 · 0:23", "Text 2", "Picture, tiles", "Lines 3–17"; of several media with the title before it.
  QString partName(int part) const;
  // One line about a cell, with its numbers.
  QString describe(int layer, int part) const;
  // One line about a token of the selected layer.
  QString describeToken(int token) const;

 Q_SIGNALS:
  void mapChanged();        // everything is new
  void sharesChanged();     // another head
  void selectionChanged();  // layer or part

 private:
  void install(std::vector<MapMedia> media);
  void count();
  void selectWhatSaysMost();
  QString placeOf(const PromptPart& part) const;  // within its picture or video
  double shareOfHeads(const app::KeptMap& map, int token) const;

  app::SharedKeptMap m_first;
  app::SharedKeptMap m_second;
  QString m_firstName;
  QString m_secondName;
  std::vector<MapMedia> m_media;
  std::vector<PromptPart> m_parts;
  std::vector<double> m_firstShares;   // [layers, parts]
  std::vector<double> m_secondShares;  // the same; empty without a second map
  bool m_headsDiffer = false;
  int m_layer = 0;
  int m_part = 0;
  int m_head = kAllHeads;
};

// The maps that keep a token, of two over the same tokens.
KeptBy keptBy(double byFirst, double bySecond);

// The heat-map's numbers as a table: a row per layer, a column per part of the prompt; the accessible, copyable twin.
//
// Qt::UserRole gives the share behind a cell in [0, 1] (of a difference: in [-1, 1]), as separatedValues() of layer_table_model.h writes
// it.
class KeptTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  static constexpr int kLayer = 0;
  static constexpr int kFirstPart = 1;

  explicit KeptTableModel(KeptMapModel& model, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  KeptMapModel& m_model;
};

}  // namespace winnow::ui
