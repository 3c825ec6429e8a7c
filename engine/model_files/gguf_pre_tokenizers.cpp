#include "engine/model_files/gguf_pre_tokenizers.h"

#include <algorithm>

namespace winnow {
namespace {

using Pattern = std::string_view;

constexpr Pattern kGpt2 = R"re('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)re";
constexpr Pattern kLlama3 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S))re"
    R"re(|\s+)re";
constexpr Pattern kQwen2 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr Pattern kQwen35 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+)re"
    R"re(|\s+(?!\S)|\s+)re";
constexpr Pattern kTekken =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)re"
    R"re(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)re"
    R"re(|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr Pattern kGpt4o =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)re"
    R"re(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)re"
    R"re(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr Pattern kDeepseek3Words =
    R"re([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*)re"
    R"re(|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr Pattern kBailing =
    R"re('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)re";
constexpr Pattern kSeedCoder =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr Pattern kMinicpm5 =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr Pattern kNumber = R"re(\p{N})re";
constexpr Pattern kNumbers = R"re(\p{N}+)re";
constexpr Pattern kUpToThreeNumbers = R"re(\p{N}{1,3})re";
constexpr Pattern kThreeDigits = R"re([0-9][0-9][0-9])re";
constexpr Pattern kDigitsByThrees = R"re(\d{1,3}(?=(?:\d{3})*\b))re";
constexpr Pattern kLineBreak = R"re([\r\n])re";
constexpr Pattern kLines = R"re([^\n]+|[\n]+)re";
constexpr Pattern kPunctuation = R"re([\p{P}\$\+<=>\^~\|]+)re";
constexpr Pattern kFalconPunctuation = R"re([\p{P}\$\+<=>\^~\|`]+)re";
constexpr Pattern kSpaceAndLetters = R"re(\s?\p{L}+)re";
constexpr Pattern kSpaceAndPunctuation = R"re(\s?\p{P}+)re";
constexpr Pattern kSpacesAtEnd = R"re(\s+$)re";
constexpr Pattern kDeepseekLetters =
    R"re(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-)re"
    R"re(ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)re";
constexpr Pattern kDeepseekPunctuation = R"re(\s?[!-/:-~！-／：-～‘-‟　-。]+)re";
constexpr Pattern kDeepseekIdeographs = R"re([一-龥ࠀ-一가-퟿]+)re";
constexpr Pattern kDeepseek3Ideographs = R"re([一-龥぀-ゟ゠-ヿ]+)re";
constexpr Pattern kBloom = R"re( ?[^(\s|.,!?…。，、।۔،)]+)re";

constexpr Pattern kDefaultSteps[] = {kPunctuation, kGpt2, kNumbers, kThreeDigits};
constexpr Pattern kGpt2Steps[] = {kGpt2};
constexpr Pattern kNumberThenGpt2[] = {kNumber, kGpt2};
constexpr Pattern kLlama3Steps[] = {kLlama3};
constexpr Pattern kQwen2Steps[] = {kQwen2};
constexpr Pattern kQwen35Steps[] = {kQwen35};
constexpr Pattern kTekkenSteps[] = {kTekken};
constexpr Pattern kGpt4oSteps[] = {kGpt4o};
constexpr Pattern kFalconSteps[] = {kFalconPunctuation, kGpt2, kThreeDigits};
constexpr Pattern kDeepseekLlmSteps[] = {kLineBreak, kDeepseekLetters, kDeepseekPunctuation, kSpacesAtEnd, kDeepseekIdeographs, kNumbers};
constexpr Pattern kDeepseekCoderSteps[] = {kLineBreak, kSpaceAndLetters, kSpaceAndPunctuation, kDeepseekIdeographs, kNumber};
constexpr Pattern kDeepseek3Steps[] = {kUpToThreeNumbers, kDeepseek3Ideographs, kDeepseek3Words};
constexpr Pattern kBloomSteps[] = {kBloom};
constexpr Pattern kVikingSteps[] = {kBloom, kNumber};
constexpr Pattern kBailingSteps[] = {kBailing};
constexpr Pattern kSeedCoderSteps[] = {kSeedCoder};
constexpr Pattern kTinyAyaSteps[] = {kDigitsByThrees, kGpt4o};
constexpr Pattern kLagunaSteps[] = {kLines, kQwen2};
constexpr Pattern kMinicpm5Steps[] = {kUpToThreeNumbers, kMinicpm5};

struct Named {
  std::string_view name;
  GgufPreTokenizer steps;
};

constexpr bool kNfc = true;
constexpr bool kIgnoreMerges = true;

// By name.
constexpr Named kPreTokenizerKnown[] = {
    {"a.x-4.0", {kGpt2Steps}},
    {"bailingmoe", {kBailingSteps}},
    {"bailingmoe2", {kBailingSteps}},
    {"bloom", {kBloomSteps}},
    {"chatglm-bpe", {kLlama3Steps}},
    {"codeshell", {kNumberThenGpt2}},
    {"cohere2moe", {kTinyAyaSteps}},
    {"command-r", {kNumberThenGpt2, kNfc}},
    {"dbrx", {kLlama3Steps}},
    {"deepseek-coder", {kDeepseekCoderSteps}},
    {"deepseek-llm", {kDeepseekLlmSteps}},
    {"deepseek-r1-qwen", {kQwen2Steps}},
    {"deepseek-v3", {kDeepseek3Steps}},
    {"default", {kDefaultSteps}},
    {"exaone", {kNumberThenGpt2}},
    {"exaone4", {kGpt2Steps}},
    {"f2llmv2", {kQwen2Steps}},
    {"falcon", {kFalconSteps}},
    {"falcon-h1", {kLlama3Steps, !kNfc, kIgnoreMerges}},
    {"falcon3", {kLlama3Steps, !kNfc, kIgnoreMerges}},
    {"gigachat", {kGpt2Steps}},
    {"glm4", {kLlama3Steps, !kNfc, kIgnoreMerges}},
    {"glm5", {kLlama3Steps, !kNfc, kIgnoreMerges}},
    {"gpt-2", {kGpt2Steps}},
    {"gpt-4o", {kGpt4oSteps}},
    {"gpt3-finnish", {kBloomSteps}},
    {"granite-docling", {kGpt2Steps}},
    {"grok-2", {kQwen2Steps}},
    {"hunyuan", {kQwen2Steps}},
    {"hunyuan-dense", {kDeepseek3Steps}},
    {"hy_v4", {kDeepseek3Steps}},
    {"jais", {kGpt2Steps}},
    {"jina-de", {kGpt2Steps}},
    {"jina-es", {kGpt2Steps}},
    {"jina-v1-en", {kGpt2Steps}},
    {"jina-v2-code", {kGpt2Steps}},
    {"jina-v2-de", {kGpt2Steps}},
    {"jina-v2-es", {kGpt2Steps}},
    {"jina-v5-nano", {kLlama3Steps, !kNfc, kIgnoreMerges}},
    {"joyai-llm", {kDeepseek3Steps}},
    {"kanana2", {kGpt4oSteps}},
    {"kormo", {kQwen2Steps}},
    {"laguna", {kLagunaSteps}},
    {"lfm2", {kLlama3Steps, !kNfc, kIgnoreMerges}},
    {"llada-moe", {kBailingSteps}},
    {"llama-bpe", {kLlama3Steps, !kNfc, kIgnoreMerges}},
    {"llama-v3", {kLlama3Steps, !kNfc, kIgnoreMerges}},
    {"llama3", {kLlama3Steps, !kNfc, kIgnoreMerges}},
    {"llama4", {kGpt4oSteps}},
    {"megrez", {kQwen2Steps}},
    {"mellum", {kGpt2Steps}},
    {"mellum2", {kNumberThenGpt2}},
    {"midm-2.0", {kLlama3Steps, !kNfc, kIgnoreMerges}},
    {"minerva-7b", {kNumberThenGpt2}},
    {"minicpm5", {kMinicpm5Steps, !kNfc, kIgnoreMerges}},
    {"minimax-m2", {kGpt4oSteps}},
    {"modern-bert", {kGpt2Steps, kNfc}},
    {"mpt", {kGpt2Steps, kNfc}},
    {"olmo", {kGpt2Steps, kNfc}},
    {"phi-2", {kGpt2Steps}},
    {"pixtral", {kLlama3Steps, !kNfc, kIgnoreMerges}},
    {"poro-chat", {kBloomSteps}},
    {"qwen2", {kQwen2Steps, kNfc}},
    {"qwen35", {kQwen35Steps}},
    {"refact", {kNumberThenGpt2}},
    {"roberta-bpe", {kGpt2Steps}},
    {"seed-coder", {kSeedCoderSteps}},
    {"smaug-bpe", {kLlama3Steps}},
    {"smollm", {kNumberThenGpt2}},
    {"solar-open", {kQwen2Steps}},
    {"stablelm2", {kQwen2Steps}},
    {"starcoder", {kNumberThenGpt2}},
    {"talkie", {kGpt4oSteps}},
    {"tekken", {kTekkenSteps, !kNfc, kIgnoreMerges}},
    {"tiny_aya", {kTinyAyaSteps}},
    {"trillion", {kGpt2Steps}},
    {"viking", {kVikingSteps}},
};

}  // namespace

const GgufPreTokenizer* gguf_pre_tokenizer(std::string_view name) {
  if (name.empty()) name = "default";
  const auto* found = std::lower_bound(std::begin(kPreTokenizerKnown), std::end(kPreTokenizerKnown), name,
                                       [](const Named& known, std::string_view n) { return known.name < n; });
  return found != std::end(kPreTokenizerKnown) && found->name == name ? &found->steps : nullptr;
}

}  // namespace winnow
