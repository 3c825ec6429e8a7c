#include "ui/chat_view/table_columns.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/chat_view/formula/formula_layout.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr qreal kComfortable = 16.0;  // of a column in a table that is scrolled, in times the font's height
constexpr qreal kLongestWord = 40.0;  // a longer one (an address) is broken

qreal sum(const std::vector<qreal>& widths) { return std::accumulate(widths.begin(), widths.end(), 0.0); }

}  // namespace

TableColumns::TableColumns(QTextTable* table, const Block& block, qreal padding) : m_table(table) {
  m_word.assign(static_cast<std::size_t>(table->columns()), 0.0);
  m_line = m_word;
  for (const std::vector<TableCell>& row : block.rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      const TableCell& cell = row[column];
      qreal line = 0.0;
      for (const TextRun& run : cell.runs) {
        QFont font = theme().font(run.code ? TextRole::kCode : cell.header || run.strong ? TextRole::kStrong : TextRole::kBody);
        if (const auto formula = run.formula ? setFormula(run.text, theme().font(TextRole::kBody)) : std::nullopt) {
          line += formula->width;
          m_word[column] = std::max(m_word[column], formula->width);
          continue;
        }
        const QFontMetricsF metrics(font);
        line += metrics.horizontalAdvance(run.text);
        for (const QString& word : run.text.split(QLatin1Char(' '), Qt::SkipEmptyParts))
          m_word[column] = std::max(m_word[column], std::min(metrics.horizontalAdvance(word), kLongestWord * metrics.height()));
      }
      m_line[column] = std::max(m_line[column], line);
    }
  }
  // Rounding would break a line that just fits.
  const auto withPadding = [&](qreal& width) { width = std::ceil(width) + 2 * padding + theme().px(4); };
  std::for_each(m_word.begin(), m_word.end(), withPadding);
  std::for_each(m_line.begin(), m_line.end(), withPadding);
}

qreal TableColumns::widthWithin(qreal available) const {
  if (sum(m_line) <= available) return sum(m_line);
  if (sum(m_word) <= available) return available;
  const qreal comfortable = kComfortable * QFontMetricsF(theme().font(TextRole::kBody)).height();
  qreal width = 0.0;
  for (std::size_t i = 0; i < m_word.size(); ++i) width += std::max(m_word[i], std::min(m_line[i], comfortable));
  return width;
}

// The width left beyond the longest words goes to columns as their lines want it.
void TableColumns::setWidth(qreal width) {
  const qreal wanted = sum(m_line) - sum(m_word);
  const qreal share = wanted > 0.0 ? std::clamp((width - sum(m_word)) / wanted, 0.0, 1.0) : 0.0;
  QVector<QTextLength> lengths;
  for (std::size_t i = 0; i < m_word.size(); ++i)
    lengths.append(QTextLength(QTextLength::FixedLength, m_word[i] + share * (m_line[i] - m_word[i])));
  QTextTableFormat format = m_table->format();
  format.setColumnWidthConstraints(lengths);
  m_table->setFormat(format);
}

}  // namespace winnow::ui
