// The video's frames under the heat-map, each lit by what it keeps on the mean over all layers; the best kept frame is clear.
//
// Custom painted from KeptMapModel, columns where the heat-map has them; thumbnails come from MediaPreview, a few per video, asked for once
// per map. A click selects the frame. Hidden without a video and for differences; the numbers are in the table twin. UI thread only.
#pragma once

#include <QHash>
#include <QImage>
#include <QWidget>
#include <map>
#include <vector>

#include "ui/composer/media_preview.h"

namespace winnow::ui {

class KeptHeatMap;
class KeptMapModel;

class LitStrip : public QWidget {
  Q_OBJECT
 public:
  LitStrip(KeptMapModel& model, MediaPreview& preview, const KeptHeatMap& heatMap, QWidget* parent = nullptr);

  // The light of a part of the prompt: 0 (nothing is kept of it) to 1 (the most of all frames).
  double light(int part) const;
  int thumbnails() const;  // that have come

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  struct Thumbnail {
    int part = 0;  // whose frame it is
    QImage image;
  };
  void onMap();
  void onShares();
  void onSelection();
  bool isFrame(int part) const;

  KeptMapModel& m_model;
  MediaPreview& m_preview;
  const KeptHeatMap& m_heatMap;
  double m_most = 0.0;
  std::map<int, std::vector<Thumbnail>> m_thumbnails;  // by media number
  QHash<PreviewToken, int> m_asked;                    // media number
};

}  // namespace winnow::ui
