#include "ui/settings_view/settings_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>

#include "app/words/format_text.h"
#include "engine/recipes/method_info.h"
#include "ui/recipes/recipe_words.h"
#include "ui/settings_view/sampling_form.h"
#include "ui/theme/dialog_page.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr const char* kMethodKeys[] = {app::setting_keys::kMethod, app::setting_keys::kRetention, app::setting_keys::kRecipe,
                                       app::setting_keys::kLaterQuestions};

QLabel* section(const QString& text) { return lineLabel(text, TextRole::kHeading); }

}  // namespace

SettingsDialog::SettingsDialog(app::Settings& settings, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Settings"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* outer = new QVBoxLayout(this);
  auto* page = new QWidget;
  QFormLayout* form = formOn(page);

  form->addRow(section(tr("Appearance")));
  auto* mode = new QComboBox;
  mode->addItem(tr("As the system"), int(app::Theme::kSystem));
  mode->addItem(tr("Light"), int(app::Theme::kLight));
  mode->addItem(tr("Dark"), int(app::Theme::kDark));
  mode->setCurrentIndex(mode->findData(int(settings.theme())));
  form->addRow(tr("Colours"), mode);
  auto* zoom = new QSpinBox;
  zoom->setRange(Theme::kMinZoomPercent, Theme::kMaxZoomPercent);
  zoom->setSingleStep(5);
  zoom->setSuffix(tr(" %"));
  zoom->setKeyboardTracking(false);  // half-typed numbers should not resize the window
  zoom->setValue(qRound(settings.zoom() * 100));
  form->addRow(tr("Text and control size"), zoom);

  form->addRow(section(tr("Chat")));
  auto* send = new QComboBox;
  send->addItem(tr("Enter (new line: Shift+Enter)"), int(app::SendKey::kEnter));
  send->addItem(tr("Ctrl+Enter (new line: Enter)"), int(app::SendKey::kControlEnter));
  send->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  send->setMinimumContentsLength(20);
  send->setCurrentIndex(send->findData(int(settings.sendKey())));
  form->addRow(tr("Send with"), send);

  form->addRow(section(tr("Defaults for new chats")));
  auto* prompt = new QPlainTextEdit(settings.chatDefaults().systemPrompt);
  setFocusFrame(prompt);
  prompt->setPlaceholderText(tr("Leave empty to use the model's own"));
  prompt->setTabChangesFocus(true);
  prompt->setFixedHeight(theme().px(64));
  prompt->setAccessibleName(tr("System prompt of new chats"));
  form->addRow(tr("System prompt of new chats"), prompt);
  // Chosen in a chat's method card, for all that follow.
  auto* method = wrappedLabel();
  auto* standard = new QPushButton(tr("Winnow's own"));
  standard->setAutoDefault(false);
  standard->setToolTip(tr("New chats begin with the method and share that Winnow comes with"));
  auto* methodRow = new QHBoxLayout;
  methodRow->addWidget(method, 1);
  methodRow->addWidget(standard);
  form->addRow(tr("Cache method of new chats"), methodRow);
  const auto showMethod = [&settings, method, standard] {
    method->setText(recipeLabel(list_methods(), settings.defaultRecipe()));
    standard->setEnabled(settings.defaultRecipe() != app::Settings().defaultRecipe() || settings.laterQuestions() != Guard::kKeep);
  };
  showMethod();
  connect(standard, &QPushButton::clicked, this, [&settings, showMethod] {
    for (const char* key : kMethodKeys) settings.reset(QLatin1String(key));
    showMethod();
  });
  auto* sampling = new SamplingForm(*form, app::Settings::kMostNewTokens, this);
  sampling->setValues(settings.chatDefaults().sampling);

  form->addRow(section(tr("Videos")));
  auto* frames = new QSpinBox;
  frames->setRange(1, 1024);
  frames->setValue(settings.defaultFrameCount());
  frames->setToolTip(tr("64: fewer where this computer would take more than about a minute for them"));
  form->addRow(tr("Frames per video"), frames);

  const auto whenUnasked = [this] {
    auto* when = new QComboBox;
    when->addItem(tr("On mains power"), int(app::Unasked::kOnMains));
    when->addItem(tr("Always"), int(app::Unasked::kAlways));
    when->addItem(tr("Never"), int(app::Unasked::kNever));
    return when;
  };
  const auto showUnasked = [&settings](QComboBox* prepare, QComboBox* check, QComboBox* listen) {
    prepare->setCurrentIndex(prepare->findData(int(settings.unasked().prepare)));
    check->setCurrentIndex(check->findData(int(settings.unasked().check)));
    listen->setCurrentIndex(listen->findData(int(settings.unasked().listen)));
  };
  auto* prepare = whenUnasked();
  form->addRow(tr("Prepare attachments in advance"), prepare);
  auto* check = whenUnasked();
  check->setToolTip(
      tr("While nothing else is to be done, an answer from a compressed cache is checked word by word, if that takes under %1")
          .arg(app::formatSeconds(app::UnaskedWork::kMostCheckMs)));
  form->addRow(tr("Check answers against the full cache"), check);
  auto* listen = whenUnasked();
  listen->setToolTip(tr("A video or a sound of under %1 is listened to as soon as it is attached, where a model that hears is installed")
                         .arg(app::formatSeconds(1'000.0 * app::UnaskedWork::kMostHeardS)));
  form->addRow(tr("Listen to what is said in videos"), listen);
  showUnasked(prepare, check, listen);
  auto* keep = new QCheckBox(tr("Save what a chat has read, to continue it later"));
  keep->setChecked(settings.keepConversations());
  form->addRow(keep);

  form->addRow(section(tr("Models")));
  auto* load = new QCheckBox(tr("Load the last model when Winnow starts"));
  load->setChecked(settings.atStart().loadModel);
  form->addRow(load);
  auto* serve = new QCheckBox(tr("Serve to other programs when Winnow starts"));
  serve->setChecked(settings.atStart().serve);
  form->addRow(serve);

  outer->addWidget(scrolling(page), 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  auto* reset = buttons->addButton(tr("Reset all"), QDialogButtonBox::ResetRole);
  outer->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);

  const auto show = [=, &settings] {
    mode->setCurrentIndex(mode->findData(int(settings.theme())));
    zoom->setValue(qRound(settings.zoom() * 100));
    send->setCurrentIndex(send->findData(int(settings.sendKey())));
    const QSignalBlocker heldPrompt(prompt);
    const QSignalBlocker heldSampling(sampling);
    const app::ChatDefaults answers = settings.chatDefaults();
    prompt->setPlainText(answers.systemPrompt);
    sampling->setValues(answers.sampling);
    frames->setValue(settings.defaultFrameCount());
    showUnasked(prepare, check, listen);
    keep->setChecked(settings.keepConversations());
    load->setChecked(settings.atStart().loadModel);
    serve->setChecked(settings.atStart().serve);
  };
  const auto resetAll = [&settings, show, showMethod] {
    for (const char* key :
         {app::setting_keys::kTheme, app::setting_keys::kZoom, app::setting_keys::kSendKey, app::setting_keys::kMaxNewTokens,
          app::setting_keys::kLongestAnswer, app::setting_keys::kSampling, app::setting_keys::kSystemPrompt, app::setting_keys::kFrameCount,
          app::setting_keys::kPrepareMode, app::setting_keys::kCheckAnswers, app::setting_keys::kListen,
          app::setting_keys::kKeepConversations, app::setting_keys::kAutoLoadModel, app::setting_keys::kServeAtStart}) {
      settings.reset(QLatin1String(key));
    }
    for (const char* key : kMethodKeys) settings.reset(QLatin1String(key));
    show();
    showMethod();
  };
  connect(reset, &QPushButton::clicked, this, [this, resetAll] {
    auto* box = new QMessageBox(QMessageBox::Question, tr("Reset all settings?"),
                                tr("Every setting on this page gets its first value again."), QMessageBox::Cancel, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    const QPushButton* yes = box->addButton(tr("Reset all"), QMessageBox::AcceptRole);
    box->setDefaultButton(QMessageBox::Cancel);
    connect(box, &QMessageBox::buttonClicked, this, [yes, resetAll](const QAbstractButton* clicked) {
      if (clicked == yes) resetAll();
    });
    box->open();
  });
  connect(mode, &QComboBox::activated, this,
          [&settings, mode] { settings.setTheme(static_cast<app::Theme>(mode->currentData().toInt())); });
  connect(zoom, &QSpinBox::valueChanged, this, [&settings](int percent) { settings.setZoom(percent / 100.0); });
  connect(send, &QComboBox::activated, this,
          [&settings, send] { settings.setSendKey(static_cast<app::SendKey>(send->currentData().toInt())); });
  const auto takeAnswers = [&settings, prompt, sampling] { settings.setChatDefaults({sampling->values(), prompt->toPlainText()}); };
  connect(sampling, &SamplingForm::changed, this, takeAnswers);
  connect(prompt, &QPlainTextEdit::textChanged, this, takeAnswers);
  connect(frames, &QSpinBox::valueChanged, this, [&settings](int value) { settings.setDefaultFrameCount(value); });
  for (QComboBox* when : {prepare, check, listen}) {
    connect(when, &QComboBox::activated, this, [&settings, prepare, check, listen] {
      const auto chosen = [](const QComboBox* box) { return static_cast<app::Unasked>(box->currentData().toInt()); };
      settings.setUnasked({chosen(prepare), chosen(check), chosen(listen)});
    });
  }
  connect(keep, &QCheckBox::toggled, this, [&settings](bool on) { settings.setKeepConversations(on); });
  const auto takeStart = [&settings, load, serve] {
    app::AtStart atStart = settings.atStart();
    atStart.loadModel = load->isChecked();
    atStart.serve = serve->isChecked();
    settings.setAtStart(atStart);
  };
  connect(load, &QCheckBox::clicked, this, takeStart);
  connect(serve, &QCheckBox::clicked, this, takeStart);
  if (parent != nullptr)
    resize(std::min(theme().px(520), parent->window()->width() - theme().px(24)),
           std::min(theme().px(520), parent->window()->height() - theme().px(24)));
}

}  // namespace winnow::ui
