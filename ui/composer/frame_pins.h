// Which frames of a video (or the one image) are pinned, and what pinning one more means.
//
// Shared by the frame strip, the frame viewer and the attachment that they show: one of them changes it, all follow. A frame stands for
// the time up to its neighbours; an image is one frame without time. UI thread only.
#pragma once

#include <QObject>
#include <optional>
#include <vector>

#include "app/chats/chat/pinned_ranges.h"

namespace winnow::ui {

class FramePins : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  // Frames that can be pinned now, ascending; none: an image. What is pinned stays.
  void setFrames(std::vector<double> timesS, double durationS);
  // Sets the time of what a frame's picture really shows.
  void setShown(int index, double actualS);
  void setRanges(const app::PinnedRanges& ranges);  // as stored; changes nothing that would have to be saved
  const app::PinnedRanges& ranges() const { return m_ranges; }

  app::PinnedRange rangeOf(int index) const;
  // The range that one of other frames of the same file stands for, at most the whole video; no times: an image.
  app::PinnedRange rangeAmong(const std::vector<double>& timesS, int index) const;
  bool isPinned(int index) const { return isPinned(rangeOf(index)); }
  bool isPinned(app::PinnedRange range) const { return app::covered(m_ranges, range); }
  bool any() const { return !m_ranges.empty(); }
  // A frame was pinned here, from which a range can go on.
  bool hasAnchor() const { return m_anchor.has_value(); }

  void toggle(int index) { toggle(rangeOf(index)); }
  void toggle(app::PinnedRange range);
  void pinThrough(int index) { pinThrough(rangeOf(index)); }
  void pinThrough(app::PinnedRange range);  // everything from the anchor to its end; without an anchor, it alone
  void clear();

 Q_SIGNALS:
  void changed();  // by the user
  void shown();    // changed, or set

 private:
  void set(app::PinnedRanges ranges);

  std::vector<double> m_times;
  std::vector<std::optional<double>> m_actual;
  double m_durationS = 0.0;
  app::PinnedRanges m_ranges;
  std::optional<app::PinnedRange> m_anchor;
};

}  // namespace winnow::ui
