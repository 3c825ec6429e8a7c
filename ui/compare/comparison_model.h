// One comparison as it stands: columns with what the engine has said of them so far, or as it was saved.
//
// Fed by ui/shell/turns/comparison_controller.h; read by the comparison's views. Counts nothing itself: figures are the engine's. The words
// that differ are worked out here, against the column of the full cache if there is one, else against the first. UI thread only.
#pragma once

#include <QObject>
#include <optional>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "engine/metrics/kept_figures.h"
#include "engine/recipes/method_info.h"
#include "ui/chat_view/message_content.h"

namespace winnow::ui {

// The stage of a column while the comparison runs.
enum class ColumnStage : int { kWaiting = 1, kReading = 2, kWriting = 3, kChecking = 4, kDone = 5 };

struct ColumnProgress {
  ColumnStage stage = ColumnStage::kWaiting;
  HeldBytes held;          // of the report, then at the end
  double keptShare = 1.0;  // likewise
  bool hasReport = false;
  double tokensPerS = 0.0;
  std::vector<TextMark> marks;
};

class ComparisonModel : public QObject {
  Q_OBJECT
 public:
  explicit ComparisonModel(std::vector<MethodInfo> methods, QObject* parent = nullptr) : QObject(parent), m_methods(std::move(methods)) {}

  // A comparison that begins now. `run`: the model's name, folder and device.
  void begin(const std::vector<app::NamedRecipe>& recipes, ColumnOrder order, app::MessageId question, const app::Run& run);
  void show(const app::Comparison& saved);      // one that has ended
  void take(const Event& event);                // of the running request
  void setSaved(const app::Comparison& saved);  // its id is known now
  void setUsed(int column, app::MessageId answer);

  // The comparison that will be, or was, saved. Complete when running() is false.
  const app::Comparison& comparison() const { return m_comparison; }
  bool running() const { return m_running; }
  bool cancelled() const { return m_cancelled; }  // nothing has changed and there is nothing to save
  int columns() const { return static_cast<int>(m_comparison.columns.size()); }
  const app::ComparedAnswer& answer(int column) const { return m_comparison.columns[static_cast<std::size_t>(column)]; }
  const ColumnProgress& progress(int column) const { return m_progress[static_cast<std::size_t>(column)]; }
  QString label(int column) const;             // "VL-Cache · 10 %"
  QString whenItCompresses(int column) const;  // "once, before the question"
  int reference() const;                       // the column that the others are compared with
  bool canBeUsed(int column) const;
  std::optional<Error> failure() const;
  // Work that all columns share, while it is done: "Prefill 40 %"; share in 0..1 or negative.
  QString phase() const { return m_phase; }
  double phaseShare() const { return m_phaseShare; }
  // Time of the vision pass and of the shared prefill, in ms; negative: no column has told yet.
  double visionMs() const;
  double prefillMs() const;

 Q_SIGNALS:
  void columnChanged(int column);  // stage, figures, state
  void textAdded(int column, const QString& delta);
  void thoughtAdded(int column, const QString& delta);
  void marksChanged(int column);
  void commonChanged();  // phase, totals, failure, end

 private:
  void takeShared(const EventBody& body);
  void takeColumn(int column, const EventBody& body);
  void end();
  void markWords(int column);
  void markAllAfter(int column);

  std::vector<MethodInfo> m_methods;
  app::Comparison m_comparison;
  std::vector<ColumnProgress> m_progress;
  QString m_phase;
  double m_phaseShare = -1.0;
  bool m_running = false;
  bool m_cancelled = false;
};

}  // namespace winnow::ui
