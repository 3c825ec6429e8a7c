// Which encoding a text is in: one of many, told by its bytes, by its mark or by a name.
#include "app/media/files/text_encoding.h"

#include <gtest/gtest.h>
#include <iconv.h>

#include <algorithm>

#include "app/media/files/document_text.h"
#include "app/media/files/encoding_guess.h"
#include "engine/base/error.h"
#include "tests/support/expect_error.h"

namespace winnow::app {
namespace {

// UTF-8 as another program would write it; what the encoding lacks is a fault of the test.
std::string encoded(const std::string& utf8, const char* converter) {
  const iconv_t handle = ::iconv_open(converter, "UTF-8");
  EXPECT_NE(handle, reinterpret_cast<iconv_t>(-1)) << converter;
  std::string from = utf8, into(utf8.size() * 6 + 16, '\0');
  char* in = from.data();
  char* out = into.data();
  std::size_t left = from.size(), free = into.size();
  EXPECT_EQ(::iconv(handle, &in, &left, &out, &free), 0U) << converter << ": " << utf8;
  ::iconv(handle, nullptr, nullptr, &out, &free);
  ::iconv_close(handle);
  into.resize(into.size() - free);
  return into;
}

TextBytes bytesOf(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
DocumentText read(const std::string& bytes, const std::string& encoding = {}) { return readText(bytesOf(bytes), encoding, "notes.txt"); }

struct Written {
  const char* name;       // of the test
  const char* converter;  // iconv's name
  const char* encoding;   // ours
  const char* text;
};

class WrittenIn : public ::testing::TestWithParam<Written> {};

TEST_P(WrittenIn, IsReadAsItWasWritten) {
  const Written& written = GetParam();
  const std::string text = std::string(written.text) + "\n";
  const DocumentText guessed = read(encoded(text, written.converter));
  EXPECT_EQ(guessed.utf8, text) << "read as " << guessed.encoding;
  ASSERT_EQ(guessed.notices.size(), 1U);
  EXPECT_EQ(guessed.notices[0], (MediaNotice{NoticeCode::kEncodingGuessed, 0, 0, guessed.encoding}));
  const DocumentText named = read(encoded(text, written.converter), written.encoding);
  EXPECT_EQ(named.utf8, text);
  EXPECT_TRUE(named.notices.empty()) << "what was asked for is no guess";
}

TEST_P(WrittenIn, OneWrongByteChangesNothingElse) {
  const Written& written = GetParam();
  if (std::string(written.encoding).starts_with("UTF-") || std::string(written.encoding).starts_with("ISO-2022"))
    GTEST_SKIP() << "a byte shifts all that follow";
  std::string text;
  for (int i = 0; i < 12; ++i) text += std::string(written.text) + "\n";
  const std::string bytes = encoded(text, written.converter);
  const DocumentText damaged = read("\xFF\n" + bytes + "\x01");
  EXPECT_NE(damaged.utf8.find(text), std::string::npos) << damaged.encoding;
}

INSTANTIATE_TEST_SUITE_P(
    Languages, WrittenIn,
    ::testing::Values(Written{"Russian", "CP1251", "Windows-1251", "Начальника порта зовут Марта. Код ворот 4711."},
                      Written{"RussianKoi8", "KOI8-R", "KOI8-R", "Начальника порта зовут Марта. Код ворот 4711."},
                      Written{"RussianDos", "CP866", "IBM866", "Начальника порта зовут Марта. Код ворот 4711."},
                      Written{"RussianIso", "ISO-8859-5", "ISO-8859-5", "Начальника порта зовут Марта. Код ворот 4711."},
                      Written{"Ukrainian", "CP1251", "Windows-1251", "Її звати Марта, і вона живе біля моря. Що це є?"},
                      Written{"UkrainianKoi8", "KOI8-U", "KOI8-U", "Її звати Марта, і вона живе біля моря. Що це є?"},
                      Written{"Czech", "CP1250", "Windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy"},
                      Written{"CzechIso", "ISO-8859-2", "ISO-8859-2", "Příliš žluťoučký kůň úpěl ďábelské ódy"},
                      Written{"Polish", "CP1250", "Windows-1250", "Zażółć gęślą jaźń, powiedział kapitan portu."},
                      Written{"Hungarian", "CP1250", "Windows-1250", "A kikötő őrének a neve Márta, és hűséges a városához."},
                      Written{"French", "CP1252", "Windows-1252", "Où êtes-vous allé cet été ? Déjà à la mer, près d’ici…"},
                      Written{"German", "CP1252", "Windows-1252", "Die Schlüssel für die großen Türen hängen natürlich über dem Tisch."},
                      Written{"Spanish", "CP1252", "Windows-1252", "¿Dónde está la señora? Mañana volverá el capitán."},
                      Written{"Italian", "CP1252", "Windows-1252", "Perché la città è così bella? Chi lo sa già?"},
                      Written{"Catalan", "CP1252", "Windows-1252", "Què és això? Il·lusió, però també música i raó."},
                      Written{"Icelandic", "CP1252", "Windows-1252", "Það er gott að búa við höfnina, þótt kalt sé."},
                      Written{"Swedish", "CP1252", "Windows-1252", "Hamnkaptenen är på väg över ån till sjöss."},
                      Written{"Turkish", "CP1254", "Windows-1254", "Kapıyı açtığında dışarıda güneş doğuyordu, şaşırdı."},
                      Written{"Greek", "CP1253", "Windows-1253", "Ο καπετάνιος του λιμανιού λέγεται Μάρθα."},
                      Written{"Hebrew", "CP1255", "Windows-1255", "שמה של מנהלת הנמל הוא מרתה. הקוד הוא 4711."},
                      Written{"Arabic", "CP1256", "Windows-1256", "اسم مديرة الميناء مارتا والرمز هو 4711"},
                      Written{"Thai", "CP874", "Windows-874", "หัวหน้าท่าเรือชื่อมาร์ทา รหัสประตูคือ 4711"},
                      Written{"Lithuanian", "CP1257", "Windows-1257", "Uosto viršininkė yra Marta, o vartų kodas žinomas ąžuolui."},
                      Written{"Latvian", "CP1257", "Windows-1257", "Ostas priekšniece ir Marta, un vārtu kods ir šāds: četri."},
                      Written{"Chinese", "GB18030", "GB18030", "港口主任叫林美华。大门的密码是4711。"},
                      Written{"ChineseShort", "GB18030", "GB18030", "第一行字幕"},
                      Written{"ChineseTaiwan", "BIG5", "Big5", "港口主任叫林美華。大門的密碼是4711。"},
                      Written{"Korean", "CP949", "EUC-KR", "항구 책임자의 이름은 마르타이고 문의 번호는 4711이다."},
                      Written{"Japanese", "CP932", "Shift_JIS", "港の主任は林です。門の番号は4711です。"},
                      Written{"JapaneseUnix", "EUC-JP-MS", "EUC-JP", "港の主任は林です。門の番号は4711です。"},
                      Written{"JapaneseMail", "ISO-2022-JP", "ISO-2022-JP", "港の主任は林です。門の番号は4711です。"},
                      Written{"WideEnglish", "UTF-16LE", "UTF-16LE", "The code of the gate is 4711."},
                      Written{"WideEnglishBig", "UTF-16BE", "UTF-16BE", "The code of the gate is 4711."},
                      Written{"WideRussian", "UTF-16LE", "UTF-16LE", "Начальника порта зовут Марта."},
                      Written{"WideChinese", "UTF-16LE", "UTF-16LE",
                              "港口主任叫林美华。大门的密码是4711。船在星期三到达港口,货物是茶叶和丝绸。"},
                      Written{"WideChineseBig", "UTF-16BE", "UTF-16BE", "港口主任叫林美华。大门的密码是4711。"},
                      Written{"WideKorean", "UTF-16LE", "UTF-16LE", "항구 책임자의 이름은 마르타이다."},
                      Written{"Widest", "UTF-32LE", "UTF-32LE", "Zoë 港口 🙂"},
                      Written{"WidestBig", "UTF-32BE", "UTF-32BE", "Zoë 港口 🙂"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(TextEncoding, AMarkSaysWhichItIs) {
  const std::string text = "Zoë 港口 🙂\n";
  for (const char* converter : {"UTF-8", "UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE", "GB18030"}) {
    const DocumentText marked = read(encoded("\xEF\xBB\xBF" + text, converter));
    EXPECT_EQ(marked.utf8, text);
    EXPECT_EQ(marked.encoding, converter);
    EXPECT_TRUE(marked.notices.empty());
  }
  // A name for both orders of bytes leaves the order to the mark.
  EXPECT_EQ(read(encoded("\xEF\xBB\xBF" + text, "UTF-16BE"), "utf-16").utf8, text);
}

TEST(TextEncoding, IsKnownByWhatPeopleCallIt) {
  for (const std::string& name : encodingNames()) EXPECT_EQ(encodingNamed(name), name);
  EXPECT_EQ(encodingNamed("cp1251"), "Windows-1251");
  EXPECT_EQ(encodingNamed("WINDOWS_1251"), "Windows-1251");
  EXPECT_EQ(encodingNamed("latin1"), "Windows-1252");
  EXPECT_EQ(encodingNamed("gbk"), "GB18030");
  EXPECT_EQ(encodingNamed("sjis"), "Shift_JIS");
  EXPECT_EQ(encodingNamed("utf-16"), "UTF-16LE");
  for (const char* none : {"", " ", "-", "utf", "125", "/etc/passwd", "UTF-8//TRANSLIT", "ISO-2022-CN-EXT"})
    EXPECT_EQ(encodingNamed(none), std::nullopt) << none;
  test::expect_error(ErrorCode::kInvalidArgument, "no encoding", [] { read("a", "klingon"); });
}

TEST(TextEncoding, WrongBytesAreCountedAndChangeNothingElse) {
  const auto expect = [](const std::string& bytes, const std::string& text, int count) {
    const DocumentText document = read(bytes);
    EXPECT_EQ(document.utf8, text);
    EXPECT_EQ(document.encoding, "UTF-8");
    ASSERT_EQ(document.notices.size(), 1U);
    EXPECT_EQ(document.notices[0], (MediaNotice{NoticeCode::kBytesReplaced, count, 0, "UTF-8"}));
  };
  const std::string utf8 = "Où êtes-vous, Zoë ?\n", gone = "\xEF\xBF\xBD";
  expect(utf8 + "\xE9\n", utf8 + gone + "\n", 1);
  expect(utf8 + "\xE2\x82", utf8 + gone + gone, 2);
  const DocumentText meant = read(utf8 + gone);
  EXPECT_EQ(meant.utf8, utf8 + gone) << "the file's own";
  EXPECT_TRUE(meant.notices.empty());
  const DocumentText odd = read("\xFF\xFE" + encoded("Zoë", "UTF-16LE") + "x");
  EXPECT_EQ(odd.utf8, "Zoë" + gone);
  ASSERT_EQ(odd.notices.size(), 1U);
  const DocumentText surrogate = read("\xFF\xFE" + encoded("a", "UTF-16LE") + std::string("\x00\xD8", 2) + encoded("b", "UTF-16LE"));
  EXPECT_EQ(surrogate.utf8, "a" + gone + "b");
}

TEST(TextEncoding, ALongTextIsJudgedByTheLinesThatTell) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "Plain words in ASCII, number " + std::to_string(i) + "\n";
  const std::string last = "Начальника порта зовут Марта. Код ворот 4711.\n";
  EXPECT_EQ(read(encoded(text + last, "CP1251")).utf8, text + last);
}

// Whatever the bytes are: they are read or refused as binary.
TEST(TextEncoding, AnyBytesAreReadOrRefused) {
  std::uint32_t state = 7;
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    for (int i = 0; i < round; ++i) {
      state = state * 1664525U + 1013904223U;
      bytes += static_cast<char>(round % 3 == 0 ? state >> 24 : round % 3 == 1 ? (state >> 24) | 0x80 : 0x20 + (state >> 24) % 0xE0);
    }
    try {
      EXPECT_TRUE(QString::fromStdString(read(bytes).utf8).isValidUtf16());
    } catch (const Exception& problem) {
      EXPECT_EQ(problem.error().code, ErrorCode::kUnsupportedFormat);
    }
  }
}

}  // namespace
}  // namespace winnow::app
