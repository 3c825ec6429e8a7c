#include "ui/model_library/here_page.h"

#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/words/display_text.h"
#include "app/words/format_text.h"
#include "app/words/library_words.h"
#include "ui/model_library/card_list.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

HerePage::HerePage(app::ModelShelf& shelf, const QString& loaded, QWidget* parent) : QWidget(parent), m_shelf(shelf), m_loaded(loaded) {
  auto* column = new QVBoxLayout(this);
  setMargins(column, 4, 10, 10, 10);
  setSpacing(column, 10);
  m_summary = wrappedLabel();
  column->addWidget(m_summary);
  m_list = new CardList;
  column->addWidget(m_list);
  column->addStretch(1);
  connect(&m_shelf, &app::ModelShelf::listed, this, &HerePage::fill);
  connect(&m_shelf, &app::ModelShelf::memoryChanged, this, &HerePage::fill);
  connect(&m_shelf, &app::ModelShelf::checking, this, &HerePage::onChecking);
  connect(&m_shelf, &app::ModelShelf::verified, this, &HerePage::onVerified);
  connect(&m_shelf, &app::ModelShelf::removed, this, &HerePage::onRemoved);
  fill();
}

std::vector<ModelCard*> HerePage::cards() const { return m_list->cards(); }
QString HerePage::summary() const { return m_summary->text(); }

const app::ListedModel* HerePage::find(const QString& path) const {
  const auto& models = m_shelf.models();
  const auto found = std::ranges::find_if(models, [&path](const app::ListedModel& model) { return model.found.path == path; });
  return found != models.end() ? &*found : nullptr;
}

void HerePage::fill() {
  const ModelCard* focused = m_list->focused();
  const QString before = focused != nullptr ? focused->key() : QString();
  const auto at = static_cast<std::size_t>(
      std::ranges::find_if(m_list->cards(), [focused](const ModelCard* card) { return card == focused; }) - m_list->cards().begin());
  m_list->clear();
  qint64 bytes = 0;
  for (const app::ListedModel& model : m_shelf.models()) {
    const bool demo = model.found.origin == app::ModelOrigin::kDemo;
    auto* card = new ModelCard(model.found.path, demo ? tr("Demo model") : app::displayText(model.found.name).simplified());
    card->setToolTip(app::displayText(model.found.path).toHtmlEscaped());
    m_list->add(card);
    fillCard(*card, model);
    bytes += model.found.bytes;
  }
  const auto count = static_cast<int>(m_shelf.models().size());
  m_summary->setText(!m_shelf.hasLooked() ? tr("Looking for models…")
                     : count == 0
                         ? tr("No models are here yet. “Get a model” has some that are known to run.")
                         : tr("%Ln model(s), %1. Models of Ollama, LM Studio, Jan, GPT4All and Hugging Face’s tools are listed where "
                              "they lie.",
                              "", count)
                               .arg(app::formatMegabytes(bytes)));
  if (before.isEmpty() || m_list->cards().empty()) return;
  // The keyboard focus stays on its card, or goes to the one that took its place.
  ModelCard* same = m_list->card(before);
  focusCard(same != nullptr ? *same : *m_list->cards()[std::min(at, m_list->cards().size() - 1)]);
}

void HerePage::fillCard(ModelCard& card, const app::ListedModel& model) {
  card.addLine(app::modelFacts(model), ModelCard::Tone::kMuted);
  const app::FitWords fit = app::fitWords(model, m_shelf.memory());
  card.addLine(fit.text, fit.good ? ModelCard::Tone::kMuted : ModelCard::Tone::kWarning);
  card.addLine(app::modelPlace(model), ModelCard::Tone::kMuted);
  fillButtons(card, model.found);
}

void HerePage::fillButtons(ModelCard& card, const app::FoundModel& model) {
  card.clearButtons();
  card.hideProgress();
  if (m_shelf.verifying() == model.path) {
    card.showProgress(-1);
    connect(card.addButton(tr("Stop")), &QPushButton::clicked, this, [this] { m_shelf.stopVerifying(); });
    return;
  }
  if (m_asked == model.path) {
    connect(card.addButton(tr("Keep it")), &QPushButton::clicked, this, [this, path = model.path] {
      m_asked.clear();
      m_notes.remove(path);
      refill(path);
    });
    connect(card.addButton(tr("Move to the trash")), &QPushButton::clicked, this, [this, model] {
      m_asked.clear();
      m_notes.remove(model.path);
      m_shelf.remove(model);
    });
    return;
  }
  const bool used = model.path == (model.hears ? m_shelf.hearing() : m_loaded);
  QPushButton* open = card.addButton(model.hears ? used ? tr("Hears") : tr("Hear with it") : used ? tr("Loaded") : tr("Open"));
  open->setEnabled(!used);
  connect(open, &QPushButton::clicked, this,
          [this, model] { model.hears ? m_shelf.hearWith(model) : Q_EMIT openRequested(model.path, model.name); });
  const bool loaded = used && !model.hears;
  // Nobody has written down their hashes, and they lie where their owner put them.
  if (model.origin == app::ModelOrigin::kDemo || model.origin == app::ModelOrigin::kOpened) return;
  QPushButton* check = card.addButton(tr("Check"));
  check->setToolTip(tr("Compare its files with the hashes that they were published with"));
  check->setEnabled(m_shelf.verifying().isEmpty());
  connect(check, &QPushButton::clicked, this, [this, model] {
    m_notes.remove(model.path);
    m_shelf.verify(model);
    fill();
  });
  QPushButton* trash = card.addButton(tr("Remove…"));
  trash->setEnabled(!loaded);
  if (loaded) trash->setToolTip(tr("Open another model first"));
  connect(trash, &QPushButton::clicked, this, [this, model] { askRemoval(model); });
  const Note note = m_notes.value(model.path);
  card.setNote(note.text, note.tone);
}

void HerePage::askRemoval(const app::FoundModel& model) {
  const QString before = std::exchange(m_asked, model.path);
  m_notes.remove(before);
  if (model.origin == app::ModelOrigin::kOllama) {
    m_asked.clear();
    m_notes[model.path] = {app::removalWords({app::RemovedModel::State::kNotOurs, {}, 0}, model.name), ModelCard::Tone::kWarning};
  } else {
    m_notes[model.path] = {tr("Move %1 to the trash?").arg(app::formatMegabytes(model.bytes)), ModelCard::Tone::kText};
  }
  refill(before);
  refill(model.path);
}

// Its buttons and what stands under it; the keyboard stays on it.
void HerePage::refill(const QString& path) {
  ModelCard* card = m_list->card(path);
  const app::ListedModel* model = find(path);
  if (card == nullptr || model == nullptr) return;
  const bool focused = m_list->focused() == card;
  const Note note = m_notes.value(path);
  fillButtons(*card, model->found);
  card->setNote(note.text, note.tone);
  if (focused) focusCard(*card);
}

void HerePage::onChecking(const QString& path, qint64 done, qint64 total) {
  ModelCard* card = m_list->card(path);
  if (card == nullptr) return;
  card->showProgress(total > 0 ? static_cast<int>(100 * done / total) : -1);
  card->setNote(tr("Checking: %1 of %2").arg(app::formatMegabytes(done), app::formatMegabytes(total)), ModelCard::Tone::kMuted);
}

void HerePage::onVerified(const QString& path, const std::vector<app::VerifiedFile>& files) {
  if (!files.empty()) {
    const app::FitWords words = app::checkWords(files);
    m_notes[path] = {words.text, words.good ? ModelCard::Tone::kGood : ModelCard::Tone::kWarning};
  }
  fill();
}

void HerePage::onRemoved(const QString& path, const app::RemovedModel& result) {
  const app::ListedModel* model = find(path);
  if (result.state == app::RemovedModel::State::kRemoved || model == nullptr) return;  // the list follows
  m_notes[path] = {app::removalWords(result, model->found.name), ModelCard::Tone::kWarning};
  refill(path);
}

}  // namespace winnow::ui
