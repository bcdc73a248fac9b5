// What every page has: buttons to copy, times that stay right, highlights, and the newest head.

const body = document.body;
const language = document.documentElement.lang;
const units = language === "id" ? ["dtk", "mnt", "jam", "hari", "lalu"] : ["s", "min", "h", "days", "ago"];

// Copies a text and says so on the button for a moment.
export async function copy(text, button) {
  await navigator.clipboard.writeText(text);
  button.classList.add("done");
  button.setAttribute("aria-label", body.dataset.copied);
  setTimeout(() => { button.classList.remove("done"); button.setAttribute("aria-label", body.dataset.copy); }, 1500);
}

function whole(holder) {
  const link = holder.querySelector("a");
  return link ? link.title : holder.textContent.trim();
}

// One button that follows the pointer or the focus would be lighter, but could not be reached by keyboard in order.
function addCopyButtons(root) {
  for (const holder of root.querySelectorAll(".h:not(:has(.copy))")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.setAttribute("aria-label", body.dataset.copy);
    button.addEventListener("click", () => copy(whole(holder), button));
    holder.append(button);
  }
  for (const button of root.querySelectorAll("button[data-copy-from]:not([data-ready])")) {
    button.dataset.ready = "";
    button.addEventListener("click", () => copy(document.getElementById(button.dataset.copyFrom).textContent.trim(), button));
  }
}

function tellTimes(root = document) {
  const now = Date.now() / 1000;
  for (const time of root.querySelectorAll("time[data-t]")) {
    const s = Math.max(0, Math.round(now - time.dataset.t));
    const [n, unit] = s < 60 ? [s, 0] : s < 3600 ? [s / 60, 1] : s < 172800 ? [s / 3600, 2] : [s / 86400, 3];
    time.textContent = `${Math.floor(n)}\u00a0${units[unit]} ${units[4]}`;
  }
}

// The same address or hash anywhere on the page lights up with the one under the pointer.
function highlight(event) {
  const link = event.target.closest?.(".h a");
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  if (!link) return;
  for (const same of document.querySelectorAll(`.h a[href="${CSS.escape(link.getAttribute("href"))}"]`)) same.classList.add("lit");
}

// Makes fresh markup like the rest of the page.
export function enhance(root) {
  // Whoever has no pointer scrolls what has the focus.
  for (const part of root.querySelectorAll(".scroll")) part.tabIndex = 0;
  addCopyButtons(root);
  tellTimes(root);
}

// Pages with parts that change with a block fetch themselves again and swap those, unless somebody is typing there. What
// was scrolled or opened stays so.
let refreshing = false;
async function refresh(parts) {
  if (refreshing || document.hidden) return;
  refreshing = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of parts) {
      const fresh = page.getElementById(part.id);
      if (!fresh || part.contains(document.activeElement)) continue;
      const [now, then] = [fresh, part].map((root) => root.querySelectorAll(".scroll, details"));
      const places = [...then].map((old) => [old.scrollLeft, old.open]);
      part.replaceWith(fresh);
      now.forEach((holder, place) => { if (places[place]) [holder.scrollLeft, holder.open] = places[place]; });
      enhance(fresh);
    }
  } finally { refreshing = false; }
}

function listen() {
  // Who pays may not be invited to the rest of the network.
  if (location.pathname.startsWith("/pay/")) return;
  const view = document.querySelector("[data-live]")?.dataset.live;
  const source = new EventSource(view ? `/live?view=${view}` : "/live");
  let first = true;
  source.addEventListener("head", (event) => {
    const { number, parts } = JSON.parse(event.data);
    document.getElementById("head").textContent = String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
    for (const [id, markup] of Object.entries(parts ?? {})) {
      const part = document.getElementById(id);
      if (!part || part.contains(document.activeElement)) continue;
      part.innerHTML = markup;
      enhance(part);
    }
    const changing = document.querySelectorAll("[data-refresh]");
    if (changing.length && !first) refresh(changing);
    first = false;
    dispatchEvent(new CustomEvent("chainnet:head", { detail: number }));
  });
}

document.addEventListener("pointerover", highlight);
document.addEventListener("focusin", highlight);
// The page is drawn before anything is added to it.
requestAnimationFrame(() => setTimeout(() => {
  enhance(document);
  setInterval(tellTimes, 1000);
  listen();
}));
