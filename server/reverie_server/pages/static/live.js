// Follows what happens to the memory on the page: the bar of its state is kept true, and a line says that there is more.
"use strict";
const bar = document.querySelector(".trustbar");
const news = document.querySelector(".news");
let source = null;
let position = "";
let waiting = 0;

const refresh = async () => {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".trustbar");
  if (fresh) bar.replaceChildren(...fresh.children);
};

const follow = () => {
  if (source || document.hidden) return;
  let begun = position !== "";
  source = new EventSource(bar.dataset.events);
  const note = (event) => {
    // The first counts of jobs say how things are, and so does the page.
    const isOld = event.type === "jobs" && !begun;
    begun = true;
    position = event.lastEventId;
    if (isOld) return;
    if (event.type !== "jobs") news.hidden = false;
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 500);
  };
  for (const kind of ["turn", "report", "jobs"]) source.addEventListener(kind, note);
};

// A browser has six connections to a server for all its tabs: one that nobody looks at has none.
const rest = () => {
  if (source) source.close();
  source = null;
};

if (bar && news) {
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : follow()));
  addEventListener("pagehide", rest);
  addEventListener("pageshow", follow);
}
