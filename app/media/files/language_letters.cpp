#include "app/media/files/language_letters.h"

#include <QHash>
#include <QStringView>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace winnow::app {
namespace {

struct Language {
  const char* codePages;  // between spaces
  QStringView letters;    // lower case, the most frequent first
};

constexpr const char* kWestern = "Windows-1252";
constexpr const char* kCentral = "Windows-1250 ISO-8859-2 IBM852";
constexpr const char* kCyrillic = "Windows-1251 KOI8-R IBM866 ISO-8859-5 Mac-Cyrillic";

constexpr std::array kLanguages = std::to_array<Language>({
    {kWestern, u"üäößé"},                                                     // German
    {kWestern, u"éèàêçîôûùïâœëüæÿ"},                                          // French
    {kWestern, u"óáíñéúü¿¡ºª"},                                               // Spanish
    {kWestern, u"èàòùìéîº"},                                                  // Italian
    {kWestern, u"ãçáéíêõóúâàôº"},                                             // Portuguese
    {kWestern, u"äåöé"},                                                      // Swedish
    {kWestern, u"åæøé"},                                                      // Danish, Norwegian
    {kWestern, u"äöå"},                                                       // Finnish
    {kWestern, u"ëéïüè"},                                                     // Dutch
    {kWestern, u"ðáíþóúöæéý"},                                                // Icelandic
    {kWestern, u"àóéèïíç·úòü"},                                               // Catalan
    {kCentral, u"íáěéžčšřýůúňďťó"},                                           // Czech
    {kCentral, u"áíčéžšťúýľôóňďäĺŕ"},                                         // Slovak
    {kCentral, u"łąężśćóńź"},                                                 // Polish
    {kCentral, u"éáóöőíüúű"},                                                 // Hungarian
    {"Windows-1250 ISO-8859-16", u"ăîâşţșț"},                                 // Romanian
    {"Windows-1250 ISO-8859-2", u"čšžćđ"},                                    // Croatian, Serbian, Slovene
    {"Windows-1254", u"ıüşçğöâîi"},                                           // Turkish
    {"Windows-1257", u"äõüöšž"},                                              // Estonian
    {"Windows-1257", u"šųžėįąūčę"},                                           // Lithuanian
    {"Windows-1257", u"āīēšūņļģžķč"},                                         // Latvian
    {kCyrillic, u"оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"},                        // Russian
    {"Windows-1251 KOI8-U", u"оаинівтерслкудмпяьзгбчйхїшєжцюфщґ"},            // Ukrainian
    {"Windows-1251", u"аиоетнрсвлкдпмзгъубчщцжхйшяюфь"},                      // Bulgarian
    {"Windows-1251", u"аиоенрсјткувдмпљзгшчбћжцњђхфџѓќїёѕ"},                  // Serbian, Macedonian
    {"Windows-1251", u"анеіыалртдскпвўугязбмьчжхшцйюэфё"},                    // Belarusian
    {"Windows-1253 ISO-8859-7", u"αοιετσνηυρπκμλςωίόάγέδθήχύφβώξζψϊϋ"},       // Greek
    {"Windows-1255", u"יוהלאתמרבשנםדקפעחטגצכסןךזץף"},                         // Hebrew
    {"Windows-1256", u"اليمنترةوبعدهسفقكحجإصأشطخضزغذثىئءؤظآپچژگ"},            // Arabic, Persian
    {"Windows-874", u"านรอกเงมยลวดทสต่้ีัิบปคะหแไขใจพำชผู์ุึๆฟซโถณธ็ภืฉศษฐญ"},           // Thai
    {"Windows-1258", u"đưôơêăâáàãéèíìóòõúùý\u0300\u0301\u0303\u0309\u0323"},  // Vietnamese
});

constexpr double kOfAllLetters = 0.95;  // share of a language's own among what is beyond ASCII
const double kOtherLetter = std::log(0.002);
const double kMark = std::log(0.02);      // quotation marks, dashes, bullets
const double kSymbol = std::log(0.0008);  // what stands in few texts
constexpr double kNothing = -14.0;        // no character
constexpr double kCapitalInside = -3.0;   // one behind a small letter
constexpr double kCapital = -1.0;         // one that begins a word
constexpr QStringView kTypographic = u"“”‘’„–—…«»•·€°§©®™\u00A0‚‹›№";

using Shares = QHash<char16_t, double>;

Shares sharesOf(QStringView letters) {
  std::vector<double> weights;
  double sum = 0.0;
  for (qsizetype rank = 0; rank < letters.size(); ++rank) sum += weights.emplace_back(std::pow(static_cast<double>(rank + 2), -0.8));
  Shares shares;
  for (qsizetype rank = 0; rank < letters.size(); ++rank)
    shares.insert(letters[rank].unicode(), std::log(kOfAllLetters * weights[static_cast<std::size_t>(rank)] / sum));
  return shares;
}

double shareOf(QChar c, QChar before, const Shares& shares) {
  const QChar::Category category = c.category();
  if (c == QChar(QChar::ReplacementCharacter) || category == QChar::Other_Control || category == QChar::Other_NotAssigned ||
      category == QChar::Other_PrivateUse || c.isSurrogate())
    return kNothing;
  const auto known = shares.constFind(c.toLower().unicode());
  if (!c.isLetter() && !c.isMark()) return known != shares.cend() ? *known : kTypographic.contains(c) ? kMark : kSymbol;
  const double share = known != shares.cend() ? *known : kOtherLetter;
  if (!c.isUpper()) return share;
  return share + (before.isLower() ? kCapitalInside : before.isUpper() ? 0.0 : kCapital);
}

double scoreOf(const QString& text, const Shares& shares) {
  double score = 0.0;
  QChar before = u' ';
  for (const QChar c : text) {
    if (c.unicode() > 0x7F) {
      score += shareOf(c, before, shares);
    } else if (c.isUpper() && before.unicode() > 0x7F && before.isLower()) {
      score += kCapitalInside;
    }
    before = c;
  }
  return score;
}

// Between code pages with the same letters in the same places the one that is written most.
double preference(const std::string& codePage) {
  static const std::map<std::string, double> kPreferences = {
      {"Windows-1252", 0.15}, {"IBM852", -0.5}, {"ISO-8859-16", -0.2}, {"Windows-1258", -0.2}, {"ISO-8859-2", -0.1}};
  const auto found = kPreferences.find(codePage);
  return found == kPreferences.end() ? 0.0 : found->second;
}

}  // namespace

LettersJudged bestCodePage(const std::function<QString(const std::string&)>& decoded, qsizetype characters, const std::string& favoured) {
  LettersJudged best{kWestern, -std::numeric_limits<double>::infinity()};
  std::map<std::string, QString> texts;
  for (const Language& language : kLanguages) {
    const Shares shares = sharesOf(language.letters);
    for (const QString& name : QString::fromLatin1(language.codePages).split(u' ')) {
      const std::string codePage = name.toStdString();
      const auto [text, isNew] = texts.try_emplace(codePage);
      if (isNew) text->second = decoded(codePage);
      const auto count = static_cast<double>(characters);
      const double favour = codePage == favoured ? std::min(0.3, 2.0 / count) + 0.05 : 0.0;
      const double score = scoreOf(text->second, shares) / count + preference(codePage) + favour;
      if (score > best.score) best = {codePage, score};
    }
  }
  return best;
}

}  // namespace winnow::app
