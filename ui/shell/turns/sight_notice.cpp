#include "ui/shell/turns/sight_notice.h"

#include <QFile>
#include <QFileInfo>

#include "app/library/models/model_finder.h"
#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "ui/composer/attachment_tray.h"
#include "ui/composer/composer.h"
#include "ui/shell/ground/notice_bar.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/turns/chat_session.h"

namespace winnow::ui {
namespace {

constexpr int kMostOffered = 2;  // of those that were found

// The last video, or image that the model cannot read either; empty: there is none. What was watched is not looked at again.
QString lookedAt(const QList<app::Attachment>& attachments, const ModelSession& model) {
  for (auto each = attachments.rbegin(); each != attachments.rend(); ++each) {
    if (app::wasWatched(*each)) continue;
    if (each->kind == MediaKind::kVideo || (each->kind == MediaKind::kImage && model.readsTextOnly()))
      return app::attachedName(QFile::decodeName(each->path));
  }
  return {};
}

}  // namespace

SightNotice::SightNotice(const WindowServices& services, ChatSession& session, Composer& composer, NoticeBar& notice)
    : QObject(&composer), m_finder(services.models), m_session(session), m_composer(composer), m_notice(notice) {
  connect(&m_composer, &Composer::draftChanged, this, &SightNotice::update);
  connect(&m_session.chat, &OpenChat::shown, this, &SightNotice::update);
  connect(&m_session.model, &ModelSession::changed, this, [this] {
    m_unseen.clear();  // it is said anew
    update();
    if (m_unseen.isEmpty()) m_notice.end(NoticeAbout::kUnseen);
    Q_EMIT changed();
  });
  if (m_finder == nullptr) return;
  connect(m_finder, &app::ModelFinder::changed, this, [this] {
    if (m_notice.shows(NoticeAbout::kUnseen)) tell();
  });
}

QString SightNotice::unseen() const {
  if (!m_session.model.readsNoVideos()) return {};
  QString name;
  for (const app::StoredMessage& message : m_session.chat.branch()) {
    if (const QString seen = lookedAt(message.attachments, m_session.model); !seen.isEmpty()) name = seen;
  }
  // A file's kind is known once it is open.
  const QString attached = m_composer.tray()->opening() ? QString() : lookedAt(m_composer.draft().attachments, m_session.model);
  return attached.isEmpty() ? name : attached;
}

QString SightNotice::blockedReason() const {
  if (m_unseen.isEmpty()) return {};
  return (m_session.model.readsTextOnly() ? tr("This model reads text only: it cannot look at “%1”.")
                                          : tr("This model reads images, but no videos: it cannot look at “%1”."))
      .arg(m_unseen);
}

void SightNotice::update() {
  const QString now = unseen();
  if (now == m_unseen) return;
  m_unseen = now;
  if (!now.isEmpty()) {
    if (m_finder != nullptr) m_finder->look();
    tell();
  } else {
    m_notice.end(NoticeAbout::kUnseen);
  }
  Q_EMIT changed();
}

void SightNotice::tell() {
  const auto load = [this](const QString& path, const QString& name) { return [this, path, name] { m_session.model.load(path, name); }; };
  Notice notice{.text = blockedReason(), .about = NoticeAbout::kUnseen};
  const QString demo = m_session.model.demoFolder();
  if (!demo.isEmpty()) notice.actions.push_back({tr("Use the demo model"), load(demo, {})});
  int offered = 0;
  for (const app::FoundModel& model : m_finder != nullptr ? m_finder->models() : std::vector<app::FoundModel>()) {
    const bool can = model.sees && (model.readsVideos || m_session.model.readsTextOnly());
    if (!can || model.path == demo || ++offered > kMostOffered) continue;
    notice.actions.push_back({tr("Use %1").arg(app::displayText(model.name)), load(model.path, model.name)});
  }
  notice.actions.push_back({tr("Choose another model…"), [this] { Q_EMIT chooseModelRequested(); }});
  m_notice.present(notice);
}

}  // namespace winnow::ui
