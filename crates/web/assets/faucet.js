// The faucet: a countdown to the next claim, and no second click while a claim is on its way.

const form = document.getElementById("claim-form");
const button = form?.querySelector("button.primary");
const until = document.querySelector("time[data-until]");
const names = document.documentElement.lang === "id" ? ["jam", "mnt", "dtk"] : ["h", "min", "s"];

function count() {
  const left = Math.max(0, Math.ceil(until.dataset.until - Date.now() / 1000));
  const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
  const first = parts.findIndex((part) => part > 0);
  until.textContent = parts.map((part, place) => `${part}\u00a0${names[place]}`).slice(first < 0 ? 2 : first).join(" ");
  return left;
}

if (until && count()) {
  const timer = setInterval(() => { if (!count()) clearInterval(timer); }, 1000);
}
form?.addEventListener("submit", () => { button.disabled = true; });
// Coming back by the browser's own button shows the form as it was left.
addEventListener("pageshow", () => { if (button) button.disabled = false; });
