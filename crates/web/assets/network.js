// Adds the network to a wallet: one that announces itself (EIP-6963), or else the one that browsers inject.

const button = document.getElementById("add");
const note = document.getElementById("added");
const wallets = [];
addEventListener("eip6963:announceProvider", (event) => wallets.push(event.detail.provider));
dispatchEvent(new Event("eip6963:requestProvider"));

function say(text, mood) {
  note.textContent = text;
  note.className = `note ${mood}`;
  note.hidden = false;
}

button.addEventListener("click", async () => {
  const wallet = wallets[0] ?? window.ethereum;
  const words = button.dataset;
  if (!wallet) return say(words.missing, "warn");
  button.disabled = true;
  try {
    await wallet.request({ method: "wallet_addEthereumChain", params: [JSON.parse(words.chain)] });
    say(words.done, "good");
  } catch (error) {
    say(error.code === 4001 ? words.refused : `${words.failed} ${error.message}`, error.code === 4001 ? "warn" : "bad");
  } finally {
    button.disabled = false;
  }
});
