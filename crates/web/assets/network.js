// Adds the network to a wallet (EIP-3085).

import { onClick, provider } from "./wallet.js";

const added = document.getElementById("added");
onClick(document.getElementById("add"), async () => {
  added.hidden = true;
  const chain = JSON.parse(document.getElementById("wallet-network").textContent);
  const wallet = await provider();
  await wallet.request({ method: "wallet_addEthereumChain", params: [chain] });
  added.hidden = false;
});
