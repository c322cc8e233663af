/** Root may do anything, so as root the work is done in the name of nobody. */
export async function asNobody<Result>(work: () => Promise<Result> | Result): Promise<Result> {
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(65534);
  try {
    return await work();
  } finally {
    if (root) process.seteuid?.(0);
  }
}
