"""The recipes of an evaluation: methods and saved recipes x shares, named as the tables name them."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from item_lines import BadSource

# A recipe with all of its fields, and `before_question`, as `winnow-cli batch --json` tells it.
Described = dict
_UNLIMITED = (1 << 31) - 1


def of_method(method: str) -> dict:
    """As the window would save it."""
    return {"format": "winnow-recipe", "version": 1, "method": method}


@dataclass(frozen=True)
class GridRecipe:
    name: str  # of its answers in the log: "vl-cache@0.1"; "full"; "mine#3f2a90@0.1", which tells a changed file from the first one
    title: str  # of its row: the method's name, or the saved recipe's
    described: Described
    # How questions of one cluster are asked. Empty: each for itself, beside other recipes; alone: each alone, all of them from the cache
    # that was compressed once before the first; keep: one conversation, the later ones about what the first left.
    together: str = ""

    @property
    def keeps_everything(self) -> bool:
        return self.described["method"] == "full"

    @property
    def before_question(self) -> bool:
        return self.described["before_question"]

    def asked(self, seed: int) -> dict:
        """The recipe, as a line of `batch` has it."""
        recipe = {key: value for key, value in self.described.items() if key != "before_question"} | {"seed": seed}
        if self.keeps_everything and self.together == "alone":
            # A method that compresses before a question and has room for everything leaves the same cache, and it is read once for all.
            recipe |= {"method": "every-k", "budget_tokens": _UNLIMITED}
        return recipe

    def seeds(self, seeds: Sequence[int]) -> Sequence[int]:
        """`full` answers greedily the same with every seed."""
        return seeds[:1] if self.keeps_everything else seeds


def _fingerprint(described: Described) -> str:
    """Everything of a recipe but its name and share, in six hexadecimal digits."""
    plain = {key: value for key, value in described.items() if key != "before_question"} | {"name": "", "retention": 1.0}
    return hashlib.sha256(json.dumps(plain, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()[:6]


def recipe_grid(
    methods: Sequence[str], shares: Sequence[float], saved: Sequence[dict], describe: Callable[[dict], Described]
) -> list[GridRecipe]:
    """`full` appears once and comes first. Saved recipes get the shares instead of their own. describe: refuses what is no recipe."""
    wanted = [(method, method, of_method(method)) for method in methods] + [(recipe.get("name", ""), "", recipe) for recipe in saved]
    grid: dict[str, GridRecipe] = {}
    for name, key, recipe in wanted:
        described = describe(recipe)
        if "budget_tokens" in described:
            raise BadSource(f"{name}: has a budget in slots; an evaluation gives every recipe the same shares")
        if described["method"] == "full":
            grid = {"full": grid.get("full", GridRecipe("full", "full", described))} | grid
            continue
        key = key or f"{name}#{_fingerprint(described)}"
        for share in shares:
            full_name = f"{key}@{share:g}"
            grid.setdefault(full_name, GridRecipe(full_name, name, described | {"retention": share}))
    if not grid:
        raise BadSource("an evaluation needs a method and a retention")
    return list(grid.values())


def require_names(methods: Sequence[str], saved: Sequence[dict], known: Sequence[str]) -> None:
    """Before the model is loaded: every row of a table has a name of its own."""
    for method in methods:
        if method not in known:
            raise BadSource(f"{method}: is not a method (see: winnow-cli methods)")
    taken = set(known)
    for recipe in saved:
        name = recipe.get("name", "")
        if not name:
            raise BadSource("a recipe needs a name to stand in a table")
        if name in taken:
            raise BadSource(f"{name}: is the name of two recipes")
        taken.add(name)


def document_grid(recipes: Sequence[GridRecipe], judged_by: Sequence[str]) -> list[GridRecipe]:
    """The same recipes as questions about documents are asked under them. judged_by: own, first, or both, of methods that compress after a
    question."""
    grid = []
    for recipe in recipes:
        if recipe.before_question:
            grid.append(replace(recipe, together="alone"))
            continue
        if recipe.keeps_everything or "own" in judged_by:
            grid.append(recipe)
        if "first" in judged_by:
            way = ", conversation" if recipe.keeps_everything else ", first question"
            key, at, share = recipe.name.rpartition("@") if "@" in recipe.name else (recipe.name, "", "")
            grid.append(GridRecipe(key + way + at + share, recipe.title + way, recipe.described, "keep"))
    # Beside others that are asked each for itself it costs nothing: they share a prefill. Alone it would read a document for each question.
    for_itself = [i for i, recipe in enumerate(grid) if not recipe.together]
    if len(for_itself) == 1 and grid[for_itself[0]].keeps_everything:
        grid[for_itself[0]] = replace(grid[for_itself[0]], together="alone")
    return grid
