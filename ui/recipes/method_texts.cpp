#include "ui/recipes/method_texts.h"

#include <QCoreApplication>
#include <iterator>

#define SAY(text) QT_TRANSLATE_NOOP("winnow::ui::MethodTexts", text)

namespace winnow::ui {
namespace {

struct MethodText {
  const char* name;
  const char* purpose;
  const char* caution;
};

constexpr MethodText kMethods[] = {
    {"full", SAY("Keeps everything. The reference for quality, and the largest cache."),
     SAY("Long videos: memory grows with every frame and every word.")},
    {"meda",
     SAY("Gives more room to layers in which text and pictures look at each other widely, keeps text first, and folds what leaves into "
         "its most similar neighbour."),
     SAY("Very small shares: text alone may fill the budget.")},
    {"aircache",
     SAY("Only picture tokens compete; the words of the question that matter most decide which of them stay. All text is kept."),
     SAY("Long texts with few pictures: there is little to drop. Later questions about something else. In each head often one word judges "
         "alone; with alpha 0 all of them do.")},
    {"vl-cache",
     SAY("Measures how sparse each layer's attention is and gives dense layers more; keeps what the text after the pictures "
         "looks at."),
     SAY("A later question about something that the first one did not touch.")},
    {"d2o",
     SAY("Gives even layers more room, keeps what got most attention, and merges what leaves into similar tokens, also while "
         "writing."),
     SAY("When every millisecond counts: merging costs time at each word.")},
    {"ems",
     SAY("Gives the best tokens of each head a slot of their own, lets similar ones share it, and drops the rest, also while writing. "
         "Made for very small budgets."),
     SAY("Large shares, where dropping alone is as good and faster.")},
    {"ems-no-position", SAY("As EMS, but tokens are compared without their place in the text, and placed by rank when they are used."),
     SAY("Questions about order or time; models whose positions have several axes.")},
    {"streaming-llm", SAY("Keeps the first four tokens and the most recent ones, also while writing. Costs nothing to compute."),
     SAY("Anything asked about the middle of a video: it is gone.")},
    {"local-window", SAY("Keeps only the most recent tokens. The simplest baseline."),
     SAY("Nearly always; answers fall apart once the first tokens leave.")},
    {"h2o", SAY("Keeps what was looked at most so far together with the most recent tokens, also while writing."),
     SAY("Late parts of a long video: early tokens had more time to collect attention.")},
    {"snapkv", SAY("The last 32 tokens of the prompt vote for what each head keeps."),
     SAY("A second question about something else, or no question after the video.")},
    {"pyramidkv", SAY("Votes as SnapKV does, with more room for the first layers and less for the deep ones."),
     SAY("A second question about something else; models whose deep layers do the looking.")},
    {"look-m", SAY("Keeps text first and folds dropped picture tokens into kept ones, each averaged with its target beforehand."),
     SAY("Questions about small details: similar patches become one.")},
    {"look-m-average", SAY("Keeps text first and averages dropped picture tokens into the most similar kept ones."),
     SAY("Questions about small details: similar patches become one.")},
    {"look-m-weighted", SAY("Keeps text first and adds dropped picture tokens to similar kept ones, weighted by how similar they are."),
     SAY("Questions about small details: similar patches become one.")},
    {"elastic-cache",
     SAY("Keeps the tokens with most attention as anchors and averages the others into the nearest one; thins the answer out as "
         "it grows."),
     SAY("Fragile, as the paper's rule is: the question's own words may leave and be averaged into their neighbours, so that even half the "
         "cache loses most answers. With scope visual only picture tokens leave; with merge off they are dropped instead of averaged.")},
    {"prefixkv", SAY("Finds for each layer how many tokens hold the same share of its attention, and keeps that many."),
     SAY("Small shares: no recent tokens are protected, so that the question's own words leave. When the budget of a single layer must be "
         "known beforehand.")},
    {"prefixkv-profile",
     SAY("As PrefixKV, with shares per layer that were measured once for this model at several retentions: nothing is computed per "
         "prompt."),
     SAY("Small shares, as PrefixKV. Models without measured shares, and prompts unlike those that were measured.")},
    {"cam",
     SAY("Keeps first and recent tokens; those that leave while the answer is written hand their values to the following ones, by chance."),
     SAY("Anything asked about the middle of a video, as with StreamingLLM, which it is based on: what the prompt is too long by is "
         "dropped. "
         "When answers must repeat exactly with another seed.")},
    {"cam-expected", SAY("As CaM, without chance: a share of the value is always handed on."),
     SAY("Anything asked about the middle of a video, as with StreamingLLM.")},
    {"roco", SAY("Keeps what is looked at most on average, and protects tokens whose attention goes up and down."),
     SAY("Short prompts, where the spread says little.")},
    {"fastv", SAY("Drops picture tokens after the second layer, by what the last word looks at; all deeper layers never see them."),
     SAY("Fine print and small objects. What is dropped is gone for every later question.")},
    {"fastervlm", SAY("Drops picture tokens before the language model reads them, by what the vision tower itself looks at."),
     SAY("Questions about the background: nothing knows the question yet.")},
    {"ivtp", SAY("Drops picture tokens in two steps, led by the question. An approximation: its paper has no released code."),
     SAY("Comparing with the paper's numbers.")},
    {"random", SAY("Keeps a seeded random choice. What every method must beat."), SAY("Except to compare with.")},
    {"self-study",
     SAY("Before your question is read, the model describes the video to itself once and repeats it; what its own words look at stays for "
         "every later question."),
     SAY("When the first answer is urgent: the description is written first, and the video is read twice.")},
    {"kvzip",
     SAY("Before your question is read, the model repeats the video to itself; what it looks at while repeating stays for every later "
         "question."),
     SAY("Small shares: repeating pictures tells less than describing them. Reads the video twice.")},
    {"kvzip+", SAY("As KVzip, and counts how much a token adds to what is being read, not only how much it is looked at."),
     SAY("Small shares: repeating pictures tells less than describing them. Reads the video twice.")},
    {"kvzip-head",
     SAY("Heads that were measured to look at videos keep all of the video, the others nothing of it. Nothing is computed per video."),
     SAY("Less than about half of the cache. Models whose heads were not measured, and videos unlike those that were measured.")},
    {"self-study-stream",
     SAY("Reads a video in clips and never holds more than its slots: after every clip the model describes what it still has of all of "
         "them, and what its words look at stays. For sources that are still running."),
     SAY("Videos that fit into memory as a whole: Self-study sees all of them before it chooses. A description after every clip takes "
         "time. What is shown right now: protect the newest frames, or compare with Last frames only.")},
    {"kvzip-stream",
     SAY("Reads a video in clips and never holds more than its slots: after every clip the model repeats it, and what that looks at stays. "
         "For sources that are still running."),
     SAY("Videos that fit into memory as a whole. Small shares: repeating pictures tells less than describing them.")},
    {"infinipot-v",
     SAY("Reads a video in clips and never holds more than its slots: what has changed since and what carries weight stays. Looks at no "
         "attention and costs next to nothing."),
     SAY("Questions about single things in a long video: it holds memory within bounds and does not know what will be asked.")},
    {"rekv",
     SAY("Keeps all of the video in memory and fetches, for each question and in each layer, the frames that are most like it. Nothing is "
         "lost for "
         "later questions."),
     SAY("When memory is what is short: only what an answer reads is less. Conversations: what was said before stays, read with other "
         "frames. Small models, whose mean query says little of a question.")},
    {"keydiff",
     SAY("Before your question is read, keeps the picture tokens whose keys are least like all others, for every later question. Costs "
         "nothing to compute."),
     SAY("Nearly always: what is unusual is not what is asked for. A cheap baseline.")},
    {"expected-attention",
     SAY("Before your question is read, works out what coming questions would look at if they were like the pictures themselves, and keeps "
         "that for all of them."),
     SAY("Nearly always: questions are words, and words look elsewhere than pictures do. Models whose positions have several axes.")},
    {"random-context", SAY("A seeded random choice of picture tokens, before your question is read. What its kind must beat."),
     SAY("Except to compare with.")},
    {"every-k", SAY("Every k-th picture token, before your question is read. What its kind must beat."), SAY("Except to compare with.")},
    {"last-frames",
     SAY("Keeps the newest frames of a video or stream that fit, and nothing of those before. The control of all methods for streams: "
         "questions about what is shown right now are often answered best by the newest frames alone."),
     SAY("Anything asked about what was shown earlier: it is gone.")},
};

struct OptionText {
  const char* name;
  const char* title;
  const char* text;
};

constexpr OptionText kOptions[] = {
    {"sim", SAY("Frames compared by"),
     SAY("How a frame is compared with the question: by dot product, as the authors' code does, or by direction alone.")},
    {"local_window", SAY("Looks back at"),
     SAY("Tokens of the video that a token looks back at while it is read; what stands before the video is always seen.")},
    {"clip", SAY("Frames a clip"), SAY("Frames that are read before slots are chosen again.")},
    {"stored", SAY("Best score counts"), SAY("A slot is judged by the best it ever got after a clip. Off: by the last clip alone.")},
    {"proxy", SAY("Stands for questions"),
     SAY("What stands for later questions: the clip once more, the request to describe it, or only the words between a question and its "
         "answer.")},
    {"change_share", SAY("Share for change"),
     SAY("Share of the slots for the newest frames and for what has changed since; the rest goes by weight.")},
    {"newest", SAY("Newest frames"),
     SAY("So many of the newest frames stay whatever else is worth keeping. Of InfiniPot-V: the share of the frames held that counts as "
         "the newest.")},
    {"cells", SAY("Places compared by"),
     SAY("true: a slot is compared with its own place in the newest frames. rank: places are counted off, as the authors' code does.")},
    {"target", SAY("Share a choice leaves"), SAY("How much of its slots a choice leaves, so that not every clip needs one.")},
    {"event", SAY("Chosen when"),
     SAY("once: slots are chosen when all media are read. clips: after every clip, so that memory stays within bounds.")},
    {"entropy", SAY("Entropy of"), SAY("Which entropy a layer is measured by.")},
    {"xmodal_causal", SAY("Only what is seen"), SAY("Count only what a token may look back at.")},
    {"merge", SAY("Merging"), SAY("How tokens that leave are folded into kept ones.")},
    {"recent_share", SAY("Share for recent tokens"), SAY("Share of a layer's budget that is for the most recent tokens.")},
    {"text_policy", SAY("Text"), SAY("boost: text scores above everything. hard: text always stays, whatever the budget says.")},
    {"faithful_clip", SAY("Budgets as printed"), SAY("Cut budgets as the paper prints it; the total may then miss the request.")},
    {"alpha", SAY("Least attention to judge"), SAY("How much attention a word of the question needs, against the strongest, to judge.")},
    {"elite_rule", SAY("Who may judge"),
     SAY("max: words with at least alpha times the strongest attention judge. share: the top 1 - alpha of the question's words.")},
    {"elite_heads", SAY("Judges chosen by"), SAY("Every head chooses its own judges, or the layer chooses them together by the mean.")},
    {"elite_text", SAY("Judging words"), SAY("Which words may judge: those after the pictures, or all of them.")},
    {"alloc", SAY("A layer's share is of"), SAY("What a layer's share is made of.")},
    {"skew_norm", SAY("Scale of skewness"), SAY("How skewness is scaled before it is added.")},
    {"merge_fraction", SAY("Share that is merged"), SAY("Share of the dropped tokens that is merged instead, most similar first.")},
    {"min_stat_rows", SAY("Fewest rows measured"), SAY("At least so many rows are measured.")},
    {"max_stat_rows", SAY("Most rows measured"), SAY("At most so many rows are measured; 0: all of them.")},
    {"p", SAY("Counts as zero below"), SAY("An entry counts as zero below this share of its row's maximum.")},
    {"var_norm", SAY("Scale of variance"), SAY("How the variance of attention is scaled.")},
    {"beta", SAY("Speed of change"), SAY("How quickly the threshold or the pyramid changes.")},
    {"tau_scope", SAY("Threshold for each"), SAY("One moving threshold per head, or one per layer.")},
    {"rope", SAY("Positions"), SAY("Rotary positions: as they were, or counted inside the cache, without gaps.")},
    {"sinks", SAY("First tokens kept"), SAY("First tokens that always stay.")},
    {"event_at_first_decode", SAY("After the first word"),
     SAY("Compress after the first word instead of before it, and count its attention.")},
    {"skip_layers", SAY("Leave outer layers"), SAY("Leave the first two layers and the last one as they are.")},
    {"score", SAY("Attention as"), SAY("Attention as a sum, or as a mean over the rows that could see the token.")},
    {"gqa_reduce", SAY("Query heads joined by"), SAY("How the query heads of a group are joined.")},
    {"phase", SAY("Compresses"), SAY("decode: also while writing. once: only after the question.")},
    {"window", SAY("Last tokens that vote"), SAY("Last tokens of the prompt that always stay and vote.")},
    {"kernel", SAY("Neighbours smoothed over"), SAY("Neighbours over which votes are smoothed; odd.")},
    {"pooling", SAY("Votes smoothed by"), SAY("Smooth votes by their mean or by their maximum.")},
    {"merge_gate", SAY("Merge only if"), SAY("mean: merge only what is more similar than the average.")},
    {"first", SAY("First tokens kept"), SAY("First tokens that are always kept.")},
    {"distance", SAY("Leaves while writing"), SAY("Which token leaves while writing: so far before the end of the prompt.")},
    {"profile", SAY("Shares of the layers"),
     SAY("Shares of the layers at several retentions: 0.1=0.05:0.15/0.5=0.4:0.6. Empty: as measured for the model.")},
    {"base", SAY("What stays"), SAY("Which tokens stay: first and recent ones, or those with most attention.")},
    {"prompt", SAY("Leaving before the answer"),
     SAY("What leaves before the answer begins: drop lets it go, push hands its values on too, one token after the other.")},
    {"reference", SAY("Attention compared with"), SAY("What attention is compared with to decide on handing on.")},
    {"guarded", SAY("Guarded tokens"), SAY("Tokens whose attention fluctuates most and that stay.")},
    {"magnification", SAY("Tokens to a slot"), SAY("How many tokens share the room of one, on average.")},
    {"tau", SAY("Likeness to share a slot"), SAY("How similar a token must be to share a slot, from -1 to 1.")},
    {"zero_mode", SAY("Tokens like no other"),
     SAY("Tokens like no other: left out (masked), or counted with a value of zero as the paper words it (literal).")},
    {"rotation", SAY("Placed by"), SAY("Where a token is placed when it is used: by its rank among the kept ones, or where it was.")},
    {"phi", SAY("Judge of pictures"), SAY("Who judges a picture token: the last word, or all that look at it.")},
    {"layer", SAY("Layers that see all"), SAY("Layers that still see every token.")},
    {"compete", SAY("Heads compete"), SAY("Whom the heads compete with for room: those of their layer, those of all layers, or nobody.")},
    {"floor", SAY("Floor of each head"), SAY("Share of an equal share that every head keeps before heads compete.")},
    {"head_scores", SAY("Worth of the heads"),
     SAY("How much each head looks at videos: 0.9:0.6/0.8:0.9, layers by / and heads by colons. Empty: as measured for the model.")},
    {"stats", SAY("Questions are like"),
     SAY("Whose questions the coming ones are taken to be like: the pictures' own, or those of words: the request to describe the "
         "video, or the model's answer to it.")},
    {"horizon", SAY("Expected over"), SAY("Positions after the video over which coming questions are expected.")},
    {"eps", SAY("Added to attention"),
     SAY("Added to the expected attention, so that tokens with large values may stay though nothing is expected to look at them.")},
    {"chunk", SAY("Repeated at a time"), SAY("Tokens of the video that are repeated at a time; whole frames.")},
    {"with", SAY("Also votes"), SAY("kvzip: what the model looks at when it repeats the video votes too.")},
    {"norms", SAY("Count what is added"), SAY("Count how much a token adds to what is being read, not only how much it is looked at.")},
    {"ask", SAY("Coming questions"),
     SAY("What you are going to ask about, sentences between |: the model answers them for itself instead of describing. Empty: it "
         "describes.")},
    {"words", SAY("Who votes"), SAY("Who votes: what the model answers itself, or the words of the request alone.")},
    {"answer", SAY("Longest description"), SAY("Longest description that the model writes for itself, in tokens.")},
    {"same_all_layers", SAY("One draw for all layers"), SAY("Draw one choice and use it in every layer.")},
};

struct PartText {
  const char* kind;
  const char* name;  // empty: the kind itself, its title
  const char* text;
};

constexpr PartText kParts[] = {
    {"allocator", "", SAY("Share among layers")},
    {"allocator", "cross-modal-entropy", SAY("More for layers in which text and pictures look at each other widely.")},
    {"allocator", "strength-skew", SAY("More for layers whose picture attention is strong and concentrated.")},
    {"allocator", "sparsity", SAY("More for layers whose attention is dense.")},
    {"allocator", "inverse-variance", SAY("More for layers whose attention is even.")},
    {"allocator", "uniform", SAY("The same for every layer.")},
    {"allocator", "pyramid", SAY("Less with every layer.")},
    {"allocator", "prefix-mass", SAY("So many that every layer keeps the same share of its attention.")},
    {"allocator", "fixed-shares", SAY("As measured beforehand for this model.")},
    {"allocator", "global", SAY("The best tokens of all layers and heads stay.")},
    {"allocator", "whole-heads", SAY("Heads with the best tokens keep everything, the others nothing.")},
    {"scorer", "", SAY("Choice of tokens")},
    {"scorer", "text-prior", SAY("Text first, then what was looked at most.")},
    {"scorer", "elite", SAY("What the most important words of the question look at.")},
    {"scorer", "post-vision", SAY("What the text after the pictures looks at.")},
    {"scorer", "accumulated", SAY("What was looked at most by all tokens.")},
    {"scorer", "recency", SAY("First and most recent tokens.")},
    {"scorer", "window-votes", SAY("What the last tokens of the prompt vote for.")},
    {"scorer", "mean-attention", SAY("What is looked at most on average.")},
    {"scorer", "mean-deviation", SAY("What is looked at most on average, fluctuating ones protected.")},
    {"scorer", "global-local", SAY("What the last tokens or all tokens look at, whichever is more.")},
    {"scorer", "random", SAY("By chance.")},
    {"scorer", "description", SAY("What the model's own description of the video looks at.")},
    {"scorer", "repetition", SAY("What the model looks at when it repeats the video.")},
    {"scorer", "repetition-norms", SAY("The same, by how much a token adds to what is being read.")},
    {"scorer", "measured-heads", SAY("Heads that were measured to look at videos, whatever the token.")},
    {"scorer", "frame-likeness", SAY("Frames whose keys are most like the question's queries.")},
    {"scorer", "temporal-change", SAY("What has changed since in its place of the picture, then the largest values.")},
    {"scorer", "key-difference", SAY("Tokens whose keys are least like all others.")},
    {"scorer", "expected-attention", SAY("What coming questions would look at if they were like the pictures.")},
    {"reducer", "", SAY("What happens to the others")},
    {"reducer", "drop", SAY("They are dropped.")},
    {"reducer", "average", SAY("They are averaged into the most similar kept token.")},
    {"reducer", "pivot", SAY("They are averaged with their target first, then together.")},
    {"reducer", "weighted", SAY("They are added in proportion to how similar they are.")},
    {"reducer", "gated", SAY("They are merged if they are similar enough, and dropped if not.")},
    {"reducer", "nearest-index", SAY("They are averaged into the nearest kept token in the text.")},
    {"reducer", "value-push", SAY("Their values are handed on to the tokens that follow.")},
    {"reducer", "shared-entries", SAY("Similar ones share the slot of a kept token; the rest is dropped.")},
    {"scope", "", SAY("Who competes")},
    {"scope", "all", SAY("All tokens.")},
    {"scope", "visual", SAY("Picture tokens only; text stays.")},
    {"scope", "context", SAY("Pictures and the text between them; the question stays.")},
    {"granularity", "", SAY("Choice made per")},
    {"granularity", "head", SAY("Every key-value head keeps its own tokens.")},
    {"granularity", "layer", SAY("All heads of a layer keep the same tokens.")},
    {"granularity", "ragged", SAY("Heads compete: some keep more tokens than others.")},
};

struct ReasonText {
  const char* name;
  const char* title;
  const char* help;
};

constexpr ReasonText kReasons[] = {
    {"sparsity", SAY("Sparsity"), SAY("Share of attention that is close to zero. The sparser a layer, the less it needs.")},
    {"entropy", SAY("Entropy"), SAY("How widely text and pictures look at each other. The wider, the more the layer gets.")},
    {"variance", SAY("Variance"), SAY("How unevenly attention falls on tokens. The more uneven, the less the layer gets.")},
    {"strength", SAY("Strength"), SAY("How much attention the question pays to pictures here. The more, the more the layer gets.")},
    {"skew", SAY("Skew"), SAY("How much of that attention falls on few tokens. The more, the more the layer gets.")},
};

QString said(const char* text) { return QCoreApplication::translate("winnow::ui::MethodTexts", text); }

template <class Table>
auto found(const Table& table, const std::string& name) -> decltype(std::begin(table)) {
  for (auto entry = std::begin(table); entry != std::end(table); ++entry) {
    if (name == entry->name) return entry;
  }
  return nullptr;
}

}  // namespace

QString methodPurpose(const std::string& method) {
  const MethodText* text = found(kMethods, method);
  return text != nullptr ? said(text->purpose) : QString();
}

QString methodCaution(const std::string& method) {
  const MethodText* text = found(kMethods, method);
  return text != nullptr ? said(text->caution) : QString();
}

QString optionTitle(const std::string& option) {
  const OptionText* text = found(kOptions, option);
  return text != nullptr ? said(text->title) : QString::fromStdString(option);
}

QString optionHelp(const std::string& option) {
  const OptionText* text = found(kOptions, option);
  return text != nullptr ? said(text->text) : QString();
}

QString partHelp(const std::string& kind, const std::string& part) {
  for (const PartText& text : kParts) {
    if (kind == text.kind && part == text.name) return said(text.text);
  }
  return {};
}

QString partTitle(const std::string& kind) { return partHelp(kind, {}); }

QString reasonTitle(const std::string& reason) {
  const ReasonText* text = found(kReasons, reason);
  return text != nullptr ? said(text->title) : QString::fromStdString(reason);
}

QString reasonHelp(const std::string& reason) {
  const ReasonText* text = found(kReasons, reason);
  return text != nullptr ? said(text->help) : QString();
}

}  // namespace winnow::ui
