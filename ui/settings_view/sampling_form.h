// How answers are drawn as rows of a form: temperature, top-k, top-p, min-p, repetition penalty, seed, longest answer.
//
// Used by the settings (the defaults) and by the settings of a chat, which marks what differs from them. UI thread only.
#pragma once

#include <QObject>
#include <array>

#include "engine/sampling/sampling.h"

class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QSpinBox;
class QWidget;

namespace winnow::ui {

class SamplingForm : public QObject {
  Q_OBJECT
 public:
  // Adds its rows to the form, whose page owns them. mostNewTokens: of the longest answer.
  SamplingForm(QFormLayout& form, int mostNewTokens, QObject* parent);

  // All fields; the seed is absent where each answer has another.
  SamplingChoice values() const;
  void setValues(const SamplingChoice& values);  // what is absent stays, but the seed
  // What is not as in `defaults`; only this is shown in bold.
  SamplingChoice differing(const SamplingChoice& defaults) const;
  void mark(const SamplingChoice& defaults);

  QDoubleSpinBox* temperature() const { return m_temperature; }
  QSpinBox* topK() const { return m_topK; }
  QLineEdit* seed() const { return m_seed; }
  QSpinBox* longest() const { return m_longest; }

 Q_SIGNALS:
  void changed();

 private:
  QWidget* addRow(QFormLayout& form, const QString& label, const QString& help, QWidget* field);

  QDoubleSpinBox* m_temperature = nullptr;
  QSpinBox* m_topK = nullptr;
  QDoubleSpinBox* m_topP = nullptr;
  QDoubleSpinBox* m_minP = nullptr;
  QDoubleSpinBox* m_penalty = nullptr;
  QLineEdit* m_seed = nullptr;
  QSpinBox* m_longest = nullptr;
  std::array<QLabel*, 7> m_labels{};  // in the order of visit_choices()
  std::size_t m_rows = 0;
};

}  // namespace winnow::ui
