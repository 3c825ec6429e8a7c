// The pages of a paper, small, one below the other: which one is shown is chosen here by click or arrows.
//
// Part of page_viewer.h. Pictures are asked of MediaPreview for the pages in view alone, whatever their number. UI thread only.
#pragma once

#include <QListWidget>
#include <QTimer>
#include <vector>

#include "ui/composer/media_preview.h"

namespace winnow::ui {

class PageList : public QListWidget {
  Q_OBJECT
 public:
  PageList(MediaPreview& preview, const QByteArray& path, QWidget* parent = nullptr);
  ~PageList() override;

  void setPages(const std::vector<int>& pages);  // their numbers
  int page() const;                              // the chosen one's number; 0: none
  void choose(int page);

 Q_SIGNALS:
  void chosen(int page);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  void ask();
  QSize pictureSize() const;

  MediaPreview& m_preview;
  const QByteArray m_path;
  std::vector<int> m_pages;
  QTimer m_soon;  // once the scrolling rests
  PreviewToken m_token = 0;
  std::vector<int> m_asked;  // rows, in the order of their pictures
};

}  // namespace winnow::ui
