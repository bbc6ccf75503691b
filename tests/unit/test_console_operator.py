"""What an operator can do from the page: read the audit, erase, export and import a space, check health."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from longterm_memory.console import answer
from longterm_memory.console.routing import ROUTES
from playground.envs import ROOT
from tests.support.memory import KB, Bot, new_bot

TAO = ("group_77001", "9002")
ELSEWHERE = ("group_77002", "9001")


async def ask(bot: Bot, endpoint: str, **body: Any) -> dict[str, Any]:
    found = await answer(bot.service, endpoint, "POST", body)
    json.dumps(found)
    return found


async def lived_in() -> Bot:
    bot = await new_bot()
    await bot.remember("Mina's dentist is on Friday")
    await bot.remember("Tao is allergic to cats", *TAO)
    await bot.remember("The offsite is in Oslo", *ELSEWHERE)
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"})
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "shy"}, *TAO)
    return bot


async def space(bot: Bot, session: str = "group_77001") -> str:
    found = await ask(bot, "/spaces")
    return next(s["space_id"] for s in found["spaces"] if s["session_name"] == session)


def file_of(rows: object) -> str:
    return base64.b64encode(json.dumps(rows).encode()).decode()


async def test_every_endpoint_answers_whatever_it_is_sent() -> None:
    bot = await lived_in()
    known = await space(bot)
    bodies: list[Any] = [
        None,
        [],
        "x",
        7,
        {},
        {"space_id": ["x"]},
        {"space_id": "0" * 32},
        {"space_id": known},
    ]
    bodies += [{"space_id": known, "data": "!!"}, {"sender_id": ""}, {"sender_id": {"$ne": 1}}]
    before = len(bot.api.rows)
    for endpoint in [*ROUTES, "/nothing", ""]:
        for body in bodies:
            found = await answer(bot.service, endpoint, "POST", body)
            json.dumps(found)
            assert isinstance(found, dict)
            if endpoint not in ROUTES:
                assert found["error"]["code"] == "unknown_endpoint"
    assert len(bot.api.rows) == before
    assert (await ask(bot, "/audit", space_id="0" * 32))["error"]["code"] == "space_unknown"


async def test_a_request_reaches_its_own_space_only() -> None:
    bot = await lived_in()
    here, there = await space(bot), await space(bot, "group_77002")
    exported = await ask(
        bot, "/export", space_id=here, user_key="b-01:group_77002", scope_key="b-01:group_77002"
    )
    assert "dentist" in exported["text"]
    assert "Oslo" not in exported["text"]
    assert [e["operation"] for e in (await ask(bot, "/audit", space_id=there))["entries"]] == ["remember"]


async def test_the_audit_is_paged_filtered_and_exported() -> None:
    bot = await lived_in()
    here = await space(bot)
    first = await ask(bot, "/audit", space_id=here, size=3)
    assert (len(first["entries"]), first["total"]) == (3, 4)
    await bot.remember("something newer")
    second = await ask(bot, "/audit", space_id=here, size=3, before=first["after"])
    numbers = [e["number"] for e in first["entries"] + second["entries"]]
    assert numbers == [4, 3, 2, 1]
    mine = await ask(bot, "/audit", space_id=here, operation="update_profile", sender_id="9002")
    assert [(e["operation"], e["sender_id"]) for e in mine["entries"]] == [("update_profile", "9002")]
    assert len((await ask(bot, "/audit_export", space_id=here))["entries"]) == 5


async def test_a_space_and_a_person_are_erased_with_a_code_only() -> None:
    bot = await lived_in()
    here = await space(bot)
    offer = await ask(bot, "/erase_space", space_id=here)
    assert (offer["episodes"], offer["profiles"], offer["erased"]) == (2, 2, False)
    assert (await ask(bot, "/erase_space", space_id=here, code="zzzzzz"))["error"][
        "code"
    ] == "code_wrong_console"
    there = await space(bot, "group_77002")
    assert (await ask(bot, "/erase_space", space_id=there, code=offer["code"]))["error"][
        "code"
    ] == "code_wrong_console"
    person = await ask(bot, "/erase_person", sender_id="9002")
    assert (person["episodes"], person["profiles"], person["spaces"]) == (1, 1, 1)
    erased = await ask(bot, "/erase_person", sender_id="9002", code=person["code"])
    assert (erased["episodes"], erased["profiles"], erased["erased"]) == (1, 1, True)
    erased = await ask(bot, "/erase_space", space_id=here, code=offer["code"])
    assert (erased["episodes"], erased["profiles"], erased["erased"]) == (1, 1, True)
    assert "Oslo" in (await ask(bot, "/export", space_id=there))["text"]
    assert "dentist" not in (await ask(bot, "/export", space_id=here))["text"]
    assert (await ask(bot, "/erase_person", sender_id=" "))["error"]["code"] == "speaker_unknown"


async def test_a_space_comes_back_from_its_export_byte_for_byte() -> None:
    bot = await lived_in()
    here = await space(bot)
    before = (await ask(bot, "/export", space_id=here))["text"]
    offer = await ask(bot, "/erase_space", space_id=here)
    await ask(bot, "/erase_space", space_id=here, code=offer["code"])
    data = base64.b64encode(before.encode()).decode()
    preview = await ask(bot, "/import", space_id=here, data=data, dry_run=True)
    assert (preview["accepted"], preview["profiles"]) == (2, 2)
    assert "dentist" not in (await ask(bot, "/export", space_id=here))["text"]
    report = await ask(bot, "/import", space_id=here, data=data)
    assert (report["accepted"], report["profiles"], report["remaining"], report["stopped"]) == (2, 2, 0, "")
    assert (await ask(bot, "/export", space_id=here))["text"] == before
    again = await ask(bot, "/import", space_id=here, data=data)
    assert (again["accepted"], again["skipped"], again["profiles"]) == (0, 2, 0)
    operations = [e["operation"] for e in (await ask(bot, "/audit", space_id=here))["entries"]]
    assert operations == ["import", "erase_space"]


async def test_an_import_says_what_became_of_each_row() -> None:
    bot = await lived_in()
    rows = [{"content": "Rent is due on the 15th", "user_key": "b-01:group_77002"}, {"content": " "}, 7]
    report = await ask(bot, "/import", space_id=await space(bot), data=file_of(rows), language="zh_Hans")
    assert (report["accepted"], report["rejected_total"]) == (1, 2)
    assert [row["line"] for row in report["rejected"]] == [2, 3]
    assert all(row["text"] for row in report["rejected"])
    there = await ask(bot, "/export", space_id=await space(bot, "group_77002"))
    assert "Rent" not in there["text"]


async def test_health_answers_with_remedies() -> None:
    bot = await lived_in()
    healthy = await ask(bot, "/health")
    assert healthy["level"] in ("ok", "warn")
    assert all(check["title"] and check["text"] for check in healthy["checks"])
    bot.api.faults.fail.add("invoke_embedding")
    broken = await ask(bot, "/health", language="zh_Hans")
    assert broken["level"] == "error"
    assert any(check["level"] == "error" and check["remedy"] for check in broken["checks"])
    bot.restart()
    bot.api.faults.storage_down = True
    down = await ask(bot, "/health")
    assert down["level"] == "error"


async def test_a_backup_is_made_read_out_restored_and_dropped() -> None:
    bot = await lived_in()
    assert (await ask(bot, "/backup"))["kept"] is None
    assert (await ask(bot, "/backup_part", part=1))["error"]["code"] == "backup_missing"
    assert (await ask(bot, "/backup_restore"))["error"]["code"] == "backup_missing"
    kept = (await ask(bot, "/backup_make"))["kept"]
    assert (kept["episodes"], kept["profiles"], kept["parts"]) == (3, 2, 1)
    text = (await ask(bot, "/backup_part", part=1))["text"]
    assert (await ask(bot, "/backup_part", part=2))["error"]["code"] == "part_unknown"
    await bot.service.knowledge_base_deleted(KB)
    await bot.service.knowledge_base_created("kb-2", {"embedding_model_uuid": "m"})
    restored = await ask(bot, "/backup_restore")
    assert (restored["report"]["accepted"], restored["done"]) == (3, True)
    here = await space(bot)
    assert "dentist" in (await ask(bot, "/export", space_id=here))["text"]
    assert (await ask(bot, "/audit", space_id=here))["entries"][0]["operation"] == "import"
    again = await ask(bot, "/restore_file", data=base64.b64encode(text.encode()).decode())
    assert (again["accepted"], again["skipped"]) == (0, 3)
    assert await ask(bot, "/backup_drop") == {"dropped": True}
    assert await ask(bot, "/backup_drop") == {"dropped": False}


def test_the_document_names_every_endpoint_and_what_it_takes() -> None:
    table = (ROOT / "docs" / "console-api.md").read_text("utf-8")
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `/")]
    told = {endpoint.strip(" `"): set(re.findall(r"`(\w+)`", body)) for endpoint, body in rows}
    values = {"profiles", "episodes", "all"}  # of "what"
    assert set(told) == set(ROUTES)
    for endpoint, route in ROUTES.items():
        fields = set(route.request.model_fields) - {"language"}
        assert told[endpoint] - values == fields - values, endpoint
