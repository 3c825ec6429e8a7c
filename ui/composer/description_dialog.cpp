#include "ui/composer/description_dialog.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "app/words/format_text.h"
#include "ui/theme/dialog_page.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr std::string_view kEnds = ".!?\n,;:";

bool endsPart(const std::string& bytes) { return bytes.find_first_of(kEnds) != std::string::npos; }

DescribedSentence sentenceOf(const std::vector<DescribedWord>& words) {
  std::string bytes;
  std::map<std::pair<int, int>, int> shown;
  for (const DescribedWord& word : words) {
    bytes += word.bytes;
    if (word.media >= 0 && !endsPart(word.bytes)) ++shown[{word.media, word.frame}];
  }
  DescribedSentence sentence{.text = QString::fromStdString(bytes).trimmed()};
  const auto most = std::max_element(shown.begin(), shown.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != shown.end()) std::tie(sentence.media, sentence.frame) = most->first;
  return sentence;
}

}  // namespace

QList<DescribedSentence> sentencesOf(const Description& description) {
  QList<DescribedSentence> sentences;
  std::vector<DescribedWord> words;
  const auto take = [&] {
    DescribedSentence sentence = sentenceOf(std::exchange(words, {}));
    if (!sentence.text.isEmpty()) sentences.append(std::move(sentence));
  };
  for (const DescribedWord& word : description.words) {
    words.push_back(word);
    if (endsPart(word.bytes)) take();
  }
  take();
  return sentences;
}

QHash<int, QList<app::FileLine>> describedLines(const Description& description, const QList<DescribedMedium>& media) {
  QHash<int, QList<app::FileLine>> lines;
  int medium = 0, frame = 0;
  for (const DescribedSentence& sentence : sentencesOf(description)) {
    if (sentence.media >= 0 && std::exchange(medium, sentence.media) != sentence.media) frame = 0;
    if (sentence.frame >= 0) frame = sentence.frame;
    if (medium >= media.size()) continue;
    app::FileLine line{app::LineKind::kDescribed};
    line.text = sentence.text;
    while (line.text.endsWith(QLatin1Char(',')) || line.text.endsWith(QLatin1Char(';'))) line.text.chop(1);  // of an enumeration
    const std::vector<double>& times = media[medium].times;
    if (media[medium].kind == MediaKind::kDocument) {
      line.line = frame;
    } else if (!times.empty()) {
      const std::size_t shown = std::min(static_cast<std::size_t>(frame), times.size() - 1);
      line.startS = times[shown];
      line.endS = times[std::min(shown + 1, times.size() - 1)];
    }
    lines[medium].append(line);
  }
  return lines;
}

DescriptionDialog::DescriptionDialog(const QList<DescribedSentence>& sentences, bool useful, const QList<DescribedMedium>& media,
                                     QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("What is kept"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* outer = new QVBoxLayout(this);
  outer->addWidget(
      wrappedLabel(tr("Before your question, the model wrote this description for itself. It keeps what it looked at for these words. "
                      "Questions about anything missing here may fail.")));
  if (!useful)
    outer->addWidget(
        wrappedLabel(tr("The description says little, so the model also repeated everything once and kept what it needed for that.")));
  auto* page = new QWidget;
  auto* grid = new QGridLayout(page);
  grid->setColumnStretch(1, 1);
  int row = 0;
  for (const DescribedSentence& sentence : sentences) {
    const bool known = sentence.media >= 0 && sentence.media < media.size();
    if (known) {
      const DescribedMedium& medium = media[sentence.media];
      const int frames = static_cast<int>(medium.times.size());
      const int frame = std::clamp(sentence.frame, 0, std::max(0, frames - 1));
      const bool text = medium.kind == MediaKind::kDocument;
      const int place = text ? std::max(0, sentence.frame) : frame;
      auto* button = new QPushButton(text         ? tr("Line %1").arg(place + 1)
                                     : frames > 0 ? app::formatClock(medium.times[static_cast<std::size_t>(frame)])
                                                  : tr("Image"));
      button->setAccessibleName(text ? tr("Show the line of: %1").arg(sentence.text) : tr("Show the frame of: %1").arg(sentence.text));
      connect(button, &QPushButton::clicked, this,
              [this, medium, place] { Q_EMIT frameActivated(medium.path, medium.kind, medium.times, place); });
      grid->addWidget(button, row, 0, Qt::AlignTop);
      m_buttons.append(button);
    }
    QLabel* said = wrappedLabel(sentence.text);
    said->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    grid->addWidget(said, row++, 1);
  }
  grid->setRowStretch(row, 1);
  outer->addWidget(scrolling(page), 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  outer->addWidget(buttons);
  if (parent != nullptr)
    resize(std::min(theme().px(560), parent->window()->width() - theme().px(24)),
           std::min(theme().px(480), parent->window()->height() - theme().px(24)));
}

}  // namespace winnow::ui
