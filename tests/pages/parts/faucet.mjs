export async function claimFromFaucet() {}
