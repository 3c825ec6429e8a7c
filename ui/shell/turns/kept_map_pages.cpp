#include "ui/shell/turns/kept_map_pages.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "app/chats/chat/chat_store.h"
#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/format_text.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/compare/comparison_model.h"
#include "ui/compare/comparison_view.h"
#include "ui/recipes/recipe_words.h"
#include "ui/shell/chat/thread_media.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/turns/chat_session.h"
#include "ui/theme/rooms.h"

namespace winnow::ui {
namespace {

class MapWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::MapWords)
};

// A bit per token, layer and head; up to here every map is small enough to be saved (KeptMap::kMaxBytes).
constexpr double kAlwaysSaved = 32768.0 * 28 * 4;

bool mayBeTooLarge(const TurnFigures& figures) {
  double heads = 0.0;
  for (const LayerFigures& layer : figures.layers) heads += static_cast<double>(layer.kept_per_head.size());
  return heads * static_cast<double>(figures.tokens.thread_visual + figures.tokens.thread_text) > kAlwaysSaved;
}

// Expects an answer that has its figures.
QString whyNotSaved(const app::Run& run, bool saved) {
  if (mayBeTooLarge(run.figures))
    return MapWords::tr("No map: it was larger than %1 and was not saved.").arg(app::formatBytes(app::KeptMap::kMaxBytes));
  if (saved || !run.makers.isEmpty()) return MapWords::tr("No map: its saved data is damaged.");
  return MapWords::tr("No map: an older version of Winnow wrote this answer.");
}

}  // namespace

std::vector<MapMedia> mediaOfThread(const OpenChat& chat, app::MessageId last) {
  const QList<app::StoredMessage> thread = chat.threadTo(last);
  std::vector<MapMedia> media;
  for (const ThreadMedium& medium : mediaOf(thread)) {
    const app::Attachment& attachment = medium.attachment();
    QString name = app::attachedName(QFile::decodeName(attachment.path));
    if (attachment.kind == MediaKind::kImage && attachment.pages.first > 0)
      name = MapWords::tr("%1, page %2").arg(name).arg(attachment.pages.first);
    const app::SampledTimes& sampled = attachment.sampled;
    media.push_back({attachment.kind, attachment.path, app::displayText(name), sampled.actualS, sampled.linesS, sampled.pageLines});
  }
  return media;
}

KeptMapPages::KeptMapPages(const WindowServices& services, ChatSession& session, TranscriptView& transcript, ComparisonView& comparison,
                           QWidget* owner)
    : QObject(owner),
      m_session(session),
      m_store(services.store),
      m_preview(services.preview),
      m_methods(services.methods),
      m_owner(owner) {
  connect(&transcript, &TranscriptView::keptMapRequested, this, &KeptMapPages::open);
  connect(&comparison, &ComparisonView::mapsRequested, this, [this, &comparison] { openComparison(comparison.model()); });
  connect(&m_session.answers, &AnswerRun::keptMapKnown, this, [this](qint64 answer, const app::SharedKeptMap& map) {
    if (m_page && !m_comparison && answer == m_answer) fill(map);
  });
  connect(&m_session.chat, &OpenChat::messageChanged, this, [this](const app::StoredMessage& message) {
    const bool ended = message.state != app::MessageState::kStreaming;
    if (!m_page || m_comparison || message.id != m_answer || !ended || message.hasKeptMap) return;
    m_page->showSentence(tr("No map: this answer ended before its prompt was read."));
  });
  connect(&m_store, &app::ChatStore::keptMapLoaded, this, [this](app::RequestToken token, app::MessageId, const app::SharedKeptMap& map) {
    if (token == m_loading && m_page && !m_comparison) fill(map);
  });
  connect(&m_store, &app::ChatStore::failed, this, [this](app::RequestToken token, const Error&) {
    if (token != m_loading || !m_page) return;
    if (!m_comparison) return fill(nullptr);
    m_columns.insert(m_loadingColumn, nullptr);
    showChoice();
  });
  connect(&m_store, &app::ChatStore::comparedKeptMapLoaded, this,
          [this](app::RequestToken token, qint64, int place, const app::SharedKeptMap& map) {
            if (token != m_loading || !m_page || !m_comparison) return;
            m_columns.insert(place, map);
            showChoice();
          });
}

// A map is saved with a finished answer, unless it is too large.
QString KeptMapPages::whyNoMap() const {
  const app::StoredMessage* answer = m_session.chat.message(m_answer);
  if (answer != nullptr && answer->state == app::MessageState::kAbandoned)
    return tr("No map: Winnow was closed while it wrote this answer.");
  if (answer != nullptr && answer->state == app::MessageState::kFailed) return tr("No map: this answer failed before it was finished.");
  if (answer == nullptr || !answer->hasRun || answer->run.figures.layers.empty())
    return tr("No map: this answer ended before its prompt was read.");
  return whyNotSaved(answer->run, answer->hasKeptMap);
}

void KeptMapPages::fill(const app::SharedKeptMap& map) {
  m_loading = 0;
  if (map) {
    m_page->showMap(map, mediaOfThread(m_session.chat, m_answer));
  } else {
    m_page->showSentence(whyNoMap());
  }
}

void KeptMapPages::openNewest() {
  const QList<app::StoredMessage> messages = m_session.chat.branch();
  const auto newest = [&messages](auto&& wanted) {
    return std::find_if(messages.rbegin(), messages.rend(),
                        [&wanted](const app::StoredMessage& m) { return m.role == Role::kAssistant && wanted(m); });
  };
  // One that is being written gets its map on the way.
  auto shown = newest([](const app::StoredMessage& m) { return m.hasKeptMap || m.state == app::MessageState::kStreaming; });
  if (shown == messages.rend()) shown = newest([](const app::StoredMessage&) { return true; });
  if (shown != messages.rend()) open(shown->id);
}

void KeptMapPages::show(const QString& subject) {
  if (m_page) m_page->close();
  m_loading = 0;
  m_page = new KeptMapDialog(m_preview, subject, m_owner->window());
  enterRoom(m_page, RoomWidth::kWhole);
}

void KeptMapPages::openComparison(ComparisonModel* model) {
  if (model == nullptr || model->columns() == 0) return;
  if (m_page && m_comparison == model) {
    enterRoom(m_page, RoomWidth::kWhole);
    return;
  }
  if (m_comparison) m_comparison->disconnect(this);
  m_comparison = model;
  m_answer = 0;
  m_columns.clear();
  m_choices.clear();
  QStringList names;
  for (int i = 0; i < model->columns(); ++i) {
    m_choices.push_back({i, -1});
    names << model->label(i);
  }
  // The full cache keeps everything: the first two that do not are what one wants to see against each other.
  int opened = 0;
  for (int i = 0; i < model->columns(); ++i) {
    for (int j = i + 1; j < model->columns(); ++j) {
      const bool both = !keeps_everything(model->answer(i).run.recipe.spec) && !keeps_everything(model->answer(j).run.recipe.spec);
      if (both && opened == 0) opened = static_cast<int>(m_choices.size());
      m_choices.push_back({i, j});
      names << tr("%1 against %2").arg(model->label(i), model->label(j));
    }
  }
  show(tr("Comparison"));
  m_page->setChoices(names, opened);
  connect(m_page, &KeptMapDialog::choiceMade, this, &KeptMapPages::showChoice);
  connect(model, &ComparisonModel::columnChanged, this, [this] {
    if (m_page && m_page->showsSentence()) showChoice();
  });
  showChoice();
}

app::SharedKeptMap KeptMapPages::columnMap(int column, bool& missing) {
  const app::ComparedAnswer& answer = m_comparison->answer(column);
  if (answer.keptMap) return answer.keptMap;
  if (m_columns.contains(column)) {
    missing = missing || m_columns.value(column) == nullptr;
    return m_columns.value(column);
  }
  if (answer.hasKeptMap && m_comparison->comparison().id != 0) {
    m_loadingColumn = column;
    m_loading = m_store.loadComparedKeptMap(m_comparison->comparison().id, column);
  } else {
    missing = missing || !m_comparison->running();
  }
  return nullptr;
}

void KeptMapPages::showChoice() {
  if (!m_page || !m_comparison) return;
  const Choice choice =
      m_choices[static_cast<std::size_t>(std::clamp(m_page->choiceBox()->currentIndex(), 0, static_cast<int>(m_choices.size()) - 1))];
  bool missing = false;
  const app::SharedKeptMap first = columnMap(choice.first, missing);
  if (!first && !missing) return m_page->showSentence(tr("The map appears once the prompt has been read."));
  const app::SharedKeptMap second = choice.second >= 0 && first ? columnMap(choice.second, missing) : nullptr;
  if (missing) {
    const app::ComparedAnswer& answer = m_comparison->answer(first ? choice.second : choice.first);
    return m_page->showSentence(answer.hasFigures ? whyNotSaved(answer.run, answer.hasKeptMap)
                                                  : tr("No map: this answer was not finished."));
  }
  if (choice.second >= 0 && !second) return m_page->showSentence(tr("The map appears once the prompt has been read."));
  std::vector<MapMedia> media = mediaOfThread(m_session.chat, m_comparison->comparison().question);
  if (choice.second < 0) return m_page->showMap(first, std::move(media));
  m_page->showDifference(first, second, m_comparison->label(choice.first), m_comparison->label(choice.second), std::move(media));
}

void KeptMapPages::open(app::MessageId answer) {
  const app::StoredMessage* message = m_session.chat.message(answer);
  if (message == nullptr || message->role != Role::kAssistant) return;
  if (m_page && !m_comparison && m_answer == answer) {
    enterRoom(m_page, RoomWidth::kWhole);
    return;
  }
  m_comparison = nullptr;
  m_answer = answer;
  show(recipesLabel(m_methods, message->hasCause ? app::namedMakers(message->run) : QList<app::NamedRecipe>()));
  if (const app::SharedKeptMap running = m_session.answers.runningKeptMap(answer)) {
    fill(running);
  } else if (message->state != app::MessageState::kStreaming) {
    m_loading = m_store.loadKeptMap(answer);
  }
}

}  // namespace winnow::ui
