export async function applyAsValidator() {}
