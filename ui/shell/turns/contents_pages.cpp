#include "ui/shell/turns/contents_pages.h"

#include "ui/composer/composer.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/frame_strip.h"
#include "ui/contents/contents_list.h"
#include "ui/contents/video_contents.h"
#include "ui/kept_map/kept_map_model.h"
#include "ui/shell/chat/thread_media.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/turns/chat_session.h"
#include "ui/shell/turns/kept_map_pages.h"
#include "ui/theme/rooms.h"

namespace winnow::ui {
namespace {

// Null: it is not in the box.
AttachmentCard* cardOf(const AttachmentTray& tray, const QByteArray& path) {
  for (int i = 0; i < tray.count(); ++i) {
    if (tray.card(i)->attachment().path == path) return tray.card(i);
  }
  return nullptr;
}

}  // namespace

ContentsPages::ContentsPages(const WindowServices& services, ChatSession& session, Composer& composer, QObject* parent)
    : QObject(parent),
      m_store(services.store),
      m_preview(services.preview),
      m_session(session),
      m_composer(composer),
      m_lines(services.store) {
  connect(&m_preview, &MediaPreview::probed, this, [this](PreviewToken, const MediaSummary& summary) { keep(summary); });
  connect(&m_lines, &app::LineStore::loaded, this, [this](app::RequestToken token, const QList<app::FileLine>& lines) {
    const Waiting waiting = m_waiting.take(token);
    if (!waiting.page) return;
    QList<app::FileLine> all = lines + waiting.said;
    std::ranges::stable_sort(all, {}, &app::FileLine::startS);
    waiting.page->setLines(all);
    waiting.page->showAt(waiting.atS);
  });
  connect(
      &m_store, &app::ChatStore::keptMapLoaded, this,
      [this](app::RequestToken token, app::MessageId answer, const app::SharedKeptMap& map) { mark(m_marked.take(token), answer, map); });
  connect(m_composer.tray(), &AttachmentTray::contentsRequested, this,
          [this](const app::Attachment& video) { openOfDraft(video.path, std::max(0.0, video.plan.from_s)); });
}

void ContentsPages::keep(const MediaSummary& summary) {
  if (!m_store.isOpen() || summary.sha256.isEmpty()) return;
  if (!summary.passages.isEmpty()) m_lines.store(summary.sha256, summary.passages.first().kind, summary.passages);
  const auto store = [&](app::LineKind kind, const std::vector<TimedLine>& lines) {
    if (!lines.empty()) m_lines.store(summary.sha256, kind, app::fileLines(lines, kind));
  };
  store(app::LineKind::kSubtitle, summary.lines);
  store(app::LineKind::kHeard, summary.spoken);
}

VideoContents* ContentsPages::show(const app::Attachment& video, double atS, const QList<app::FileLine>& said) {
  auto* page = new VideoContents(m_preview, video, m_composer.window());
  m_waiting.insert(m_lines.load(video.sha256), {page, atS, said});
  connect(page, &VideoContents::stretchChosen, this, [this, video](double fromS, double toS) { askAbout(video, fromS, toS); });
  enterRoom(page, RoomWidth::kWhole);
  page->list()->setFocus();
  return page;
}

void ContentsPages::open(app::MessageId question, int place, double atS) {
  const app::StoredMessage* message = m_session.chat.message(question);
  if (message == nullptr || place < 0 || place >= message->attachments.size()) return;
  const app::Attachment& video = message->attachments[place];
  VideoContents* page = show(video, atS);
  page->compareWith(video);
  auto* pins = new FramePins(page);
  pins->setFrames(video.sampled.actualS.empty() ? app::plannedTimes(video) : video.sampled.actualS, video.durationS);
  pins->setRanges(video.pins);
  connect(pins, &FramePins::changed, this, [this, pins, question, place] { m_session.chat.setPins(question, place, pins->ranges()); });
  page->setPins(pins, tr("After a change, your next question reads the whole chat again."));
  const QList<app::StoredMessage> branch = m_session.chat.branch();
  const auto answer = std::find_if(branch.rbegin(), branch.rend(), [](const app::StoredMessage& each) { return each.hasKeptMap; });
  if (answer != branch.rend()) m_marked.insert(m_store.loadKeptMap(answer->id), {page, question, place});
}

void ContentsPages::mark(const Marked& marked, app::MessageId answer, const app::SharedKeptMap& map) {
  if (!map || !marked.page) return;  // asked for by somebody else
  const QList<app::StoredMessage> thread = m_session.chat.threadTo(answer);
  const std::vector<ThreadMedium> media = mediaOf(thread);
  const auto video = std::ranges::find_if(
      media, [&](const ThreadMedium& each) { return each.question->id == marked.question && each.place == marked.place; });
  if (video == media.end()) return;
  KeptMapModel model;
  model.setMap(map, mediaOfThread(m_session.chat, answer));
  const std::vector<double>& times = video->attachment().sampled.actualS;
  std::vector<FrameStrip::KeptFrame> kept;
  for (std::size_t part = 0; part < model.parts().size(); ++part) {
    const PromptPart& about = model.parts()[part];
    if (about.kind != PartKind::kFrame || about.media != video - media.begin() || about.frame >= std::ssize(times)) continue;
    kept.push_back({times[static_cast<std::size_t>(about.frame)], model.meanShare(static_cast<int>(part))});
  }
  const bool whole = std::ranges::all_of(kept, [](const FrameStrip::KeptFrame& frame) { return frame.share >= 1.0; });
  if (!whole) marked.page->strip()->setKept(std::move(kept));
}

void ContentsPages::openOfDraft(const QByteArray& path, double atS) {
  if (AttachmentCard* card = cardOf(*m_composer.tray(), path)) show(card->attachment(), atS)->setPins(card->pins());
}

void ContentsPages::askAbout(const app::Attachment& video, double fromS, double toS) {
  if (AttachmentCard* card = cardOf(*m_composer.tray(), video.path)) return card->setStretch(fromS, toS);
  app::Attachment asked = video;
  asked.id = 0;
  asked.plan.from_s = fromS;
  asked.plan.to_s = toS < video.durationS ? toS : -1.0;
  asked.plan.taken = 0;
  asked.pins = {};
  asked.sampled = {};
  if (const QString refused = m_composer.tray()->add(asked); !refused.isEmpty()) m_composer.showNotice(refused);
}

}  // namespace winnow::ui
