"""A rerank model of the host puts recalled memories in its order; without it they are recalled as usual."""

from __future__ import annotations

import re

from tests.support.talk import MemoryHost

ASKED = "Which book does Ann read?"
BOOKS = ("Ann reads a book about Oslo", "Ann reads a book about tulips", "Ann reads a book about clocks")


def explained(reply: str) -> list[str]:
    """Return what of the books `!memory why` shows, in its order."""
    return re.findall(r"Ann reads a book about \w+", reply)


def test_the_rerank_model_orders_what_is_recalled_and_may_be_down(memory: MemoryHost) -> None:
    stage, group = memory.stage, memory.group()
    models = stage.models
    for book in BOOKS:
        group.remember(book)
    other = memory.group()
    other.remember("Bo reads a book about whales")
    usual = group.say(ASKED).records
    assert sorted(usual) == sorted(BOOKS)
    assert models.reranks == []
    model = stage.api.add_rerank(models.url)
    wanted = [usual[2], usual[0], usual[1]]
    models.favourites = [book.split()[-1] for book in wanted]
    with memory.configured(rerank_model_uuid=model, rerank_deadline_seconds=2):
        turn = group.say(ASKED)
        assert turn.records == wanted
        [request] = models.reranks
        assert request.query == ASKED
        assert len(request.documents) == 3
        assert all(any(book in text for book in BOOKS) for text in request.documents)
        reply = group.command(f"!memory why {ASKED}")
        assert explained(reply) == wanted
        assert "The rerank model gave it 1." in reply
        found = group.tool("recall_memory", {"query": ASKED})
        assert re.findall(r"Ann reads a book about \w+", found) == wanted
        # A model that is down or hangs changes nothing but the explanation.
        models.faults.rerank = "down"
        assert group.say(ASKED).records == usual
        reply = group.command(f"!memory why {ASKED}")
        assert explained(reply) == usual
        assert "Not reranked" in reply
        assert "did not answer" in reply
        assert "service is down" not in reply
    models.faults.rerank, models.faults.seconds = "hang", 4.0
    with memory.configured(rerank_model_uuid=model, rerank_deadline_seconds=0.5):
        turn = group.say(ASKED)
        assert turn.records == usual
        assert "rerank failed: reason=rerank_late" in turn.log
        assert ASKED not in "".join(line for line in turn.log.splitlines() if "rerank failed" in line)
    with memory.configured(rerank_model_uuid="00000000-0000-0000-0000-000000000000"):
        assert group.say(ASKED).records == usual
