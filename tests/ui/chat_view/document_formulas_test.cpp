#include "ui/chat_view/document_formulas.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <memory>

#include "tests/ui/chat_view/formula/typical_formulas.h"
#include "ui/chat_view/block_document.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr qreal kWide = 900;

std::unique_ptr<BlockDocument> documentOf(const QString& source, qreal width = kWide) {
  auto document = std::make_unique<BlockDocument>(source, BlockStyle::kMarkdown);
  document->setWidth(width);
  return document;
}

QString allOf(const BlockDocument& document) { return document.textBetween(0, document.length()); }

TEST(DocumentFormulas, AFormulaIsOneCharacterAndIsCopiedAsItsSource) {
  const QString source = QStringLiteral("Then $x^2 + 1$ holds, and \\(y\\) too.");
  const auto document = documentOf(source);
  EXPECT_EQ(document->length(), QStringLiteral("Then . holds, and . too.").size());
  EXPECT_EQ(allOf(*document), source);
  EXPECT_EQ(document->textBetween(5, 6), QStringLiteral("$x^2 + 1$"));
  EXPECT_EQ(document->textBetween(6, 12), QStringLiteral(" holds"));
}

TEST(DocumentFormulas, WhatCannotBeSetIsShownAsItsSource) {
  const QString source = QStringLiteral("Then $\\unknown{x}$ holds.");
  const auto document = documentOf(source);
  EXPECT_EQ(document->length(), source.size());
  EXPECT_EQ(allOf(*document), source);
}

// As long as an answer is written, its last formula has no end.
TEST(DocumentFormulas, AnUnfinishedFormulaIsText) {
  const QString source = QStringLiteral("Then $$\\frac{a}{b");
  EXPECT_EQ(documentOf(source)->length(), source.size());
}

TEST(DocumentFormulas, ADisplayedFormulaStandsInTheMiddleOfItsOwnLine) {
  const auto document = documentOf(QStringLiteral("Before it\n$$x = y$$\nand behind it."));
  EXPECT_EQ(allOf(*document), QStringLiteral("Before it\n$$x = y$$\nand behind it."));
  const auto place = document->placesOf(QStringLiteral("x = y"));
  ASSERT_EQ(place.size(), 1u);
  const QRectF rect = document->rectOf(place[0].first, place[0].second);
  EXPECT_NEAR(rect.center().x(), kWide / 2, 1.0);
  EXPECT_GE(rect.top(), document->rectOf(0, 6).bottom());
  const QString item = QStringLiteral("1. First\n\n   $$a$$\n\n   then");
  EXPECT_EQ(allOf(*documentOf(item)), QStringLiteral("1.\tFirst\n$$a$$\nthen"));
  EXPECT_EQ(allOf(*documentOf(QStringLiteral("- $$a$$"))), QStringLiteral("•\t$$a$$")) << "an item that is a formula";
}

TEST(DocumentFormulas, FindLooksIntoTheirSource) {
  const auto document = documentOf(QStringLiteral("alpha $\\alpha + \\alpha$ beta $\\beta$ alpha"));
  const auto places = document->placesOf(QStringLiteral("alpha"));
  const std::vector<std::pair<int, int>> expected = {{0, 5}, {6, 7}, {15, 20}};
  EXPECT_EQ(places, expected);
  EXPECT_FALSE(document->rectOf(6, 7).isEmpty());
  const std::vector<std::pair<int, int>> across = {{6, 12}};
  EXPECT_EQ(document->placesOf(QStringLiteral("alpha$ beta")), across);
}

TEST(DocumentFormulas, ADoubleClickTakesOneWhole) {
  const auto document = documentOf(QStringLiteral("so $x$ is"));
  for (const int position : {3, 4}) {
    int from = 0, to = 0;
    document->wordAround(position, from, to);
    EXPECT_EQ(document->textBetween(from, to), QStringLiteral("$x$")) << position;
  }
}

TEST(DocumentFormulas, MarksOfWordsFindTheirPlaces) {
  const QString source = QStringLiteral("one $a + b$ two $c$ three");
  BlockDocument document(source, BlockStyle::kMarkdown);
  document.setMarks(source, {{source.indexOf(QStringLiteral("two")), 3, TextMark::Kind::kDiffers, {}},
                             {source.indexOf(QStringLiteral("$c$")), 3, TextMark::Kind::kDiffers, {}},
                             {source.indexOf(QStringLiteral("three")), 5, TextMark::Kind::kDiffers, {}}});
  document.setWidth(kWide);
  for (int mark = 0; mark < 3; ++mark) {
    const QRectF rect = document.markRect(mark);
    ASSERT_FALSE(rect.isEmpty()) << mark;
    EXPECT_EQ(document.markAt(rect.center()), mark);
  }
  EXPECT_EQ(document.formulaAt(document.markRect(1).center()), QStringLiteral("$c$"));
}

TEST(DocumentFormulas, ThePointerFindsTheSource) {
  const auto document = documentOf(QStringLiteral("wide $\\sum_{i=1}^{n} i^2$ text"));
  const QRectF rect = document->rectOf(5, 6);
  for (const qreal share : {0.1, 0.5, 0.9})
    EXPECT_EQ(document->formulaAt(QPointF(rect.left() + share * rect.width(), rect.center().y())), QStringLiteral("$\\sum_{i=1}^{n} i^2$"));
  EXPECT_TRUE(document->formulaAt(QPointF(rect.left() - 10, rect.center().y())).isEmpty());
}

QImage painted(BlockDocument& document, int width) {
  QImage image(width, static_cast<int>(document.height()), QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  document.paint(painter, image.rect(), {});
  return image;
}

// The last row that has ink between two columns.
int lastInkedRow(const QImage& image, const QRectF& where) {
  for (int y = image.height() - 1; y >= 0; --y) {
    for (int x = static_cast<int>(where.left()); x < where.right(); ++x) {
      if (image.valid(x, y) && qGray(image.pixel(x, y)) < 100) return y;
    }
  }
  return -1;
}

TEST(DocumentFormulas, TheyStandOnTheBaselineOfTheText) {
  for (const int zoom : {75, 100, 200}) {
    theme().setZoomPercent(zoom);
    for (const char* formula : {"$\\mathrm{H}$", "$\\mathrm{H}^{y^2}$"}) {
      const auto document = documentOf(QStringLiteral("H %1 H").arg(QLatin1String(formula)));
      const QImage image = painted(*document, static_cast<int>(kWide));
      const int text = lastInkedRow(image, document->rectOf(0, 1)), set = lastInkedRow(image, document->rectOf(2, 3));
      EXPECT_NEAR(text, set, 1) << formula << " at " << zoom;
    }
  }
  theme().setZoomPercent(100);
}

TEST(DocumentFormulas, AShallowFormulaDoesNotSpreadLines) {
  const qreal plain = documentOf(QStringLiteral("some text"))->height();
  EXPECT_NEAR(documentOf(QStringLiteral("some $x$ text"))->height(), plain, 2.0);
  EXPECT_GT(documentOf(QStringLiteral("some $\\dfrac{a}{b}$ text"))->height(), plain + 5);
}

TEST(DocumentFormulas, TooWideOnesBecomeSmallerAndThenScroll) {
  const QString formula = QStringLiteral("$$") + QStringLiteral("abc + ").repeated(12) + QStringLiteral("d$$");
  const QString source = QStringLiteral("word ").repeated(60) + QStringLiteral("\n\n") + formula;
  const auto document = documentOf(source, 4000);
  const int at = document->placesOf(formula).at(0).first;
  const qreal natural = document->rectOf(at, at + 1).width();
  document->setWidth(natural * 0.8);
  EXPECT_EQ(document->overflow(), 0.0);
  EXPECT_NEAR(document->rectOf(at, at + 1).width(), natural * 0.8, 1.0);
  document->setWidth(natural * 0.4);
  EXPECT_NEAR(document->overflow(), natural * 0.2, 2.0);
  EXPECT_NEAR(document->rectOf(at, at + 1).width(), natural * 0.6, 1.0);
  for (const auto& [from, to] : document->placesOf(QStringLiteral("word")))
    EXPECT_LE(document->rectOf(from, to).right(), natural * 0.4 + 1) << "text stays in its column";
  document->setWidth(natural * 2);
  EXPECT_EQ(document->overflow(), 0.0);
  EXPECT_NEAR(document->rectOf(at, at + 1).width(), natural, 1.0);
}

TEST(DocumentFormulas, CellsOfTablesHoldThem) {
  const auto document = documentOf(QStringLiteral("| name | formula |\n|---|---|\n| root | $\\sqrt{x}$ |\n| sum | $\\sum_i x_i$ |\n"));
  for (const char* source : {"$\\sqrt{x}$", "$\\sum_i x_i$"}) {
    const auto places = document->placesOf(QLatin1String(source));
    ASSERT_EQ(places.size(), 1u) << source;
    EXPECT_EQ(places[0].second - places[0].first, 1);
    EXPECT_FALSE(document->rectOf(places[0].first, places[0].second).isEmpty());
  }
}

TEST(DocumentFormulas, FollowTheColoursOfTheText) {
  for (const ThemeMode mode : {ThemeMode::kLight, ThemeMode::kDark}) {
    theme().setMode(mode);
    const auto document = documentOf(QStringLiteral("so $\\dfrac{x}{y}$"));
    QImage image(400, static_cast<int>(document->height()), QImage::Format_RGB32);
    image.fill(theme().colors().surface);
    QPainter painter(&image);
    document->paint(painter, image.rect(), {});
    painter.end();
    const auto places = document->placesOf(QStringLiteral("dfrac"));
    ASSERT_EQ(places.size(), 1u);
    const QRectF rect = document->rectOf(places[0].first, places[0].second);
    bool found = false;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = static_cast<int>(rect.left()); x < rect.right(); ++x) found = found || image.pixelColor(x, y) == theme().colors().text;
    }
    EXPECT_TRUE(found);
  }
  theme().setMode(ThemeMode::kLight);
}

TEST(DocumentFormulas, HostileTextIsShownAsItIs) {
  for (const QString& source :
       {QStringLiteral("$$") + QStringLiteral("{").repeated(10000) + QStringLiteral("}").repeated(10000) + QStringLiteral("$$"),
        QStringLiteral("$$") + QStringLiteral("x+").repeated(50000) + QStringLiteral("$$"),
        QStringLiteral("$$") + QStringLiteral("\\left(").repeated(2000) + QStringLiteral("$$")})
    EXPECT_EQ(allOf(*documentOf(source)).size(), source.size());
  const QString many = QStringLiteral("$x^2$ ").repeated(2000).trimmed();
  EXPECT_EQ(allOf(*documentOf(many)), many);
  EXPECT_EQ(documentOf(many)->placesOf(QStringLiteral("x^2")).size(), 2000u);
}

}  // namespace
}  // namespace winnow::ui
