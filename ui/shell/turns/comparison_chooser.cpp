#include "ui/shell/turns/comparison_chooser.h"

#include "ui/compare/comparison_setup.h"
#include "ui/composer/composer.h"
#include "ui/shell/model/abilities.h"
#include "ui/shell/turns/chat_session.h"
#include "ui/shell/turns/comparison_controller.h"

namespace winnow::ui {

ComparisonChooser::ComparisonChooser(ChatSession& session, ComparisonController& comparison, ComparisonSetup& setup, Composer& composer,
                                     QObject* parent)
    : QObject(parent), m_session(session), m_comparison(comparison), m_setup(setup), m_composer(composer) {
  connect(&m_setup, &ComparisonSetup::compareRequested, this, &ComparisonChooser::compareNow);
  connect(&m_setup, &ComparisonSetup::closeRequested, this, &ComparisonChooser::leave);
  connect(&m_composer, &Composer::compareRequested, this, &ComparisonChooser::chooseOrLeave);
  connect(&m_composer, &Composer::sendRequested, this, &ComparisonChooser::send);
  connect(&m_composer, &Composer::draftChanged, this, &ComparisonChooser::changed);
}

bool ComparisonChooser::choosing() const { return !m_setup.isHidden(); }

void ComparisonChooser::chooseOrLeave() { choosing() ? leave() : choose(); }

void ComparisonChooser::choose() {
  if (const QString lack = lackText(m_session.model, Ability::kCompare); !lack.isEmpty()) return m_composer.showNotice(lack);
  m_setup.setModel(m_session.model.traits());
  m_setup.open(m_session.chat.options().recipe);
  m_composer.setFocus();  // what is typed next is the question, and Enter asks it
  Q_EMIT changed();
}

void ComparisonChooser::leave() {
  m_setup.hide();
  m_composer.setFocus();
  Q_EMIT changed();
}

void ComparisonChooser::update(bool writing) {
  const bool again = m_composer.draft().text.trimmed().isEmpty() && m_comparison.canAskAgain();
  m_setup.setAsksAgain(again);
  m_setup.setBlocked(writing ? tr("An answer is being written. Wait, or stop it.") : m_session.answers.blockedReason());
  m_composer.setComparing(!choosing() ? Composer::Comparing::kNo
                          : again     ? Composer::Comparing::kLastQuestion
                                      : Composer::Comparing::kQuestion);
}

void ComparisonChooser::compareNow() {
  if (!m_setup.problem().isEmpty()) {
    m_composer.showNotice(m_setup.problem());
    return;
  }
  const app::Draft draft = m_composer.draft();
  if (draft.text.trimmed().isEmpty() && !m_comparison.canAskAgain()) {
    m_composer.showNotice(tr("Write a question first."));
    return;
  }
  if (!m_composer.readyToSend()) return;
  if (m_session.subject.watchesHere()) {
    m_composer.showNotice(tr("A watched source is seen only once, so methods cannot be compared in this chat."));
    return;
  }
  m_comparison.compare(draft.text, draft.attachments, m_setup.recipes(), m_setup.order());
  m_setup.hide();
  Q_EMIT changed();
}

void ComparisonChooser::send(const QString& text, const QList<app::Attachment>& attachments) {
  if (choosing()) return compareNow();
  if (m_session.subject.watchesHere() && !attachments.isEmpty()) {
    m_composer.showNotice(
        tr("Questions here are about the watched source only. Remove the attachments, or stop watching and close the bar."));
    return;
  }
  m_comparison.send(text, attachments);
}

}  // namespace winnow::ui
