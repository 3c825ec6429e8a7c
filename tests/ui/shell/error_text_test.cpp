#include "app/words/error_text.h"

#include <gtest/gtest.h>

#include <QLocale>
#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "app/words/format_text.h"
#include "tests/support/source_folder.h"

namespace winnow::ui {
namespace {

// The numbers of ErrorCode as its source lists them, so that a new one is not forgotten.
std::set<int> everyCode() {
  std::ifstream file(source_folder() + "/engine/base/error.h");
  std::set<int> codes;
  std::smatch code;
  const std::regex listed(R"(^\s*k\w+ = (\d+),)");
  for (std::string line; std::getline(file, line) && line != "inline bool is_storage(ErrorCode code) {";) {
    if (std::regex_search(line, code, listed)) codes.insert(std::stoi(code[1]));
  }
  return codes;
}

TEST(ErrorText, EveryCodeHasItsOwnSentenceAndRemedy) {
  const std::set<int> codes = everyCode();
  ASSERT_GE(codes.size(), 49u);
  std::set<QString> causes;
  for (const int code : codes) {
    const app::ErrorText text = app::describeError({static_cast<ErrorCode>(code), "", "because"});
    EXPECT_FALSE(text.remedy.isEmpty()) << code;
    EXPECT_FALSE(text.cause.contains(QLatin1Char('%'))) << code;
    EXPECT_TRUE(text.details.contains(QStringLiteral("code %1 ").arg(code)));
    causes.insert(text.cause);
  }
  EXPECT_EQ(causes.size(), codes.size());
}

TEST(ErrorText, NamesTheFileAndNeutralisesItsName) {
  const app::ErrorText text = app::describeError({ErrorCode::kDamagedFile, "/home/me/clip\xE2\x80\xAEgpj.mp4", "the file ends early"});
  EXPECT_TRUE(text.cause.contains(QStringLiteral("clip\uFFFDgpj.mp4"))) << text.cause.toStdString();
  EXPECT_FALSE(text.cause.contains(QStringLiteral("/home")));
  EXPECT_TRUE(text.details.contains(QStringLiteral("/home/me/")));
  EXPECT_TRUE(text.details.contains(QStringLiteral("the file ends early")));
}

// "… is in a format that Winnow does not open. … Videos: MP4" was said of an MP4.
TEST(ErrorText, AVideoWhoseContainerIsFineIsToldWhatIsNot) {
  const auto told = [](const char* reason) {
    const app::ErrorText text = app::describeError({ErrorCode::kUnsupportedFormat, "/films/clip.mp4", reason});
    return (text.cause + QLatin1Char(' ') + text.remedy).toStdString();
  };
  const std::string codec = told("its video codec (hap) is not supported; this converts it: ffmpeg");
  EXPECT_TRUE(codec.starts_with("“clip.mp4” is a video whose codec, hap, Winnow does not decode.")) << codec;
  EXPECT_NE(codec.find("libx264"), std::string::npos) << codec;
  EXPECT_TRUE(told("the video is encrypted").starts_with("“clip.mp4” is encrypted."));
  EXPECT_TRUE(told("it contains no video, only sound and a cover picture").starts_with("“clip.mp4” contains no video."));
  const std::string noise = told("its content is not one of the formats that are read");
  EXPECT_TRUE(noise.starts_with("“clip.mp4” is not what its name says")) << noise;
  EXPECT_EQ(noise.find("Videos: MP4"), std::string::npos);
}

TEST(ErrorText, ADocumentThatIsNoPlainTextNamesTheWay) {
  const auto remedy = [](const char* file) { return app::describeError({ErrorCode::kUnsupportedFormat, file, "no text"}).remedy; };
  for (const char* file : {"/papers/kv.DOC", "/papers/kv.pptx", "/papers/kv.pages"})
    EXPECT_EQ(remedy(file), QStringLiteral("Save it as PDF in the program that made it, and attach that.")) << file;
  const app::ErrorText scan = app::describeError({ErrorCode::kNoTextInPages, "/papers/scan.pdf", "its pages are pictures"});
  EXPECT_EQ(scan.cause, QStringLiteral("“scan.pdf” has no text: its pages are pictures, probably scans."));
  EXPECT_TRUE(scan.remedy.contains(QStringLiteral("a model that sees")));
  EXPECT_TRUE(
      app::describeError({ErrorCode::kPasswordNeeded, "/papers/a.pdf", "secret"}).remedy.contains(QStringLiteral("Enter its password")));
}

// "The engine stopped unexpectedly. What was written is kept." was said of one that had never begun.
TEST(ErrorText, AnEngineThatCannotStartNamesWhatIsMissing) {
  const app::ErrorText text =
      app::describeError({ErrorCode::kEngineCrashed, "libtorch_cpu.so", "the engine cannot start without this library"});
  EXPECT_EQ(text.cause, QStringLiteral("Winnow’s installation is damaged: libtorch_cpu.so"));
  EXPECT_TRUE(text.remedy.contains(QStringLiteral("Install Winnow again"))) << text.remedy.toStdString();
  EXPECT_TRUE(text.details.contains(QStringLiteral("cannot start without this library")));
  EXPECT_EQ(app::describeError({ErrorCode::kEngineCrashed, "", "signal 9"}).cause, QStringLiteral("The engine stopped unexpectedly."));
}

TEST(ErrorText, AKeyIsMissedWhereItShouldBe) {
  const app::ErrorText typed = app::describeError({ErrorCode::kServerKeyMissing, "http://127.0.0.1:8790", "the desktop keeps none for it"});
  EXPECT_EQ(typed.cause + QLatin1Char(' ') + typed.remedy, QStringLiteral("Your desktop keeps no key for this server. Type it again."));
  const app::ErrorText named = app::describeError({ErrorCode::kServerKeyMissing, "GPU_KEY", "there is no such environment variable"});
  EXPECT_EQ(named.cause, QStringLiteral("The key for the server is not in “GPU_KEY”."));
}

TEST(FormatText, ReadsWell) {
  EXPECT_EQ(app::formatParameters(134'515'008), QStringLiteral("135 M"));
  EXPECT_EQ(app::formatParameters(8'000'000), QStringLiteral("8.0 M"));
  EXPECT_EQ(app::formatParameters(1'711'376'384), QStringLiteral("1.7 B"));
  EXPECT_EQ(app::formatClock(7.4), QStringLiteral("0:07"));
  EXPECT_EQ(app::formatClock(128), QStringLiteral("2:08"));
  EXPECT_EQ(app::formatClock(3723), QStringLiteral("1:02:03"));
  EXPECT_EQ(app::formatShare(0.2), QStringLiteral("20\u202F%"));
  EXPECT_EQ(app::formatShare(0.015), QStringLiteral("1.5\u202F%"));
  EXPECT_EQ(app::formatBytes(1536), QStringLiteral("1.5 KiB"));
  EXPECT_EQ(app::formatMilliseconds(1400), QStringLiteral("1.4 s"));
  EXPECT_EQ(app::formatMilliseconds(140'000), QStringLiteral("140 s"));
  EXPECT_EQ(app::formatMilliseconds(900'000), QStringLiteral("15 min"));
  EXPECT_EQ(app::formatMilliseconds(6'956'000), QStringLiteral("1.9 h"));
  EXPECT_EQ(app::formatMilliseconds(100'000'000), QStringLiteral("28 h"));
}

// LANG=C.UTF-8: 1, 10, 11, 2.
TEST(FormatText, NamesAreInTheOrderOfTheirNumbers) {
  const QLocale before;
  for (const QLocale& locale : {QLocale::c(), QLocale(QLocale::English)}) {
    QLocale::setDefault(locale);
    QStringList names{QStringLiteral("11.png"), QStringLiteral("2.png"), QStringLiteral("10.png"), QStringLiteral("1.png")};
    std::sort(names.begin(), names.end(), app::nameOrder());
    EXPECT_EQ(names.join(u' '), QStringLiteral("1.png 2.png 10.png 11.png")) << locale.name().toStdString();
  }
  QLocale::setDefault(before);
}

TEST(FormatText, TimesAreShortAndNeverInSeconds) {
  const QDateTime now(QDate(2026, 3, 12), QTime(9, 30));  // a Thursday
  const auto on = [&now](int year, int month, int day) {
    return app::formatWhen(QDateTime(QDate(year, month, day), QTime(14, 5, 59)), now);
  };
  EXPECT_EQ(app::formatWhen(QDateTime(QDate(2026, 3, 12), QTime(0, 7, 58)), now), QStringLiteral("00:07"));
  EXPECT_EQ(on(2026, 3, 11), QStringLiteral("Yesterday"));
  EXPECT_EQ(on(2026, 3, 10), QStringLiteral("Tuesday"));
  EXPECT_EQ(on(2026, 3, 6), QStringLiteral("Friday"));
  EXPECT_EQ(on(2026, 3, 5), QStringLiteral("5 Mar"));
  EXPECT_EQ(on(2025, 12, 31), QStringLiteral("31 Dec 2025"));
  EXPECT_EQ(on(2026, 3, 13), QStringLiteral("13 Mar")) << "a clock that was set back";
}

}  // namespace
}  // namespace winnow::ui
