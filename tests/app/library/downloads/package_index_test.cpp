// Pages of a package index, as they are and as they might be.
#include <gtest/gtest.h>

#include "app/library/downloads/wheel_steps.h"

namespace winnow::app {
namespace {

const QUrl kPage(QStringLiteral("https://index.example/simple/tool/"));
const QString kName = QStringLiteral("tool-1.0-py3-none-any.whl");

TEST(PackageIndex, AProjectHasAPageOfItsOwnWithOrWithoutASlash) {
  for (const char* index : {"https://index.example/simple", "https://index.example/simple/", "https://index.example/simple//"}) {
    EXPECT_EQ(projectPage(QString::fromLatin1(index), QStringLiteral("tool")), kPage) << index;
  }
  EXPECT_EQ(projectPage(QStringLiteral("https://me:secret@index.example"), QStringLiteral("tool")).toString().toStdString(),
            "https://me:secret@index.example/tool/");
}

TEST(PackageIndex, FindsTheFileByItsWholeName) {
  const QByteArray page =
      "<a href=\"https://files.example/a/tool-1.0.tar.gz#sha256=11\">tool-1.0.tar.gz</a>"
      "<a href=\"https://files.example/a/other-tool-1.0-py3-none-any.whl\">tool-1.0-py3-none-any.whl</a>"
      "<a data-requires-python='&gt;=3.9' href='https://files.example/b/tool-1.0-py3-none-any.whl#sha256=ABcd'>it</a>";
  const auto file = findFile(page, kPage, kName);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->address.toString().toStdString(), "https://files.example/b/tool-1.0-py3-none-any.whl");
  EXPECT_EQ(file->sha256, "abcd");
}

TEST(PackageIndex, ALinkMayBeRelativeAndEscaped) {
  const auto file = findFile("<a href=\"../../files/tool-1.0-py3-none-any.whl?a=1&amp;b=2\">it</a>", kPage, kName);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->address.toString().toStdString(), "https://index.example/files/tool-1.0-py3-none-any.whl?a=1&b=2");
  EXPECT_TRUE(file->sha256.isEmpty());
}

TEST(PackageIndex, APageWithoutTheFileOrWithoutAnEndHasNone) {
  for (const char* page : {"", "href=", "<a href=\"", "<a href=\"tool-1.0-py3-none-any.whl", "<a href=tool-1.0-py3-none-any.whl>",
                           "<a href=\"tool-1.1-py3-none-any.whl\">", "<a href=\"https://[/tool-1.0-py3-none-any.whl\">"}) {
    EXPECT_FALSE(findFile(page, kPage, kName).has_value()) << page;
  }
}

}  // namespace
}  // namespace winnow::app
