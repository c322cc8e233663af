/** How long a server may take to close its stream after the last event, in milliseconds. One that does leaves its connection for the next request. */
export const GRACE = 100;

/** What comes within so many milliseconds, undefined when nothing does or it fails. */
export async function atMost<Value>(
  milliseconds: number,
  coming: Promise<Value> | undefined,
): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  const first = await Promise.race([coming, late]).catch(() => undefined);
  clearTimeout(timer);
  return first;
}
