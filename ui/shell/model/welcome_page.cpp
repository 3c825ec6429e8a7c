#include "ui/shell/model/welcome_page.h"

#include <QAbstractButton>
#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/words/display_text.h"
#include "ui/shell/model/model_offer_box.h"
#include "ui/shell/model/model_session.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kMaxCards = 6;

// One sample, or something to begin with: its title and a ready question.
class SampleCard : public QAbstractButton {
 public:
  SampleCard(Glyph glyph, const QString& title, const QString& question) : m_glyph(glyph), m_title(title), m_question(question) {
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_Hover);
    setCursor(Qt::PointingHandCursor);
    setAccessibleName(WelcomePage::tr("Try %1: %2").arg(title, question));
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
  }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override {
    const QRectF room(0, 0, std::max(40, width - theme().px(68)), 10000);
    const qreal title = QFontMetricsF(theme().font(TextRole::kStrong)).boundingRect(room, Qt::TextWordWrap, m_title).height();
    const qreal question = QFontMetricsF(theme().font(TextRole::kCaption)).boundingRect(room, Qt::TextWordWrap, m_question).height();
    return static_cast<int>(std::ceil(title + question)) + theme().px(28);
  }
  QSize sizeHint() const override { return QSize(theme().px(240), heightForWidth(theme().px(240))); }
  QSize minimumSizeHint() const override { return QSize(theme().px(140), theme().px(60)); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Colors& c = theme().colors();
    painter.setBrush(isDown() ? c.pressed : underMouse() ? c.hover : c.surface);
    painter.setPen(QPen(hasFocus() ? c.accent : c.border, hasFocus() ? 1.6 : 1));
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), theme().cornerRadius(), theme().cornerRadius());
    const qreal g = theme().px(24);
    paintGlyph(painter, m_glyph, QRectF(theme().px(14), theme().px(14), g, g), c.accent);
    const QRectF room(theme().px(52), theme().px(12), width() - theme().px(68), height() - theme().px(24));
    const QFont strong = theme().font(TextRole::kStrong);
    const qreal title = QFontMetricsF(strong).boundingRect(QRectF(0, 0, room.width(), 10000), Qt::TextWordWrap, m_title).height();
    painter.setFont(strong);
    painter.setPen(c.text);
    painter.drawText(QRectF(room.left(), room.top(), room.width(), title + 1), Qt::TextWordWrap, m_title);
    painter.setFont(theme().font(TextRole::kCaption));
    painter.setPen(c.mutedText);
    painter.drawText(QRectF(room.left(), room.top() + title + theme().px(3), room.width(), room.height() - title), Qt::TextWordWrap,
                     m_question);
  }

 private:
  Glyph m_glyph;
  QString m_title;
  QString m_question;
};

}  // namespace

WelcomePage::WelcomePage(QList<app::Sample> samples, const ModelSession& model, const Offers& offers, QWidget* parent)
    : QScrollArea(parent), m_model(model), m_samples(std::move(samples)), m_offers(offers) {
  setFrameShape(QFrame::NoFrame);
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName(tr("Welcome"));
  setFocusPolicy(Qt::NoFocus);
  m_content = new QWidget;
  auto* outer = new QHBoxLayout(m_content);
  setMargins(outer, 24, 20, 24, 20);
  auto* column = new QWidget;
  column->setMaximumWidth(theme().px(760));
  outer->addStretch(1);
  outer->addWidget(column, 100);
  outer->addStretch(1);
  connect(&theme(), &Theme::changed, column, [this, column] {
    column->setMaximumWidth(theme().px(760));
    arrange();
  });
  auto* layout = new QVBoxLayout(column);
  layout->setContentsMargins(0, 0, 0, 0);
  setSpacing(layout, 8);
  layout->addStretch(2);
  auto* mark = new QLabel;
  mark->setPixmap(applicationIcon().pixmap(48, 48));
  layout->addWidget(mark);
  m_title = new QLabel;
  m_title->setWordWrap(true);
  setTextRole(m_title, TextRole::kTitle);
  layout->addWidget(m_title);
  m_words = new QLabel;
  m_words->setWordWrap(true);
  setMuted(m_words);
  layout->addWidget(m_words);
  addGap(layout, 12);
  m_modelLine = wrappedLabel();
  layout->addWidget(m_modelLine);
  m_choose = new QPushButton(tr("Choose a model…"));
  setPrimary(m_choose);
  layout->addWidget(m_choose, 0, Qt::AlignLeft);
  layout->addWidget(m_offers.seeing);
  layout->addWidget(m_offers.text);
  addGap(layout, 8);
  m_try = lineLabel(QString(), TextRole::kStrong);
  layout->addWidget(m_try);
  m_grid = new QGridLayout;
  setSpacing(m_grid, 10);
  layout->addLayout(m_grid);
  layout->addStretch(3);
  for (const app::Sample& sample : m_samples) {
    if (m_sampleCards.size() >= kMaxCards || sample.questions.isEmpty()) continue;
    addCard(m_sampleCards, sample.file, app::displayText(sample.title), sample.questions.first().question);
  }
  addCard(m_starterCards, {}, tr("Explain"), tr("Why is the sky blue? Explain it in three sentences."));
  addCard(m_starterCards, {}, tr("Write"), tr("Write a short, friendly note that I will be ten minutes late."));
  addCard(m_starterCards, {}, tr("List"), tr("Name five things to take on a day’s walk in the hills."));
  setWidget(m_content);
  connect(m_choose, &QPushButton::clicked, this, &WelcomePage::chooseModelRequested);
  connect(&m_model, &ModelSession::changed, this, &WelcomePage::describeModel);
  describeModel();
}

void WelcomePage::addCard(QList<QWidget*>& cards, const QString& file, const QString& title, const QString& question) {
  auto* card = new SampleCard(file.isEmpty() ? Glyph::kChat : Glyph::kFilm, title, question);
  connect(card, &QAbstractButton::clicked, this, [this, file, question] { Q_EMIT sampleChosen(file, question); });
  card->setParent(m_content);
  card->hide();
  cards.append(card);
}

// The demo model knows only its own small world, and the page says so.
void WelcomePage::describeModel() {
  const bool ready = m_model.state() == ModelState::kReady || m_model.state() == ModelState::kLoading;
  m_choose->setVisible(!ready);
  const bool text = m_model.readsTextOnly();
  m_offers.text->setWanted(!ready || m_model.isDemo());
  m_offers.seeing->setWanted(!ready || m_model.isDemo() || text);
  const bool images = m_model.readsNoVideos();
  m_title->setText(text     ? tr("Ask something")
                   : images ? tr("What would you like to see in your picture?")
                            : tr("What would you like to see in your video?"));
  const QString server = ready ? app::displayText(QString::fromStdString(m_model.info().server)) : QString();
  m_words->setText(
      !server.isEmpty() ? tr("Ask questions. What you ask and attach is sent to %1.").arg(server)
      : text            ? tr("Ask questions and see what the model keeps in memory. Everything stays on this computer.")
      : images
          ? tr("Attach an image, ask questions, and see what the model keeps in memory. Everything stays on this computer.")
          : tr("Attach an image or a video, ask questions, and see what the model keeps in memory. Everything stays on this computer."));
  m_try->setText(text ? tr("Try a question") : tr("Try a sample"));
  if (!ready) {
    m_modelLine->setText(tr("First choose a model: a GGUF file, or a folder from Hugging Face."));
  } else if (m_model.isDemo()) {
    m_modelLine->setText(
        tr("The demo model is loaded. It is tiny and knows only coloured shapes and letters on cards. For real videos, get a larger "
           "model here, or open one with Model > Open a folder."));
  } else if (text) {
    m_modelLine->setText(tr("%1 is loaded. It reads text only.").arg(app::displayText(QString::fromStdString(m_model.info().name))));
  } else {
    m_modelLine->setText(
        tr("%1 is loaded. Drop a file anywhere in this window.").arg(app::displayText(QString::fromStdString(m_model.info().name))));
  }
  arrange();
}

void WelcomePage::arrange() {
  // The samples are videos.
  const QList<QWidget*> cards = m_model.readsTextOnly() ? m_starterCards : m_model.readsNoVideos() ? QList<QWidget*>() : m_sampleCards;
  const int columns = viewport()->width() >= theme().px(560) ? 2 : 1;
  m_try->setVisible(!cards.isEmpty());
  if (columns == m_columns && cards == m_shownCards) return;
  for (QWidget* card : m_shownCards) {
    m_grid->removeWidget(card);
    card->setVisible(cards.contains(card));
  }
  m_columns = columns;
  m_shownCards = cards;
  for (int i = 0; i < cards.size(); ++i) {
    m_grid->addWidget(cards[i], i / columns, i % columns);
    cards[i]->show();
  }
}

void WelcomePage::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  arrange();
}

}  // namespace winnow::ui
