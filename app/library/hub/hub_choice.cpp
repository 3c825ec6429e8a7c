#include "app/library/hub/hub_choice.h"

#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "app/library/downloads/download_fault.h"
#include "engine/api/model_kinds.h"
#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

// From the usual one on: four bits with scales, then more, then what decodes slowly (engine/models/README.md), then whole elements.
constexpr std::array kOrder = {"Q4_K_M", "UD-Q4_K_XL", "Q4_K_S", "Q4_K",   "Q4_K_L", "Q4_0",   "Q4_1",   "Q5_K_M", "Q5_K_S",
                               "Q5_K",   "Q5_0",       "Q5_1",   "Q6_K",   "Q8_0",   "IQ4_XS", "IQ4_NL", "Q3_K_L", "Q3_K_M",
                               "Q3_K_S", "Q3_K",       "Q2_K",   "Q2_K_S", "Q2_K_L", "BF16",   "F16",    "FP16",   "F32"};
constexpr std::array kProjectorOrder = {"F16", "FP16", "BF16", "Q8_0", "", "F32"};
constexpr qint64 kSmallBytes = qint64{1} << 30;
constexpr qint64 kSmallShare = 8;  // of the machine's memory
constexpr qint64 kProgramBytes = qint64{1'500'000'000};
constexpr qint64 kTenth = 10;
constexpr int kMostParts = 1000;

const QRegularExpression& partEnding() {
  static const QRegularExpression ending(QStringLiteral("-(\\d{5})-of-(\\d{5})$"));
  return ending;
}

bool isGguf(const QString& path) { return path.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive); }
QString folderOf(const QString& path) { return path.contains(QLatin1Char('/')) ? path.section(QLatin1Char('/'), 0, -2) : QString(); }

// One model: a file, or its parts in their order.
struct Group {
  QString name;  // its path without part and ending
  std::vector<HubFile> files{};
  qint64 bytes = 0;
  QString quantisation() const { return quantisationOf(name); }
  // The name as it is typed and listed.
  QString label() const { return quantisation().isEmpty() ? name.section(QLatin1Char('/'), -1) : quantisation(); }
};

template <std::size_t N>
std::size_t rankOf(const std::array<const char*, N>& order, const QString& quantisation) {
  const auto found =
      std::ranges::find_if(order, [&](const char* each) { return quantisation.compare(QLatin1String(each), Qt::CaseInsensitive) == 0; });
  return static_cast<std::size_t>(found - order.begin());
}

enum class GgufKind : int { kModel = 1, kProjector = 2 };

struct Groups {
  std::vector<Group> whole;
  std::map<QString, QString> missing;  // of a split file that is not: by its name the first part that is not in the list
};

QString partName(const QString& name, int part, int parts) {
  return QStringLiteral("%1-%2-of-%3.gguf").arg(name).arg(part, 5, 10, QLatin1Char('0')).arg(parts, 5, 10, QLatin1Char('0'));
}

// Every part of a split file has to be in the list.
Groups groupsOf(const std::vector<HubFile>& files, GgufKind kind) {
  std::map<QString, Group> groups;
  std::map<QString, int> parts;
  for (const HubFile& file : files) {
    const bool projector = names_projector(QFileInfo(file.path).fileName().toStdString());
    if (!isGguf(file.path) || projector != (kind == GgufKind::kProjector)) continue;
    QString name = file.path.left(file.path.size() - 5);
    const QRegularExpressionMatch part = partEnding().match(name);
    if (part.hasMatch()) name = name.left(part.capturedStart());
    Group& group = groups[name];
    group.name = name;
    group.files.push_back(file);
    group.bytes += file.bytes;
    parts[name] = part.hasMatch() ? std::min(part.captured(2).toInt(), kMostParts) : 1;
  }
  Groups sorted;
  for (auto& [name, group] : groups) {
    std::ranges::sort(group.files, {}, &HubFile::path);
    if (static_cast<int>(group.files.size()) == parts[name]) {
      sorted.whole.push_back(std::move(group));
      continue;
    }
    for (int part = 1; part <= parts[name]; ++part) {
      const QString path = partName(name, part, parts[name]);
      if (std::ranges::find(group.files, path, &HubFile::path) != group.files.end()) continue;
      sorted.missing.emplace(name, path);
      break;
    }
  }
  std::ranges::stable_sort(sorted.whole, {}, [](const Group& group) { return rankOf(kOrder, group.quantisation()); });
  return sorted;
}

[[noreturn]] void refuseIncomplete(const QString& missing) {
  throw DownloadError(
      {.problem = DownloadProblem::kNotReadable, .reason = QStringLiteral("it lacks a part of the model, %1").arg(missing)});
}

QStringList labels(const std::vector<Group>& groups) {
  QStringList names;
  for (const Group& group : groups) names << group.label();
  names.removeDuplicates();
  return names;
}

// The tag must be a whole word of the name: Q4_K is not Q4_K_M, "compact" not "icompact".
bool isNamed(const Group& group, const QString& tag) {
  const QString base = group.name.section(QLatin1Char('/'), -1);
  if (base.compare(tag, Qt::CaseInsensitive) == 0 || (base + QStringLiteral(".gguf")).compare(tag, Qt::CaseInsensitive) == 0) return true;
  const QRegularExpression word(QStringLiteral("(?:^|[-._])%1(?:$|[-.])").arg(QRegularExpression::escape(tag)),
                                QRegularExpression::CaseInsensitiveOption);
  return word.match(base).hasMatch();
}

const Group& namedGroup(const Groups& all, const QString& tag) {
  const std::vector<Group>& groups = all.whole;
  std::vector<const Group*> found;
  for (const Group& group : groups) {
    // Q4_K_M is not meant to be UD-Q4_K_M, of which the name says more.
    const bool exact = group.quantisation().compare(tag, Qt::CaseInsensitive) == 0;
    if (exact || (isNamed(group, tag) && !group.quantisation().endsWith(QLatin1Char('-') + tag, Qt::CaseInsensitive)))
      found.push_back(&group);
  }
  if (found.empty()) {
    for (const auto& [name, missing] : all.missing) {
      if (isNamed({.name = name}, tag)) refuseIncomplete(missing);
    }
    throw DownloadError({.problem = DownloadProblem::kNoSuchFile, .subject = tag, .choices = labels(groups)});
  }
  if (found.size() == 1) return *found.front();
  QStringList names;
  for (const Group* each : found) names << each->name.section(QLatin1Char('/'), -1) + QStringLiteral(".gguf");
  throw DownloadError({.problem = DownloadProblem::kAmbiguous, .subject = tag, .choices = names});
}

// A model's need of memory by its files, before it is looked into: weights, libtorch, and room for a conversation.
qint64 roughMemoryNeed(qint64 fileBytes) { return fileBytes + fileBytes / kTenth + kProgramBytes; }

struct Suited {
  const Group* group;
  ChoiceReason reason;
};

// The usual one, where it fits; where all of a small model fits easily, the one that loses nothing.
Suited suitedGroup(const std::vector<Group>& groups, qint64 memoryBytes) {
  const auto fits = [&](const Group& group) { return memoryBytes <= 0 || roughMemoryNeed(group.bytes) <= memoryBytes; };
  if (groups.size() == 1 && fits(groups.front())) return {&groups.front(), ChoiceReason::kOnly};
  for (const Group& group : groups) {
    const bool small = group.bytes <= kSmallBytes && memoryBytes > 0 && group.bytes * kSmallShare <= memoryBytes;
    if (small && group.quantisation().compare(QLatin1String("Q8_0"), Qt::CaseInsensitive) == 0) return {&group, ChoiceReason::kSmall};
  }
  constexpr std::size_t kUsualOnes = 5;  // of kOrder
  const bool usual = rankOf(kOrder, groups.front().quantisation()) < kUsualOnes;
  if (fits(groups.front())) return {&groups.front(), usual ? ChoiceReason::kUsual : ChoiceReason::kBest};
  const Group* best = nullptr;  // of those that are smaller the largest
  for (const Group& group : groups) {
    if (fits(group) && (best == nullptr || group.bytes > best->bytes)) best = &group;
  }
  if (best != nullptr) return {best, ChoiceReason::kSmaller};
  const auto smallest = std::ranges::min_element(groups, {}, &Group::bytes);
  throw DownloadError({.problem = DownloadProblem::kTooLarge, .bytes = roughMemoryNeed(smallest->bytes), .choices = labels(groups)});
}

// The words of a file's name that say which model it is: "mmproj-Qwen2-VL-7B-f16" and "Qwen2-VL-7B-Q4_K_M" have the same.
std::set<QString> modelWords(const Group& group) {
  static const QRegularExpression between(QStringLiteral("[-._ ]+"));
  QString base = group.name.section(QLatin1Char('/'), -1);
  if (const QString bits = group.quantisation(); !bits.isEmpty()) base.remove(bits, Qt::CaseInsensitive);
  std::set<QString> words;
  for (const QString& word : base.toLower().split(between, Qt::SkipEmptyParts)) {
    if (word != QLatin1String("mmproj") && word != QLatin1String("model") && word != QLatin1String("gguf")) words.insert(word);
  }
  return words;
}

// The one of the same folder, else the repository's; of several the one that is named after this model, by what is lost.
const Group* projectorFor(const Group& model, const std::vector<Group>& projectors) {
  const Group* best = nullptr;
  const std::set<QString> words = modelWords(model);
  const auto cost = [&](const Group& each) {
    const std::set<QString> named = modelWords(each);
    const auto strange = std::ranges::count_if(named, [&words](const QString& word) { return !words.contains(word); });
    const auto same = static_cast<std::ptrdiff_t>(named.size()) - strange;
    return std::tuple(folderOf(each.name) == folderOf(model.name) ? 0 : 1, strange, -same, rankOf(kProjectorOrder, each.quantisation()));
  };
  for (const Group& each : projectors) {
    const bool near = folderOf(each.name) == folderOf(model.name) || folderOf(each.name).isEmpty();
    if (near && each.files.size() == 1 && (best == nullptr || cost(each) < cost(*best))) best = &each;
  }
  return best;
}

HubSelection ggufSelection(const std::vector<HubFile>& files, const Groups& groups, const QString& tag, qint64 memoryBytes) {
  const Suited suited = tag.isEmpty() ? suitedGroup(groups.whole, memoryBytes) : Suited{&namedGroup(groups, tag), ChoiceReason::kNamed};
  HubSelection selection{
      .files = suited.group->files,
      .opened = suited.group->files.front().path,
      .choice = {.what = suited.group->label(), .reason = suited.reason, .bytes = suited.group->bytes, .memoryBytes = memoryBytes}};
  const std::vector<Group> projectors = groupsOf(files, GgufKind::kProjector).whole;
  if (const Group* projector = projectorFor(*suited.group, projectors)) {
    HubFile file = projector->files.front();
    selection.files.push_back(file);
    selection.choice.projector = QFileInfo(file.path).fileName();
    selection.choice.bytes += file.bytes;
    // The engine looks for it beside the model.
    const QString folder = folderOf(suited.group->name);
    if (folderOf(file.path) != folder) {
      file.path = folder + QLatin1Char('/') + selection.choice.projector;
      selection.files.push_back(file);
    }
  }
  return selection;
}

bool isDocument(const QString& name) {
  static const QStringList documents = {
      QStringLiteral("config.json"),           QStringLiteral("generation_config.json"),   QStringLiteral("tokenizer.json"),
      QStringLiteral("tokenizer_config.json"), QStringLiteral("special_tokens_map.json"),  QStringLiteral("added_tokens.json"),
      QStringLiteral("chat_template.json"),    QStringLiteral("chat_template.jinja"),      QStringLiteral("processor_config.json"),
      QStringLiteral("winnow.json"),           QStringLiteral("preprocessor_config.json"), QStringLiteral("video_preprocessor_config.json"),
      QLatin1String(kShardIndexName)};
  return documents.contains(name);
}

HubSelection folderSelection(const std::vector<HubFile>& files) {
  HubSelection selection;
  const bool whole = findHubFile(files, QStringLiteral("model.safetensors")) != nullptr;
  for (const HubFile& file : files) {
    if (whole && file.path == QLatin1String(kShardIndexName)) continue;  // of shards that nobody reads
    if (isDocument(file.path) || file.path == QLatin1String("model.safetensors")) selection.files.push_back(file);
  }
  selection.choice.reason = ChoiceReason::kFolder;
  for (const HubFile& file : selection.files) selection.choice.bytes += file.bytes;
  return selection;
}

}  // namespace

QString quantisationOf(const QString& path) {
  static const QRegularExpression tag(QStringLiteral("(?:^|[-._])((?:UD-)?(?:I?Q|TQ)\\d[A-Z0-9_]*|BF16|F16|F32|FP16)(?=$|[-.])"),
                                      QRegularExpression::CaseInsensitiveOption);
  QString last;
  QRegularExpressionMatchIterator matches = tag.globalMatch(path.section(QLatin1Char('/'), -1));
  while (matches.hasNext()) last = matches.next().captured(1).toUpper();
  return last;
}

const HubFile* findHubFile(const std::vector<HubFile>& files, const QString& path) {
  const auto found = std::ranges::find(files, path, &HubFile::path);
  return found == files.end() ? nullptr : &*found;
}

HubSelection chooseHubFiles(const std::vector<HubFile>& files, const QString& quantisation, qint64 memoryBytes) {
  const Groups groups = groupsOf(files, GgufKind::kModel);
  if (!groups.whole.empty()) return ggufSelection(files, groups, quantisation, memoryBytes);
  const bool folder = findHubFile(files, QStringLiteral("config.json")) != nullptr;
  if (!groups.missing.empty() && (!folder || !quantisation.isEmpty())) refuseIncomplete(groups.missing.begin()->second);
  if (!quantisation.isEmpty()) throw DownloadError({.problem = DownloadProblem::kNoSuchFile, .subject = quantisation});
  const bool weights =
      findHubFile(files, QStringLiteral("model.safetensors")) != nullptr || findHubFile(files, QLatin1String(kShardIndexName)) != nullptr;
  if (folder && weights) return folderSelection(files);
  throw DownloadError({.problem = DownloadProblem::kNotReadable,
                       .reason = folder ? QStringLiteral("its weights are neither safetensors nor GGUF")
                                        : QStringLiteral("it has neither a GGUF file nor config.json with safetensors")});
}

std::vector<HubFile> shardsOf(const QByteArray& index, const std::vector<HubFile>& files) {
  std::set<std::string> names;
  try {
    constexpr std::uint64_t kMostIndexBytes = std::uint64_t{64} << 20;
    const Json document = parse_json(index.toStdString(), kShardIndexName, {kMostIndexBytes});
    const Json& map = JsonObject(document, kShardIndexName).value("weight_map");
    for (const Json& name : map) names.insert(name.get<std::string>());
  } catch (const std::exception&) {
    throw DownloadError({.problem = DownloadProblem::kNotReadable, .reason = QStringLiteral("its index of weights is damaged")});
  }
  std::vector<HubFile> shards;
  for (const std::string& name : names) {
    const HubFile* file = findHubFile(files, QString::fromStdString(name));
    if (file == nullptr || !file->path.endsWith(QLatin1String(".safetensors")) || file->path.contains(QLatin1Char('/'))) {
      throw DownloadError(
          {.problem = DownloadProblem::kNotReadable, .reason = QStringLiteral("its index names weights that it does not have")});
    }
    shards.push_back(*file);
  }
  return shards;
}

}  // namespace winnow::app
