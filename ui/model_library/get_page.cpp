#include "ui/model_library/get_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <optional>
#include <string>

#include "app/engine/remote/key_ring.h"
#include "app/words/display_text.h"
#include "app/words/download_words.h"
#include "app/words/library_words.h"
#include "ui/model_library/card_list.h"
#include "ui/model_library/model_card.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

using State = app::QueuedDownload::State;
constexpr char kStateProperty[] = "winnowState";  // of a download's card: what its buttons are of

bool wantsToken(const app::DownloadFault& fault) {
  using app::DownloadProblem;
  constexpr int kUnauthorised = 401;  // a hub says that it has no such model where one may not see it
  return fault.problem == DownloadProblem::kNeedsToken || fault.problem == DownloadProblem::kGated ||
         (fault.problem == DownloadProblem::kNoSuchModel && fault.status == kUnauthorised);
}

QLabel* heading(const QString& text) { return lineLabel(text, TextRole::kHeading); }

}  // namespace

GetPage::GetPage(app::ModelShelf& shelf, app::DownloadQueue& queue, const HubModels& hub, QWidget* parent)
    : QWidget(parent), m_shelf(shelf), m_queue(queue), m_hub(hub) {
  auto* column = new QVBoxLayout(this);
  setMargins(column, 4, 10, 10, 10);
  setSpacing(column, 8);
  auto* row = new QHBoxLayout;
  setSpacing(row, 8);
  m_typed = new QLineEdit;
  m_typed->setPlaceholderText(tr("owner/name, or its page’s address"));
  m_typed->setAccessibleName(tr("A model of %1, by its name").arg(m_hub.host));
  m_typed->setClearButtonEnabled(true);
  auto* get = new QPushButton(tr("Get"));
  get->setAutoDefault(false);
  get->setAccessibleName(tr("Get the model of that name"));
  row->addWidget(m_typed, 1);
  row->addWidget(get);
  auto* token = new QPushButton(tr("Token…"));
  token->setAutoDefault(false);
  token->setToolTip(tr("For models that %1 shows to some people only").arg(m_hub.host));
  token->setVisible(m_hub.keys != nullptr);
  row->addWidget(token);
  connect(token, &QPushButton::clicked, this, &GetPage::openToken);
  column->addLayout(row);
  m_hint = captionLabel();
  column->addWidget(m_hint);
  buildToken(*column);
  m_onItsWay = heading(tr("Downloads"));
  column->addWidget(m_onItsWay);
  m_downloads = new CardList;
  column->addWidget(m_downloads);
  column->addWidget(heading(tr("Known to run")));
  m_known = new CardList;
  column->addWidget(m_known);
  column->addStretch(1);
  connect(m_typed, &QLineEdit::returnPressed, this, &GetPage::getTyped);
  connect(get, &QPushButton::clicked, this, &GetPage::getTyped);
  const auto hint = [this] {
    m_hint->setText(tr("Any GGUF or Safetensors model of %1. The variant that fits this computer is chosen; owner/name:Q8_0 names one.")
                        .arg(m_hub.host));
  };
  connect(m_typed, &QLineEdit::textEdited, this, hint);
  hint();
  connect(&m_queue, &app::DownloadQueue::listed, this, &GetPage::fillDownloads);
  connect(&m_queue, &app::DownloadQueue::changed, this, &GetPage::onChanged);
  connect(&m_shelf, &app::ModelShelf::listed, this, [this] {
    for (ModelCard* card : m_known->cards()) fillKnownButton(*card);
  });
  connect(&m_shelf, &app::ModelShelf::memoryChanged, this, &GetPage::fillKnown);
  fillDownloads();
  fillKnown();
}

std::vector<ModelCard*> GetPage::cards() const {
  std::vector<ModelCard*> all = m_downloads->cards();
  all.insert(all.end(), m_known->cards().begin(), m_known->cards().end());
  return all;
}

void GetPage::getTyped() {
  const std::optional<app::HubName> name = app::readHubName(m_typed->text().trimmed());
  if (!name) {
    m_hint->setText(tr("That is no name of a model. It looks like Qwen/Qwen3-VL-8B-Instruct-GGUF."));
    m_typed->setFocus();
    m_typed->selectAll();
    return;
  }
  m_typed->clear();
  get(*name, name->text());
}

// ---- a token --------------------------------------------------------------------------------------------------------------------------

void GetPage::buildToken(QVBoxLayout& column) {
  m_tokenBox = new QWidget;
  auto* box = new QVBoxLayout(m_tokenBox);
  setMargins(box, 0, 4, 0, 4);
  setSpacing(box, 6);
  auto* row = new QHBoxLayout;
  setSpacing(row, 8);
  m_token = new QLineEdit;
  m_token->setEchoMode(QLineEdit::Password);
  m_token->setPlaceholderText(tr("A token of your account, hf_…"));
  m_token->setAccessibleName(tr("A token of your account at %1").arg(m_hub.host));
  auto* keep = new QPushButton(tr("Use it"));
  keep->setAutoDefault(false);
  keep->setAccessibleName(tr("Use this token"));
  row->addWidget(m_token, 1);
  row->addWidget(keep);
  box->addLayout(row);
  m_tokenSaid =
      captionLabel(tr("Your desktop’s key store keeps it, if there is one. It is sent to %1 only. HF_TOKEN is tried first where it is set.")
                       .arg(m_hub.host));
  box->addWidget(m_tokenSaid);
  m_tokenBox->hide();
  column.addWidget(m_tokenBox);
  connect(m_token, &QLineEdit::returnPressed, this, &GetPage::takeToken);
  connect(keep, &QPushButton::clicked, this, &GetPage::takeToken);
  if (m_hub.keys == nullptr) return;
  const auto say = [this](const QString& text) {
    if (m_asksStore) m_tokenSaid->setText(text);
    m_asksStore = false;
  };
  connect(m_hub.keys, &app::KeyRing::kept, this, [say] { say(tr("Your desktop’s key store keeps the token.")); });
  connect(m_hub.keys, &app::KeyRing::notKept, this,
          [say] { say(tr("The token is used until Winnow ends: there is no key store that keeps it.")); });
}

QString GetPage::tokenSaid() const { return m_tokenSaid->text(); }

void GetPage::openToken() {
  m_tokenBox->show();
  m_token->setFocus();
}

void GetPage::takeToken() {
  const std::string token = m_token->text().trimmed().toStdString();
  if (!app::isServerKey(token)) {
    m_tokenSaid->setText(tr("A token has no spaces and no letters beyond English ones."));
    return m_token->setFocus();
  }
  m_token->clear();
  m_asksStore = true;
  m_tokenSaid->setText(tr("The token is used from now on. Asking your desktop’s key store…"));
  try {
    m_hub.keys->keep(app::serverAddressOf(m_hub.endpoint), token);
  } catch (const Exception&) {
    return m_tokenSaid->setText(tr("HF_ENDPOINT is not an address that a token can be kept for."));
  }
  for (const app::QueuedDownload& download : m_queue.downloads()) {
    if (download.state == State::kFailed && wantsToken(download.fault)) m_queue.resume(download.key);
  }
}

void GetPage::get(const app::HubName& name, const QString& shown) {
  m_queue.add(name.text(), shown, [make = m_hub.make, name] { return make(name); });
}

// ---- downloads ---------------------------------------------------------------------------------------------------------------------

void GetPage::fillDownloads() {
  const bool focused = m_downloads->focused() != nullptr;
  m_downloads->clear();
  for (const app::QueuedDownload& download : m_queue.downloads()) {
    auto* card = new ModelCard(download.key, app::displayText(download.name).simplified());
    m_downloads->add(card);
    fillDownload(*card, download);
  }
  const bool any = !m_downloads->cards().empty();
  m_onItsWay->setVisible(any);
  m_downloads->setVisible(any);
  // The card that was taken away had the keyboard.
  if (focused) any ? focusCard(*m_downloads->cards().front()) : m_typed->setFocus();
}

void GetPage::fillDownload(ModelCard& card, const app::QueuedDownload& download) {
  if (download.state == State::kFailed) {
    const app::ErrorText text = app::describeDownloadFault(download.fault, download.name);
    card.setNote(text.cause + QLatin1Char(' ') + text.remedy, ModelCard::Tone::kWarning);
    card.setToolTip(text.details.toHtmlEscaped());
  } else {
    card.setNote(app::downloadWords(download), download.state == State::kHere ? ModelCard::Tone::kGood : ModelCard::Tone::kMuted);
    card.setToolTip({});
  }
  const bool measured = download.state == State::kRunning || (download.state == State::kPaused && download.toCome > 0);
  measured ? card.showProgress(app::downloadPercent(download)) : card.hideProgress();
  if (card.property(kStateProperty).toInt() != static_cast<int>(download.state)) fillDownloadButtons(card, download);
  card.setProperty(kStateProperty, static_cast<int>(download.state));
}

void GetPage::fillDownloadButtons(ModelCard& card, const app::QueuedDownload& download) {
  const bool focused = m_downloads->focused() == &card;
  card.clearButtons();
  const QString key = download.key;
  if (download.state == State::kHere) {
    connect(card.addButton(tr("Open")), &QPushButton::clicked, this,
            [this, file = download.file, name = download.name] { Q_EMIT openRequested(file, name); });
  } else if (download.onItsWay()) {
    connect(card.addButton(tr("Pause")), &QPushButton::clicked, this, [this, key] { m_queue.pause(key); });
  } else {
    if (download.state == State::kFailed && wantsToken(download.fault) && m_hub.keys != nullptr)
      connect(card.addButton(tr("Enter a token…")), &QPushButton::clicked, this, &GetPage::openToken);
    const QString again = download.state == State::kFailed ? tr("Try again") : tr("Resume");
    connect(card.addButton(again), &QPushButton::clicked, this, [this, key] { m_queue.resume(key); });
  }
  const bool ends = download.state == State::kHere;
  QPushButton* remove = card.addButton(ends ? tr("Hide") : tr("Cancel"));
  if (!ends) remove->setToolTip(tr("What has come stays on the disk, and is used when it is downloaded again"));
  connect(remove, &QPushButton::clicked, this, [this, key] { m_queue.remove(key); });
  if (focused) focusCard(card);
}

void GetPage::onChanged(const QString& key) {
  const std::optional<app::QueuedDownload> download = m_queue.find(key);
  if (ModelCard* card = m_downloads->card(key); card != nullptr && download) fillDownload(*card, *download);
  if (ModelCard* known = m_known->card(key)) fillKnownButton(*known);
}

// ---- known to run ------------------------------------------------------------------------------------------------------------------

void GetPage::fillKnown() {
  const ModelCard* focused = m_known->focused();
  const QString before = focused != nullptr ? focused->key() : QString();
  m_known->clear();
  const app::KnownModel* best = app::bestThatSees(m_hub.known, m_shelf.memory());
  for (const app::KnownModel& model : m_hub.known) {
    auto* card = new ModelCard(model.repository, model.name);
    card->addLine(app::sentenceOf(model.purpose), ModelCard::Tone::kText);
    card->addLine(app::knownFacts(model, m_hub.host), ModelCard::Tone::kMuted);
    const app::FitWords fit = app::needWords(app::memoryNeed(model), m_shelf.memory());
    QStringList said{fit.text};
    if (const QString pace = app::paceWords(model, m_shelf.memory()); !pace.isEmpty()) said << pace;
    if (&model == best) said << tr("The best of these that sees videos here.");
    card->addLine(said.join(QLatin1Char(' ')), fit.good ? ModelCard::Tone::kMuted : ModelCard::Tone::kWarning);
    m_known->add(card);
    fillKnownButton(*card);
  }
  if (ModelCard* same = m_known->card(before)) focusCard(*same);
}

void GetPage::fillKnownButton(ModelCard& card) {
  const bool focused = m_known->focused() == &card;
  const std::optional<app::QueuedDownload> download = m_queue.find(card.key());
  const app::FoundModel* found = here(card.key());
  const bool goesOn = download && download->onItsWay();
  const QString text = goesOn ? tr("On its way") : found != nullptr ? tr("Open") : tr("Get");
  if (card.button(0) != nullptr && card.button(0)->text() == text) return;
  card.clearButtons();
  QPushButton* button = card.addButton(text);
  button->setEnabled(!goesOn);
  connect(button, &QPushButton::clicked, this, [this, key = card.key(), name = card.title()] {
    if (const app::FoundModel* present = here(key)) return Q_EMIT openRequested(present->path, present->name);
    get({key, {}}, name);
  });
  // A button that cannot be pressed loses the keyboard: the focus goes where the download can be steered.
  if (!focused) return;
  ModelCard* steered = goesOn ? m_downloads->card(card.key()) : &card;
  if (steered != nullptr) focusCard(*steered);
}

const app::FoundModel* GetPage::here(const QString& repository) const {
  const auto& models = m_shelf.models();
  const auto found = std::ranges::find_if(models, [&](const app::ListedModel& model) {
    return app::isOf(model.found, {repository, QString()});
  });
  return found != models.end() ? &found->found : nullptr;
}

}  // namespace winnow::ui
