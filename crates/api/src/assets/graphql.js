// Runs queries of the GraphQL page: POST for queries, a WebSocket (graphql-transport-ws) for subscriptions.
"use strict";

const field = (id) => document.getElementById(id);
const query = field("query");
const answer = field("answer");
const status = field("status");
let socket = null;

function show(text, note) {
  answer.textContent = text;
  status.textContent = note;
}

function variables() {
  const text = field("variables").value.trim();
  return text === "" ? undefined : JSON.parse(text);
}

async function ask(body) {
  const started = performance.now();
  const response = await fetch("/graphql", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const json = await response.json();
  const time = Math.round(performance.now() - started);
  const left = response.headers.get("RateLimit-Remaining");
  show(JSON.stringify(json, null, 2), `${response.status} in ${time} ms, ${left} requests left this minute`);
}

function subscribe(body) {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(`${scheme}//${location.host}/graphql`, "graphql-transport-ws");
  const send = (message) => socket.send(JSON.stringify(message));
  let lines = [];
  socket.onopen = () => send({ type: "connection_init" });
  socket.onmessage = (event) => {
    const message = JSON.parse(event.data);
    if (message.type === "connection_ack") {
      send({ id: "1", type: "subscribe", payload: body });
      show("", "waiting for the next block");
    } else if (message.type === "ping") {
      send({ type: "pong" });
    } else if (message.type === "next" || message.type === "error") {
      lines = [JSON.stringify(message.payload, null, 2), ...lines].slice(0, 20);
      show(lines.join("\n"), "live");
    }
  };
  socket.onclose = (event) => {
    status.textContent = event.reason || "closed";
    field("stop").hidden = true;
  };
  field("stop").hidden = false;
}

function stop() {
  if (socket) socket.close(1000);
  socket = null;
}

async function run() {
  stop();
  status.textContent = "asking";
  try {
    const body = { query: query.value, variables: variables() };
    if (/^\s*subscription\b/.test(query.value)) subscribe(body);
    else await ask(body);
  } catch (error) {
    show(String(error), "failed");
  }
}

field("run").addEventListener("click", run);
field("stop").addEventListener("click", stop);
for (const button of document.querySelectorAll("[data-query]")) {
  button.addEventListener("click", () => {
    query.value = button.dataset.query;
    run();
  });
}
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") run();
});
