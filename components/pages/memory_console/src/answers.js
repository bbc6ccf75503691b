// What the plugin said, as something a component can draw: the answer before stays until the next one is there.
import { useCallback, useEffect, useRef, useState } from "./vendor/preact-hooks.js";
import { ask } from "./api.js";
import { language } from "./i18n.js";
import { keep, lately, refreshed } from "./kept.js";

/**
 * Ask once per request, and again when it or the language changes, or the reader wants all of it anew.
 * @param {string} endpoint
 * @param {Object|null} body - null: nothing is asked yet
 * @returns {{data: Object|null, failure: Error|null, busy: boolean, waits: string, reload: function(): Promise}} `waits` says why it
 *   takes longer
 */
export function useAnswer(endpoint, body) {
  const request = body === null ? null : JSON.stringify([endpoint, language.value, body]);
  const [state, setState] = useState(() => ({ data: lately(request), failure: null, busy: body !== null, waits: "" }));
  const latest = useRef(0);
  const load = useCallback(async () => {
    const mine = ++latest.current;
    if (request === null) return;
    setState((before) => ({ ...before, data: lately(request) ?? before.data, busy: true }));
    try {
      const data = await ask(endpoint, JSON.parse(request)[2], (waits) => {
        if (mine !== latest.current) throw new Error("nobody waits for this any more");
        setState((before) => ({ ...before, waits }));
      });
      keep(request, data);
      if (mine === latest.current) setState({ data, failure: null, busy: false, waits: "" });
    } catch (failure) {
      if (mine === latest.current) setState((before) => ({ ...before, failure, busy: false, waits: "" }));
    }
  }, [endpoint, request]);
  useEffect(() => {
    load();
    return () => {
      latest.current += 1;
    };
  }, [load, refreshed.value]);
  return { ...state, reload: load };
}

/**
 * Something that a person starts: `run` does it, once at a time, and keeps what went wrong.
 * @returns {{busy: boolean, failure: Error|null, run: function(function(): Promise): Promise<boolean>, clear: function()}}
 */
export function useAction() {
  const [state, setState] = useState({ busy: false, failure: null });
  const alive = useRef(true);
  useEffect(() => () => {
    alive.current = false;
  }, []);
  const run = async (work) => {
    setState({ busy: true, failure: null });
    let failure = null;
    try {
      await work(() => alive.current);
    } catch (error) {
      failure = error;
    }
    if (alive.current) setState({ busy: false, failure });
    return failure === null;
  };
  return { ...state, run, clear: () => setState({ busy: false, failure: null }) };
}
