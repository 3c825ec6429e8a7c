// How answers are drawn as rows of a form: temperature, top-k, top-p, min-p, repetition penalty, seed, longest answer, and whether and how
// long the model thinks first; and the chosen ones in words.
//
// Used by the settings (the defaults) and by the settings of a chat, which marks what differs from them. UI thread only.
#pragma once

#include <QObject>
#include <QStringList>
#include <array>

#include "engine/sampling/sampling.h"

class QComboBox;
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
  // The settings that differ from `defaults`; only these is shown in bold.
  SamplingChoice differing(const SamplingChoice& defaults) const;
  void mark(const SamplingChoice& defaults);

  QDoubleSpinBox* temperature() const { return m_temperature; }
  QSpinBox* topK() const { return m_topK; }
  QLineEdit* seed() const { return m_seed; }
  QSpinBox* longest() const { return m_longest; }
  QComboBox* thinks() const { return m_thinks; }
  QSpinBox* thoughtTokens() const { return m_thoughtTokens; }
  void setThinkingShown(bool shown);  // not where the loaded model does not think

 Q_SIGNALS:
  void changed();

 private:
  void showThoughts(int tokens);
  QWidget* addRow(QFormLayout& form, const QString& label, const QString& help, QWidget* field);

  QDoubleSpinBox* m_temperature = nullptr;
  QSpinBox* m_topK = nullptr;
  QDoubleSpinBox* m_topP = nullptr;
  QDoubleSpinBox* m_minP = nullptr;
  QDoubleSpinBox* m_penalty = nullptr;
  QLineEdit* m_seed = nullptr;
  QSpinBox* m_longest = nullptr;
  QComboBox* m_thinks = nullptr;
  QSpinBox* m_thoughtTokens = nullptr;  // the most; for the last of m_thinks
  std::array<QLabel*, 8> m_labels{};    // in the order of visit_choices()
  std::size_t m_rows = 0;
};

// The chosen sampling settings in words: "temperature 0.7", "at most 512 tokens".
QStringList samplingWords(const SamplingChoice& choice);
// 0.7, not 0.700.
QString plainNumber(double value);

}  // namespace winnow::ui
