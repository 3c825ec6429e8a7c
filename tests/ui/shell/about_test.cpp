#include <QClipboard>
#include <QMessageBox>

#include "tests/ui/support/window_fixture.h"

namespace winnow::test {
namespace {

class About : public WindowTest {};

TEST_F(About, CopiesWhatAReportOfAFaultNeeds) {
  QApplication::clipboard()->clear();
  for (QAction* action : m_window->actions()) {
    if (action->text().contains(QStringLiteral("About"))) action->trigger();
  }
  auto* box = m_window->findChild<QMessageBox*>();
  ASSERT_NE(box, nullptr);
  QAbstractButton* copy = nullptr;
  for (QAbstractButton* button : box->buttons()) {
    if (button->text().remove(QLatin1Char('&')) == QStringLiteral("Copy system report")) copy = button;
  }
  ASSERT_NE(copy, nullptr);
  copy->click();
  EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("Winnow: 0.1.0\nQt: six\n"));
}

}  // namespace
}  // namespace winnow::test
