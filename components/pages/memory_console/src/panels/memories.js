// The memories of a space: searched, filtered, selected, changed.
import { useEffect, useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { useAction, useAnswer } from "../answers.js";
import { count, percent } from "../format.js";
import { t } from "../i18n.js";
import { askToDelete, change, remove } from "../memory/changes.js";
import { asked, EVERYTHING, Filters, narrowing, STATUSES } from "../memory/filters.js";
import { Memory } from "../memory/row.js";
import { Timeline } from "../memory/timeline.js";
import { Button, Confirm } from "../parts/button.js";
import { Tick } from "../parts/fields.js";
import { Icon } from "../parts/icon.js";
import { Pager } from "../parts/pager.js";
import { Answer, Problem, State } from "../parts/state.js";
import { wanted } from "../place.js";
import { loadSpaces } from "../spaces.js";

const SIZE = 25;
const BEST = 20;

/** The panel. `wanted.id` opens one memory, `wanted.sender_id` those of one person. */
export function Memories({ space }) {
  const spaceId = space.space_id;
  const [filters, setFilters] = useState({ ...EVERYTHING, sender_id: wanted.value?.sender_id || "" });
  const [page, setPage] = useState(1);
  const [query, setQuery] = useState("");
  const [shown, setShown] = useState(wanted.value?.id || "");
  const [selection, setSelection] = useState(new Map());
  const [version, setVersion] = useState(0);
  useEffect(() => {
    wanted.value = null;
  }, []);
  const narrow = asked(filters);
  const listed = useAnswer("/episodes", shown || query ? null : { space_id: spaceId, page, size: SIZE, facets: page === 1, ...narrow });
  const searched = useAnswer("/episodes_search", shown || !query ? null : { space_id: spaceId, query, k: BEST, ...narrow });
  const single = useAnswer("/episode", shown ? { space_id: spaceId, id: shown } : null);
  const facets = useFacets(listed.data);
  const after = () => {
    setSelection(new Map());
    setVersion((before) => before + 1);
    for (const answer of [listed, searched, single]) answer.reload();
    loadSpaces();
  };
  const filter = (changes) => {
    setFilters(changes);
    setPage(1);
  };
  const select = (episodes, on) => {
    const next = new Map(selection);
    for (const one of episodes) if (on) next.set(one.id, one.status); else next.delete(one.id);
    setSelection(next);
  };
  const rows = (items) => html`
    <${SelectAll} episodes=${items.map((item) => item.episode)} selection=${selection} select=${select} />
    <ul class="memories">
      ${items.map(({ episode, hit, floor }) => html`
        <${Memory} key=${episode.id} spaceId=${spaceId} episode=${episode} hit=${hit} floor=${floor} selected=${selection.has(episode.id)}
          select=${(on) => select([episode], on)} after=${after} show=${setShown} />`)}
    </ul>`;
  if (shown) return html`<${Single} of=${single} id=${shown} spaceId=${spaceId} after=${after} show=${setShown} />`;
  return html`
    <${Timeline} spaceId=${spaceId} version=${version} chosen=${filters} choose=${(range) => filter({ ...filters, ...range })} />
    <${Search} query=${query} ask=${setQuery} />
    <${Filters} filters=${filters} change=${filter} facets=${facets} shared=${space.isolation === "bot"} />
    <${Selected} spaceId=${spaceId} selection=${selection} clear=${() => setSelection(new Map())} after=${after} />
    ${query
      ? html`<${Answer} of=${searched} lines=${3}>${(data) => html`<${Found} data=${data} rows=${rows} />`}<//>`
      : html`<${Answer} of=${listed} rows=${5}>${(data) => html`<${Listed} data=${data} rows=${rows} filters=${filters} busy=${listed.busy} go=${setPage} />`}<//>`}`;
}

/** Who, which tags and sources there are to filter by; they stay while a search is shown. */
function useFacets(data) {
  const [facets, setFacets] = useState({});
  useEffect(() => {
    if (data?.page === 1) setFacets({ senders: data.senders, tags: data.tags, sources: data.sources });
  }, [data]);
  return facets;
}

function Search({ query, ask }) {
  const [text, setText] = useState(query);
  const submit = (event) => {
    event.preventDefault();
    ask(text.trim());
  };
  const clear = () => {
    setText("");
    ask("");
  };
  return html`
    <form class="row search-row" role="search" onSubmit=${submit}>
      <div class="search grow">
        <${Icon} name="search" />
        <input type="search" value=${text} placeholder=${t("search.placeholder")} aria-label=${t("search.label")} autocomplete="off"
          onInput=${(e) => { setText(e.target.value); if (!e.target.value) ask(""); }} />
      </div>
      <${Button} type="submit" kind="primary">${t("search.submit")}<//>
      ${query && html`<${Button} onClick=${clear}>${t("search.clear")}<//>`}
    </form>`;
}

function SelectAll({ episodes, selection, select }) {
  const all = episodes.length > 0 && episodes.every((one) => selection.has(one.id));
  return html`<div class="select-all"><${Tick} label=${t("select.page")} checked=${all} change=${(on) => select(episodes, on)} /></div>`;
}

/** What can be done with everything that is selected. */
function Selected({ spaceId, selection, clear, after }) {
  const { busy, failure, run } = useAction();
  if (!selection.size) return failure && html`<${Problem} failure=${failure} />`;
  const ids = [...selection.keys()];
  const [active, kept] = [true, false].map((on) => ids.filter((id) => (selection.get(id) === "active") === on));
  const question = async () => {
    let answer = null;
    await run(async () => {
      answer = await askToDelete(spaceId, ids);
    });
    return answer;
  };
  return html`
    <div class="selected" role="region" aria-label=${t("select.region")}>
      <strong>${t("select.count", { count: count(ids.length) })}</strong>
      <div class="row wrap">
        <${Button} class="small" icon="archive" busy=${busy} disabled=${!active.length} onClick=${() => run(() => change(spaceId, "archive", active, after))}>${t("archive")}<//>
        <${Button} class="small" icon="restore" busy=${busy} disabled=${!kept.length} onClick=${() => run(() => change(spaceId, "restore", kept, after))}>${t("restore")}<//>
        <${Confirm} small icon="trash" label=${t("delete")} busy=${busy} ask=${question} run=${(codes) => run(() => remove(spaceId, ids, codes, after))} />
        <${Button} class="small" kind="quiet" icon="cross" onClick=${clear}>${t("select.none")}<//>
      </div>
      <${Problem} failure=${failure} />
    </div>`;
}

function Listed({ data, rows, filters, busy, go }) {
  if (!data.episodes.length) {
    const narrowed = narrowing(filters) > 0 || filters.statuses.length < STATUSES.length;
    return html`<${State} small level="3" title=${t(narrowed ? "memories.noMatch" : "memories.none")} text=${t(narrowed ? "memories.noMatchHint" : "memories.noneHint")} />`;
  }
  return html`
    <p class="hint" role="status">${t("memories.total", { count: count(data.total) })}</p>
    ${rows(data.episodes.map((episode) => ({ episode, hit: null, floor: 0 })))}
    <${Pager} page=${data.page} pages=${data.pages} go=${go} busy=${busy} />`;
}

function Found({ data, rows }) {
  const facts = [t("found.considered", { count: count(data.considered) })];
  if (typeof data.answered === "number") facts.push(t("found.answered", { share: percent(data.answered) }));
  if (typeof data.floor === "number") facts.push(t("found.floor", { floor: percent(data.floor) }));
  return html`
    <p class="hint" role="status">${facts.join(" · ")}</p>
    ${(data.notes || []).map((note) => html`<p class="note">${note}</p>`)}
    ${data.hits.length
      ? rows(data.hits.map((hit) => ({ episode: hit.episode, hit, floor: data.floor })))
      : html`<${State} small level="3" picture="search" title=${t("found.nothing")} text=${t("found.nothingHint")} />`}`;
}

/** One memory by itself, as another place pointed to it. */
function Single({ of, spaceId, after, show }) {
  return html`
    <div><${Button} class="small" icon="back" onClick=${() => show("")}>${t("memories.all")}<//></div>
    ${of.failure ? html`<${Problem} failure=${of.failure} />` : html`
    <${Answer} of=${of} rows=${1} lines=${3}>
      ${(data) => html`<ul class="memories"><${Memory} key=${data.episode.id} spaceId=${spaceId} episode=${data.episode} begin after=${after} show=${show} /></ul>`}
    <//>`}`;
}
