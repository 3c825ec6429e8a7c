// What the parser makes of subtitles that people have: nothing that is said is taken for form, nothing is said twice or lost in silence.
#include "app/media/files/subtitle_text.h"

#include <gtest/gtest.h>

#include <utility>

#include "app/media/files/subtitle_markup.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

const char* of(NoticeCode code) {
  switch (code) {
    case NoticeCode::kLinesUntimed: return " untimed";
    case NoticeCode::kLinesRepeated: return " repeated";
    case NoticeCode::kSpeakersLeftOut: return " speakers";
    case NoticeCode::kDrawingsLeftOut: return " drawings";
    default: return " others";
  }
}

// "text|text", then what the notices count after "#".
std::string told(const std::string& file) {
  const Subtitles subtitles = parseSubtitles(QString::fromStdString(file), "a.srt");
  std::string text;
  for (const TimedLine& line : subtitles.lines) text += (text.empty() ? "" : "|") + line.text;
  for (const MediaNotice& notice : subtitles.notices) text += "#" + std::to_string(notice.amount) + of(notice.code);
  return text;
}
std::string cue(const std::string& text) { return told("1\n00:00:01,050 --> 00:00:02,000\n" + text + "\n"); }

TEST(SubtitleWords, OnlyTagsThatExistAreTags) {
  EXPECT_EQ(cue("I <3 you more than 5 >"), "I <3 you more than 5 >");
  EXPECT_EQ(cue("if a <b and c> d then I <3 you"), "if a <b and c> d then I <3 you");
  EXPECT_EQ(cue("(Hana)<今から 70年ほど前>"), "(Hana)<今から 70年ほど前>");
  EXPECT_EQ(cue("<Mary laughs> and <b>bold</b> 3 < 4"), "<Mary laughs> and bold 3 < 4");
  EXPECT_EQ(cue("<i>one</i> <I>two</I> <u>three</u> <s>four</s> <em>five</em>"), "one two three four five");
  EXPECT_EQ(cue("<font color=\"#ff0000\"><i>two</i></font> <font size=3 face='Open Sans'>x</font>"), "two x");
  EXPECT_EQ(cue("<font of all knowledge> <c is a language> <lang>"), "<font of all knowledge> <c is a language>");
  EXPECT_EQ(cue("a <br/>b<br>c"), "a b c");
  EXPECT_EQ(cue("<c.loud.red>New</c> <ruby>漢<rt>kan</rt></ruby> <lang en-GB>colour</lang> <00:00:01.500>now"), "New 漢kan colour now");
  EXPECT_EQ(cue("<http://example.org> <a@b.org> <> < > <<b>>"), "<http://example.org> <a@b.org> <> < > <>");
  EXPECT_EQ(cue("<v Roger Bingham>We are in</v> <v.loud Ann>here"), "We are in here#2 speakers");
  EXPECT_EQ(cue("{\\an8}{\\pos(1,2)}up {not a tag} {b}"), "up {not a tag} {b}");
}

TEST(SubtitleWords, CharacterReferencesAreCharacters) {
  EXPECT_EQ(cue("&lt;tag&gt; caf&eacute; &#233; &#xE9; rock &amp; roll"), "<tag> café é é rock & roll");
  EXPECT_EQ(cue("&hellip;&Zcaron;&#8364;&euro;&#128;&#x1F642;&quot;&apos;&nbsp;&alpha;"), "…Ž€€€🙂\"' α");
  EXPECT_EQ(cue("AT&T &c. &unknown; &#0; &#xD800; &#99999999; &; &amp;lt;"), "AT&T &c. &unknown; &#0; &#xD800; &#99999999; &; &lt;");
}

TEST(SubtitleWords, WhatStandsWithoutATimeIsCounted) {
  EXPECT_EQ(told("A title\n\n1\n00:00:01,000 --> soon\nlost\nwords\n\n2\n00:00:04,050 --> 00:00:05,000\ntwo\n"), "two#3 untimed");
  EXPECT_EQ(told("1\n00:00:01,000 --> 00:00:02,000\none\n\nits second half\n\n2\n00:00:04,050 --> 00:00:05,000\ntwo --> three\n"),
            "one its second half|two --> three");
}

TEST(SubtitleWords, NumbersAreCountersOnlyWhereCountersStand) {
  EXPECT_EQ(told("1\n00:00:01,050 --> 00:00:02,000\n1984\n2\n00:00:04,050 --> 00:00:05,000\n2001\n"), "1984|2001");
  EXPECT_EQ(told("00:00:01,050 --> 00:00:02,000\n1984\n\n00:00:04,050 --> 00:00:05,000\n2001\n"), "1984|2001");
  EXPECT_EQ(told("1\n\n00:00:01,050 --> 00:00:02,000\n\n1984\n\n2\n\n00:00:04,050 --> 00:00:05,000\n\n2001\n\n"), "1984|2001");
}

TEST(SubtitleWords, TimesAreReadAsPlayersReadThem) {
  const auto times = [](const std::string& line) {
    const TimedLine read = parseSubtitles(QString::fromStdString(line + "\nx\n"), "a.srt").lines.front();
    return std::pair(read.start_s, read.end_s);
  };
  EXPECT_EQ(times("0:0:1.05 --> 0:0:2.00"), std::pair(1.05, 2.0));
  EXPECT_EQ(times("00:00:01:050 --> 00:00:02:000"), std::pair(1.05, 2.0));
  EXPECT_EQ(times("-00:00:01,000 --> 00:00:01,500"), std::pair(0.0, 1.5));
  EXPECT_EQ(times("0:00:04.050 --> 0:00:05.000 X1:10 X2:20 Y1:5 Y2:6"), std::pair(4.05, 5.0));
  EXPECT_EQ(times("00:00:01, 050 --> 00:00:02 ,000"), std::pair(1.05, 2.0));
  EXPECT_EQ(times("00:00:01,050 -> 00:00:02,000"), std::pair(1.05, 2.0));
  EXPECT_EQ(times("00:00:01,050 \u2013> 00:00:02,000 line:0"), std::pair(1.05, 2.0));
  EXPECT_EQ(times("00:00:01,050 \u2192 00:00:02,000"), std::pair(1.05, 2.0));
  EXPECT_EQ(told("1\n00:00:01,050 --> 00:00:02,000\nfrom 5:30 -> 6:00\n5:30 -> 6:00\n"), "from 5:30 -> 6:00 5:30 -> 6:00") << "said";
  EXPECT_EQ(told("1\n00:00:01,050 -> soon\nlost\n\n2\n00:00:04,050 --> 00:00:05,000\ntwo\n"), "two#1 untimed");
}

// As automatic captions are: a line comes word by word, stands alone for a moment, then above the next one.
constexpr const char* kRolling =
    "WEBVTT\nKind: captions\nLanguage: en\n\n"
    "00:00:00.050 --> 00:00:02.000 align:start position:0%\n \nso<00:00:00.400><c> today</c><00:00:00.800><c> we</c><00:00:01.200><c> "
    "look</c>\n\n"
    "00:00:02.000 --> 00:00:02.010 align:start position:0%\nso today we look\n \n\n"
    "00:00:02.010 --> 00:00:04.000 align:start position:0%\nso today we look\nat<00:00:02.400><c> the</c><00:00:02.800><c> "
    "red</c><00:00:03.200><c> door</c>\n\n"
    "00:00:04.000 --> 00:00:04.010 align:start position:0%\nat the red door\n \n\n"
    "00:00:04.010 --> 00:00:06.000 align:start position:0%\nat the red door\nand<00:00:04.400><c> leave</c>\n\n"
    "00:00:06.000 --> 00:00:06.010 align:start position:0%\nand leave\n \n";

TEST(RollingCaptions, SayEachLineOnce) {
  EXPECT_EQ(told(kRolling), "so today we look|at the red door|and leave#5 repeated");
  const std::vector<TimedLine> lines = parseSubtitles(QString::fromUtf8(kRolling), "a.vtt").lines;
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_DOUBLE_EQ(lines[0].start_s, 0.05);
  EXPECT_DOUBLE_EQ(lines[0].end_s, 2.01);
  EXPECT_DOUBLE_EQ(lines[1].start_s, 2.01);
  EXPECT_DOUBLE_EQ(lines[2].end_s, 6.01);
}

TEST(RollingCaptions, OfBroadcastsScrollByLinesAndGrowByWords) {
  EXPECT_EQ(told("0:01 --> 0:02\nONE\n\n0:02 --> 0:03\nONE\nTWO\n\n0:03 --> 0:04\nONE\nTWO\nTHREE\n\n0:04 --> 0:05\nTWO\nTHREE\nFOUR\n"),
            "ONE|TWO|THREE|FOUR#5 repeated");
  EXPECT_EQ(told("0:01 --> 0:02\nGOOD\n\n0:02 --> 0:03\nGOOD MORNING\n\n0:03 --> 0:04\nGOOD MORNING ALL\n\n0:04 --> 0:05\nGOODBYE\n"),
            "GOOD MORNING ALL|GOODBYE#2 repeated");
}

TEST(RollingCaptions, WhatIsSaidTwiceIsToldTwice) {
  EXPECT_EQ(told("0:01 --> 0:02\nNo.\n\n0:02 --> 0:03\nNo.\n\n0:04 --> 0:05\nYes.\n\n0:05 --> 0:06\nWhy?\n\n0:06 --> 0:07\nWell.\n"),
            "No.|No.|Yes.|Why?|Well.");
  EXPECT_EQ(told("0:01 --> 0:02\nNo.\n\n0:03 --> 0:04\nNo.\n\n0:05 --> 0:06\nNo.\n"), "No.|No.|No.");
  EXPECT_EQ(told("0:01 --> 0:02\nNo.\n\n0:02 --> 0:03\nNo.\n\n0:03 --> 0:04\nNo.\n\n0:04 --> 0:05\nNo. Go away.\n"),
            "No.|No.|No.|No. Go away.")
      << "short, one at once behind the other";
  EXPECT_EQ(told("0:01 --> 0:02\nWait!\n\n0:02 --> 0:03\nWait! Stop!\n\n0:03 --> 0:04\nWait!\n\n0:04 --> 0:05\nWait! Stop!\n"),
            "Wait!|Wait! Stop!|Wait!|Wait! Stop!");
  EXPECT_EQ(told("0:01 --> 0:02\nRow row\n\n0:02 --> 0:03\nRow row\n\n0:03 --> 0:04\nRow row your boat\n\n0:04 --> 0:05\nmerrily\n"),
            "Row row|Row row|Row row your boat|merrily");
}

// Typesetters show a text anew for each picture.
TEST(RollingCaptions, WhatStandsForAnInstantIsHeld) {
  EXPECT_EQ(told("00:01.000 --> 00:01.040\nEXIT\n\n00:01.040 --> 00:01.080\nEXIT\n\n00:01.080 --> 00:01.120\nEXIT\n"), "EXIT#2 repeated");
}

constexpr const char* kAss =
    "[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname\nStyle: Default,Arial\n\n[Events]\n"
    "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
    "Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,nobody says this\n"
    "Dialogue: 0,0:00:04.05,0:00:05.00,Default,,0,0,0,,{\\k20}ka{\\k30}ra{\\k25}oke, <3 &amp;\n"
    "Dialogue: 0,0:00:01.05,0:00:02.00,Default,,0,0,0,,Good {\\i1}morning{\\i0},\\Nall\n"
    "Dialogue: 1,0:00:01.05,0:00:02.00,Default,,0,0,0,,{\\blur3}Good morning,\\Nall\n"
    "Dialogue: 1,0:00:02.05,0:00:03.00,Default,,0,0,0,,{\\an7\\pos(0,0)\\p1\\c&H0000FF&}m 0 0 l 100 0 100 50 0 50{\\p0}\n"
    "Dialogue: 0,0:00:06.00,0:00:07.00,Default,,0,0,0,,{\\p1}m 0 0{\\p0}after {\\pbo3}all\n";

TEST(AssFiles, SayWhatIsShownAsWords) {
  EXPECT_EQ(told(kAss), "Good morning, all|karaoke, <3 &amp;|after all#1 repeated#2 drawings");
  EXPECT_EQ(parseSubtitles(QString::fromUtf8(kAss), "a.ass").lines.front(), (TimedLine{1.05, 2.0, "Good morning, all"}));
}

TEST(AssFiles, TheFormatLineSaysWhereTheFieldsAre) {
  EXPECT_EQ(
      told("[Script Info]\nScriptType: v4.00\n[Events]\nFormat: Marked, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
           "Dialogue: Marked=0,0:00:01.00,0:00:02.00,Default,NTP,0000,0000,0000,!Effect,Old, but read\n"),
      "Old, but read");
  EXPECT_EQ(told("[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,Short\nDialogue: soon,0:00:02.00,Lost\n"),
            "Short#1 untimed");
}

TEST(AssFiles, TextOfStreamsIsPlainToo) {
  SubtitleLosses losses;
  const auto plain = [&](const char* text, SubtitleMarkup markup) { return plainCue(QString::fromUtf8(text), markup, losses); };
  using Lines = std::vector<QString>;
  EXPECT_EQ(plain("{\\pos(1,2)\\fad(1,1)}One\\Ntwo\\hthree {a note}", SubtitleMarkup::kAss), (Lines{"One", "two three"}));
  EXPECT_EQ(plain("a\x01z", SubtitleMarkup::kTags), Lines{"a z"});
  EXPECT_EQ(plain("open { brace", SubtitleMarkup::kAss), Lines{"open { brace"});
}

TEST(SubtitleFormats, OthersAreRefusedByNameWithTheWayOut) {
  const std::pair<const char*, const char*> others[] = {
      {"{25}{50}Hello|there\n{100}{125}Bye\n", "MicroDVD"},
      {"{1}{1}23.976\n{25}{}Hello\n", "MicroDVD"},
      {"<SAMI>\n<BODY>\n<SYNC Start=1050><P Class=ENCC>Hello\n</BODY></SAMI>\n", "SAMI"},
      {"<?xml version=\"1.0\"?>\n<tt xmlns=\"http://www.w3.org/ns/ttml\"><body><p begin=\"1s\" end=\"2s\">Hello</p></body></tt>\n", "TTML"},
      {"<?xml version=\"1.0\"?>\n<tt:tt xmlns:tt=\"http://www.w3.org/ns/ttml\"><tt:body/></tt:tt>\n", "TTML"},
      {"0:00:01.050,0:00:02.000\nHello there\n\n0:00:04.050,0:00:05.000\nBye\n", "SBV"},
      {"[10][20]Hello|there\n[40][50]Bye\n", "MPL2"},
      {"[INFORMATION]\n[TITLE]x\n[SUBTITLE]\n00:00:01.05,00:00:02.00\nHello[br]there\n", "SubViewer"},
      {"[ti:song]\n[00:01.05]Hello\n[00:04.05]Bye\n", "LRC"},
      {"Scenarist_SCC V1.0\n\n00:00:01:05\t9420 9420 94ae\n", "SCC"},
      {"00:00:01:Hello\n00:00:04:Bye\n", "TMPlayer"},
  };
  for (const auto& [text, name] : others) {
    try {
      parseSubtitles(QString::fromUtf8(text), "a.sub");
      ADD_FAILURE() << name;
    } catch (const Exception& refused) {
      EXPECT_EQ(refused.error().code, ErrorCode::kUnsupportedFormat) << name;
      EXPECT_NE(refused.error().reason.find(name), std::string::npos) << refused.error().reason;
      EXPECT_NE(refused.error().reason.find(".srt"), std::string::npos) << refused.error().reason;
    }
  }
  // Whatever its lines begin with, a text with times is read.
  EXPECT_EQ(cue("[00:01.05]Hello"), "[00:01.05]Hello");
  EXPECT_EQ(cue("<SAMI> is a name"), "<SAMI> is a name");
}

}  // namespace
}  // namespace winnow::app
