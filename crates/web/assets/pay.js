// The payment page: connect and pay, the countdown, and the state as it changes.
//
// Ids, for tests: #payment (changes with the state; data-status is open, paid, expired or void), #scan (changes with it), #pay-state, #amount-coin,
// #countdown, #pay (connect and pay), #get-quote (a price without a script), #eip681, #receipt, #print, #alert, #progress.
import { enhance } from "./app.js";
import { ask, onClick, pay, progress } from "./wallet.js";

const link = `pay/${location.pathname.split("/")[2]}`;
const button = document.getElementById("pay");
let part, end, settle;
const settled = new Promise((resolve) => { settle = resolve; });

// Takes what the page says now.
function read() {
  part = document.getElementById("payment");
  const { status, left, closing } = part.dataset;
  end = left && performance.now() + left * 1000;
  button.hidden = status !== "open" || (closing === "true" && !left);
  const print = document.getElementById("print");
  if (print) {
    print.hidden = false;
    print.addEventListener("click", () => window.print());
  }
  if (status !== "open") settle();
  tick();
}

async function renew() {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!fresh.getElementById("payment")) return;
  for (const id of ["payment", "scan"]) {
    const next = fresh.getElementById(id);
    document.getElementById(id).replaceWith(next);
    enhance(next);
  }
  read();
}

function tick() {
  if (!end) return;
  const seconds = Math.max(0, Math.round((end - performance.now()) / 1000));
  document.getElementById("countdown").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  if (seconds) return;
  end = 0;
  setTimeout(renew, 3000);
}

function watch() {
  const source = new EventSource(`/api/v1/platform-dev/${link}/stream`);
  source.addEventListener("status", (event) => {
    const { invoice, quote } = JSON.parse(event.data);
    if (invoice.status !== "open") source.close();
    const { status, quote: shown, closing } = part.dataset;
    if (invoice.status !== status || (quote?.id ?? "") !== shown || String(invoice.isVoiding) !== closing) renew();
  });
}

onClick(button, async () => {
  await pay(async () => (await ask("POST", `${link}/quote`)).quote.tx);
  progress("mining");
  await Promise.race([settled, new Promise((late) => setTimeout(late, 20000))]);
});

read();
setInterval(tick, 1000);
if (part.dataset.status === "open") watch();
// Phones put pages to sleep.
document.addEventListener("visibilitychange", () => { if (!document.hidden && part.dataset.status === "open") renew(); });
