#include "ui/chat_view/transcript_view.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTimer>
#include <QtTest/QTest>

#include "ui/chat_view/block_document.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

MessageContent message(qint64 id, Speaker speaker, const QString& text) {
  return {
      .id = id, .speaker = speaker, .roleLabel = speaker == Speaker::kUser ? QStringLiteral("You") : QStringLiteral("Model"), .text = text};
}

// Twelve columns, of which a window shows some.
QString wideTable() {
  QString table = QStringLiteral("| ");
  for (int i = 0; i < 12; ++i) table += QStringLiteral("President %1 | ").arg(i);
  table += QStringLiteral("\n|");
  for (int i = 0; i < 12; ++i) table += QStringLiteral("---|");
  table += QStringLiteral("\n| ");
  for (int i = 0; i < 12; ++i) table += QStringLiteral("84,000,000,000 | ");
  return table;
}

class TranscriptViewTest : public testing::Test {
 protected:
  void SetUp() override {
    m_view.resize(800, 600);
    m_view.show();
    QApplication::processEvents();
  }
  void click(const QRect& rect) {
    ASSERT_FALSE(rect.isEmpty());
    QTest::mouseClick(m_view.viewport(), Qt::LeftButton, {}, rect.center());
  }
  TranscriptView m_view;
};

TEST_F(TranscriptViewTest, KeepsOnlyDocumentsNearTheViewport) {
  std::vector<MessageContent> messages;
  for (int i = 0; i < 1000; ++i) {
    messages.push_back(message(i + 1, i % 2 ? Speaker::kAssistant : Speaker::kUser,
                               QStringLiteral("Paragraph one of %1.\n\n- a\n- b\n\nParagraph two.").arg(i)));
  }
  m_view.setMessages(std::move(messages));
  EXPECT_TRUE(m_view.atEnd());
  EXPECT_GT(BlockDocument::alive(), 0);
  EXPECT_LT(BlockDocument::alive(), 120);
  for (int step = 0; step <= 50; ++step) {
    m_view.verticalScrollBar()->setValue(m_view.verticalScrollBar()->maximum() * step / 50);
    m_view.grab();
    EXPECT_LT(BlockDocument::alive(), 120);
  }
}

// Seven pills and four buttons with words stood under one line of text.
TEST_F(TranscriptViewTest, UnderAnAnswerStandsOneLine) {
  MessageContent answer = message(1, Speaker::kAssistant, QStringLiteral("Red."));
  answer.checkable = true;
  answer.hasKeptMap = true;
  answer.branchCount = 2;
  answer.metrics.valid = true;
  answer.metrics.method = QStringLiteral("SnapKV · 20 %");
  answer.metrics.tokensPerS = 43;
  m_view.setMessages({answer});
  const Action all[] = {Action::kFigures, Action::kNextBranch, Action::kCopy, Action::kRegenerate, Action::kCheck, Action::kKeptMap};
  for (const int width : {900, 320}) {
    m_view.resize(width, 600);
    QApplication::processEvents();
    const int top = m_view.actionRect(1, Action::kFigures).top();
    for (std::size_t i = 1; i < std::size(all); ++i) {
      const QRect rect = m_view.actionRect(1, all[i]);
      ASSERT_FALSE(rect.isEmpty()) << i;
      EXPECT_EQ(rect.top(), top) << i;
      EXPECT_GE(rect.left(), m_view.actionRect(1, all[i - 1]).right()) << i << ": they stand beside one another";
    }
  }
  QSignalSpy asked(&m_view, &TranscriptView::figuresRequested);
  QTest::mouseClick(m_view.viewport(), Qt::LeftButton, {}, m_view.actionRect(1, Action::kFigures).center());
  ASSERT_EQ(asked.count(), 1);
  EXPECT_EQ(asked.front().front().toLongLong(), 1);
}

TEST_F(TranscriptViewTest, ReparsesTheTailOnly) {
  QString text;
  for (int i = 0; i < 300; ++i) text += QStringLiteral("Paragraph number %1 with some words.\n\n").arg(i);
  MessageContent streaming = message(1, Speaker::kAssistant, text);
  streaming.status = MessageStatus::kStreaming;
  m_view.setMessages({streaming});
  const int before = MessageRows::documentsBuilt();
  const int deltas = 400;
  for (int i = 0; i < deltas; ++i) {
    m_view.appendText(1, i % 25 == 24 ? QStringLiteral("end.\n\n") : QStringLiteral("word "));
    m_view.grab();
  }
  // At most the unfinished block and the one before it, for every delta.
  EXPECT_LE(MessageRows::documentsBuilt() - before, 2 * deltas + 60);
}

TEST_F(TranscriptViewTest, FollowsTheEndOnlyWhenItIsInView) {
  MessageContent streaming = message(1, Speaker::kAssistant, QStringLiteral("Line.\n\n").repeated(80));
  streaming.status = MessageStatus::kStreaming;
  m_view.setMessages({streaming});
  m_view.appendText(1, QStringLiteral("More.\n\n").repeated(5));
  EXPECT_TRUE(m_view.atEnd());
  m_view.verticalScrollBar()->setValue(100);
  m_view.appendText(1, QStringLiteral("Even more.\n\n").repeated(20));
  EXPECT_EQ(m_view.verticalScrollBar()->value(), 100);
  EXPECT_FALSE(m_view.atEnd());
}

// Where few lines are shown it does not lie on them.
TEST_F(TranscriptViewTest, TheWayToTheEndStandsAsideInALowView) {
  m_view.setMessages({message(1, Speaker::kAssistant, QStringLiteral("Line.\n\n").repeated(80))});
  m_view.verticalScrollBar()->setValue(0);
  const auto* pill = m_view.findChild<QPushButton*>();
  ASSERT_TRUE(pill != nullptr && pill->isVisible());
  EXPECT_EQ(pill->text(), QStringLiteral("Jump to latest"));
  m_view.resize(800, 160);
  m_view.verticalScrollBar()->setValue(0);
  QApplication::processEvents();
  ASSERT_TRUE(pill->isVisible());
  EXPECT_TRUE(pill->text().isEmpty());
  EXPECT_EQ(pill->accessibleName(), QStringLiteral("Jump to latest"));
  EXPECT_GT(pill->x(), 700);
}

TEST_F(TranscriptViewTest, ReopensAtTheSamePlace) {
  std::vector<MessageContent> messages;
  for (int i = 0; i < 60; ++i) messages.push_back(message(i + 1, Speaker::kAssistant, QStringLiteral("Text %1.\n\nMore text.").arg(i)));
  m_view.setMessages(messages);
  m_view.restoreAnchor({20, 7.0});
  const auto anchor = m_view.anchor();
  EXPECT_EQ(anchor.message, 20);
  EXPECT_NEAR(anchor.offset, 7.0, 2.0);
  m_view.setMessages(messages);
  m_view.restoreAnchor(anchor);
  EXPECT_EQ(m_view.anchor().message, 20);
}

TEST_F(TranscriptViewTest, CopiesSelectionAndExactCode) {
  const QString code = QStringLiteral("a\u00a0= \"\u202E\"\n\tb\n");
  m_view.setMessages({message(1, Speaker::kUser, QStringLiteral("Why?")),
                      message(2, Speaker::kAssistant, QStringLiteral("Because **so**.\n\n```\n") + code + QStringLiteral("```"))});
  m_view.grab();
  m_view.selectAll();
  const QString all = m_view.selectedText();
  EXPECT_TRUE(all.startsWith(QStringLiteral("Why?"))) << all.toStdString();
  EXPECT_TRUE(all.contains(QStringLiteral("Because so.")));
  click(m_view.actionRect(2, Action::kCopyCode));
  EXPECT_EQ(QApplication::clipboard()->text(), code);
  click(m_view.actionRect(2, Action::kCopy));
  EXPECT_TRUE(QApplication::clipboard()->text().startsWith(QStringLiteral("Because **so**.")));
}

// The keys reach a listing through the message's menu.
TEST_F(TranscriptViewTest, TheMenuCopiesEachListing) {
  m_view.setMessages({message(2, Speaker::kAssistant, QStringLiteral("One:\n\n```python\nprint(1)\n```\n\nTwo:\n\n```\nls\n```\n"))});
  m_view.grab();
  const auto choose = [this](const QString& text) {
    bool offered = false;
    QTimer::singleShot(0, &m_view, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      ASSERT_NE(menu, nullptr);
      for (QAction* action : menu->actions()) {
        if (QString(action->text()).remove(u'&') != text) continue;
        offered = true;
        action->trigger();
      }
      menu->close();
    });
    m_view.setFocus();
    QTest::keyClick(&m_view, Qt::Key_Up, Qt::ControlModifier);
    QTest::keyClick(&m_view, Qt::Key_Menu);
    EXPECT_TRUE(offered) << text.toStdString();
    return QApplication::clipboard()->text();
  };
  EXPECT_EQ(choose(QStringLiteral("Copy code: python (1)")), QStringLiteral("print(1)\n"));
  EXPECT_EQ(choose(QStringLiteral("Copy code (2)")), QStringLiteral("ls\n"));
}

TEST_F(TranscriptViewTest, AnAnswerThatWasCutOffersToGoOn) {
  MessageContent cut = message(4, Speaker::kAssistant, QStringLiteral("One two"));
  cut.cutAtTokens = 2;
  cut.canGoOn = true;
  m_view.setMessages({cut});
  m_view.grab();
  QSignalSpy goOn(&m_view, &TranscriptView::continueRequested);
  click(m_view.actionRect(4, Action::kContinue));
  ASSERT_EQ(goOn.size(), 1);
  EXPECT_EQ(goOn[0][0].toLongLong(), 4);
}

TEST_F(TranscriptViewTest, AThoughtOpensAndStreams) {
  MessageContent thinking = message(4, Speaker::kAssistant, QString());
  thinking.thought = QStringLiteral("First,");
  thinking.status = MessageStatus::kStreaming;
  m_view.setMessages({thinking});
  m_view.grab();
  EXPECT_FALSE(m_view.thoughtOpen(4));
  const int folded = BlockDocument::alive();
  click(m_view.actionRect(4, Action::kThought));
  m_view.grab();
  EXPECT_TRUE(m_view.thoughtOpen(4));
  EXPECT_GT(BlockDocument::alive(), folded);
  m_view.appendThought(4, QStringLiteral(" then."));
  EXPECT_EQ(m_view.messageAt(0).thought, QStringLiteral("First, then."));
  m_view.appendText(4, QStringLiteral("Yes."));
  m_view.selectAll();
  EXPECT_EQ(m_view.selectedText(), QStringLiteral("Yes."));
  QTest::keyClick(&m_view, Qt::Key_Up, Qt::ControlModifier);
  QTest::keyClick(&m_view, Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("Yes."));
  click(m_view.actionRect(4, Action::kThought));
  EXPECT_FALSE(m_view.thoughtOpen(4));
}

// "Jump to latest" came over the chips of the answer whose thought was opened.
TEST_F(TranscriptViewTest, TheWayToTheEndNeverCoversWhatStandsUnderTheLastMessage) {
  MessageContent answer = message(2, Speaker::kAssistant, QStringLiteral("Yes."));
  answer.thought = QStringLiteral("Well,\n\n").repeated(3);
  answer.metrics.valid = true;
  answer.metrics.method = QStringLiteral("Self-study");
  m_view.setMessages({message(1, Speaker::kUser, QStringLiteral("Line.\n\n").repeated(30)), answer});
  m_view.scrollToEnd();
  m_view.grab();
  auto* pill = m_view.findChild<QPushButton*>();
  click(m_view.actionRect(2, Action::kThought));
  m_view.grab();
  ASSERT_TRUE(m_view.thoughtOpen(2));
  bool shown = false;
  // Wherever the reader is.
  for (int value = m_view.verticalScrollBar()->maximum(); value >= 0; value -= 5) {
    m_view.verticalScrollBar()->setValue(value);
    const QRect foot = m_view.actionRect(2, Action::kCopy);
    shown = shown || pill->isVisible();
    EXPECT_FALSE(pill->isVisible() && m_view.viewport()->rect().intersects(foot)) << value;
  }
  EXPECT_TRUE(shown) << "further up it is offered";
}

TEST_F(TranscriptViewTest, AWideTableIsScrolledSideways) {
  m_view.setMessages({message(4, Speaker::kAssistant, wideTable())});
  const QImage before = m_view.grab().toImage();
  const QRect bar = m_view.actionRect(4, Action::kSideways);
  ASSERT_FALSE(bar.isEmpty());
  QTest::keyClick(&m_view, Qt::Key_Up, Qt::ControlModifier);
  const QImage focused = m_view.grab().toImage();
  QTest::keyClick(&m_view, Qt::Key_Right);
  EXPECT_NE(m_view.grab().toImage(), focused) << "it moved";
  m_view.setMessages({message(5, Speaker::kAssistant, QStringLiteral("| a | b |\n|---|---|\n| 1 | 2 |\n"))});
  m_view.grab();
  EXPECT_TRUE(m_view.actionRect(5, Action::kSideways).isEmpty()) << "a narrow one fits";
}

// Found words are brought into view sideways as well.
TEST_F(TranscriptViewTest, WordsInTheHiddenPartOfATableAreShown) {
  m_view.setMessages({message(4, Speaker::kAssistant, wideTable())});
  const auto lit = [this] {
    const QImage image = m_view.viewport()->grab().toImage().convertToFormat(QImage::Format_RGB32);
    int pixels = 0;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) pixels += image.pixelColor(x, y) == theme().colors().accent ? 1 : 0;
    }
    return pixels;
  };
  const int before = lit();  // the application's mark has the same colour
  m_view.find(QStringLiteral("President 11"));
  EXPECT_GT(lit(), before + 100);
  m_view.find(QStringLiteral("President 0"));
  EXPECT_GT(lit(), before + 100) << "and back";
}

TEST_F(TranscriptViewTest, CodeInAListIsCopiedAlone) {
  m_view.setMessages(
      {message(4, Speaker::kAssistant, QStringLiteral("1. Do this:\n\n   ```python\n   if x:\n       y()\n   ```\n\n2. Done.\n"))});
  m_view.grab();
  click(m_view.actionRect(4, Action::kCopyCode));
  EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("if x:\n    y()\n"));
}

TEST_F(TranscriptViewTest, ActionsSaySo) {
  MessageContent failed = message(5, Speaker::kAssistant, QString());
  failed.status = MessageStatus::kFailed;
  failed.error = Error{ErrorCode::kOutOfMemory, "", "wanted 2 GiB"};
  MessageContent waiting = message(6, Speaker::kAssistant, QString());
  waiting.status = MessageStatus::kWaiting;
  waiting.phase = QStringLiteral("Decoding video 1/64");
  MessageContent done = message(4, Speaker::kAssistant, QStringLiteral("Done."));
  done.branchCount = 2;
  m_view.setMessages({done, failed, waiting});
  m_view.grab();
  QSignalSpy regenerate(&m_view, &TranscriptView::regenerateRequested), stop(&m_view, &TranscriptView::stopRequested),
      branch(&m_view, &TranscriptView::branchRequested);
  click(m_view.actionRect(4, Action::kRegenerate));
  click(m_view.actionRect(4, Action::kNextBranch));
  click(m_view.actionRect(5, Action::kRetry));
  click(m_view.actionRect(6, Action::kStop));
  ASSERT_EQ(regenerate.size(), 2);
  EXPECT_EQ(regenerate[1][0].toLongLong(), 5);
  ASSERT_EQ(branch.size(), 1);
  EXPECT_EQ(stop.size(), 1);
  EXPECT_TRUE(m_view.actionRect(5, Action::kErrorCopy).isEmpty()) << "with the details";
  click(m_view.actionRect(5, Action::kErrorDetails));
  click(m_view.actionRect(5, Action::kErrorCopy));
  EXPECT_TRUE(QApplication::clipboard()->text().contains(QStringLiteral("wanted 2 GiB")));
}

// E5: a megabyte in one line and 5,000 paragraphs arrive and are drawn without a document for each.
TEST_F(TranscriptViewTest, LargeAnswersStayCheap) {
  m_view.setMessages({message(1, Speaker::kAssistant, QString(1'000'000, QLatin1Char('x'))),
                      message(2, Speaker::kAssistant, QStringLiteral("A paragraph.\n\n").repeated(5000))});
  m_view.grab();
  EXPECT_LT(BlockDocument::alive(), 150);
  m_view.verticalScrollBar()->setValue(0);
  m_view.grab();
  EXPECT_LT(BlockDocument::alive(), 150);
}

// Where a question is drawn: its ground, and the letters on it and beside it.
struct DrawnBubble {
  QRect ground;
  int inkInside = 0;
  int inkOutside = 0;
  QRect ink;
};

DrawnBubble drawnBubble(TranscriptView& view) {
  const QImage image = view.viewport()->grab().toImage().convertToFormat(QImage::Format_RGB32);
  const auto near = [](const QColor& a, const QColor& b) {
    return std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) + std::abs(a.blue() - b.blue()) < 12;
  };
  DrawnBubble drawn;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      if (near(image.pixelColor(x, y), theme().colors().userBubble)) drawn.ground |= QRect(x, y, 1, 1);
    }
  }
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      if (image.pixelColor(x, y).lightness() > 110) continue;  // letters are dark on a light ground
      drawn.ink |= QRect(x, y, 1, 1);
      ++(drawn.ground.contains(x, y) ? drawn.inkInside : drawn.inkOutside);
    }
  }
  return drawn;
}

// Words that run from right to left stand in their bubble as others do: one line, lines of both kinds, and lines that are broken.
TEST_F(TranscriptViewTest, AQuestionIsVisibleInItsBubbleInEveryDirection) {
  theme().setMode(ThemeMode::kLight);
  const QString arabic = QStringLiteral(
      "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 \u0647\u0630\u0627 \u0633\u0624\u0627\u0644");
  const QString hebrew = QStringLiteral("\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd");
  const std::pair<const char*, QString> texts[] = {
      {"left to right", QStringLiteral("hello world, this is a question")},
      {"Arabic", arabic},
      {"Hebrew", hebrew},
      {"Arabic first, then Latin", arabic + QStringLiteral(" what is this?")},
      {"Latin first, then Arabic", QStringLiteral("what is this? ") + arabic},
      {"a line of each", QStringLiteral("what is in the middle of this picture?\n") + hebrew},
      {"several lines", (arabic + QLatin1Char(' ')).repeated(24)},
  };
  for (const auto& [name, text] : texts) {
    m_view.setMessages({message(1, Speaker::kUser, text)});
    const DrawnBubble drawn = drawnBubble(m_view);
    ASSERT_FALSE(drawn.ground.isEmpty()) << name;
    EXPECT_GT(drawn.inkInside, 60) << name << ": nothing can be read in the bubble";
    EXPECT_EQ(drawn.inkOutside, 0) << name << ": letters stand beside the bubble";
    // Not cut off at a side, and not lost in a bubble that is far too wide.
    EXPECT_GT(drawn.ink.left(), drawn.ground.left() + theme().px(4)) << name;
    EXPECT_LT(drawn.ink.right(), drawn.ground.right() - theme().px(4)) << name;
    EXPECT_LT(drawn.ground.width() - drawn.ink.width(), theme().px(60)) << name;
  }
}

}  // namespace
}  // namespace winnow::ui
