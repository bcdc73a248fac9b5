// A wallet in the browser: finding one (EIP-6963, else window.ethereum), its account, our chain, its signature, its
// transactions; and what went wrong, in the page's words.
//
// A page that imports this prints `{{ wallet }}` (src/wallet.rs): #wallet-network, #wallet-words, #alert and #progress.

const read = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "{}");
const words = read("wallet-words");
const network = read("wallet-network");
const REMEMBERED = "chainnet_wallet";
const found = new Map();
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

addEventListener("eip6963:announceProvider", ({ detail }) => {
  if (detail?.info?.rdns && detail.provider) found.set(detail.info.rdns, detail);
});
const look = () => dispatchEvent(new Event("eip6963:requestProvider"));
look();

// Something that is told by a word of the page, or by a sentence of the API.
export class Told extends Error {
  constructor(word, detail) { super(detail ?? word); this.word = word; }
}

// Lets the user choose among several wallets.
function choose(wallets) {
  return new Promise((take, refuse) => {
    const dialog = document.createElement("dialog");
    const title = document.createElement("h2");
    title.textContent = dialog.ariaLabel = words.choose;
    dialog.append(title);
    for (const wallet of wallets) {
      const { icon, name } = wallet.info;
      const button = document.createElement("button");
      if (icon?.startsWith("data:image/")) {
        const picture = new Image(24, 24);
        picture.src = icon;
        picture.alt = "";
        button.append(picture);
      }
      button.append(name);
      button.addEventListener("click", () => { take(wallet); dialog.close(); });
      dialog.append(button);
    }
    dialog.addEventListener("close", () => { dialog.remove(); refuse(new Told("refused")); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

async function provider() {
  look();
  // Some wallets come a little after the page.
  if (!found.size && !window.ethereum) await sleep(300);
  if (!found.size) {
    if (!window.ethereum) throw new Told("none");
    return window.ethereum;
  }
  const known = found.get(localStorage.getItem(REMEMBERED));
  const wallet = known ?? (found.size > 1 ? await choose(found.values()) : found.values().next().value);
  localStorage.setItem(REMEMBERED, wallet.info.rdns);
  return wallet.provider;
}

// The wallet that the user has, or chooses, and its account.
export async function connect() {
  const wallet = await provider();
  try {
    const [account] = await wallet.request({ method: "eth_requestAccounts" });
    if (!account) throw new Told("refused");
    return { provider: wallet, account };
  } catch (error) {
    // Whoever refused may have wanted another wallet.
    if (error.code !== -32002) localStorage.removeItem(REMEMBERED);
    throw error;
  }
}

const isOn = async (wallet, chain) => Number(await wallet.request({ method: "eth_chainId" })) === Number(chain);

// Brings a wallet to our chain, which it is told of if it does not know it (EIP-3085).
export async function ensureChain(wallet, chain = network) {
  const { chainId } = chain;
  if (await isOn(wallet, chainId)) return;
  const change = () => wallet.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  try {
    await change();
  } catch (error) {
    if (error.code === 4001 || error.code === -32002) throw error;
    if (error.code !== 4902 && error.data?.originalError?.code !== 4902) throw new Told("chain");
    await wallet.request({ method: "wallet_addEthereumChain", params: [chain] });
    if (!(await isOn(wallet, chainId))) await change();
  }
  if (!(await isOn(wallet, chainId))) throw new Told("chain");
}

// The signature of a text.
export function sign(wallet, account, text) {
  const hex = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return wallet.request({ method: "personal_sign", params: [`0x${hex}`, account] });
}

// Sends a transaction `{from, to, value, data}` and gives its hash.
export async function send(wallet, { from, to, value, data }) {
  const balance = await wallet.request({ method: "eth_getBalance", params: [from, "latest"] });
  if (BigInt(balance) < BigInt(value ?? 0)) throw new Told("funds");
  return wallet.request({ method: "eth_sendTransaction", params: [{ from, to, value, data }] });
}

// The receipt of a transaction once it is in a block.
export async function waitForReceipt(wallet, hash, seconds = 90) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(500)) {
    const receipt = await wallet.request({ method: "eth_getTransactionReceipt", params: [hash] });
    if (!receipt) continue;
    if (Number(receipt.status) !== 1) throw new Told("failed");
    return receipt;
  }
  throw new Told("unknown");
}

// Connects, comes to our chain, sends `make()`'s transaction, tells of each step, and gives the hash once it is in a block.
export async function pay(make) {
  const { provider: wallet, account } = await connect();
  await ensureChain(wallet);
  const { to, value, data } = await make();
  progress("confirm");
  const hash = await send(wallet, { from: account, to, value, data });
  progress("mining");
  await waitForReceipt(wallet, hash);
  return hash;
}

// Asks the API of this origin.
export async function ask(method, path, body) {
  const answer = await fetch(`/api/v1/platform-dev/${path}`, {
    method,
    headers: body && { "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const json = answer.status === 204 ? null : await answer.json();
  if (!answer.ok) throw new Told(json.code, json.detail);
  return json;
}

export function explain(error) {
  if (error instanceof Told) return words[error.word] ?? error.message;
  const word = { 4001: "refused", ACTION_REJECTED: "refused", [-32002]: "pending", 4900: "chain", 4901: "chain" }[error.code];
  if (word) return words[word];
  if (/insufficient funds/i.test(error.message)) return words.funds;
  return `${words.trouble} ${error.message ?? error}`;
}

// What is waited for, by a word of the page; nothing without one.
export function progress(word) {
  document.getElementById("progress").textContent = words[word] ?? "";
}

// Runs what a button does: once at a time, and whatever goes wrong is told.
export function onClick(button, act) {
  button?.addEventListener("click", async (event) => {
    event.preventDefault();
    const alert = document.getElementById("alert");
    alert.textContent = "";
    button.disabled = true;
    try {
      await act(button);
    } catch (error) {
      alert.textContent = explain(error);
    } finally {
      button.disabled = false;
      progress();
    }
  });
}
