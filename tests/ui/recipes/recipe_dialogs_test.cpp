// The method picker and the recipe editor in the real window, by keys and mouse.
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QWheelEvent>

#include "tests/ui/support/window_fixture.h"
#include "ui/composer/method_control.h"
#include "ui/recipes/method_cards.h"
#include "ui/recipes/method_picker.h"
#include "ui/recipes/option_field.h"
#include "ui/recipes/recipe_editor.h"

namespace winnow::test {
namespace {

class RecipeDialogs : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    app::NamedRecipe recipe{.spec = {.method = "vl-cache"}};
    m_settings->setDefaultRecipe(recipe);
    m_window->page().startNew();
  }
  template <class Dialog>
  Dialog* shown() {
    Dialog* found = nullptr;
    EXPECT_TRUE(waitUntil([&] {
      for (Dialog* dialog : m_window->findChildren<Dialog*>()) {
        if (dialog->isVisible()) found = dialog;
      }
      return found != nullptr;
    }));
    return found;
  }
  template <class Dialog>
  bool gone() {
    return waitUntil([&] {
      const auto dialogs = m_window->findChildren<Dialog*>();
      return std::none_of(dialogs.begin(), dialogs.end(), [](const Dialog* dialog) { return dialog->isVisible(); });
    });
  }
  ui::MethodPicker* pick() {
    composer()->method()->openCard();
    QTest::keyClick(composer()->method()->pickButton(), Qt::Key_Space);
    return shown<ui::MethodPicker>();
  }
  ui::RecipeEditor* edit() {
    composer()->method()->openCard();
    QTest::mouseClick(composer()->method()->changeButton(), Qt::LeftButton);
    return shown<ui::RecipeEditor>();
  }
  static void chooseData(QComboBox* box, const QString& data) {
    ASSERT_GE(box->findData(data), 0) << data.toStdString();
    box->setCurrentIndex(box->findData(data));
  }
  const RecipeSpec& spec() { return session().chat.options().recipe.spec; }
  Turn lastTurn() { return std::get<Turn>(m_log->requests().back().body); }
};

TEST_F(RecipeDialogs, TypingFindsAMethodAndEnterUsesIt) {
  ui::MethodPicker* picker = pick();
  EXPECT_TRUE(picker->search()->hasFocus() || picker->focusWidget() == picker->search());
  const int all = picker->list()->model()->rowCount();
  EXPECT_EQ(all, static_cast<int>(list_methods().size()));
  EXPECT_EQ(picker->selected()->spec.method, "vl-cache") << "what is in use is not selected";
  QTest::keyClicks(picker->search(), QStringLiteral("merges writing wan"));
  EXPECT_EQ(picker->list()->model()->rowCount(), 1) << "D2O alone merges while writing and is by Wan";
  EXPECT_EQ(picker->selected()->spec.method, "d2o");
  picker->search()->clear();
  QTest::keyClicks(picker->search(), QStringLiteral("merges quagga"));
  EXPECT_EQ(picker->list()->model()->rowCount(), 0);
  EXPECT_FALSE(picker->useButton()->isEnabled());
  EXPECT_FALSE(picker->noticeText().isEmpty());
  picker->search()->clear();
  EXPECT_TRUE(picker->noticeText().isEmpty());
  QTest::keyClicks(picker->search(), QStringLiteral("2404.14469"));
  QTest::keyClick(picker->search(), Qt::Key_Return);
  ASSERT_TRUE(gone<ui::MethodPicker>());
  EXPECT_EQ(spec().method, "snapkv");
  EXPECT_EQ(composer()->method()->text(), QStringLiteral("SnapKV · 20\u202f%"));
  ask(QStringLiteral("What color is the star?"));
  EXPECT_EQ(lastTurn().recipe.method, "snapkv");
}

TEST_F(RecipeDialogs, ArrowsMoveAndEscapeLeavesEverything) {
  const app::NamedRecipe before = session().chat.options().recipe;
  ui::MethodPicker* picker = pick();
  const QModelIndex start = picker->list()->currentIndex();
  QTest::keyClick(picker->search(), Qt::Key_Down);
  EXPECT_EQ(picker->list()->currentIndex().row(), start.row() + 1);
  for (int i = 0; i < 40; ++i) QTest::keyClick(picker->search(), Qt::Key_PageUp);
  EXPECT_EQ(picker->list()->currentIndex().row(), 0);
  QTest::keyClick(picker->search(), Qt::Key_Escape);
  ASSERT_TRUE(gone<ui::MethodPicker>());
  EXPECT_EQ(session().chat.options().recipe, before);
}

TEST_F(RecipeDialogs, AClickOnACardSelectsAndTheButtonUses) {
  ui::MethodPicker* picker = pick();
  const auto* model = qobject_cast<const ui::MethodCardModel*>(picker->list()->model());
  app::NamedRecipe wanted{.spec = {.method = "aircache"}};
  const QModelIndex index = model->index(model->rowOf(wanted));
  picker->list()->scrollTo(index);
  QTest::mouseClick(picker->list()->viewport(), Qt::LeftButton, {}, picker->list()->visualRect(index).center());
  EXPECT_EQ(picker->selected()->spec.method, "aircache");
  const QString said = index.data(Qt::AccessibleTextRole).toString();
  for (const char* part : {"AirCache", "2503.23956", "question", "Limits"})
    EXPECT_TRUE(said.contains(QLatin1String(part))) << part << ": " << said.toStdString();
  QTest::mouseClick(picker->useButton(), Qt::LeftButton);
  ASSERT_TRUE(gone<ui::MethodPicker>());
  EXPECT_EQ(spec().method, "aircache");
}

TEST_F(RecipeDialogs, WhatTheModelCannotDoIsGreyAndSaysWhy) {
  ModelTraits threeAxes{.position_axes = 3, .joined_frames = 2, .judges_patches = false};
  ui::MethodPicker picker(list_methods(), *m_settings, session().chat.options().recipe, threeAxes);
  const auto* model = qobject_cast<const ui::MethodCardModel*>(picker.list()->model());
  for (const auto& [method, why] : {std::pair{"ems-no-position", "height and width"}, std::pair{"fastervlm", "vision encoder"},
                                    std::pair{"prefixkv-profile", "profile"}, std::pair{"snapkv", ""}}) {
    app::NamedRecipe wanted{.spec = {.method = method}};
    const QModelIndex index = model->index(model->rowOf(wanted));
    picker.list()->setCurrentIndex(index);
    const bool possible = *why == '\0';
    EXPECT_EQ(picker.useButton()->isEnabled(), possible) << method;
    EXPECT_TRUE(picker.changeButton()->isEnabled()) << "its options may help";
    const QString said = index.data(Qt::AccessibleTextRole).toString();
    EXPECT_EQ(said.contains(QStringLiteral("Not with this model")), !possible) << said.toStdString();
    EXPECT_TRUE(said.contains(QLatin1String(why))) << said.toStdString();
  }
}

TEST_F(RecipeDialogs, AnIllegalMixtureIsRefusedWithASentence) {
  ui::RecipeEditor* editor = edit();
  EXPECT_TRUE(editor->legal());
  chooseData(editor->methodBox(), QStringLiteral("h2o"));
  EXPECT_TRUE(editor->legal());
  chooseData(editor->partBox("scorer"), QStringLiteral("window-votes"));
  EXPECT_FALSE(editor->legal());
  EXPECT_FALSE(editor->useButton()->isEnabled());
  EXPECT_FALSE(editor->saveButton()->isEnabled());
  EXPECT_TRUE(editor->verdict().contains(QStringLiteral("window-votes cannot"))) << editor->verdict().toStdString();
  EXPECT_TRUE(editor->verdict().startsWith(QStringLiteral("Choice of tokens"))) << editor->verdict().toStdString();
  QTest::keyClick(editor->nameEdit(), Qt::Key_Return);
  EXPECT_TRUE(editor->isVisible()) << "an illegal recipe was used";
  chooseData(editor->partBox("scorer"), QString());
  EXPECT_TRUE(editor->useButton()->isEnabled());
  // A number out of its range is the engine's to refuse as well.
  auto* share = editor->findChild<QLineEdit*>(QStringLiteral("option:recent_share"));
  ASSERT_NE(share, nullptr);
  share->setText(QStringLiteral("1.5"));
  EXPECT_FALSE(editor->legal());
  EXPECT_TRUE(editor->verdict().contains(QStringLiteral("recent_share must be a number from 0 to 1"))) << editor->verdict().toStdString();
  editor->reject();
}

TEST_F(RecipeDialogs, AMixtureIsEditedSavedUsedAndStillThereAfterARestart) {
  ui::RecipeEditor* editor = edit();
  chooseData(editor->methodBox(), QStringLiteral("snapkv"));
  editor->findChild<QSpinBox*>(QStringLiteral("option:window"))->setValue(16);
  editor->findChild<QComboBox*>(QStringLiteral("option:pooling"))->setCurrentText(QStringLiteral("max"));
  chooseData(editor->partBox("allocator"), QStringLiteral("sparsity"));
  chooseData(editor->partBox("reducer"), QStringLiteral("gated"));
  editor->findChild<QComboBox*>(QStringLiteral("budget kind"))->setCurrentIndex(1);
  editor->findChild<QSpinBox*>(QStringLiteral("slots"))->setValue(48);
  editor->findChild<QSpinBox*>(QStringLiteral("min_event_tokens"))->setValue(10);
  editor->findChild<QComboBox*>(QStringLiteral("kv"))->setCurrentText(QStringLiteral("8 bits"));
  auto* before = editor->findChild<QComboBox*>(QStringLiteral("before"));
  auto* read = editor->findChild<QDoubleSpinBox*>(QStringLiteral("before share"));
  EXPECT_FALSE(read->isVisible()) << "everything is read";
  before->setCurrentIndex(before->findData(static_cast<int>(BeforeMethod::kEvs)));
  EXPECT_TRUE(read->isVisible());
  read->setValue(30.0);
  editor->findChild<QLineEdit*>(QStringLiteral("seed"))->setText(QStringLiteral("18446744073709551615"));
  ASSERT_TRUE(editor->legal()) << editor->verdict().toStdString();
  QTest::keyClicks(editor->nameEdit(), QStringLiteral("tiny cards"));
  QTest::mouseClick(editor->saveButton(), Qt::LeftButton);
  EXPECT_TRUE(editor->verdict().contains(QStringLiteral("Saved"))) << editor->verdict().toStdString();
  QTest::mouseClick(editor->useButton(), Qt::LeftButton);
  ASSERT_TRUE(gone<ui::RecipeEditor>());

  app::NamedRecipe expected;
  expected.name = "tiny cards";
  expected.spec.method = "snapkv";
  expected.spec.options = {{"pooling", "max"}, {"window", "16"}};
  expected.spec.allocator = "sparsity";
  expected.spec.reducer = "gated";
  expected.spec.budget_tokens = 48;
  expected.spec.min_event_tokens = 10;
  expected.spec.kv_bits = 8;
  expected.spec.before = {BeforeMethod::kEvs, 0.3};
  expected.spec.seed = 18446744073709551615ULL;
  EXPECT_EQ(session().chat.options().recipe, expected);
  ask(QStringLiteral("What color is the star?"));
  EXPECT_EQ(lastTurn().recipe, expected.spec) << "the engine was given another recipe";
  EXPECT_EQ(last().metrics.method, QStringLiteral("tiny cards · 48 slots"));
  const qint64 answer = last().id;

  ASSERT_TRUE(reopened(2));
  EXPECT_EQ(session().chat.message(answer)->run.recipe, expected) << "the answer forgot how it was made";
  EXPECT_EQ(session().chat.options().recipe, expected);
  EXPECT_EQ(composer()->method()->text(), QStringLiteral("tiny cards · 48 slots"));
  EXPECT_EQ(last().metrics.method, QStringLiteral("tiny cards · 48 slots"));
  ui::MethodPicker* picker = pick();
  EXPECT_EQ(picker->list()->model()->rowCount(), static_cast<int>(list_methods().size()) + 1);
  EXPECT_EQ(*picker->selected(), expected);
  // Opened again, the editor shows what was saved.
  QTest::mouseClick(picker->changeButton(), Qt::LeftButton);
  editor = shown<ui::RecipeEditor>();
  EXPECT_EQ(editor->recipe(), expected);
  EXPECT_TRUE(editor->legal());
  editor->reject();
}

TEST_F(RecipeDialogs, ADeletedRecipeComesBackWithUndo) {
  app::NamedRecipe saved{.name = "mine", .spec = {.method = "vl-cache", .allocator = "meda"}};
  m_settings->saveRecipe(saved);
  ui::MethodPicker* picker = pick();
  QTest::keyClicks(picker->search(), QStringLiteral("mine"));
  ASSERT_TRUE(picker->deleteButton()->isEnabled());
  QTest::keyClick(picker->search(), Qt::Key_Delete, Qt::ControlModifier);
  EXPECT_TRUE(m_settings->savedRecipes().empty());
  ASSERT_TRUE(picker->undoButton()->isVisible());
  QTest::mouseClick(picker->undoButton(), Qt::LeftButton);
  EXPECT_EQ(m_settings->savedRecipes(), std::vector<app::NamedRecipe>{saved});
  picker->search()->clear();
  EXPECT_EQ(*picker->selected(), saved);
  picker->reject();
}

TEST_F(RecipeDialogs, ExportedRecipesAreImportedAndBadFilesNameTheField) {
  const QString file = m_folder.filePath(QStringLiteral("mix.json"));
  ui::RecipeEditor* editor = edit();
  chooseData(editor->partBox("allocator"), QStringLiteral("cross-modal-entropy"));
  editor->nameEdit()->setText(QStringLiteral("from a friend"));
  const app::NamedRecipe sent = editor->recipe();
  editor->exportTo(QFile::encodeName(file));
  EXPECT_TRUE(editor->verdict().contains(QStringLiteral("mix.json"))) << editor->verdict().toStdString();
  editor->exportTo(QFile::encodeName(m_folder.filePath(QStringLiteral("no folder/x.json"))));
  EXPECT_TRUE(editor->verdict().contains(QStringLiteral("cannot be written"))) << editor->verdict().toStdString();
  editor->reject();
  ASSERT_TRUE(gone<ui::RecipeEditor>());

  ui::MethodPicker* picker = pick();
  picker->importFile(QFile::encodeName(file));
  EXPECT_EQ(*picker->selected(), sent) << picker->noticeText().toStdString();
  EXPECT_EQ(m_settings->savedRecipes(), std::vector<app::NamedRecipe>{sent});
  QFile bad(m_folder.filePath(QStringLiteral("bad.json")));
  ASSERT_TRUE(bad.open(QIODevice::WriteOnly));
  bad.write(R"({"format": "winnow-recipe", "version": 1, "method": "vl-cache", "budget_tokens": -4})");
  bad.close();
  picker->importFile(QFile::encodeName(bad.fileName()));
  EXPECT_TRUE(picker->noticeText().contains(QStringLiteral("bad.json"))) << picker->noticeText().toStdString();
  EXPECT_TRUE(picker->noticeText().contains(QStringLiteral("budget_tokens"))) << picker->noticeText().toStdString();
  QFile illegal(m_folder.filePath(QStringLiteral("illegal.json")));
  ASSERT_TRUE(illegal.open(QIODevice::WriteOnly));
  illegal.write(R"({"format": "winnow-recipe", "version": 1, "method": "h2o", "parts": {"scorer": "snapkv"}})");
  illegal.close();
  picker->importFile(QFile::encodeName(illegal.fileName()));
  EXPECT_TRUE(picker->noticeText().contains(QStringLiteral("window-votes"))) << picker->noticeText().toStdString();
  EXPECT_EQ(m_settings->savedRecipes().size(), 1u);
  picker->reject();
}

// Every preset and its own values: what the editor shows is what was given.
TEST_F(RecipeDialogs, TheEditorShowsEveryMethodWithoutChangingIt) {
  for (const MethodInfo& method : list_methods()) {
    app::NamedRecipe plain{.spec = {.method = method.name, .retention = 0.0725}};
    ModelTraits traits{.measured = {{"profile", "0.5=0.5:0.5"}, {"head_scores", "0.5:0.5"}}};
    const ui::RecipeEditor editor(list_methods(), *m_settings, plain, traits);
    EXPECT_EQ(editor.recipe(), plain) << method.name;
    EXPECT_TRUE(editor.legal()) << method.name << ": " << editor.verdict().toStdString();
  }
}

// What stands in the form when it opens and what comes with another method have the room that they ask for.
TEST_F(RecipeDialogs, OptionsOfAnotherMethodAreShownInFull) {
  ui::RecipeEditor* editor = edit();
  for (const char* method : {"vl-cache", "expected-attention", "self-study", "d2o", "full", "meda"}) {
    chooseData(editor->methodBox(), QLatin1String(method));
    const auto squeezed = [&] {
      for (const ui::OptionField* field : editor->findChildren<ui::OptionField*>()) {
        if (field->control()->height() < field->control()->sizeHint().height()) return field->control()->objectName();
        for (const QLabel* label : field->findChildren<QLabel*>()) {
          if (label->height() < label->heightForWidth(label->width())) return label->text();
          if (label->y() <= field->control()->geometry().bottom()) return label->text();
        }
      }
      return QString();
    };
    EXPECT_TRUE(waitUntil([&] { return squeezed().isEmpty(); })) << method << ": " << squeezed().toStdString();
  }
  editor->reject();
}

// What exists only beside another option's value comes and goes with it; the other fields stay as they are, with the focus.
TEST_F(RecipeDialogs, OptionsThatNeedAnothersValueComeWithIt) {
  ui::RecipeEditor* editor = edit();
  chooseData(editor->methodBox(), QStringLiteral("expected-attention"));
  const auto field = [&](const char* name) { return editor->findChild<QWidget*>(QStringLiteral("option:") + QLatin1String(name)); };
  auto* stats = qobject_cast<QComboBox*>(field("stats"));
  ASSERT_NE(stats, nullptr);
  EXPECT_EQ(field("ask"), nullptr);
  ASSERT_TRUE(waitUntil([&] { return stats->isVisible(); }));
  stats->setFocus();
  ASSERT_EQ(editor->focusWidget(), stats);
  stats->setCurrentText(QStringLiteral("answer"));
  auto* ask = qobject_cast<QLineEdit*>(field("ask"));
  ASSERT_NE(ask, nullptr);
  EXPECT_EQ(field("stats"), stats) << "made anew";
  EXPECT_EQ(editor->focusWidget(), stats);
  EXPECT_TRUE(waitUntil([&] { return ask->isVisible(); }));
  QTest::keyClicks(ask, QStringLiteral("Which colors?"));
  EXPECT_TRUE(editor->legal()) << editor->verdict().toStdString();
  EXPECT_EQ(editor->recipe().spec.options, (std::map<std::string, std::string>{{"stats", "answer"}, {"ask", "Which colors?"}}));
  stats->setCurrentText(QStringLiteral("media"));
  EXPECT_EQ(field("ask"), nullptr);
  EXPECT_TRUE(editor->legal()) << editor->verdict().toStdString();
  EXPECT_EQ(editor->recipe().spec.options, (std::map<std::string, std::string>{}));
  chooseData(editor->methodBox(), QStringLiteral("keydiff"));
  EXPECT_EQ(field("clip"), nullptr);
  qobject_cast<QComboBox*>(field("event"))->setCurrentText(QStringLiteral("clips"));
  EXPECT_NE(field("clip"), nullptr);
  editor->reject();
}

// A field under the pointer must not change while somebody scrolls the form: it leaves the wheel to the page unless it has the focus.
TEST_F(RecipeDialogs, TheWheelChangesOnlyTheFieldThatHasTheFocus) {
  ui::RecipeEditor* editor = edit();
  const auto wheel = [](QWidget* field) {
    const QPointF middle = QRectF(field->rect()).center();
    QWheelEvent event(middle, field->mapToGlobal(middle), {}, {0, -120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(field, &event);
    return event.isAccepted();
  };
  auto* box = editor->findChild<QComboBox*>(QStringLiteral("method"));
  auto* spin = editor->findChild<QDoubleSpinBox*>(QStringLiteral("share"));
  ASSERT_TRUE(box && spin);
  const app::NamedRecipe before = editor->recipe();
  for (QWidget* field : {static_cast<QWidget*>(box), static_cast<QWidget*>(spin)}) {
    EXPECT_EQ(field->focusPolicy(), Qt::StrongFocus) << "the wheel itself gives no focus";
    field->clearFocus();
    EXPECT_FALSE(wheel(field));
    EXPECT_EQ(editor->recipe(), before);
  }
  spin->setFocus();
  ASSERT_TRUE(waitUntil([&] { return spin->hasFocus() && QApplication::activePopupWidget() == nullptr; }));
  EXPECT_TRUE(wheel(spin));
  EXPECT_NE(editor->recipe(), before);
  editor->reject();
}

TEST_F(RecipeDialogs, FitTheSmallestWindowAtTwiceTheTextSize) {
  const auto check = [this](QDialog& dialog) {
    EXPECT_LE(dialog.width(), m_window->width());
    EXPECT_LE(dialog.height(), m_window->height());
    for (const QPushButton* button : dialog.findChildren<QPushButton*>()) {
      if (!button->isVisible()) continue;
      EXPECT_GE(button->width(), button->fontMetrics().horizontalAdvance(button->text())) << button->text().toStdString();
      EXPECT_TRUE(dialog.rect().contains(QRect(button->mapTo(&dialog, QPoint(0, 0)), button->size()))) << button->text().toStdString();
    }
  };
  const std::pair<double, QSize> smallest[] = {{2.0, QSize(800, 560)}, {1.0, QSize(480, 400)}};
  for (const auto& [zoom, size] : smallest) {
    SCOPED_TRACE(zoom);
    m_settings->setZoom(zoom);
    m_window->resize(size);
    ASSERT_EQ(m_window->size(), size);
    ui::MethodPicker* picker = pick();
    QTest::qWait(100);
    check(*picker);
    picker->reject();
    ASSERT_TRUE(gone<ui::MethodPicker>());
    ui::RecipeEditor* editor = edit();
    QTest::qWait(100);
    check(*editor);
    const auto* scroll = editor->findChild<QScrollArea*>();
    EXPECT_LE(scroll->widget()->width(), scroll->viewport()->width()) << "the form is cut off at the right";
    editor->reject();
    ASSERT_TRUE(gone<ui::RecipeEditor>());
  }
}

}  // namespace
}  // namespace winnow::test
