#include <gtest/gtest.h>

#include "tests/ui/chat_view/formula/typical_formulas.h"
#include "tests/ui/support/screenshot.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

QString lecture() {
  const QString text = QStringLiteral(
      "## Attention\n\nFor queries $Q \\in \\mathbb{R}^{n \\times d_k}$ the weights $w_{ij} = \\frac{e^{s_{ij}/\\tau}}{\\sum_k "
      "e^{s_{ik}/\\tau}}$ "
      "sum to one, so that $\\sum_j w_{ij} = 1$ for each $i$; a price is $5.\n\n1. Subtract $m_i = \\max_j s_{ij}$:\n   $$w_{ij} = "
      "\\exp(s_{ij} - "
      "m_i)$$\n   This is stable.\n\n| quantity | definition |\n|---|---|\n| output | $o_i = \\sum_j w_{ij} v_j$ |\n\n> Not known: "
      "$\\unknown{x}$\n\n");
  return text + typicalFormulas().join(QStringLiteral("\n\n"));
}

// For people to look at, beside what LaTeX makes of the same sources.
TEST(FormulaScreenshots, TypicalOnes) {
  for (const ThemeMode mode : {ThemeMode::kLight, ThemeMode::kDark}) {
    for (const int zoom : {75, 100, 200}) {
      theme().setMode(mode);
      theme().setZoomPercent(zoom);
      TranscriptView view;
      view.resize(760 * zoom / 100, 2600 * zoom / 100);
      view.show();
      MessageContent answer{.id = 1, .roleLabel = QStringLiteral("Model"), .text = lecture()};
      view.setMessages({answer});
      test::saveScreenshot(
          QStringLiteral("formulas-%1-%2").arg(mode == ThemeMode::kDark ? QStringLiteral("dark") : QStringLiteral("light")).arg(zoom),
          &view);
    }
  }
  theme().setZoomPercent(100);
  theme().setMode(ThemeMode::kLight);
}

}  // namespace
}  // namespace winnow::ui
