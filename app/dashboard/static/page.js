// What makes an open page follow the program. Without it everything works by
// loading pages.
"use strict";

(() => {
  const root = "/dashboard/";
  document.documentElement.classList.add("scripted");

  // --- Parts of the page that the server has made anew ---

  const partOf = (id) => document.querySelector(`[data-part="${CSS.escape(id)}"]`);

  // A part that somebody types in waits until they leave it.
  const isTyping = (element) => {
    const at = document.activeElement;
    return element.contains(at) && at.matches("input:not([type=checkbox]), select, textarea") && !at.readOnly;
  };

  const waiting = new Map();

  function replace(part) {
    const element = partOf(part.id);
    if (!element || element.dataset.rev === part.rev) return;
    if (isTyping(element)) {
      waiting.set(part.id, part);
      return;
    }
    waiting.delete(part.id);
    const focus = element.contains(document.activeElement) ? pathTo(element, document.activeElement) : null;
    const open = [...element.querySelectorAll("details[open][id]")].map((d) => d.id);
    const scroll = [...element.querySelectorAll(".scroll")].map((s) => s.scrollLeft);
    element.innerHTML = part.html;
    element.dataset.rev = part.rev;
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    element.querySelectorAll(".scroll").forEach((s, i) => { s.scrollLeft = scroll[i] ?? 0; });
    if (focus) (focus(element) ?? main()).focus({ preventScroll: true });
    window.dashboardPlots?.(element);
  }

  const main = () => document.getElementById("main");

  // pathTo returns how to find an element again: by its id, else as the
  // same button of the same kind of form.
  function pathTo(part, element) {
    if (element.id) return () => document.getElementById(element.id);
    const { tagName, name, value } = element;
    const same = (e) => e.tagName === tagName && e.name === name && e.value === value;
    const all = (p) => [...p.querySelectorAll("a[href], button, input, select, summary, [tabindex]")];
    const n = all(part).filter(same).indexOf(element);
    return (p) => all(p).filter(same)[n] ?? null;
  }

  document.addEventListener("focusout", () => setTimeout(() => {
    for (const part of [...waiting.values()]) replace(part);
  }));

  // --- The stream of news ---

  let stream = null;
  let retry = 0;

  function listen() {
    if (stream || document.hidden) return;
    stream = new EventSource(document.body.dataset.events);
    stream.addEventListener("open", () => gone(""));
    stream.addEventListener("part", (event) => replace(JSON.parse(event.data)));
    stream.addEventListener("error", async () => {
      stop();
      gone(await why());
      clearTimeout(retry);
      retry = setTimeout(listen, 2000);
    });
  }

  function stop() {
    stream?.close();
    stream = null;
  }

  async function why() {
    try {
      const answer = await fetch(root + "ping", { cache: "no-store" });
      if (answer.status === 401) return "cursortray was started anew. Open the dashboard again: from its menu, or with: cursortray open";
      return answer.ok ? "" : "The connection to cursortray was lost; trying again…";
    } catch {
      return "cursortray does not answer: it was ended, or its proxy was stopped. This page goes on when it is back.";
    }
  }

  function gone(text) {
    const banner = document.getElementById("gone");
    if (banner.textContent !== text) banner.textContent = text;
    banner.hidden = text === "";
  }

  // A page that nobody sees holds no connection: browsers have few.
  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : listen()));
  window.addEventListener("pagehide", stop);
  window.addEventListener("pageshow", listen);

  // --- Buttons ---

  function say(text, failed) {
    const place = document.getElementById("flash");
    place.replaceChildren();
    if (!text) return;
    const p = document.createElement("p");
    p.className = "banner " + (failed ? "bad" : "good");
    p.textContent = text;
    place.append(p);
    if (failed) p.scrollIntoView({ block: "nearest" });
  }

  async function copy(text, button) {
    try {
      await navigator.clipboard.writeText(text);
      const before = (button.dataset.label ??= button.textContent); // two clicks: it says "Copied" already
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = before; }, 1500);
    } catch {
      say("The browser did not let the page copy. Mark the text and copy it yourself.", true);
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.copy !== undefined) {
      event.preventDefault();
      copy(button.dataset.copy, button);
    } else if (button?.dataset.copyFrom) {
      event.preventDefault();
      copy(document.getElementById(button.dataset.copyFrom).textContent, button);
    }
    const link = event.target.closest("a[data-swap]");
    if (link && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey) {
      event.preventDefault();
      show(link.href);
    }
  });

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.getAttribute("method") !== "post") return;
    event.preventDefault();
    const button = event.submitter;
    const body = new URLSearchParams(new FormData(form, button?.name ? button : null));
    if (!body.has("query")) body.set("query", location.search.slice(1));
    if (button?.getAttribute("aria-busy") === "true") return;
    const label = button?.textContent;
    button?.setAttribute("aria-busy", "true");
    if (form.dataset.slow && button) button.textContent = form.dataset.slow;
    try {
      const answer = await fetch(form.getAttribute("action"), { method: "POST", body, headers: { "X-Requested-With": "script" } });
      if (answer.status === 401) return void location.reload();
      if (!answer.ok) return void say(await answer.text(), true);
      const result = await answer.json();
      say(result.text, result.failed);
      // What was typed and refused stays, to be mended; what was taken is shown.
      if (!result.failed && document.activeElement && form.contains(document.activeElement) && isTyping(form)) document.activeElement.blur();
      if (!result.failed) result.parts.forEach(replace);
    } catch {
      say("cursortray does not answer.", true);
    } finally {
      button?.removeAttribute("aria-busy");
      if (form.dataset.slow && button?.isConnected) button.textContent = label;
    }
  });

  document.addEventListener("change", (event) => {
    if (event.target.dataset.submit !== undefined) event.target.form.requestSubmit();
  });

  // --- Searching and sorting without loading the page ---

  async function show(url) {
    const answer = await fetch(url);
    if (!answer.ok) return void location.assign(url);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    history.replaceState(null, "", url);
    stop();
    document.body.dataset.events = page.body.dataset.events;
    for (const fresh of page.querySelectorAll("[data-part]")) {
      replace({ id: fresh.dataset.part, rev: fresh.dataset.rev, html: fresh.innerHTML });
    }
    listen();
  }

  let typed = 0;
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (form?.dataset.filter === undefined) return;
    clearTimeout(typed);
    typed = setTimeout(() => show(form.getAttribute("action") + "?" + new URLSearchParams(new FormData(form))), 150);
  });

  document.querySelector(".nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  window.dashboardPlots?.(document);
  listen();
})();
