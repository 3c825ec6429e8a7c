// Parts of a listing that have colours of their own.
#include "ui/chat_view/code_colors.h"

#include <gtest/gtest.h>

namespace winnow::ui {
namespace {

// "k:int n:0 c:// zero"
std::string parts(const char* code, const char* language) {
  const QString text = QString::fromUtf8(code);
  QStringList told;
  for (const CodeSpan& span : codeSpans(text, QString::fromLatin1(language)))
    told << QStringLiteral("%1:%2").arg(QChar(QStringLiteral(" ktnc")[static_cast<int>(span.part)]), text.mid(span.from, span.length));
  return told.join(u'|').toStdString();
}

TEST(CodeColors, EveryLanguageHasItsOwnWordsTextsAndComments) {
  EXPECT_EQ(parts("int a = 0x1F; // int", "cpp"), "k:int|n:0x1F|c:// int");
  EXPECT_EQ(parts("#include <a>\nchar c = '\\'';", "C++"), "k:#include|k:char|t:'\\''");
  EXPECT_EQ(parts("/* if\n */ x = 1'000.5e-3;", "c"), "c:/* if\n */|n:1'000.5e-3");
  EXPECT_EQ(parts("def f():\n  \"\"\"It's\nif\"\"\"\n  return 'a' # 1", "python"), "k:def|t:\"\"\"It's\nif\"\"\"|k:return|t:'a'|c:# 1");
  EXPECT_EQ(parts("const s = `a\nb`;", "ts"), "k:const|t:`a\nb`");
  EXPECT_EQ(parts("SELECT a FROM t WHERE b = 'it' -- x", "sql"), "k:SELECT|k:FROM|k:WHERE|t:'it'|c:-- x");
  EXPECT_EQ(parts("fn main() { let x: &'a str = \"s\"; }", "rust"), "k:fn|k:let|k:str|t:\"s\"");
  EXPECT_EQ(parts("{\"a\": [1, true]}", "json"), "t:\"a\"|n:1|k:true");
  EXPECT_EQ(parts("<!-- a --><p class=\"b\">", "html"), "c:<!-- a -->|t:\"b\"");
  EXPECT_EQ(parts("echo \"$HOME\" # home", "bash"), "k:echo|t:\"$HOME\"|c:# home");
}

TEST(CodeColors, WhatIsNotKnownOrNotClosedDoesNoHarm) {
  EXPECT_EQ(parts("int a = 1; // b", "brainfuck"), "");
  EXPECT_EQ(parts("int a = 1;", ""), "");
  EXPECT_EQ(parts("", "cpp"), "");
  EXPECT_EQ(parts("\"open\nint a", "cpp"), "t:\"open|k:int") << "a text ends on its line";
  EXPECT_EQ(parts("/* never closed int", "cpp"), "c:/* never closed int");
  EXPECT_EQ(parts("\"a\\", "cpp"), "t:\"a\\") << "a backslash at the end";
  EXPECT_EQ(parts("interface integer1 _if", "cpp"), "") << "parts of words";
  EXPECT_EQ(parts("It has 3. Then", "cpp"), "n:3");
}

}  // namespace
}  // namespace winnow::ui
