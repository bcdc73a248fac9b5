export async function connectWallets() {}
