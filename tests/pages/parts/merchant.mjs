export async function sellAndBePaid() {}
