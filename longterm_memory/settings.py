"""All settings of the plugin, one pydantic model: names, defaults, bounds and units.

Two sources feed it. The knowledge base's creation settings are frozen by the host once the base exists; the
plugin config can be edited any time and wins where it is set. A bad value falls back (plugin config →
creation setting → default) with one problem line; nothing raises. The manifest, the engine's YAML and the
README table are checked against this model by a test.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import UTC, tzinfo
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from .scope import Isolation, clean_id
from .words import FALLBACK, LANGUAGES

__all__ = ["CREATION_SETTINGS", "LANGUAGES", "Settings", "Source"]


def _number(value: object) -> object:
    """Accept numbers as text in any width, as WebUI forms send them; booleans are no numbers."""
    if isinstance(value, bool):
        raise ValueError("expected a number")
    return unicodedata.normalize("NFKC", value).strip() if isinstance(value, str) else value


def _ids(value: object) -> object:
    if isinstance(value, str):
        value = value.replace("，", ",").replace("、", ",").replace("\n", ",").split(",")
    if not isinstance(value, (list, tuple)):
        raise ValueError("expected a list of sender ids")
    return tuple(dict.fromkeys(i for i in (clean_id(v).strip() for v in value) if i))


def _prefixes(value: object) -> object:
    if isinstance(value, str):
        value = value.split()
    if (
        not isinstance(value, (list, tuple))
        or not all(isinstance(v, str) and v.strip() for v in value)
        or not value
    ):
        raise ValueError("expected one or more command prefixes")
    return tuple(v.strip() for v in value)


def _timezone(value: object) -> object:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("expected a time zone such as Asia/Shanghai")
    name = value.strip()
    try:
        if name != "UTC":
            ZoneInfo(name)
    except (KeyError, ValueError, OSError) as exc:  # unknown, malformed, a directory
        raise ValueError("expected a time zone such as Asia/Shanghai") from exc
    return name


def _language(value: object) -> object:
    """Accept any language that has words, in any spelling: zh-hans is zh_Hans."""
    known = {name.casefold(): name for name in LANGUAGES}
    plain = value.strip().replace("-", "_").casefold() if isinstance(value, str) else ""
    if plain not in known:
        raise ValueError(f"expected one of {', '.join(LANGUAGES)}")
    return known[plain]


def _uuid(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("expected a model")
    # What the form's "none" is called inside it.
    return value.strip().removeprefix("__none__")


def _flag(value: object) -> object:
    if isinstance(value, str):
        word = unicodedata.normalize("NFKC", value).strip().lower()
        if word in {"true", "yes", "on", "1"}:
            return True
        if word in {"false", "no", "off", "0"}:
            return False
    return value


Int = Annotated[int, BeforeValidator(_number)]
Float = Annotated[float, BeforeValidator(_number)]
Flag = Annotated[bool, BeforeValidator(_flag)]


class Settings(BaseModel):
    """Effective settings. Times in seconds, sizes in characters, unless the name says otherwise."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    # --- knowledge base (creation settings; overridable in the plugin config, except the model)
    embedding_model_uuid: str = ""
    isolation: Isolation = Isolation.SESSION
    recency_half_life_days: Annotated[Float, Field(gt=0, le=36_500, allow_inf_nan=False)] = 30.0
    auto_recall_top_k: Annotated[Int, Field(ge=0, le=20)] = 3
    retrieval_strategy: Literal["auto", "hybrid", "vector"] = "auto"
    vector_weight: Annotated[Float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.5
    exact_match_boost: Flag = True

    # --- profiles
    max_profile_traits: Annotated[Int, Field(ge=1, le=200)] = 20
    max_profile_preferences: Annotated[Int, Field(ge=1, le=200)] = 10
    profile_budget_chars: Annotated[Int, Field(ge=400, le=20_000)] = 3_000

    # --- recall on the turn
    recall_deadline_seconds: Annotated[Float, Field(ge=0.2, le=30, allow_inf_nan=False)] = 3.0
    relevance_floor: Annotated[Float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.5
    episode_budget_chars: Annotated[Int, Field(ge=400, le=40_000)] = 4_000
    episode_placement: Literal["system", "retrieval"] = "system"
    rerank_model_uuid: Annotated[str, BeforeValidator(_uuid)] = ""
    rerank_candidates: Annotated[Int, Field(ge=2, le=64)] = 20
    rerank_deadline_seconds: Annotated[Float, Field(ge=0.1, le=20, allow_inf_nan=False)] = 1.0

    # --- people
    memory_admins: Annotated[tuple[str, ...], BeforeValidator(_ids)] = ()
    command_policy: Literal["owner_or_admin", "everyone", "admin"] = "owner_or_admin"
    language: Annotated[str, BeforeValidator(_language)] = FALLBACK
    timezone: Annotated[str, BeforeValidator(_timezone)] = "UTC"
    command_prefixes: Annotated[tuple[str, ...], BeforeValidator(_prefixes)] = ("!", "！")

    @property
    def zone(self) -> tzinfo:
        """The zone in which dates are shown to people."""
        # A system without a time zone database still knows UTC.
        return UTC if self.timezone == "UTC" else ZoneInfo(self.timezone)

    @property
    def vector_weight_effective(self) -> float:
        """Weight of the vector score in the fusion; 1 under the ``vector`` strategy."""
        return 1.0 - self.lexical_weight

    @property
    def lexical_weight(self) -> float:
        """Weight of the lexical score in the fusion; 0 under the ``vector`` strategy."""
        return 0.0 if self.retrieval_strategy == "vector" else 1.0 - self.vector_weight

    @classmethod
    def load(
        cls, plugin_config: Mapping[str, Any], creation_settings: Mapping[str, Any]
    ) -> tuple[Settings, tuple[str, ...]]:
        """Merge both sources field by field.

        Args:
            plugin_config: what the operator saved in the plugin's config, maybe ``{}``.
            creation_settings: what the knowledge base was created with, maybe ``{}``.

        Returns:
            The settings, and one line per value that could not be used (name and expectation, never the
            value).
        """
        chosen: dict[str, Any] = {}
        problems: list[str] = []
        for name in cls.model_fields:
            sources = [creation_settings] if name == "embedding_model_uuid" else [plugin_config]
            if name in CREATION_SETTINGS and name != "embedding_model_uuid":
                sources.append(creation_settings)
            for source in sources:
                raw = source.get(name) if isinstance(source, Mapping) else None
                if raw is None or (isinstance(raw, str) and not raw.strip()):
                    continue
                try:
                    chosen[name] = _ADAPTERS[name].validate_python(raw)
                    break
                except ValidationError as exc:
                    problems.append(f"{name}: {_expectation(exc)}")
        return cls.model_construct(**{**_DEFAULTS, **chosen}), tuple(problems)

    @classmethod
    def sources(
        cls, plugin_config: Mapping[str, Any], creation_settings: Mapping[str, Any]
    ) -> dict[str, Source]:
        """Return where :meth:`load` takes each value from."""
        found: dict[str, Source] = {}
        for name in cls.model_fields:
            in_base = name in CREATION_SETTINGS and _usable(name, creation_settings)
            in_config = name != "embedding_model_uuid" and _usable(name, plugin_config)
            found[name] = "config" if in_config else "knowledge_base" if in_base else "default"
        return found


Source = Literal["config", "knowledge_base", "default"]


def _usable(name: str, source: Mapping[str, Any]) -> bool:
    raw = source.get(name) if isinstance(source, Mapping) else None
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return False
    try:
        _ADAPTERS[name].validate_python(raw)
    except ValidationError:
        return False
    return True


CREATION_SETTINGS = (
    "embedding_model_uuid",
    "isolation",
    "recency_half_life_days",
    "auto_recall_top_k",
    "retrieval_strategy",
    "vector_weight",
    "exact_match_boost",
)
"""The settings a knowledge base is created with."""

_DEFAULTS: dict[str, Any] = {name: info.default for name, info in Settings.model_fields.items()}
_ADAPTERS: dict[str, TypeAdapter[Any]] = {
    name: TypeAdapter(Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation)  # type: ignore[arg-type]
    for name, info in Settings.model_fields.items()
}


def _expectation(exc: ValidationError) -> str:
    return str(exc.errors()[0]["msg"]).removeprefix("Value error, ")
