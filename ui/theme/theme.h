// The look of the program: one set of colours, one spacing scale, one type scale, light and dark, zoom.
//
// Used by every widget and painter of ui; nothing else holds a colour or a size. It does not draw (winnow_style.h does) and does not
// save (settings do). Sizes are logical pixels and already multiplied by the zoom. UI thread only.
#pragma once

#include <QColor>
#include <QFont>
#include <QObject>
#include <QPalette>

class QApplication;
class QBoxLayout;
class QFrame;
class QLayout;
class QWidget;

namespace winnow::ui {

enum class ThemeMode : int { kSystem = 1, kLight = 2, kDark = 3 };

enum class TextRole : int {
  kBody = 1,
  kCaption = 2,
  kStrong = 3,
  kHeading = 4,
  kTitle = 5,
  kDisplay = 6,
  kCode = 7,
  kCaptionStrong = 8,
};

// The spacing scale; no other distance is used between things.
enum class Space : int { kHair = 2, kTiny = 4, kSmall = 8, kMedium = 12, kLarge = 16, kHuge = 24, kVast = 40 };

struct Colors {
  bool dark = false;
  QColor window, sidebar, surface, raised, code;
  QColor text, mutedText, onAccent;
  QColor border, strongBorder, hover, pressed;
  QColor accent, accentHover, accentSoft, userBubble, selection, link;
  QColor danger, dangerSoft, warning, warningSoft, success;
  // Okabe-Ito colours, distinguishable with every kind of colour blindness; charts add outlines and numbers.
  QColor chartVisual, chartImage, chartText, chartWritten, chartFull, chartTrack;
};

class Theme : public QObject {
  Q_OBJECT
 public:
  static constexpr int kMinZoomPercent = 75;
  static constexpr int kMaxZoomPercent = 200;

  static Theme& instance();

  // Installs style, palette and font. Call once after the QApplication is made; later calls only re-apply.
  void install(QApplication& application);

  void setMode(ThemeMode mode);
  ThemeMode mode() const { return m_mode; }
  void setZoomPercent(int percent);
  int zoomPercent() const { return m_zoomPercent; }
  void zoomBy(int steps);

  const Colors& colors() const { return m_colors; }
  qreal zoom() const { return m_zoomPercent / 100.0; }
  int px(qreal units) const;  // logical pixels at the present zoom
  int space(Space space) const { return px(static_cast<int>(space)); }
  qreal cornerRadius() const { return 10.0 * zoom(); }
  qreal smallRadius() const { return 6.0 * zoom(); }
  QFont font(TextRole role) const;

 Q_SIGNALS:
  void changed();  // colours, sizes or fonts; repaint and lay out again

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  Theme() = default;
  void apply();
  QPalette palette() const;

  QApplication* m_application = nullptr;
  QPalette m_systemPalette;
  qreal m_basePoints = 10.0;
  QString m_family;
  ThemeMode m_mode = ThemeMode::kSystem;
  int m_zoomPercent = 100;
  Colors m_colors;
  bool m_applying = false;
};

inline Theme& theme() { return Theme::instance(); }

// Gives the widget the font of the role now and after every change of zoom.
void setTextRole(QWidget* widget, TextRole role);
// Text in the muted colour; follows the theme.
void setMuted(QWidget* widget);
// Spaces of a layout in units, now and after every change of zoom.
void setMargins(QLayout* layout, int left, int top, int right, int bottom);
void setSpacing(QLayout* layout, int units);
void addGap(QBoxLayout* layout, int units);
// A view that the keyboard stops at: its frame is seen while it has the focus.
void setFocusFrame(QFrame* view);
// A page that steps through something by the arrow keys, whichever of its buttons has the keyboard.
void setArrowsStep(QWidget* page);
QWidget* steppedBy(QWidget* button);  // that page; null: arrows are the button's own
// A button that is the one thing to do here.
void setPrimary(QWidget* button);

}  // namespace winnow::ui
