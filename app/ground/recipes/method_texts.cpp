#include "app/ground/recipes/method_texts.h"

#include <QtGlobal>
#include <algorithm>

#define SAY(text) QT_TRANSLATE_NOOP("winnow::app::MethodTexts", text)

namespace winnow::app {
namespace {

constexpr MethodText kMethods[] = {
    {"full", "keep everything", SAY("Keeps everything. The reference for quality, and the largest cache."),
     SAY("Memory grows with every frame and every word.")},
    {"meda", "layers by cross-modal entropy; text first; evicted averaged",
     SAY("Gives more room to layers where text and pictures attend to each other widely. Keeps text first and merges dropped tokens into "
         "the most similar neighbour."),
     SAY("At very small shares, text alone may fill the budget.")},
    {"aircache", "the question's most attended words rank visual tokens",
     SAY("Keeps all text. The most important words of the question decide which picture tokens stay."),
     SAY("Saves little on long texts with few pictures. Later questions about something else may fail. Often one word per head decides "
         "alone; with alpha 0, all words do.")},
    {"vl-cache", "layers by sparsity, tokens by the question's attention",
     SAY("Measures how sparse each layer's attention is and gives dense layers more room. Keeps what the text after the pictures attends "
         "to."),
     SAY("A later question about something else may fail.")},
    {"d2o", "layers by attention's variance; evicted merged; decoding too",
     SAY("Gives layers with even attention more room. Keeps what got most attention and merges the rest into similar tokens, also while "
         "writing."),
     SAY("Slower: merging takes time at each word.")},
    {"ems", "similar tokens share a slot, decoding too",
     SAY("Gives the best tokens of each head their own slot, lets similar ones share it and drops the rest, also while writing. Made for "
         "very small budgets."),
     SAY("At large shares, plain dropping is as good and faster.")},
    {"ems-no-position", "similar tokens share a slot, decoding too",
     SAY("EMS that compares tokens without their position. Positions are given by rank when they are used."),
     SAY("Weak on questions about order or time, and on models whose positions have several axes.")},
    {"streaming-llm", "first four and most recent tokens; recent alone",
     SAY("Keeps the first four and the most recent tokens, also while writing. Costs nothing to compute."),
     SAY("The middle of a video is gone.")},
    {"local-window", "first four and most recent tokens; recent alone", SAY("Keeps only the most recent tokens. The simplest baseline."),
     SAY("For comparison only: answers fall apart once the first tokens leave.")},
    {"h2o", "most attention so far, most recent; decoding too",
     SAY("Keeps the tokens with most attention so far and the most recent ones, also while writing."),
     SAY("Weak on the late parts of a long video: early tokens had more time to collect attention.")},
    {"snapkv", "keeps what the last 32 tokens attend to", SAY("The last 32 tokens of the prompt choose what each head keeps."),
     SAY("Later questions about something else may fail. Needs a question after the video.")},
    {"pyramidkv", "as SnapKV, with less for deeper layers", SAY("SnapKV with more room for the first layers and less for the deep ones."),
     SAY("Later questions about something else may fail. Weak on models whose deep layers read the pictures.")},
    {"look-m", "text first, evicted pairs merged three ways",
     SAY("Keeps text first. Averages each dropped picture token with its most similar kept one before merging."),
     SAY("Weak on small details: similar patches become one.")},
    {"look-m-average", "text first, evicted pairs merged three ways",
     SAY("Keeps text first. Averages dropped picture tokens into the most similar kept ones."),
     SAY("Weak on small details: similar patches become one.")},
    {"look-m-weighted", "text first, evicted pairs merged three ways",
     SAY("Keeps text first. Adds dropped picture tokens to similar kept ones, weighted by similarity."),
     SAY("Weak on small details: similar patches become one.")},
    {"elastic-cache", "anchors by attention, others averaged into the nearest",
     SAY("Keeps the tokens with most attention and averages the others into the nearest one. Evicts from the answer as it grows."),
     SAY("The question's own words may be averaged away, so even half the cache loses most answers. Scope visual drops picture tokens "
         "only. Merge off drops tokens instead of averaging them.")},
    {"prefixkv", "same share of attention mass in every layer",
     SAY("Gives every layer as many tokens as it needs to keep the same share of its attention."),
     SAY("At small shares the question's own words leave, because no recent tokens are protected. Layer budgets are not known in "
         "advance.")},
    {"prefixkv-profile", "same share of attention mass in every layer",
     SAY("PrefixKV with shares per layer that were measured once for this model. Computes nothing per prompt."),
     SAY("Weak at small shares, like PrefixKV. Needs measured shares for the model, and prompts like the measured ones.")},
    {"cam", "evicted values are added to later tokens",
     SAY("Keeps first and recent tokens. Tokens evicted while writing pass their values to the next ones at random."),
     SAY("The middle of a video is gone, as with StreamingLLM. Answers change with the seed.")},
    {"cam-expected", "evicted values are added to later tokens", SAY("CaM without chance: a share of the value is always passed on."),
     SAY("The middle of a video is gone, as with StreamingLLM.")},
    {"roco", "mean attention; fluctuating tokens are protected",
     SAY("Keeps the tokens with most attention on average. Protects tokens whose attention goes up and down."),
     SAY("Weak on short prompts, where the spread says little.")},
    {"fastv", "visual tokens leave the network after layer 2",
     SAY("Drops picture tokens after the second layer, by the attention of the last word. Deeper layers never see them."),
     SAY("Weak on fine print and small objects. Later questions cannot get the dropped tokens back.")},
    {"fastervlm", "visual tokens leave before the decoder",
     SAY("Drops picture tokens before the language model reads them, by the attention of the vision encoder."),
     SAY("Weak on questions about the background: it chooses before it knows the question.")},
    {"ivtp", "visual tokens leave before the decoder",
     SAY("Drops picture tokens in two steps, guided by the question. An approximation: the paper has no released code."),
     SAY("Results cannot be compared with the paper's figures.")},
    {"random", "a seeded random choice", SAY("Keeps a seeded random choice. The baseline for every method."), SAY("Only for comparison.")},
    {"self-study", "keeps what the model's own description attends to",
     SAY("Before your question, the model describes the video for itself. What its words attend to, and what a repetition of the video "
         "would, stays for all your questions."),
     SAY("The first answer takes longer: the model writes the description first.")},
    {"kvzip", "keeps what the model's repetition attends to",
     SAY("Before your question, the model repeats the video for itself. What it attends to while repeating stays for all your questions."),
     SAY("Weak at small shares: repeating pictures tells less than describing them. Reads the video twice.")},
    {"kvzip+", "keeps what the model's repetition attends to",
     SAY("KVzip that also counts how much each token adds to the result, not only its attention."),
     SAY("Weak at small shares: repeating pictures tells less than describing them. Reads the video twice.")},
    {"kvzip-head", "measured heads keep the video, others nothing",
     SAY("Heads measured to attend to videos keep the whole video; the other heads keep none of it. Computes nothing per video."),
     SAY("Weak below about half of the cache. Needs measured heads for the model, and videos like the measured ones.")},
    {"self-study-stream", "self-study or KVzip after every clip",
     SAY("For live sources and long videos. Reads clip by clip within fixed slots. After every clip the model describes what it still has "
         "and keeps what its words attend to."),
     SAY("Slow: it writes a description after every clip. Videos that fit into memory do better with Self-study. For what is on screen "
         "now, protect the newest frames or use Last frames only.")},
    {"kvzip-stream", "self-study or KVzip after every clip",
     SAY("For live sources and long videos. Reads clip by clip within fixed slots. After every clip the model repeats it and keeps what "
         "that attends to."),
     SAY("Weak at small shares: repeating pictures tells less than describing them. Videos that fit into memory do better with KVzip.")},
    {"infinipot-v", "clip by clip: what changed, then large values",
     SAY("For live sources and long videos. Reads clip by clip within fixed slots. Keeps what has changed and what has large values. Costs "
         "next to nothing."),
     SAY("Weak on single things in a long video: it does not know what will be asked.")},
    {"rekv", "drops nothing; each question fetches its frames",
     SAY("Keeps the whole video in memory. For each question, every layer fetches the frames most similar to it. Nothing is lost for later "
         "questions."),
     SAY("Saves no memory, only reading. Earlier answers stay as they were read, with other frames. Weak on small models, whose mean query "
         "says little about a question.")},
    {"keydiff", "keeps keys least like all others; no query",
     SAY("Before your question, keeps the picture tokens whose keys are least like all others. Costs next to nothing to compute."),
     SAY("A cheap baseline: questions are rarely about what is unusual.")},
    {"expected-attention", "keeps what queries like the video's attend to",
     SAY("Before your question, estimates what coming questions would attend to if they were like the pictures, and keeps that."),
     SAY("A baseline: words attend elsewhere than pictures do. Weak on models whose positions have several axes.")},
    {"random-context", "controls: random choice, every k-th token, newest frames",
     SAY("A seeded random choice of picture tokens, before your question. The baseline for methods that choose before it."),
     SAY("Only for comparison.")},
    {"every-k", "controls: random choice, every k-th token, newest frames",
     SAY("Every k-th picture token, before your question. The baseline for methods that choose before it."), SAY("Only for comparison.")},
    {"last-frames", "controls: random choice, every k-th token, newest frames",
     SAY("Keeps the newest frames that fit and drops everything older. The baseline for live sources: the newest frames often answer best "
         "what is on screen now."),
     SAY("Everything shown earlier is gone.")},
};

constexpr OptionText kOptions[] = {
    {"sim", SAY("Frames compared by"),
     SAY("How a frame is compared with the question: by dot product, as in the authors' code, or by cosine.")},
    {"local_window", SAY("Looks back at"),
     SAY("How many tokens of the video each token sees while it is read. It always sees everything before the video.")},
    {"clip", SAY("Frames per clip"), SAY("How many frames are read before slots are chosen again.")},
    {"stored", SAY("Best score counts"), SAY("On: a slot keeps its best score of all clips. Off: only the last clip counts.")},
    {"proxy", SAY("Stands for questions"),
     SAY("What stands in for later questions: the clip again, the request to describe it, or only the words between a question and its "
         "answer.")},
    {"change_share", SAY("Share for change"),
     SAY("Share of slots for the newest frames and for what has changed. The rest goes to the largest values.")},
    {"newest", SAY("Newest frames"),
     SAY("How many of the newest frames always stay. For InfiniPot-V: the share of frames that count as newest.")},
    {"cells", SAY("Positions compared by"),
     SAY("true: a slot is compared with the same position in the newest frames. rank: positions are counted off, as in the authors' "
         "code.")},
    {"target", SAY("Share kept by each choice"),
     SAY("How much of the slots each choice keeps. The free room lets several clips pass before the next choice.")},
    {"event", SAY("Chosen when"), SAY("once: slots are chosen after everything is read. clips: after every clip, to limit memory.")},
    {"entropy", SAY("Entropy measured on"), SAY("Which entropy measures a layer.")},
    {"xmodal_causal", SAY("Only what is seen"), SAY("Count only tokens that a token can see.")},
    {"merge", SAY("Merging"), SAY("How dropped tokens are merged into kept ones.")},
    {"recent_share", SAY("Share for recent tokens"), SAY("Share of a layer's budget for the most recent tokens.")},
    {"text_policy", SAY("Text"), SAY("boost: text scores above everything else. hard: text always stays, even beyond the budget.")},
    {"faithful_clip", SAY("Budgets as printed"),
     SAY("Cut budgets exactly as printed in the paper. The total may then differ from the request.")},
    {"alpha", SAY("Least attention to count"),
     SAY("How much attention a word of the question needs to count, relative to the strongest word.")},
    {"elite_rule", SAY("Words that count"),
     SAY("max: words with at least alpha times the strongest attention. share: the top 1 - alpha of the question's words.")},
    {"elite_heads", SAY("Words chosen by"), SAY("Each head chooses its own words, or all heads of a layer choose together by the mean.")},
    {"elite_text", SAY("Words considered"), SAY("Which words are considered: those after the pictures, or all.")},
    {"alloc", SAY("Layer share based on"), SAY("What a layer's share is based on.")},
    {"skew_norm", SAY("Scale of skewness"), SAY("Scale of skewness before it is added.")},
    {"merge_fraction", SAY("Share merged"), SAY("Share of the dropped tokens that is merged instead, most similar first.")},
    {"min_stat_rows", SAY("Fewest rows measured"), SAY("Lower limit of the rows measured.")},
    {"max_stat_rows", SAY("Most rows measured"), SAY("Upper limit of the rows measured. 0: all rows.")},
    {"p", SAY("Counts as zero below"), SAY("Entries below this share of their row's maximum count as zero.")},
    {"var_norm", SAY("Scale of variance"), SAY("Scale of the variance of attention.")},
    {"beta", SAY("Rate of change"), SAY("How fast the threshold or the pyramid changes.")},
    {"tau_scope", SAY("Threshold per"), SAY("One moving threshold per head, or one per layer.")},
    {"rope", SAY("Positions"), SAY("Rotary positions: original, or renumbered within the cache without gaps.")},
    {"sinks", SAY("First tokens kept"), SAY("How many first tokens always stay.")},
    {"event_at_first_decode", SAY("After the first word"),
     SAY("Compress after the first word instead of before it, and count its attention.")},
    {"skip_layers", SAY("Skip outer layers"), SAY("Do not compress the first two layers and the last one.")},
    {"score", SAY("Attention as"), SAY("Attention as a sum, or as a mean over the rows that can see the token.")},
    {"gqa_reduce", SAY("Query heads combined by"), SAY("How the query heads of a group are combined.")},
    {"phase", SAY("Compresses"), SAY("decode: also while writing. once: only after the question.")},
    {"window", SAY("Observation window"), SAY("Last tokens of the prompt. They always stay and choose the others.")},
    {"kernel", SAY("Smoothing width"), SAY("Number of neighbours over which scores are smoothed. Odd.")},
    {"pooling", SAY("Smoothing by"), SAY("Smooth scores by mean or maximum.")},
    {"merge_gate", SAY("Merge only if"), SAY("mean: merge only tokens more similar than the average.")},
    {"first", SAY("First tokens kept"), SAY("How many first tokens always stay.")},
    {"distance", SAY("Evicted while writing"), SAY("Which token is evicted while writing: this far before the end of the prompt.")},
    {"profile", SAY("Shares of the layers"),
     SAY("Layer shares at several retention ratios, such as 0.1=0.05:0.15/0.5=0.4:0.6. Leave empty to use those measured for the model.")},
    {"base", SAY("What stays"), SAY("Which tokens stay: the first and recent ones, or those with most attention.")},
    {"prompt", SAY("Evicted before the answer"),
     SAY("Tokens evicted before the answer begins. drop: they are lost. push: their values are passed on, one token after the other.")},
    {"reference", SAY("Attention compared with"), SAY("What attention is compared with to decide whether values are passed on.")},
    {"guarded", SAY("Protected tokens"), SAY("How many tokens with the most changing attention always stay.")},
    {"magnification", SAY("Tokens to a slot"), SAY("How many tokens share one slot on average.")},
    {"tau", SAY("Similarity to share a slot"), SAY("Least cosine similarity to share a slot, from -1 to 1.")},
    {"zero_mode", SAY("Tokens without a match"),
     SAY("masked: tokens without a match are left out. literal: they count with a value of zero, as in the paper's text.")},
    {"rotation", SAY("Position by"),
     SAY("The position of a kept token when it is used: its rank among the kept ones, or its original position.")},
    {"phi", SAY("Pictures scored by"), SAY("What scores a picture token: the last word, or all tokens that attend to it.")},
    {"layer", SAY("Layers that see all"), SAY("How many layers see every token.")},
    {"compete", SAY("Heads compete within"), SAY("Whether heads compete for slots within their layer, across all layers, or not at all.")},
    {"floor", SAY("Least per head"), SAY("Part of an equal share that every head keeps before heads compete.")},
    {"head_scores", SAY("Head weights"),
     SAY("How much each head attends to videos: 0.9:0.6/0.8:0.9, with / between layers and : between heads. Leave empty to use those "
         "measured for the model.")},
    {"stats", SAY("Coming questions resemble"),
     SAY("What coming questions resemble: the pictures themselves, the request to describe the video, or the model's answer to it.")},
    {"horizon", SAY("Expected over"), SAY("How many positions after the video coming questions may take.")},
    {"eps", SAY("Added to attention"), SAY("Added to the expected attention, so that tokens with large values can stay.")},
    {"chunk", SAY("Repeated at a time"), SAY("How many tokens of the video are repeated at a time, in whole frames.")},
    {"rows", SAY("Repetition"),
     SAY("again: the video is read once more. reading: it is judged by its first reading, without a second one.")},
    {"with", SAY("Also counts"),
     SAY("kvzip: what the model attends to while repeating the video counts too. reading: the same, judged by the first reading, without a "
         "second one.")},
    {"norms", SAY("Count contribution"), SAY("Count how much a token adds to the result, not only its attention.")},
    {"ask", SAY("Coming questions"),
     SAY("Questions you plan to ask, separated by |. The model answers these for itself. Leave empty to let it describe the video "
         "instead.")},
    {"words", SAY("Scored by"), SAY("What scores the tokens: the model's own answer, or only the words of the request.")},
    {"answer", SAY("Longest description"), SAY("Length limit of the model's own description, in tokens.")},
    {"text_answer", SAY("Longest description of a text"), SAY("The same if only texts are attached.")},
    {"same_all_layers", SAY("One draw for all layers"), SAY("Draw one choice and use it in every layer.")},
};

struct PartText {
  const char* kind;
  const char* name;  // empty: the kind itself, its title
  const char* text;
};

constexpr PartText kParts[] = {
    {"allocator", "", SAY("Share among layers")},
    {"allocator", "cross-modal-entropy", SAY("More for layers where text and pictures attend to each other widely.")},
    {"allocator", "strength-skew", SAY("More for layers whose picture attention is strong and concentrated.")},
    {"allocator", "sparsity", SAY("More for layers whose attention is dense.")},
    {"allocator", "inverse-variance", SAY("More for layers whose attention is even.")},
    {"allocator", "uniform", SAY("The same for every layer.")},
    {"allocator", "pyramid", SAY("Less with every layer.")},
    {"allocator", "prefix-mass", SAY("As many as each layer needs to keep the same share of its attention.")},
    {"allocator", "fixed-shares", SAY("As measured beforehand for this model.")},
    {"allocator", "global", SAY("The best tokens of all layers and heads stay.")},
    {"allocator", "whole-heads", SAY("Heads with the best tokens keep everything; the others keep nothing.")},
    {"scorer", "", SAY("Choice of tokens")},
    {"scorer", "text-prior", SAY("Text first, then the tokens with most attention.")},
    {"scorer", "elite", SAY("What the most important words of the question attend to.")},
    {"scorer", "post-vision", SAY("What the text after the pictures attends to.")},
    {"scorer", "accumulated", SAY("What all tokens attended to most.")},
    {"scorer", "recency", SAY("First and most recent tokens.")},
    {"scorer", "window-votes", SAY("What the last tokens of the prompt attend to.")},
    {"scorer", "mean-attention", SAY("Most attention on average.")},
    {"scorer", "mean-deviation", SAY("Most attention on average; tokens with changing attention are protected.")},
    {"scorer", "global-local", SAY("What the last tokens or all tokens attend to, whichever is more.")},
    {"scorer", "random", SAY("At random.")},
    {"scorer", "description", SAY("What the model's own description of the video attends to.")},
    {"scorer", "repetition", SAY("What the model attends to when it repeats the video.")},
    {"scorer", "repetition-norms", SAY("The same, by how much a token adds to the result.")},
    {"scorer", "measured-heads", SAY("Heads measured to attend to videos, whatever the token.")},
    {"scorer", "frame-likeness", SAY("Frames whose keys are most like the question's queries.")},
    {"scorer", "temporal-change", SAY("What has changed at its position in the picture, then the largest values.")},
    {"scorer", "key-difference", SAY("Tokens whose keys are least like all others.")},
    {"scorer", "expected-attention", SAY("What coming questions would attend to if they were like the pictures.")},
    {"reducer", "", SAY("What happens to the others")},
    {"reducer", "drop", SAY("They are dropped.")},
    {"reducer", "average", SAY("They are averaged into the most similar kept token.")},
    {"reducer", "pivot", SAY("Each is averaged with its target first, then all together.")},
    {"reducer", "weighted", SAY("They are added in proportion to how similar they are.")},
    {"reducer", "gated", SAY("They are merged if they are similar enough, and dropped if not.")},
    {"reducer", "nearest-index", SAY("They are averaged into the nearest kept token by position.")},
    {"reducer", "value-push", SAY("Their values are passed on to the tokens that follow.")},
    {"reducer", "shared-entries", SAY("Similar ones share the slot of a kept token; the others are dropped.")},
    {"scope", "", SAY("Who competes")},
    {"scope", "all", SAY("All tokens.")},
    {"scope", "visual", SAY("Picture tokens only; text stays.")},
    {"scope", "context", SAY("Pictures and the text between them; the question stays.")},
    {"granularity", "", SAY("Choice made per")},
    {"granularity", "head", SAY("Each KV head keeps its own tokens.")},
    {"granularity", "layer", SAY("All heads of a layer keep the same tokens.")},
    {"granularity", "ragged", SAY("Heads compete: some keep more tokens than others.")},
};

#undef SAY

// The settings have a context of their own.
#define SAY(text) QT_TRANSLATE_NOOP("winnow::app::SettingTexts", text)

constexpr const char* kKvChoices[] = {SAY("Model default"), SAY("32 bits"), SAY("16 bits"), SAY("8 bits"), SAY("4 bits")};

constexpr const char* kPrefillChoices[] = {SAY("Once"), SAY("Twice")};

constexpr const char* kBeforeChoices[] = {SAY("Read everything"),       SAY("VidCom2: unusual frames, unusual parts"),
                                          SAY("EVS: what has changed"), SAY("DivPrune: what is far apart (comparison)"),
                                          SAY("Random (comparison)"),   SAY("PixelPrune: no equal pixels, before the encoder")};

constexpr SettingText kTexts[] = {
    {"min_event_tokens", SAY("Short texts"), SAY("Text alone stays whole below this number of tokens."),
     "text alone stays whole below this number of tokens"},
    {"full_layers", SAY("Full first layers"),
     SAY("How many of the model's first layers keep everything. The other layers keep less, so the total stays the same."),
     "the model's first N layers keep everything; the others keep less"},
    {"kv", SAY("KV cache dtype"), SAY("Fewer bits take less memory and round the cache. CPU only."),
     "KV cache dtype: the model's own (model), or this many bits, never more than the model computes in", kKvChoices},
    {"prefill", SAY("Read the prompt"),
     SAY("Twice: the same answer with less memory and up to twice the wait. For methods whose layer shares depend on the prompt."),
     "where layer shares depend on the prompt: read it twice, so that only one layer at a time is held in full; the same answer with\nless "
     "memory, up to twice the wait",
     kPrefillChoices},
    {"before", SAY("Read fewer tokens"),
     SAY("What is left out of images and videos is never read: a shorter wait, and nothing that a later question could bring back."),
     "visual tokens that are never read, and the share of each medium that stays: vidcom2:0.3, evs:0.3, divpruned:0.3,\n"
     "random:0.3; pixelprune:0 leaves out what equals its neighbours, before the vision encoder",
     kBeforeChoices},
};

#undef SAY

template <class Text>
const Text* named(std::span<const Text> texts, std::string_view name) {
  const auto found = std::ranges::find(texts, name, [](const Text& text) { return std::string_view(text.name); });
  return found == texts.end() ? nullptr : &*found;
}

}  // namespace

const MethodText* methodText(std::string_view method) { return named<MethodText>(kMethods, method); }

const OptionText* optionText(std::string_view option) { return named<OptionText>(kOptions, option); }

const char* partText(std::string_view kind, std::string_view part) {
  for (const PartText& text : kParts) {
    if (kind == text.kind && part == text.name) return text.text;
  }
  return nullptr;
}

const SettingText* settingText(std::string_view name) { return named<SettingText>(kTexts, name); }

}  // namespace winnow::app
