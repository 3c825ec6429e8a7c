// Comparisons and checks in MainWindow: where they are shown and what their keys do; the rest is in main_window.cpp.
#include <QAction>
#include <QMenu>
#include <QStackedWidget>
#include <QToolButton>

#include "ui/chat_view/transcript_view.h"
#include "ui/compare/comparison_setup.h"
#include "ui/compare/comparison_view.h"
#include "ui/composer/composer.h"
#include "ui/shell/answer_check.h"
#include "ui/shell/chat_controller.h"
#include "ui/shell/comparison_controller.h"
#include "ui/shell/kept_map_pages.h"
#include "ui/shell/main_window.h"
#include "ui/shell/notice_bar.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {
constexpr int kChosenMs = 8000;
constexpr int kLowUnits = 430;
}  // namespace

void MainWindow::buildComparison(QMenu* chat) {
  chat->addSeparator();
  addCommand(chat, tr("&Compare methods…"), QKeySequence(Qt::CTRL | Qt::Key_K),
             [this] { showComparisonSetup(m_comparisonSetup->isHidden()); });
  m_checkAction = addCommand(chat, tr("&What changed?"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_K), [this] { m_check->check(0); });
}

void MainWindow::connectComparison() {
  connect(m_composer, &Composer::sendRequested, this, [this](const QString& text, const QList<app::Attachment>& attachments) {
    m_comparisonSetup->isHidden() ? m_comparison->send(text, attachments) : compareNow();
  });
  connect(m_composer, &Composer::stopRequested, this, &MainWindow::stopOrLeave);
  connect(m_composer, &Composer::compareRequested, this, [this] { showComparisonSetup(m_comparisonSetup->isHidden()); });
  connect(m_composer, &Composer::draftChanged, this, &MainWindow::updateComparison);
  connect(m_transcript, &TranscriptView::stopRequested, this, &MainWindow::stopOrLeave);
  connect(m_transcript, &TranscriptView::comparisonActivated, m_comparison, &ComparisonController::open);
  connect(m_transcript, &TranscriptView::checkRequested, m_check, &AnswerCheck::check);
  connect(m_comparisonSetup, &ComparisonSetup::compareRequested, this, &MainWindow::compareNow);
  connect(m_comparisonSetup, &ComparisonSetup::closeRequested, this, [this] { showComparisonSetup(false); });

  connect(m_comparison, &ComparisonController::shown, this,
          [this](const std::shared_ptr<ComparisonModel>& model, const QString& question, const QString& media) {
            m_comparisonView->setModel(model, question, media);
            m_stack->setCurrentWidget(m_comparisonView);
            updateComparison();
          });
  connect(m_comparison, &ComparisonController::answerChosen, this, [this](const QString& label) {
    showChat();
    m_composer->setFocus();
    m_undo->showMessage(tr("The chat goes on from the answer of %1.").arg(label), QString(), kChosenMs);
  });
  connect(m_comparison, &ComparisonController::stateChanged, this, &MainWindow::updateState);
  connect(m_comparison, &ComparisonController::problem, m_notice, &NoticeBar::showError);
  connect(m_comparisonView, &ComparisonView::backRequested, this, &MainWindow::showChat);
  connect(m_comparisonView, &ComparisonView::stopRequested, m_comparison, &ComparisonController::stop);
  connect(m_comparisonView, &ComparisonView::cancelRequested, m_comparison, &ComparisonController::cancel);
  connect(m_comparisonView, &ComparisonView::useRequested, m_comparison, &ComparisonController::useAnswer);
  connect(m_comparisonView, &ComparisonView::mapsRequested, this, &MainWindow::showKeptMap);
  connect(m_comparisonView, &ComparisonView::columnFocused, m_comparison, &ComparisonController::showFigures);
  connect(m_stack, &QStackedWidget::currentChanged, this, &MainWindow::updateComparison);

  connect(m_check, &AnswerCheck::progressed, m_transcript, &TranscriptView::setPhase);
  connect(m_check, &AnswerCheck::stateChanged, this, &MainWindow::updateState);
  connect(m_check, &AnswerCheck::problem, m_notice, &NoticeBar::showError);
  connect(m_check, &AnswerCheck::refused, m_composer, &Composer::showNotice);
}

bool MainWindow::showsComparison() const { return m_stack->currentWidget() == m_comparisonView; }

void MainWindow::writeQuestion() {
  if (m_composer->isHidden()) showChat();
  m_composer->prompt()->setFocus();
}

void MainWindow::showComparisonSetup(bool visible) {
  if (visible) {
    m_comparisonSetup->setMeasuredShares(m_controller->model().prefixkv_shares);
    m_comparisonSetup->open(m_controller->options().recipe);
  } else {
    m_comparisonSetup->hide();
    m_composer->setFocus();
  }
  updateComparison();
}

void MainWindow::compareNow() {
  if (!m_comparisonSetup->problem().isEmpty()) {
    m_composer->showNotice(m_comparisonSetup->problem());
    return;
  }
  const app::Draft draft = m_composer->draft();
  if (draft.text.trimmed().isEmpty() && !m_comparison->canAskAgain()) {
    m_composer->showNotice(tr("Write a question first."));
    return;
  }
  if (!m_composer->readyToSend()) return;
  m_comparison->compare(draft.text, draft.attachments, m_comparisonSetup->recipes(), m_comparisonSetup->order());
  m_comparisonSetup->hide();
  updateComparison();
}

// Escape and the stop buttons: what runs is stopped, else what was opened is left.
void MainWindow::stopOrLeave() {
  if (m_check->running()) {
    m_check->stop();
  } else if (m_comparison->runningHere()) {
    m_comparison->stop();
  } else if (m_controller->writingHere()) {
    m_controller->stop();
  } else if (!m_comparisonSetup->isHidden()) {
    showComparisonSetup(false);
  } else if (showsComparison()) {
    m_comparisonView->alone() >= 0 ? m_comparisonView->showAlone(-1) : showChat();
  }
}

// Of what is on screen: the comparison, or the newest answer of the chat.
void MainWindow::showKeptMap() { showsComparison() ? m_keptMaps->openComparison(m_comparisonView->model()) : m_keptMaps->openNewest(); }

void MainWindow::showChat() {
  m_stack->setCurrentWidget(m_transcript);
  m_transcript->setFocus();
}

void MainWindow::updateComparison() {
  const bool writing = m_controller->writingHere() || m_comparison->runningHere() || m_check->running();
  const bool choosing = !m_comparisonSetup->isHidden();
  // In a low window what is read steps aside while methods are chosen, for the question must stay in view; and the box steps aside for a
  // comparison.
  const bool low = height() < theme().px(kLowUnits);
  m_stack->setVisible(!choosing || !low);
  m_composer->setVisible(choosing || !low || !showsComparison());
  // Escape in the box leaves a rewording first.
  m_stopAction->setEnabled(writing || (!m_composer->editing() && (choosing || showsComparison())));
  const bool again = m_composer->draft().text.trimmed().isEmpty();
  m_comparisonSetup->setAsksAgain(again && m_comparison->canAskAgain());
  m_comparisonSetup->setBlocked(writing ? tr("Wait, or stop what is being written.") : m_controller->blockedReason());
  m_composer->setComparing(choosing);
  m_checkAction->setEnabled(!m_controller->busy() && m_check->canCheck());
}

}  // namespace winnow::ui
