// The developers' pages: signing in, and paying an order. Everything else on them is forms, which need no script.
//
// Ids, for tests and for whoever scripts these pages:
//   /developers             #sign-in (signed out), #wallet, #sign-out, #dashboard (signed in)
//   /developers/keys        #key-name, #buy-monthly, #buy-quarterly, #buy-yearly (each opens an order and leads to its page),
//                           #keys, #orders; .revoke > summary, then .revoke button
//   /developers/orders/ID   #order-state, #pay-order (the wallet sends the transaction, then #claim is submitted by itself),
//                           #claim-key (the same without a script), #key-secret or #webhook-secret (once), #secret-stored (goes on)
//   /developers/webhook     #webhook-url, #save-webhook (the first leads to an order's page), #test-webhook (leads to the delivery),
//                           #rotate-webhook, #webhook-secret, #webhook-state, #deliveries, .redeliver
//   …/webhook/deliveries/ID #delivery-state, #attempts, #redeliver
//   /developers/invoices    #new-invoice (opens the form, which is open while there are no invoices), #customerLabel, #amountIdr, #note, #externalId, #expiresInMinutes, #create-invoice, #invoices, #older
//   /developers/invoices/ID #invoice-state, #pay-url, #void-invoice
//   wherever there is a wallet: #alert (what went wrong), #progress (what is waited for)
import { ask, connect, onClick, pay, progress, sign } from "./wallet.js";

onClick(document.getElementById("sign-in"), async () => {
  const { provider, account } = await connect();
  const { challengeId, message } = await ask("POST", "session/challenge", { address: account });
  progress("sign");
  await ask("POST", "session", { challengeId, signature: await sign(provider, account, message) });
  location.reload();
});

onClick(document.getElementById("pay-order"), async (button) => {
  const claim = document.getElementById("claim");
  claim.elements.tx.value = await pay(() => button.dataset);
  claim.requestSubmit();
  // The page is left as soon as the server has seen the payment.
  await new Promise(() => {});
});
