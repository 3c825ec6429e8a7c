#include "ui/shell/model/abilities.h"

#include <QCoreApplication>

#include "app/words/display_text.h"
#include "ui/shell/model/model_session.h"

namespace winnow::ui {
namespace {

struct LackWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::LackWords)
};

}  // namespace

QString lackText(const ModelSession& model, Ability ability) {
  if (model.state() != ModelState::kReady || can(model.info(), ability)) return {};
  const QString server = app::displayText(QString::fromStdString(model.info().server));
  switch (ability) {
    case Ability::kCompress:
      return LackWords::tr("%1 answers, and its cache is its own: methods, shares and pins have no effect.").arg(server);
    case Ability::kCompare: return LackWords::tr("%1 answers, and its cache is its own: methods cannot be compared.").arg(server);
    case Ability::kScore: return LackWords::tr("%1 answers, and its cache is its own: answers cannot be checked against it.").arg(server);
    case Ability::kWatch:
      return LackWords::tr("%1 answers, and it takes whole files only: a running source cannot be watched.").arg(server);
    case Ability::kContinue:
      return LackWords::tr("%1 answers, and it cannot go on with an answer that was begun. Regenerate it instead.").arg(server);
    case Ability::kPlan:
    case Ability::kPrepare:
    case Ability::kKeep:
    case Ability::kExport: break;
  }
  return LackWords::tr("%1 answers, and it has no way to ask for this.").arg(server);
}

}  // namespace winnow::ui
